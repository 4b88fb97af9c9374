"""Files and commits that a log must know. `resume` refuses a run with others, and `audit` names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from santiago.artifacts.names import LOG, attempt_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.artifacts.attempts import FileAttempts
    from santiago.contract.state import RunState
    from santiago.workspace.workspace import GitWorkspace


class Unknown(NamedTuple):
    """One thing that the log does not know: the log's end was cut off, or somebody added the thing."""

    code: str
    where: str
    message: str


def unknown_files(state: RunState, attempts: FileAttempts) -> Iterator[Unknown]:
    """Yield the attempts that have files but are not in the log."""
    for story in state.stories.values():
        latest = attempts.latest(story.id)
        if latest > story.attempts:
            message = f"the log ends before attempt {latest} of {story.id}, whose files are there"
            yield Unknown("attempt_unknown", attempt_folder(story.id, latest), message)


def unknown_commits(state: RunState, workspace: GitWorkspace) -> Iterator[Unknown]:
    """Yield refs of attempts that are not in the log, and commits on the branch that name an event after its end."""
    for ref in workspace.refs():
        story = state.stories.get(ref.story)
        if story is None or ref.attempt > story.attempts:
            message = f"the log ends before attempt {ref.attempt} of {ref.story}, whose work is kept"
            yield Unknown("ref_unknown", ref.name, message)
    anchored = workspace.anchored(state.base) if state.base else 0
    if anchored > state.seq:
        yield Unknown("log_cut", LOG, f"it ends with event {state.seq}, but the branch names event {anchored}")
