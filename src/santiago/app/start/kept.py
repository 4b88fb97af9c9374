"""Which stories of a new run are already done: an earlier run finished the same story, and the base contains its work."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.app.shortage import named
from santiago.artifacts import registry
from santiago.artifacts.names import has_begun
from santiago.contract.checks import with_own_check
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_story
from santiago.contract.phases import StoryPhase
from santiago.contract.plan import contents_of
from santiago.workspace import earlier_work
from santiago.workspace.earlier_work import Landed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState, StoryState

MOST_RUNS = 20
"""How many earlier runs are searched, newest first."""


def kept(plan: Plan, repo: Path, commit: str) -> dict[str, Landed]:
    """Return the stories of a plan that a commit already holds, each with the earlier run's story.

    Most are found by the commit messages of its history. A squash merge that kept no message is recognised by the records of
    the run that it came from. If several stories ask for the same, only as many count as done as were finished.
    """
    contents = contents_of(plan)
    found: dict[str, Landed] = {}
    history = earlier_work.stories(repo, commit)
    _match(contents, history.landed, found)
    if len(found) < len(contents):
        lacking = {content for name, content in contents.items() if name not in found}
        told = {(one.run, one.story) for one in (*history.landed, *history.reverted)}
        _match(contents, [one for one in _recorded(repo, commit, lacking) if (one.run, one.story) not in told], found)
    return found


def foreseen(plan: Plan, repo: Path) -> dict[str, Landed]:
    """Return the stories that would count as done if a run began now; none if the repository has no commit."""
    try:
        return kept(plan, repo, "HEAD")
    except SantiagoError:
        return {}


def ticked(plan: Plan, run_input: RunInput, repo: Path, commit: str) -> list[str]:
    """Return the stories whose boxes are ticked and that neither a check of their own nor an earlier run shows."""
    claimed = [story.id for story in plan.stories if story.claimed_done]
    shown = with_own_check(plan, run_input) if claimed else frozenset()
    found = [name for name in claimed if name not in shown]
    held = kept(plan, repo, commit) if found else {}
    return [name for name in found if name not in held]


def told(plan: Plan, found: dict[str, Landed]) -> str:
    """Return the message, before a run begins, that stories are already done."""
    return f"done already, so only their checks would run: {named([s for s in plan.stories if s.id in found])}"


def facts(state: RunState, found: dict[str, Landed], repo: Path) -> list[Fact]:
    """Return the facts about stories that are already done, for a new run's log, with how strongly each was shown."""
    earlier = _stories_of({one.run for one in found.values()}, repo)
    facts = []
    for name, one in found.items():
        was = earlier.get((one.run, one.story))
        proof, criteria = (was.proof, [list(row) for row in was.criteria]) if was else (None, [])
        story, kind = state.stories[name], EventKind.STORY_KEPT
        facts.append(of_story(story, kind, run=one.run, commit=one.commit, proof=proof or "", criteria=criteria))
    return facts


def _stories_of(runs: set[str], repo: Path) -> dict[tuple[str, str], StoryState]:
    """Return the stories of earlier runs as their records tell. Records that are gone or unreadable tell nothing."""
    from santiago.app.loading import load  # loaded only when needed, so that `plan` starts quickly

    common = registry.common_git_dir(repo) if runs else None
    found: dict[tuple[str, str], StoryState] = {}
    for run in registry.runs(common) if common else ():
        if run.run_id in runs:
            with suppress(SantiagoError):
                found |= {(run.run_id, name): story for name, story in load(run.out_dir).state.stories.items()}
    return found


def _match(contents: dict[str, str], known: list[Landed], found: dict[str, Landed]) -> None:
    left: dict[str, list[Landed]] = {}
    for one in known:
        left.setdefault(one.content, []).append(one)
    for name, content in contents.items():
        if name not in found and left.get(content):
            found[name] = left[content].pop(0)


def _recorded(repo: Path, commit: str, lacking: set[str]) -> Iterator[Landed]:
    """Yield the finished stories of earlier runs whose whole work the commit holds."""
    common = registry.common_git_dir(repo)
    begun = [run for run in registry.runs(common) if has_begun(run.out_dir)] if common else []
    for run in begun[:MOST_RUNS]:
        with suppress(SantiagoError):  # unreadable runs are skipped
            yield from _of_run(repo, commit, run.out_dir, lacking)


def _of_run(repo: Path, commit: str, out_dir: Path, lacking: set[str]) -> list[Landed]:
    from santiago.app.loading import (
        frozen,
        load,
    )  # loaded only when needed, so that `plan` starts quickly

    contents = contents_of(frozen(out_dir)[0])
    if lacking.isdisjoint(contents.values()):
        return []
    state = load(out_dir).state
    if not state.head or not earlier_work.holds(repo, commit, state.head):
        return []
    done = [story for story in state.stories.values() if story.phase is StoryPhase.DONE and story.id in contents]
    return [Landed(state.run_id, story.id, contents[story.id], story.commit or "") for story in done]
