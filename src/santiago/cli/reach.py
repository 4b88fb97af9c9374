"""`stop`, `answer` and `change`: reach a run from outside, whether it is running or not."""

from __future__ import annotations

import json
import os
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from santiago.app.answered import answered_by
from santiago.app.finding import find_run as _find_run
from santiago.app.finding import find_story, names_run, naming, split_target
from santiago.app.loading import frozen, load, working
from santiago.app.start.leaks import without_secrets
from santiago.artifacts.inbox import Inbox
from santiago.cli.view.text import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.ports.desk import Letter
from santiago.executor.budget import Budget
from santiago.report.remedies import target

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import Run

ANSWERS = ("approve", "adjust", "defer", "validate", "change", "accept", "refuse", "stop")
FREE = "adjust"
"""What an answer in a person's own words means: go on, with this in mind; never that all is approved as it is."""

LONGEST = 32_000
"""Characters of a text; whoever has more to say puts it into the document."""

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def find_run(name: str | None) -> Path:
    """Return the out-dir of the run that is meant; raise where it is one of the repository that this one is a copy of."""
    from santiago.app.start.identity import refuse_copied

    out_dir = _find_run(name)
    refuse_copied(out_dir)
    return out_dir


def _actor() -> str:
    return os.environ.get("SANTIAGO_ACTOR") or os.environ.get("SIGEE_QUEUE_ACTOR") or "user"


@click.command("stop")
@click.argument("run", required=False)
@click.option("--now", is_flag=True, help="Do not wait for the current agent or check to end; its work is kept.")
@as_json_option
def stop(run: str | None, now: bool, as_json: bool) -> None:
    """Stop RUN, or the one of this repository that is running, at the next safe boundary."""
    out_dir = find_run(run)
    run_id = frozen(out_dir)[1].run_id or out_dir.name
    running = working(out_dir) is not None
    letter = Letter(kind="stop-now" if now else "stop", actor=_actor())
    new = running and Inbox(out_dir).drop(letter)
    if not running:
        text = f"{run_id} is not running; nothing to stop"
    elif new:
        text = f"{run_id} was asked to stop {'at once' if now else 'at the next safe boundary'}"
    else:
        text = f"{run_id} was asked to stop before; it is on its way"
    _tell(run_id, letter, text, done=new, running=running, as_json=as_json)


@click.command("answer")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] QUESTION ANSWER")
@click.option("--text", default="", help="What to tell the agent, beside one of the fixed answers.")
@as_json_option
def answer(words: tuple[str, ...], text: str, as_json: bool) -> None:
    """Answer an open question; the first answer counts.

    ANSWER is what you have to say, in your own words, or one of approve, adjust, defer, validate, change, accept, refuse, stop.

    \b
    santiago answer S2-1 "Euros, please"
    santiago answer S2-1 defer
    """
    name, rest = (words[0], words[1:]) if len(words) > 2 and names_run(words[0]) else (None, words)
    if len(rest) < 2:
        raise click.UsageError("Say which question, and the answer.")
    question, word, said = _understood(rest, text)
    run = load(find_run(name))
    with naming(run.run_id):
        _refuse_question(run, question, word)
        letter = Letter(kind="answer", subject=question, answer=word, text=_kept(said), actor=_actor())
        if not Inbox(run.out_dir).drop(letter):
            raise _answered(run, question)
    further = "" if run.worker else f"; `santiago resume{target(run.out_dir)}` takes it up"
    _tell(
        run.run_id, letter, f"{run.run_id}: {question} is answered{further}", running=bool(run.worker), as_json=as_json
    )


def _understood(words: tuple[str, ...], text: str) -> tuple[str, str, str]:
    """Return the question, the answer as one of the fixed words, and what is said beside it."""
    question, *given = words
    if len(given) == 1 and given[0].lower() in ANSWERS:
        return question, given[0].lower(), text
    if len(given) == 1 and (close := get_close_matches(given[0].lower(), ANSWERS, 1, cutoff=0.8)):
        hint = f"Say {close[0]}, or {FREE} --text {given[0]!r}."
        raise SantiagoError(Kind.USAGE, f"{given[0]!r} is nearly {close[0]!r}, and may not be meant", hint=hint)
    said = " ".join([*given, text]).strip()
    if not said:
        raise SantiagoError(Kind.USAGE, "the answer is empty", hint=f"Say something, or one of {', '.join(ANSWERS)}.")
    return question, FREE, said


