"""`stop`, `answer` and `change`: reach a run from outside, whether it is running or not."""

from __future__ import annotations

import os

import click

from santiago.artifacts.inbox import Inbox, Request
from santiago.artifacts.lock import holder
from santiago.cli.finding import find_run, split_target
from santiago.cli.start.leaks import without_secrets
from santiago.cli.view.text import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import is_story_id

ANSWERS = ("approve", "adjust", "defer", "validate", "change", "stop")


def _actor() -> str:
    return os.environ.get("SANTIAGO_ACTOR") or os.environ.get("SIGEE_QUEUE_ACTOR") or "user"


@click.command("stop")
@click.argument("run", required=False)
@click.option("--now", is_flag=True, help="Do not wait for the current agent or check to end; its work is kept.")
def stop(run: str | None, now: bool) -> None:
    """Stop RUN, or the latest run of this repository, at the next safe boundary."""
    out_dir = find_run(run)
    if holder(out_dir) is None:
        say(f"{out_dir.name} is not running; nothing to stop", err=True)
        return
    new = Inbox(out_dir).drop(Request(kind="stop-now" if now else "stop", actor=_actor()))
    say(
        "asked to stop" + (" at once" if now else " at the next safe boundary") if new else "was asked to stop already",
        err=True,
    )


@click.command("answer")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] QUESTION ANSWER")
@click.option("--text", default="", help="What to tell the agent.")
def answer(words: tuple[str, ...], text: str) -> None:
    """Answer an open question; the first answer counts. ANSWER: approve, adjust, defer, validate, change or stop."""
    run, rest = split_target(words, least=2)
    if len(rest) != 2:
        raise click.UsageError("Say which question, and the answer.")
    question, word = rest
    if word not in ANSWERS:
        raise SantiagoError(
            Kind.USAGE, f"{word!r} is no answer", hint=f"Say one of {', '.join(ANSWERS)}; more goes into --text."
        )
    out_dir = find_run(run)
    if not Inbox(out_dir).drop(
        Request(kind="answer", subject=question, answer=word, text=without_secrets(text), actor=_actor())
    ):
        raise SantiagoError(
            Kind.INPUT, f"{question} was answered before; the first answer counts", hint="`santiago log` shows it."
        )
    running = holder(out_dir) is not None
    say("answered" + ("" if running else f"; `santiago resume {out_dir}` takes it up"), err=True)


@click.command("change")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--text", required=True, help="What should be different.")
def change(words: tuple[str, ...], text: str) -> None:
    """Ask for a change of a story: a running attempt stops at once, and the text goes into the next one."""
    run, rest = split_target(words, least=1)
    story = rest[0] if len(rest) == 1 else ""
    if not is_story_id(story):
        raise click.UsageError("Say which story.")
    out_dir = find_run(run)
    Inbox(out_dir).drop(Request(kind="change", subject=story, text=without_secrets(text), actor=_actor()))
    say(f"the next attempt of {story} will see it", err=True)
