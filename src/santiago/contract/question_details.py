"""What questions and their answers add to the state: what is open, what it is about, and what an answer decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.outcomes import Proof
from santiago.contract.state import Question

if TYPE_CHECKING:
    from santiago.contract.events import Event
    from santiago.contract.state import RunState, StoryState

OVERTAKEN = "overtaken"
"""Recorded in place of an answer that is no longer needed: the story was skipped, or a person supplied the work."""
EXPIRED = "expired"
"""Recorded in place of an answer that did not come in time."""
PARKING = frozenset({"detail", "result", "grant", "resume", "pick", "there"})
"""Kinds of questions about stories that leave the order until they are answered; their phase stays."""


def question_asked(state: RunState, event: Event) -> None:
    context = event.context
    name, kind = context.get("question", ""), context.get("kind", "agent")
    if name in state.questions:  # the same question asked again keeps its answer
        return
    state.questions[name] = Question(
        name,
        event.story_id,
        context.get("text", ""),
        tuple(context.get("options", ())),
        kind,
        round=context.get("round", 1),
        asked_at=event.timestamp,
        until=context.get("until", ""),
        limit=context.get("limit", ""),
        lacks=context.get("lacks", ""),
    )
    if kind not in PARKING:
        return
    for story in map(state.stories.get, state.questions[name].about()):
        if story is not None:
            story.asked, story.gated = name, story.gated or kind in ("result", "pick")
    if kind == "pick":
        state.picking = name


def question_answered(state: RunState, event: Event) -> None:
    """The first answer counts; what it says goes into the story's next packet."""
    question = state.questions.get(event.context.get("question", ""))
    if question is None or question.answer is not None:
        return
    close(state, question, event.context.get("answer", ""), event)
    question.detail = event.context.get("text", "")
    if scope := event.context.get("scope"):
        state.rest[question.kind] = "run" if scope == "run" else event.chunk or state.active_chunk or ""
    if question.kind == "continue":
        state.continue_after = ""
    if question.kind == "pick" and event.context.get("answer") == "pick":
        for name in question.options:
            state.stories[name].deferred = name != question.detail
    story = state.stories.get(event.story_id or "")
    if story is None:
        return
    if question.detail:
        note(state, story, event)
    answer = event.context.get("answer", "")
    if question.kind == "unproven":
        _take_unproven(state, story, answer)
    elif (question.kind, answer) == ("result", "change"):
        forget(state, story)  # what the person saw is not what they want
    elif question.lacks and answer == "validate":
        attest(state, story)
    _take(story, question.kind, answer)


def _take_unproven(state: RunState, story: StoryState, answer: str) -> None:
    """A person takes work that no test shows, or lets an agent work on it once more."""
    if answer == "accept":
        attest(state, story)
        return
    story.change_requested, story.reason = story.attempts + 1, None
    story.test_asked = answer != "retry"


def attest(state: RunState, story: StoryState) -> None:
    """A person's word makes the story done. Its box can be ticked then, if the run ticks boxes."""
    story.proof, story.reason, story.adjusting = Proof.ATTESTED, None, False
    state.ticked = state.ticked and not story.integrated
    forget(state, story)


def forget(state: RunState, story: StoryState) -> None:
    story.unshown = None
    state.unshown.discard(story.id)


def _take(story: StoryState, kind: str, answer: str) -> None:
    """Note what an answer changes in its story besides the phase."""
    match kind, answer:
        case "detail", "approve" | "drop" if story.detail:
            story.detail.approved = True
        case "result", "validate":
            story.validated, story.adjusting = True, False
        case "result", "change":
            story.seen = story.commit or ""
            story.adjusting, story.gated, story.change_requested = True, False, story.attempts + 1
        case "grant", "refuse":
            story.change_requested = 0
        case (("detail" | "result" | "there"), "defer"):
            story.deferred = True
        case "there", "refuse":
            story.reason = None


def question_expired(state: RunState, event: Event) -> None:
    question = state.questions.get(event.context.get("question", ""))
    if question is not None and question.answer is None:
        close(state, question, EXPIRED, event)


def close(state: RunState, question: Question, answer: str, event: Event) -> None:
    question.answer, question.actor, question.answered_at = answer, event.actor, event.timestamp
    for story in map(state.stories.get, question.about()):
        if story is not None and story.asked == question.id:
            story.asked, story.gated = "", story.gated and (question.kind != "pick" or answer == "pick")
    if state.picking == question.id:
        state.picking = ""


def overtake(state: RunState, story: StoryState, event: Event) -> None:
    """Close the story's open question: it was decided in another way."""
    if question := state.questions.get(story.asked):
        close(state, question, OVERTAKEN, event)


def note(_: RunState, story: StoryState, event: Event) -> None:
    story.notes = (*story.notes, event.context.get("text", ""))