def _refuse_question(run: Run, question: str, word: str) -> None:
    """An answer to nothing would be heard by nobody, and stand in the way of a true one."""
    asked = run.state.questions.get(question)
    if asked is None:
        names = ", ".join(one.id for one in run.state.open_questions()[:8])
        hint = f"Open are {names}." if names else "No question is open."
        raise SantiagoError(Kind.USAGE, f"nobody asked {question}", hint=hint)
    if asked.answer is not None:
        raise _answered(run, question)
    if asked.kind != "agent" and word not in ("accept", "refuse", "defer"):
        hint = f"`santiago answer {question} accept` takes the work as it is, `refuse --text …` has it done again."
        raise SantiagoError(Kind.USAGE, f"{question} takes accept or refuse, not {word!r}", hint=hint)


def _answered(run: Run, question: str) -> SantiagoError:
    first = answered_by(run.out_dir, question)
    named = f", by {first[0][:80]} at {first[1]}" if first else ""
    message = f"{question} was answered before{named}; the first answer counts"
    return SantiagoError(
        Kind.INPUT, message, hint="`santiago log` shows it; `santiago change` asks for something else."
    )


@click.command("change")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--text", required=True, help="What should be different.")
@as_json_option
def change(words: tuple[str, ...], text: str, as_json: bool) -> None:
    """Ask for a change of a story: a running attempt stops at once, and the text goes into the next one."""
    name, rest = split_target(words, least=1)
    if len(rest) != 1:
        raise click.UsageError("Say which story.")
    if not text.strip():
        raise click.UsageError("Say what should be different.")
    run = load(find_run(name))
    with naming(run.run_id):
        story = find_story(run.plan, rest[0]).id
        _refuse_late(run, story)
        letter = Letter(kind="change", subject=story, text=_kept(text), actor=_actor())
        Inbox(run.out_dir).drop(letter)
    message = f"{run.run_id}: the next attempt of {story} will see it{_further(run, story)}"
    _tell(run.run_id, letter, message, running=bool(run.worker), as_json=as_json)


def _refuse_late(run: Run, story: str) -> None:
    """A change can reach only a story that is still to be attempted."""
    found = run.state.stories[story]
    if found.satisfied:
        message = f"{story} is {'left out' if found.skipped else found.phase}, and that is never undone"
        raise SantiagoError(Kind.INPUT, message, hint="Ask for it in a story of its own.")


def _further(run: Run, story: str) -> str:
    """Say what else it takes until there is a next attempt."""
    found = run.state.stories[story]
    spent = found.counted >= Budget(run.run_input.limits, run.state).story_attempts(story)
    if spent and found.phase is StoryPhase.FAILED:
        return f"; its attempts are used up, so that takes `santiago resume{target(run.out_dir)} --add-attempts N`"
    return "" if run.worker else f"; `santiago resume{target(run.out_dir)}` takes it up"


def _kept(text: str) -> str:
    """Return a person's words as they are kept."""
    if len(text) > LONGEST:
        message = f"the text has {len(text):,} characters, and {LONGEST:,} are the most"
        raise SantiagoError(Kind.USAGE, message, hint="Put it into a file of the repository, and name that.")
    return without_secrets(text)


def _tell(run_id: str, letter: Letter, text: str, *, done: bool = True, running: bool, as_json: bool) -> None:
    """Say what was done, and to which run."""
    if not as_json:
        say(text, err=True)
        return
    asked = {"kind": letter.kind, "subject": letter.subject or None, "answer": letter.answer or None, "text": letter.text or None}  # fmt: skip
    told = {"contract_version": 1, "run_id": run_id, **asked, "done": done, "running": running, "message": text}
    click.echo(json.dumps(told, indent=2, ensure_ascii=False))
