"""Decides where a ticket goes after an attempt of its story. These are pure functions of the card and the run's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.board.rules import Move, word_on
from santiago.contract.answers import JUDGED as _JUDGED
from santiago.contract.board import TODO
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.executor.unproven import is_asked_for_a_test
from santiago.util.text import first, flat

if TYPE_CHECKING:
    from santiago.contract.board import Card, Queue
    from santiago.contract.errors import SantiagoError
    from santiago.contract.events import Context
    from santiago.contract.state import Question, RunState, StoryState

SIGNAL = "needs_user_confirmation"
"""In the note of a ticket, this says that a person has to decide before it can go on."""
JUDGED = _JUDGED | {"there"}
"""Kinds of questions by which only a person, and no planner, lets a story count as done without a passing verdict."""
LONGEST_NOTE = 300
"""The most characters of a note; the full text is in the ticket's evidence."""


def after_attempt(card: Card, state: RunState, critique: str) -> Move | None:
    """Return where a claimed ticket goes; None while its attempt is not made, or still goes on."""
    story = state.stories[card.story]
    question = open_question(state, story)
    match story.phase:
        case StoryPhase.VERIFIED | StoryPhase.DONE:
            # The note of an earlier attempt says what was wrong then.
            note = f"passed on attempt {card.attempt_count}" if card.attempt_count > 1 else None
            return Move(to="planner-review", note="its checks pass, and no test shows it" if story.unshown else note)
        case StoryPhase.READY | StoryPhase.BLOCKED | StoryPhase.FAILED if question is not None:
            return _asked(question, card.run)
        case StoryPhase.BLOCKED if card.spent and story.reason is Reason.ATTEMPT_BUDGET_EXHAUSTED:
            return _given_back(card, critique)  # the next claim records that it has no attempt left, and blocks it
        case StoryPhase.BLOCKED | StoryPhase.FAILED:
            return _parked(card, story)
        case StoryPhase.READY if _goes_on(card, story):
            return None  # a kill came before the run recorded it; its next start does
        case StoryPhase.READY | StoryPhase.PLANNED if story.counted >= card.attempt_count:
            return _given_back(card, critique)
        case _:
            return None


def _goes_on(card: Card, story: StoryState) -> bool:
    """Tell whether a story has work that goes on although no test shows it, without another attempt."""
    asked = story.change_requested or (is_asked_for_a_test(story) and not story.integrated and not card.spent)
    return story.stands and not asked


def _given_back(card: Card, critique: str) -> Move:
    reason, _, rest = critique.removeprefix("# ").partition("\n")
    note = f"{reason}: {rest}" if rest.strip() else reason
    return Move(to=TODO[card.role], phase="ready", note=shortened(note), error_class="soft_fail")


def after_end(card: Card, state: RunState, end: Context) -> Move | None:
    """Return where a ticket goes if its run ended before the attempt began, with the run's message; else None."""
    if state.phase not in (RunPhase.FAILED, RunPhase.BLOCKED) or state.reason in (None, Reason.NEEDS_USER_CONFIRMATION):
        return None
    meaning = MEANINGS[state.reason]
    asks = "" if meaning.exit_code is ExitCode.FAILED else f"{SIGNAL}: "
    note = f"{asks}{state.reason}: {end.get('message') or meaning.sentence}"
    hint = with_way_back(end.get("hint") or meaning.hint, card.id, TODO[card.role])
    return Move(to="blocked", note=shortened(note), next_action=hint, error_class=meaning.error_class)


def after_answer(card: Card, state: RunState) -> Move | None:
    """Return where a ticket goes that waited for a person, once the question is answered; None while it waits."""
    story = state.stories[card.story]
    if card.is_unproven and story.phase is StoryPhase.DONE:
        return Move(to="planner-review", note=shortened(_accepted(state, story)))
    if open_question(state, story) is not None or story.phase not in (StoryPhase.READY, StoryPhase.BLOCKED):
        return None
    if card.queue == "blocked" and SIGNAL in card.note and any(name in card.note for name in state.questions):
        return Move(to=TODO[card.role], note="answered")
    if card.queue == "planner-review" and story.phase is StoryPhase.READY:
        return Move(to=TODO[card.role], note="its work has to be done again", error_class="soft_fail")
    return None


def _accepted(state: RunState, story: StoryState) -> str:
    said = [one for one in state.questions.values() if (one.kind, one.story) == ("unproven", story.id)]
    return " ".join([f"{story.proof}", *(f"by {one.actor} {one.detail}".strip() for one in said[-1:])])


def awaits_word(card: Card, question: Question) -> Move:
    """Return where a ticket goes whose work is on the branch and that no test shows: a person's word makes it done."""
    says = f"{SIGNAL}: {question.id}: {question.text}"
    return Move(to="blocked", phase="verified", note=shortened(says), next_action=word_on(card), error_class="none")


def open_question(state: RunState, story: StoryState) -> Question | None:
    """Return the question about a story that no person has answered yet."""
    return next((one for one in state.open_questions() if story.id in one.about()), None)


def _asked(question: Question, run: str) -> Move:
    """Return where a ticket goes whose question a person must answer: to review if they judge its work, else to blocked."""
    says = f"{SIGNAL}: {question.id}: {question.text}"
    how = f"`santiago answer {run} {question.id} …`; `santiago answer` lists the words that it takes"
    if question.kind in JUDGED:
        return Move(to="planner-review", note=shortened(says), next_action=f"{SIGNAL}: {how}")
    return Move(to="blocked", note=shortened(says), next_action=how, error_class="dependency_blocked")


def _parked(card: Card, story: StoryState) -> Move:
    reason = story.reason or Reason.BLOCKED_DEPENDENCY
    meaning = MEANINGS[reason]
    asks = reason is Reason.NEEDS_USER_CONFIRMATION
    note = f"{SIGNAL + ': ' if asks else ''}{reason}: {meaning.sentence}"
    hint = with_way_back(meaning.hint, card.id, TODO[card.role])
    return Move(to="blocked", note=note, next_action=hint, error_class=meaning.error_class)


def hindered(error: SantiagoError, card: Card, back: Queue, *, asks: bool) -> Move:
    """Return where a ticket goes whose run cannot be made or started, until a person mends the cause."""
    return Move(
        to="blocked", note=shortened(f"{SIGNAL}: {error.message}" if asks else error.message),
        next_action=with_way_back(error.hint, card.id, back), error_class="dependency_blocked" if asks else "hard_fail",
    )  # fmt: skip


def with_way_back(hint: str, ticket: str, queue: Queue) -> str:
    """Return what a person has to do, and the command that puts the ticket back afterwards."""
    hint = hint.replace("`--verify CMD`", "`Verification:` in the document")  # the board's commands have no such option
    return (
        f"{shortened(hint)} Put it back with `santiago queue move --id {ticket} --from blocked --to {queue}`.".strip()
    )


def shortened(text: str) -> str:
    """Return the beginning of a text on one line. The full text is in the evidence."""
    return first(flat(text).encode("utf-8", "replace").decode(), LONGEST_NOTE)
