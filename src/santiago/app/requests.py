"""Requests of people to a run: stop, an answer, a change, a hint, a pause after each chunk.

Each request is a letter in the run's inbox; the coordinator turns it into facts. So this works whether the run is running or
not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.app.finding import find_story, target
from santiago.app.loading import load
from santiago.app.start.leaks import without_secrets
from santiago.artifacts.inbox import Inbox
from santiago.contract.answers import (
    APPROVING,
    UNFIT,
    Letter,
    Understood,
    describe,
    lacks,
    offers,
    understood,
    words_of,
)
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.event_effects import EXPIRED
from santiago.contract.phases import StoryPhase
from santiago.contract.record import record
from santiago.executor.budget import Budget
from santiago.util.clock import moment
from santiago.util.own_run import refuse_own_word
from santiago.util.text import harmless

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.contract.answers import Via
    from santiago.contract.state import Question


LONGEST = 32_000
"""Longest text, in characters. More belongs into the document."""


@record
class Asked:
    """The outcome of a request."""

    letter: Letter
    text: str
    """The message for the person."""
    done: bool
    """Whether a letter was left for the run. None is left if there is nothing to do."""


def stop(out_dir: Path, run_id: str, who: str, *, running: bool, now: bool = False, detach: bool = False) -> Asked:
    """Ask a run to stop at the next safe boundary, or at once; or to leave alone what its workers have, and go."""
    if detach and not load(out_dir).state.engine:
        message = f"{run_id} has no workers, so nothing would go on without it"
        raise SantiagoError(Kind.USAGE, message, hint="`santiago stop` stops it at the next safe boundary.")
    letter = Letter(kind="stop-now" if now else "stop-detach" if detach else "stop", actor=who)
    new = running and _leave(out_dir, run_id, letter)
    if not running:
        text = f"{run_id} is not running; nothing to stop"
    elif new:
        when = "at once" if now else "and leave its workers at work" if detach else "at the next safe boundary"
        text = f"{run_id} was asked to stop {when}"
    else:
        text = f"{run_id} was asked to stop before, and is stopping"
    return Asked(letter=letter, text=text, done=new)


def answer(
    run: Run, question: str, given: str, who: str, *, text: str = "", rest: str | None = None, via: Via = ""
) -> Asked:
    """Answer an open question. The first answer counts; a second one is refused, and the error names who gave the first."""
    letter = replace(_answer(run, question, given, text, rest, who), via=via)
    # The run is not running, so a `stop` would only block a real answer.
    idle = letter.answer == "stop" and not run.worker
    if not idle and not _leave(run.out_dir, run.run_id, letter):
        raise _answered(run.out_dir, question, None)
    if idle:
        message = f"{run.run_id} is not running; nothing to stop, and {question} stays open"
    else:
        said = harmless(describe(Understood(word=letter.answer, text=letter.text)))
        message = f"{run.run_id}: {question} is answered: {said}{_taken_up(run)}"
    return Asked(letter=letter, text=message, done=not idle)


def change(run: Run, story: str, text: str, who: str) -> Asked:
    """Ask for a change of a story. A running attempt stops at once, and the next one is told the text."""
    return _tell_next(run, story, Letter(kind="change", text=text, actor=who))


def hint(run: Run, story: str, text: str, who: str) -> Asked:
    """Leave a hint for the next attempt of a story. A running attempt is not disturbed."""
    return _tell_next(run, story, Letter(kind="hint", text=text, actor=who))


def pause(run: Run, who: str, *, on: bool) -> Asked:
    """Have a running run pause after each chunk, or go on by itself, until this start of it ends."""
    letter = Letter(kind="pause", answer="on" if on else "off", actor=who)
    if not run.worker:
        how = f"`santiago resume{target(run.out_dir)}{' --gate chunk' if on else ''}`"
        told = f"begins it so that it {'pauses' if on else 'goes on'} after each chunk"
        return Asked(letter=letter, text=f"{run.run_id} is not running; {how} {told}", done=False)
    _leave(run.out_dir, run.run_id, letter)
    word = "pause after each chunk" if on else "go on by itself after each chunk"
    return Asked(letter=letter, text=f"{run.run_id} was asked to {word}", done=True)


def _leave(out_dir: Path, run_id: str, letter: Letter) -> bool:
    """Leave a letter for the run; return False if the same was asked before. No program of the run itself may leave one."""
    refuse_own_word(run_id)
    return Inbox(out_dir).drop(letter)


def _answer(run: Run, question: str, given: str, text: str, rest: str | None, who: str) -> Letter:
    """Return the letter for an answer; raise if the answer is not valid, since its letter would block a valid one."""
    asked = run.state.questions.get(question)
    if asked is None:
        names = ", ".join(one.id for one in run.state.open_questions()[:8])
        told = f"Open questions: {names}." if names else "No question is open."
        raise SantiagoError(Kind.USAGE, f"there is no question {question}", hint=told)
    if asked.answer is not None:
        raise _answered(run.out_dir, question, asked)
    meant = understood(asked.kind, given, text, asked.options)
    if not offers(words_of(run.state, asked), meant):
        raise SantiagoError(Kind.INPUT, UNFIT[lacks(run.state, asked)], where=question)
    if rest and meant.word != APPROVING.get(asked.kind):
        raise SantiagoError(Kind.USAGE, f"--rest can be used with an approval, not with {meant.word!r}")
    if rest == "chunk" and asked.story and run.state.chunks[run.state.stories[asked.story].chunk].ended:
        raise SantiagoError(Kind.INPUT, "that chunk is finished, so there is nothing left in it to approve")
    said = _kept(meant.text)
    return Letter(kind="answer", subject=question, answer=meant.word, text=said, scope=rest or "", actor=who)


def _answered(out_dir: Path, question: str, asked: Question | None) -> SantiagoError:
    """Return the error that the question was already answered: by whom, and when; from the log, or a letter that is not read yet."""
    asked = asked or load(out_dir).state.questions.get(question)
    if asked is not None and asked.answer == EXPIRED:
        message = f"{question} has expired; the next start asks again"
        return SantiagoError(Kind.INPUT, message, hint=f"`santiago resume{target(out_dir)}`")
    known = asked is not None and asked.answer is not None
    first = (asked.actor, asked.answered_at) if asked and known else Inbox(out_dir).answered(question)
    by = f", by {harmless(first[0])} at {moment(first[1])}" if first else ""
    return SantiagoError(
        Kind.INPUT,
        f"{question} was answered before{by}; the first answer counts",
        hint="`santiago log` shows it; `santiago change` asks for something else.",
    )


def _tell_next(run: Run, name: str, letter: Letter) -> Asked:
    """Leave a text for a story's next attempt; raise if the story is done or left out, since it has none."""
    if not letter.text.strip():
        raise SantiagoError(Kind.USAGE, "the text is empty; say what should be different")
    story = find_story(run, name).id
    found = run.state.stories[story]
    if found.skipped or found.phase is StoryPhase.DONE:
        message = f"{story} is {'left out' if found.skipped else found.phase}, and that cannot be undone"
        raise SantiagoError(Kind.INPUT, message, hint="Write a new story for it.")
    letter = Letter(kind=letter.kind, subject=story, text=_kept(letter.text), actor=letter.actor)
    _leave(run.out_dir, run.run_id, letter)
    text = f"{run.run_id}: the next attempt of {story} will see it{_further(run, story)}"
    return Asked(letter=letter, text=text, done=True)


def _further(run: Run, story: str) -> str:
    """Return what else is needed before there is a next attempt."""
    found = run.state.stories[story]
    spent = found.counted >= Budget(run.run_input.limits, run.state).attempts_of(found)
    if spent and found.phase is StoryPhase.FAILED:
        return f"; its attempts are used up: `santiago resume{target(run.out_dir)} --add-attempts N` grants more"
    return _taken_up(run)


def _taken_up(run: Run) -> str:
    return "" if run.worker else f"; `santiago resume{target(run.out_dir)}` takes it up"


def _kept(text: str) -> str:
    """Return a person's text in the form in which it is stored."""
    if len(text) > LONGEST:
        message = f"the text has {len(text):,} characters, and {LONGEST:,} are the most"
        raise SantiagoError(Kind.USAGE, message, hint="Put it into a file of the repository, and name that.")
    return without_secrets(text)
