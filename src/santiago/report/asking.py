"""Questions of agents as people see them: who still waits for an answer, whose answer lies ready, what was put off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.artifacts.inbox import Inbox
from santiago.contract.answers import KINDS
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from santiago.contract.answers import Understood
    from santiago.contract.state import Question, RunState, StoryState


NO_PLAN = "there is no detailed plan to approve; say what should be different, or defer it"


def asked(state: RunState, out_dir: Path) -> tuple[list[Question], list[Question]]:
    """Return the open questions: those that wait for an answer, and those whose answer waits for the run to go on."""
    questions = state.open_questions()
    given = _given(out_dir) if questions else frozenset()
    return [one for one in questions if one.id not in given], [one for one in questions if one.id in given]


def words_of(state: RunState, question: Question) -> dict[str, str]:
    """Return the words that a question takes, and what each does; a plan that is not there cannot be approved."""
    if question.kind == "pick":
        stories = [state.stories[name] for name in question.options if name in state.stories]
        picked = {one.id: f"go on with it ({_standing(one)}), and put the others off" for one in stories}
        return {**picked, "stop": KINDS["pick"]["stop"]}
    story = state.stories.get(question.story or "")
    planless = question.kind == "detail" and not (story and story.detail and story.detail.digest)
    return {word: does for word, does in KINDS.get(question.kind, {}).items() if not (planless and word == "approve")}


def offers(words: Mapping[str, str], answer: Understood) -> bool:
    """Tell whether an answer is one of the words that a question takes."""
    return (answer.text if answer.word == "pick" else answer.word) in words


def _standing(story: StoryState) -> str:
    words = {StoryPhase.VERIFIED: "its work passes its checks", StoryPhase.PROPOSED: "its plan is written"}
    return words.get(story.phase, "it was interrupted")


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
