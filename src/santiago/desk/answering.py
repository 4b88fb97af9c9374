"""The facts that follow from an answer: the question is closed, and its story goes on, goes back, or is deferred."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.answers import JUDGED, UNFIT, lacks, words_of
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import accepted, of_run, of_story
from santiago.contract.phases import StoryPhase

if TYPE_CHECKING:
    from santiago.contract.answers import Understood
    from santiago.contract.state import Question, RunState, StoryState

_READY, _DONE = StoryPhase.READY, StoryPhase.DONE
_MOVES = {
    ("detail", "approve"): _READY, ("detail", "drop"): _READY, ("detail", "adjust"): _READY, ("detail", "defer"): _READY, ("result", "change"): _READY,
    ("unproven", "accept"): _DONE, ("unproven", "change"): _READY, ("unproven", "retry"): _READY,
}  # fmt: skip
"""Answers that move a story: it is ready again for an attempt, another proposal or its turn later, or it is done."""


def facts_of(answer: Understood, question: Question, state: RunState, actor: str, scope: str = "") -> list[Fact]:
    """Return the facts of an answer to an open question. One event both closes the question and moves its story."""
    story = state.stories.get(question.story or "")
    if story is None:
        return [
            of_run(EventKind.QUESTION_ANSWERED, actor=actor, question=question.id, answer=answer.word, text=answer.text)
        ]
    if question.kind == "detail" and answer.word not in words_of(state, question):
        said = f"answer to {question.id}: {UNFIT[lacks(state, question)]}"
        return [of_run(EventKind.NOTE, actor=actor, message=said)]
    phase = _MOVES.get((question.kind, answer.word))
    answered = of_story(
        story, EventKind.QUESTION_ANSWERED, phase,
        attempt=0, actor=actor, question=question.id, answer=answer.word, text=answer.text, scope=scope,
    )  # fmt: skip
    return [answered, *_following(answer, question, story, actor)]


def _following(answer: Understood, question: Question, story: StoryState, actor: str) -> list[Fact]:
    """Return what follows at once from an answer."""
    if question.kind == "detail" and answer.word in ("approve", "drop") and story.detail and story.detail.commands:
        digests = list(story.detail.commands)
        return [of_run(EventKind.COMMANDS_APPROVED, actor=actor, digests=digests)]
    if question.kind == "grant" and answer.word == "grant":
        both = (question.limit, "run_max_attempts") if question.limit == "story_max_attempts" else (question.limit,)
        return [_raised(name, story.parent or story.id, actor) for name in both]
    if question.kind == "unproven" and answer.word != "accept":
        return one_attempt(story, actor)
    if (question.kind, answer.word) == ("there", "accept"):
        return accepted(story, actor, answer.text)
    if story.phase is not StoryPhase.BLOCKED or answer.word == "defer":
        return []
    reopened = of_story(story, EventKind.STORY_REOPENED, StoryPhase.READY, attempt=0, actor=actor)
    taken = accepted(story, actor, answer.text) if question.kind in JUDGED and answer.word == "accept" else []
    return [reopened, *taken]


def one_attempt(story: StoryState, actor: str) -> list[Fact]:
    """Return the facts that grant one more attempt for work that stands already."""
    return [_raised(name, story.id, actor) for name in ("story_max_attempts", "run_max_attempts")]


def _raised(limit: str, story: str, actor: str) -> Fact:
    own = story if limit.startswith("story_") else None
    return Fact(event=EventKind.BUDGET_RAISED, story=own, actor=actor, context={"limit": limit, "amount": 1})
