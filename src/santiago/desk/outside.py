"""Letters from outside, turned into facts: the inbox of a run as the coordinator hears it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.answers import understood as understood_as
from santiago.contract.errors import SantiagoError
from santiago.contract.event_effects import PAUSES, REST
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_run, of_story
from santiago.contract.phases import WAITING, StoryPhase
from santiago.contract.ports.desk import Heard, Letter
from santiago.desk.answering import facts_of, one_attempt

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from santiago.contract.state import Question, RunState, StoryState

NOTED = 3
"""How many of the faulty letters that are found together get a line of their own in the log."""


def understood(letters: Sequence[Letter], state: RunState, held: Collection[str] = ()) -> Heard:
    """Return the facts that follow from letters. A letter that cannot be understood is only noted."""
    heard, decided = Heard(), set(held)
    heard.facts += _put_aside([f"inbox/{letter.name}: {letter.fault}" for letter in letters if letter.fault])
    for letter in letters:
        if letter.fault:
            heard.void += [letter.name] if letter.kind == "answer" else []
            continue
        if about := _about(letter, state):
            if about in decided:  # the facts of the earlier letter may move the story
                heard.later.append(letter.name)
                continue
            decided.add(about)
        if letter.kind in ("stop", "stop-now"):
            heard.stop = "now" if letter.kind == "stop-now" or heard.stop == "now" else "soon"
            heard.facts.append(of_run(EventKind.STOP_REQUESTED, actor=letter.actor, mode=letter.kind))
        elif letter.kind == "answer":
            _hear_answer(letter, state, heard)
        elif letter.kind == "pause":
            mode = PAUSES if letter.answer == "on" else "auto"
            heard.facts.append(of_run(EventKind.PAUSES_SET, actor=letter.actor, mode=mode))
        elif letter.kind == "hint":
            heard.facts.append(_hint(letter, state))
        elif letter.kind == "change":
            fact = _change(letter, state)
            heard.facts.append(fact)
            if fact.story is not None:
                heard.changed.append(fact.story)
                story = state.stories[fact.story]
                heard.facts += one_attempt(story, letter.actor) if story.integrated else []
    return heard


def _about(letter: Letter, state: RunState) -> str:
    """Return the story that a letter is about; empty if it is about the run, or about something unknown."""
    if letter.kind == "answer":
        question = state.questions.get(letter.subject)
        return (question.story or "") if question else ""
    return letter.subject if letter.kind in ("change", "hint") else ""


def _hear_answer(letter: Letter, state: RunState, heard: Heard) -> None:
    """Take up an answer. The first one counts. `stop` is not an answer: it leaves the question open."""
    question = state.questions.get(letter.subject)
    if question is None or question.answer is None:
        facts = _answers(letter, question, state, heard)
        if not any(fact.event is EventKind.QUESTION_ANSWERED for fact in facts):
            heard.void.append(letter.name)
        heard.facts += facts
    elif not _is_known(letter, question):
        heard.facts.append(_noted(letter, "there is no such open question"))


def _is_known(letter: Letter, question: Question) -> bool:
    """Tell whether the log already has this answer: a crash came before the letter was put away, so it was read again."""
    try:
        answer = understood_as(question.kind, letter.answer, letter.text, question.options)
    except SantiagoError:
        return False
    return (question.answer, question.detail, question.actor) == (answer.word, answer.text, letter.actor)


def _answers(letter: Letter, question: Question | None, state: RunState, heard: Heard) -> list[Fact]:
    """Return the facts that follow from a letter about an open question."""
    if question is None:
        return [_noted(letter, "there is no such open question")]
    try:
        answer = understood_as(question.kind, letter.answer, letter.text, question.options)
    except SantiagoError as error:
        return [_noted(letter, error.message)]
    facts = []
    if answer.word == "stop":
        heard.stop = heard.stop or "soon"
        facts.append(of_run(EventKind.STOP_REQUESTED, actor=letter.actor, mode=REST))
    if answer.word != "stop" or question.kind == "continue":
        facts += facts_of(answer, question, state, letter.actor, letter.scope)
    return facts


def _noted(letter: Letter, why: str) -> Fact:
    return of_run(EventKind.NOTE, actor=letter.actor, message=f"answer to {letter.subject}: {why}")


def _put_aside(faults: Sequence[str]) -> list[Fact]:
    """Note what cannot be understood: the first few one by one, the others by their number."""
    words = list(faults[:NOTED])
    if len(faults) > NOTED:
        words.append(f"{len(faults) - NOTED} more that cannot be understood")
    return [of_run(EventKind.NOTE, message=f"request put aside: {text}") for text in words]


def _change(letter: Letter, state: RunState) -> Fact:
    """Return the fact that sends a story back for changes, or the note that it is done or left out and cannot go back."""
    story = state.stories.get(letter.subject)
    if story is None or story.skipped or story.phase is StoryPhase.DONE:
        return _too_late(letter, story)
    phase = None if story.phase in (*WAITING, StoryPhase.RUNNING) else StoryPhase.READY
    return of_story(story, EventKind.CHANGE_REQUESTED, phase, attempt=0, actor=letter.actor, text=letter.text)


def _hint(letter: Letter, state: RunState) -> Fact:
    """Return the fact that gives a hint to the story's next attempt. Nothing is interrupted."""
    story = state.stories.get(letter.subject)
    if story is None or story.skipped or story.phase is StoryPhase.DONE:
        return _too_late(letter, story)
    return of_story(story, EventKind.HINT_ADDED, attempt=0, actor=letter.actor, text=letter.text)


def _too_late(letter: Letter, story: StoryState | None) -> Fact:
    why = f"it is {story.phase}" if story else "there is no such story"
    return of_run(EventKind.NOTE, actor=letter.actor, message=f"{letter.kind} of {letter.subject}: {why}")
