"""`skip` and `verify`: a person's decisions about single stories, recorded like everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from santiago.cli.finding import find_run, split_target
from santiago.cli.options import Flags
from santiago.contract.errors import Kind, SantiagoError

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput


@click.command("skip")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--why", required=True, help="The reason; it is recorded.")
@click.option("--json", "as_json", is_flag=True, help="Print events as NDJSON.")
def skip(words: tuple[str, ...], why: str, as_json: bool) -> int:
    """Leave a story out: nobody waits for it any more, and the run goes on without it."""
    from santiago.cli.start.running import start

    out_dir, story, settings, plan = _target(words)
    start(out_dir, settings, plan, _flags(as_json=as_json), base=out_dir, skips=[(story, why)])
    return 0


@click.command("verify")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--from", "ref", required=True, metavar="REF", help="A branch or commit with your own work.")
@click.option("--json", "as_json", is_flag=True, help="Print events as NDJSON.")
def verify(words: tuple[str, ...], ref: str, as_json: bool) -> int:
    """Judge your own work on a story as an attempt, by the same checks, and integrate it if it passes."""
    from santiago.cli.start.running import start

    out_dir, story, settings, plan = _target(words)
    return start(out_dir, settings, plan, _flags(as_json=as_json), base=out_dir, own_work=(story, ref))


def _flags(*, as_json: bool) -> Flags:
    """Commands of the document were approved when the run began, so nothing is left to ask."""
    return Flags(as_json=as_json, trust_commands=True, no_input=True)


def _target(words: tuple[str, ...]) -> tuple[Path, str, RunInput, Plan]:
    """Return the run and the story that are meant, with the run's frozen files."""
    from santiago.cli.loading import frozen

    run, rest = split_target(words, least=1)
    if len(rest) != 1:
        raise click.UsageError("Say which story.")
    out_dir = find_run(run)
    plan, settings = frozen(out_dir)
    if rest[0] not in {story.id for story in plan.stories}:
        raise SantiagoError(Kind.USAGE, f"the plan has no story {rest[0]}", hint="`santiago status` lists them.")
    return out_dir, rest[0], settings, plan
