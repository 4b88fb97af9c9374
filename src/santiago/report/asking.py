"""Questions of agents as people see them: who still waits for an answer, whose answer lies ready, what was put off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.artifacts.inbox import Inbox
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.state import Question, RunState, StoryState


def asked(state: RunState, out_dir: Path) -> tuple[list[Question], list[Question]]:
    """Return the open questions: those that wait for an answer, and those whose answer waits for the run to go on."""
    questions = state.open_questions()
    given = _given(out_dir) if questions else frozenset()
    return [one for one in questions if one.id not in given], [one for one in questions if one.id in given]


def _given(out_dir: Path) -> frozenset[str]:
    try:
        letters = Inbox(out_dir).collect()
    except SantiagoError:
        return frozenset()
    return frozenset(letter.subject for letter in letters if letter.kind == "answer" and not letter.fault)


def put_off(state: RunState, story: StoryState) -> Question | None:
    """Return the question for which a story stays blocked because its answer was to defer it, or to stop."""
    if story.phase is not StoryPhase.BLOCKED or story.reason is not Reason.AGENT_ASKED or story.skipped:
        return None
    latest = [one for one in state.questions.values() if one.story == story.id][-1:]
    return latest[0] if latest and latest[0].answer is not None else None
