"""Questions of a run: those that wait for an answer, those whose answer the run has not read yet, and deferred ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.finding import find_run, runs_here
from santiago.app.loading import load
from santiago.artifacts.inbox import Inbox
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.contract.state import Question, RunState, StoryState


def asked(state: RunState, out_dir: Path) -> tuple[list[Question], list[Question]]:
    """Return two lists of open questions: without an answer, and with an answer that the run has not read yet."""
    questions = state.open_questions()
    given = answers_left(out_dir) if questions else frozenset()
    return [one for one in questions if one.id not in given], [one for one in questions if one.id in given]


def answers_left(out_dir: Path) -> frozenset[str]:
    """Return the questions with an answer that no process has read yet."""
    try:
        letters = Inbox(out_dir).collect()
    except SantiagoError:
        return frozenset()
    return frozenset(letter.subject for letter in letters if letter.kind == "answer" and not letter.fault)


def put_off(state: RunState, story: StoryState) -> Question | None:
    """Return the question whose answer, to defer or to stop, keeps a story blocked."""
    if story.phase is not StoryPhase.BLOCKED or story.reason is not Reason.AGENT_ASKED or story.skipped:
        return None
    latest = [one for one in state.questions.values() if one.story == story.id][-1:]
    return latest[0] if latest and latest[0].answer is not None else None


def waiting(name: str | None) -> Iterator[tuple[Run, list[Question]]]:
    """Yield the runs of this repository that wait for an answer, newest first, with their questions; one run if it is named."""
    try:
        folders = [find_run(name)] if name else [run.out_dir for run in runs_here()]
    except SantiagoError:
        if name:
            raise
        folders = []
    for folder in folders:
        try:
            run = load(folder)
        except SantiagoError:
            if name:
                raise
            continue  # a damaged run must not hide the questions of the others
        open_ones, _ = asked(run.state, run.out_dir)
        if open_ones:
            yield run, open_ones
