"""Going on from an earlier run with a changed document: the new run's base, its settings, and hints for its agents."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.app.changes import changed_settings
from santiago.app.loading import working
from santiago.app.publishing import MOST_FILES
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.policy import RunInput
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.planner.rebase import difference
from santiago.workspace.earlier_work import holds
from santiago.workspace.joining import joined, unmerged

if TYPE_CHECKING:
    from santiago.app.loading import Run
    from santiago.contract.plan import Plan


@record
class Beginning:
    """What only the first start of a run needs."""

    settings: dict[str, Any]
    """The settings from files and variables, without the command line."""
    run: str = ""
    """The earlier run that this one goes on from."""
    commit: str | None = None
    """The commit that it begins on; empty for the repository's HEAD."""
    hints: tuple[tuple[str, str], ...] = ()
    """Hints for the agents of changed stories."""
    told: tuple[str, ...] = ()
    """Messages for people."""


def settings_of(run: Run, now: RunInput) -> RunInput:
    """Return the input of a run that goes on: that of the earlier run, with the settings that have changed since."""
    old = codec.to_data(run.run_input)
    for name, value in changed_settings(run.out_dir, Path(now.repo_path)).items():
        section, _, key = name.partition(".")
        old[section][key] = value
    given = codec.decode(RunInput, json.dumps(old).encode(), "run-input.json")
    return replace(given, run_id=now.run_id, repo_path=now.repo_path, prd_path=now.prd_path)


def beginning(run: Run, plan: Plan, root: Path, settings: dict[str, Any]) -> Beginning:
    """Return how a new plan continues an earlier run; raise if that run is running, or its work conflicts with HEAD."""
    if who := working(run.out_dir):
        hint = f"`santiago stop {run.run_id}` first."
        raise SantiagoError(Kind.BLOCKED, f"{run.run_id} is running: {who}", hint=hint, reason=Reason.LOCK_HELD)
    found = difference(run.plan, plan)
    done = {story.id: story for story in run.state.stories.values() if story.phase is StoryPhase.DONE}
    hints = tuple((name, _hint(run.run_id, what, done[name].commit)) for name, what in found.changed if name in done)
    counts = {"unchanged": found.kept, "changed": found.changed, "new": found.new, "removed": found.removed}
    told = [f"goes on from {run.run_id}: " + ", ".join(f"{len(names)} {word}" for word, names in counts.items())]
    if stays := [name for name in found.removed if name in done]:
        told.append(f"{', '.join(stays)} is no longer in the document; its work stays on the branch")
    commit = _commit(run, root)
    return Beginning(settings=settings, run=run.run_id, commit=commit, hints=hints, told=tuple(told))


def _hint(run: str, what: str, commit: str | None) -> str:
    return (
        f"An earlier run ({run}) finished this story as the document described it then; its work is in the repository "
        f"(commit {(commit or '')[:12]}). The story has changed since ({what}): change the existing work accordingly."
    )


def _commit(run: Run, root: Path) -> str | None:
    head = run.state.head
    if not head or head == run.state.base or holds(root, "HEAD", head):
        return None
    try:
        return joined(root, "HEAD", head, f"Take up the work of {run.run_id}")
    except SantiagoError as error:
        if error.reason is Reason.WORKSPACE_CONFLICT:
            error.hint = _resolving(run, root)
        raise


def _resolving(run: Run, root: Path) -> str:
    """Return what a person does about a conflict between the work of a run and their branch."""
    if files := unmerged(root):
        resolve = f"Resolve {', '.join(files[:MOST_FILES])}, then `git add -u && git commit`"
        return f"A merge is under way. {resolve}, then the same command again; `git merge --abort` gives it up."
    merge = f"`git merge {run.state.branch}`, resolve the conflict and commit, then the same command again"
    afresh = f"`santiago run {run.plan.source.path} --new` does its stories again on your branch."
    return f"{merge}." if run.plan.source.is_drafted else f"{merge}; or {afresh}"
