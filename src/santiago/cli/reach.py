"""`stop`, `answer` and `change`: reach a run from outside, whether it is running or not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from santiago.app.actor import actor as named
from santiago.app.answered import answered_by
from santiago.app.finding import find_run as _find_run
from santiago.app.finding import find_story, names_run, naming, split_target
from santiago.app.loading import frozen, load, working
from santiago.app.start.leaks import without_secrets
from santiago.artifacts.inbox import Inbox
from santiago.cli.options import actor_option
from santiago.cli.view.text import say
from santiago.contract.answers import APPROVING, Understood, describe, understood
from santiago.contract.details import EXPIRED
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.ports.desk import Letter
from santiago.executor.budget import Budget
from santiago.report.asking import NO_PLAN, offers, words_of
from santiago.report.remedies import target
from santiago.util.text import harmless

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.contract.state import Question

LONGEST = 32_000
"""Characters of a text; whoever has more to say puts it into the document."""

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def find_run(name: str | None) -> Path:
    """Return the out-dir of the run that is meant; raise where it is one of the repository that this one is a copy of."""
    from santiago.app.start.identity import refuse_copied

    out_dir = _find_run(name)
    refuse_copied(out_dir)
    return out_dir


@click.command("stop")
@click.argument("run", required=False)
@click.option("--now", is_flag=True, help="Do not wait for the current agent or check to end; its work is kept.")
@actor_option
@as_json_option
def stop(run: str | None, now: bool, actor: str | None, as_json: bool) -> None:
    """Stop RUN, or the one of this repository that is running, at the next safe boundary."""
    out_dir = find_run(run)
    run_id = frozen(out_dir)[1].run_id or out_dir.name
    running = working(out_dir) is not None
    letter = Letter(kind="stop-now" if now else "stop", actor=named(actor))
    new = running and Inbox(out_dir).drop(letter)
    if not running:
        text = f"{run_id} is not running; nothing to stop"
    elif new:
        text = f"{run_id} was asked to stop {'at once' if now else 'at the next safe boundary'}"
    else:
        text = f"{run_id} was asked to stop before; it is on its way"
    _tell(run_id, letter, text, done=new, running=running, as_json=as_json)


@click.command("answer")
@click.argument("words", nargs=-1, metavar="[RUN] [QUESTION ANSWER]")
@click.option("--text", default="", help="What to say beside one of the fixed words.")
@click.option("--rest", type=click.Choice(("chunk", "run")), help="Approve what is still to come as well, this far.")
@actor_option
@as_json_option
def answer(words: tuple[str, ...], text: str, rest: str | None, actor: str | None, as_json: bool) -> None:
    """Answer an open question; the first answer counts. Without a question, list those of all runs of this repository.

    \b
    santiago answer                                  what is asked, and the words that each takes
    santiago answer S2-detail-1 ok
    santiago answer S2-detail-1 "in Euros, please"
    santiago answer S2-result-1 validate --rest chunk
    """
    name, given = (words[0], words[1:]) if len(words) != 2 and words and names_run(words[0]) else (None, words)
    if not given:
        from santiago.cli.open_questions import show

        show(name, as_json=as_json)
        return
    if len(given) < 2:
        raise click.UsageError("Say which question, and the answer; `santiago answer` alone lists them.")
    run = load(find_run(name) if name else _asking(given[0]))
    with naming(run.run_id):
        letter = _letter(run, given[0], " ".join(given[1:]), text, rest, named(actor))
        # To stop what rests would only stand in the way of a true answer.
        idle = letter.answer == "stop" and not run.worker
        if not idle and not Inbox(run.out_dir).drop(letter):
            raise _answered(run.out_dir, given[0], None)
    further = "" if run.worker else f"; `santiago resume{target(run.out_dir)}` takes it up"
    said = describe(Understood(word=letter.answer, text=letter.text))
    message = f"{run.run_id}: {given[0]} is answered: {harmless(said)}{further}"
    if idle:
        message = f"{run.run_id} is not running; nothing to stop, and {given[0]} stays open"
    _tell(run.run_id, letter, message, done=not idle, running=bool(run.worker), as_json=as_json)


def _asking(question: str) -> Path:
    """Return the run that a question is of: where none is named, the one that asks it, else the usual one."""
    from santiago.report.questions import asking

    found = [run.out_dir for run, _ in asking(None) if question in run.state.questions]
    return found[0] if len(found) == 1 else find_run(None)


def _letter(run: Run, question: str, given: str, text: str, rest: str | None, who: str) -> Letter:
    """Return the letter that an answer makes; an answer to nothing would stand in the way of a true one."""
    asked = run.state.questions.get(question)
    if asked is None:
        names = ", ".join(one.id for one in run.state.open_questions()[:8])
        hint = f"Open are {names}." if names else "No question is open."
        raise SantiagoError(Kind.USAGE, f"nobody asked {question}", hint=hint)
    if asked.answer is not None:
        raise _answered(run.out_dir, question, asked)
    meant = understood(asked.kind, given, text, asked.options)
    if not offers(words_of(run.state, asked), meant):
        raise SantiagoError(Kind.INPUT, NO_PLAN, where=question)
    if rest and meant.word != APPROVING.get(asked.kind):
        raise SantiagoError(Kind.USAGE, f"--rest goes with an approval, not with {meant.word!r}")
    if rest == "chunk" and asked.story and run.state.chunks[run.state.stories[asked.story].chunk].ended:
        raise SantiagoError(Kind.INPUT, "that chunk is over, so nothing of it is still to come")
    said = _kept(meant.text)
    return Letter(kind="answer", subject=question, answer=meant.word, text=said, scope=rest or "", actor=who)


def _answered(out_dir: Path, question: str, asked: Question | None) -> SantiagoError:
    """Say that the first answer counts, whose it was, and when."""
    if asked is not None and asked.answer == EXPIRED:
        message = f"{question} has expired; the next start asks again"
        return SantiagoError(Kind.INPUT, message, hint=f"`santiago resume{target(out_dir)}`")
    first = answered_by(out_dir, question)
    by = f", by {harmless(first[0])} at {first[1]}" if first else ""
    return SantiagoError(
        Kind.INPUT,
        f"{question} was answered before{by}; the first answer counts",
        hint="`santiago log` shows it; `santiago change` asks for something else.",
    )


@click.command("change")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--text", required=True, help="What should be different.")
@actor_option
@as_json_option
def change(words: tuple[str, ...], text: str, actor: str | None, as_json: bool) -> None:
    """Ask for a change of a story: a running attempt stops at once, and the text goes into the next one."""
    name, rest = split_target(words, least=1)
    if len(rest) != 1:
        raise click.UsageError("Say which story.")
    if not text.strip():
        raise click.UsageError("Say what should be different.")
    run = load(find_run(name))
    with naming(run.run_id):
        story = find_story(run, rest[0]).id
        _refuse_late(run, story)
        letter = Letter(kind="change", subject=story, text=_kept(text), actor=named(actor))
        Inbox(run.out_dir).drop(letter)
    message = f"{run.run_id}: the next attempt of {story} will see it{_further(run, story)}"
    _tell(run.run_id, letter, message, running=bool(run.worker), as_json=as_json)


def _refuse_late(run: Run, story: str) -> None:
    """A change can reach any story that is neither done nor left out."""
    found = run.state.stories[story]
    if found.skipped or found.phase is StoryPhase.DONE:
        message = f"{story} is {'left out' if found.skipped else found.phase}, and that is never undone"
        raise SantiagoError(Kind.INPUT, message, hint="Ask for it in a story of its own.")


def _further(run: Run, story: str) -> str:
    """Say what else it takes until there is a next attempt."""
    found = run.state.stories[story]
    spent = found.counted >= Budget(run.run_input.limits, run.state).attempts_of(found)
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
