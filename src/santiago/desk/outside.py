"""Letters from outside, turned into facts: the inbox of a run as the coordinator hears it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import accepted, of_run, of_story
from santiago.contract.phases import StoryPhase
from santiago.contract.ports.desk import Heard, Letter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.state import RunState

NOTED = 3
"""Faulty letters that each get a line of the log, of those that are found together."""


def understood(letters: Sequence[Letter], state: RunState) -> Heard:
    """Return the facts that letters make; one that cannot be understood is noted and has no other effect."""
    heard = Heard()
    heard.facts += _put_aside([f"inbox/{letter.name}: {letter.fault}" for letter in letters if letter.fault])
    for letter in letters:
        if letter.fault:
            continue
        if letter.kind in ("stop", "stop-now"):
            heard.stop = "now" if letter.kind == "stop-now" or heard.stop == "now" else "soon"
            heard.facts.append(of_run(EventKind.STOP_REQUESTED, actor=letter.actor, mode=letter.kind))
        elif letter.kind == "answer":
            heard.facts += _answer(letter, state)
        elif letter.kind == "change":
            fact = _change(letter, state)
            heard.facts.append(fact)
            if fact.story is not None:
                heard.changed.append(fact.story)
    return heard


def _put_aside(faults: Sequence[str]) -> list[Fact]:
    """Note what cannot be understood: the first few one by one, the others by their number."""
    words = list(faults[:NOTED])
    if len(faults) > NOTED:
        words.append(f"{len(faults) - NOTED} more that cannot be understood")
    return [of_run(EventKind.NOTE, message=f"request put aside: {text}") for text in words]


def _change(letter: Letter, state: RunState) -> Fact:
    """A story that is done or left out is never attempted again, so nothing can be changed about it."""
    story = state.stories.get(letter.subject)
    if story is None or story.satisfied:
        message = f"change of {letter.subject}: {'it is ' + story.phase if story else 'there is no such story'}"
        return of_run(EventKind.NOTE, actor=letter.actor, message=message)
    return Fact(event=EventKind.CHANGE_REQUESTED, story=story.id, actor=letter.actor, context={"text": letter.text})


def _answer(letter: Letter, state: RunState) -> list[Fact]:
    """The first answer counts; a story that waited for it may go on, unless the answer is to put it off."""
    question = state.questions.get(letter.subject)
    if question is None or question.answer is not None:
        message = f"answer to {letter.subject}: there is no such open question"
        return [of_run(EventKind.NOTE, actor=letter.actor, message=message)]
    if question.kind != "agent" and letter.answer not in ("accept", "refuse", "defer", "stop"):
        message = f"answer to {letter.subject}: it takes accept or refuse, not {letter.answer[:40]!r}"
        return [of_run(EventKind.NOTE, actor=letter.actor, message=message)]
    facts = [
        Fact(
            event=EventKind.QUESTION_ANSWERED,
            story=question.story,
            actor=letter.actor,
            context={"question": question.id, "answer": letter.answer, "text": letter.text},
        )
    ]
    story = state.stories.get(question.story or "")
    if story is not None and story.phase is StoryPhase.BLOCKED and letter.answer not in ("defer", "stop"):
        facts.append(of_story(story, EventKind.STORY_REOPENED, StoryPhase.READY, attempt=0, actor=letter.actor))
        if question.kind != "agent" and letter.answer == "accept":
            facts += accepted(story, letter.actor, letter.text)
    return facts
