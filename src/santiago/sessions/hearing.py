"""Letters to a planning session, turned into facts."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from santiago.contract.answers import understood
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_run
from santiago.contract.record import lean
from santiago.sessions.decide import too_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.contract.answers import Letter
    from santiago.contract.policy import Limits
    from santiago.contract.session import SessionState


@lean()
class Heard:
    """What follows from letters."""

    facts: list[Fact] = field(default_factory=list)
    void: list[str] = field(default_factory=list)
    """Names of letters that answered nothing. Their questions stay open."""
    cancelled: str = ""
    """Who asked to end the present turn."""


def heard(letters: Sequence[Letter], state: SessionState, limits: Limits, name_run: Callable[[], str]) -> Heard:
    """Return what follows from letters. A letter that cannot be obeyed is only noted."""
    found, answered = Heard(), set()
    for letter in letters:
        if wants_end(letter) and state.turn is not None:
            found.cancelled = found.cancelled or letter.actor
            continue
        trouble = letter.fault or _trouble(letter, state, limits)
        if trouble or letter.subject in answered:
            found.void.append(letter.name)
            if trouble:
                found.facts.append(of_run(EventKind.NOTE, actor=letter.actor, message=f"{letter.name}: {trouble}"))
            continue
        answered.add(letter.subject)
        found.facts.append(_answer(letter, state, name_run))
    return found


def wants_end(letter: Letter) -> bool:
    """Tell whether a letter asks to end the present turn."""
    return letter.kind in ("stop", "stop-now") and not letter.fault


def _trouble(letter: Letter, state: SessionState, limits: Limits) -> str:
    """Return why a letter cannot be obeyed; empty if it can."""
    if letter.kind != "answer":
        return "a planning session takes answers only"
    question = state.questions.get(letter.subject)
    if question is None or question.answer is not None:
        return "there is no such open question"
    try:
        answer = understood(question.kind, letter.answer, letter.text)
    except SantiagoError as error:
        return error.message
    if answer.word == "stop":
        return "the question stays open"
    return (too_many(state, limits) or "") if answer.word in ("adjust", "edit") and question.kind == "plan" else ""


def _answer(letter: Letter, state: SessionState, name_run: Callable[[], str]) -> Fact:
    question = state.questions[letter.subject]
    answer = understood(question.kind, letter.answer, letter.text)
    approved = question.kind == "plan" and answer.word == "approve"
    return of_run(
        EventKind.QUESTION_ANSWERED, actor=letter.actor, question=question.id, answer=answer.word, text=answer.text,
        revision=state.asked_about[question.id], run=name_run() if approved else "",
    )  # fmt: skip
