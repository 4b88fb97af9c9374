"""The facts that follow from an answer: the question is closed, and its story goes on, goes back, or is deferred."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.answers import JUDGED
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import accepted, of_run, of_story
from santiago.contract.phases import StoryPhase

if TYPE_CHECKING:
    from santiago.contract.answers import Understood
    from santiago.contract.state import Question, RunState, StoryState

_SENDS_BACK = {("detail", "approve"), ("detail", "adjust"), ("detail", "defer"), ("result", "change")}
"""Answers with which a story is ready again: for its attempt, another proposal, or its turn later."""


def facts_of(answer: Understood, question: Question, state: RunState, actor: str, scope: str = "") -> list[Fact]:
    """Return the facts of an answer to an open question. One event both closes the question and moves its story."""
    story = state.stories.get(question.story or "")
    if story is None:
        return [
            of_run(EventKind.QUESTION_ANSWERED, actor=actor, question=question.id, answer=answer.word, text=answer.text)
        ]
    if (question.kind, answer.word) == ("detail", "approve") and not (story.detail and story.detail.digest):
        return [of_run(EventKind.NOTE, actor=actor, message=f"answer to {question.id}: there is no plan to approve")]
    phase = StoryPhase.READY if (question.kind, answer.word) in _SENDS_BACK else None
    answered = of_story(
        story, EventKind.QUESTION_ANSWERED, phase,
        attempt=0, actor=actor, question=question.id, answer=answer.word, text=answer.text, scope=scope,
    )  # fmt: skip
    return [answered, *_following(answer, question, story, actor)]


def _following(answer: Understood, question: Question, story: StoryState, actor: str) -> list[Fact]:
    """Return what follows at once from an answer."""
    if (question.kind, answer.word) == ("detail", "approve") and story.detail and story.detail.commands:
        digests = list(story.detail.commands)
        return [of_run(EventKind.COMMANDS_APPROVED, actor=actor, digests=digests)]
    if question.kind == "grant" and answer.word == "grant":
        both = (question.limit, "run_max_attempts") if question.limit == "story_max_attempts" else (question.limit,)
        return [_raised(name, story.parent or story.id, actor) for name in both]
    if story.phase is not StoryPhase.BLOCKED or answer.word == "defer":
        return []
    reopened = of_story(story, EventKind.STORY_REOPENED, StoryPhase.READY, attempt=0, actor=actor)
    taken = accepted(story, actor, answer.text) if question.kind in JUDGED and answer.word == "accept" else []
    return [reopened, *taken]


def _raised(limit: str, story: str, actor: str) -> Fact:
    own = story if limit.startswith("story_") else None
    return Fact(event=EventKind.BUDGET_RAISED, story=own, actor=actor, context={"limit": limit, "amount": 1})
