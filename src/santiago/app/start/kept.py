"""Which stories of a new run are done already: an earlier run finished the same, and what the new one begins on holds it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.app.shortage import named
from santiago.artifacts import registry
from santiago.artifacts.names import has_begun
from santiago.contract.content import contents_of
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_story
from santiago.contract.phases import StoryPhase
from santiago.workspace import landed
from santiago.workspace.landed import Landed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.plan import Plan
    from santiago.contract.state import RunState

MOST_RUNS = 20
"""Earlier runs whose own records are asked, the newest first."""


def kept(plan: Plan, repo: Path, commit: str) -> dict[str, Landed]:
    """Return the stories of a plan that a commit holds already, each with what tells so.

    The messages of its history tell most of them; a squash merge that kept no message is recognised by the records of
    the run that it came from. Of stories that ask for the same, only as many are done as were done.
    """
    contents = contents_of(plan)
    found: dict[str, Landed] = {}
    history = landed.stories(repo, commit)
    _match(contents, history.landed, found)
    if len(found) < len(contents):
        lacking = {content for name, content in contents.items() if name not in found}
        told = {(one.run, one.story) for one in (*history.landed, *history.reverted)}
        _match(contents, [one for one in _recorded(repo, commit, lacking) if (one.run, one.story) not in told], found)
    return found


def foreseen(plan: Plan, repo: Path) -> dict[str, Landed]:
    """Return the stories that a run would keep which began now; none where there is no commit to begin on."""
    try:
        return kept(plan, repo, "HEAD")
    except SantiagoError:
        return {}


def told(plan: Plan, found: dict[str, Landed]) -> str:
    """Say of stories that they are done already, before a run begins."""
    return f"done already, so only their checks would run: {named([s for s in plan.stories if s.id in found])}"


def facts(state: RunState, found: dict[str, Landed]) -> list[Fact]:
    """Return what a new run's log says of stories that are done already."""
    return [
        of_story(state.stories[name], EventKind.STORY_KEPT, run=one.run, commit=one.commit)
        for name, one in found.items()
    ]


def _match(contents: dict[str, str], known: list[Landed], found: dict[str, Landed]) -> None:
    left: dict[str, list[Landed]] = {}
    for one in known:
        left.setdefault(one.content, []).append(one)
    for name, content in contents.items():
        if name not in found and left.get(content):
            found[name] = left[content].pop(0)


def _recorded(repo: Path, commit: str, lacking: set[str]) -> Iterator[Landed]:
    """Yield what runs finished whose whole work the commit holds."""
    common = registry.common_git_dir(repo)
    begun = [run for run in registry.runs(common) if has_begun(run.out_dir)] if common else []
    for run in begun[:MOST_RUNS]:
        with suppress(SantiagoError):  # a run that cannot be read tells nothing
            yield from _of_run(repo, commit, run.out_dir, lacking)


def _of_run(repo: Path, commit: str, out_dir: Path, lacking: set[str]) -> list[Landed]:
    from santiago.app.loading import frozen, load  # not before there is a run to look at: `plan` should start quickly

    contents = contents_of(frozen(out_dir)[0])
    if lacking.isdisjoint(contents.values()):
        return []
    state = load(out_dir).state
    if not state.head or not landed.holds(repo, commit, state.head):
        return []
    done = [story for story in state.stories.values() if story.phase is StoryPhase.DONE and story.id in contents]
    return [Landed(state.run_id, story.id, contents[story.id], story.commit or "") for story in done]
