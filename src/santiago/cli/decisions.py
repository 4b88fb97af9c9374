"""`skip` and `verify`: a person's decisions about single stories, recorded like everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from santiago.cli.finding import find_run, split_target
from santiago.contract.errors import Kind, SantiagoError

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput

_QUIET = {
    "jobs": None, "gate": None, "chunks": None, "keep_going": False, "optimistic": False, "assume_external": False, "sandbox": None,
    "trust_commands": True, "dry_run": False, "no_input": True, "debug": False,
}  # fmt: skip
"""Options of a start that these commands do not have; commands of the document were approved when the run began."""


@click.command("skip")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--why", required=True, help="The reason; it is recorded.")
@click.option("--json", "as_json", is_flag=True, help="Print events as NDJSON.")
def skip(words: tuple[str, ...], why: str, as_json: bool) -> int:
    """Leave a story out: nobody waits for it any more, and the run goes on without it."""
    from santiago.cli.start.running import start

    out_dir, story, settings, plan = _target(words)
    start(out_dir, settings, plan, base=out_dir, only=(), as_json=as_json, skips=[(story, why)], **_QUIET)  # type: ignore[arg-type]
    return 0


@click.command("verify")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--from", "ref", required=True, metavar="REF", help="A branch or commit with your own work.")
@click.option("--json", "as_json", is_flag=True, help="Print events as NDJSON.")
def verify(words: tuple[str, ...], ref: str, as_json: bool) -> int:
    """Judge your own work on a story as an attempt, by the same checks, and integrate it if it passes."""
    from santiago.cli.start.running import start

    out_dir, story, settings, plan = _target(words)
    return start(
        out_dir,
        settings,
        plan,
        base=out_dir,
        only=(story,),
        as_json=as_json,
        own_work=(story, ref),
        **_QUIET,  # type: ignore[arg-type]
    )


def _target(words: tuple[str, ...]) -> tuple[Path, str, RunInput, Plan]:
    """Return the run and the story that are meant, with the run's frozen files."""
    from santiago.artifacts.files import read_bytes
    from santiago.artifacts.store import INPUT, PLAN
    from santiago.contract import codec
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput

    run, rest = split_target(words, least=1)
    if len(rest) != 1:
        raise click.UsageError("Say which story.")
    out_dir = find_run(run)
    plan = codec.decode(Plan, read_bytes(out_dir / PLAN, codec.MAX_BYTES), str(out_dir / PLAN))
    if rest[0] not in {story.id for story in plan.stories}:
        raise SantiagoError(Kind.USAGE, f"the plan has no story {rest[0]}", hint="`santiago status` lists them.")
    return out_dir, rest[0], codec.decode(RunInput, read_bytes(out_dir / INPUT, 2**20), str(out_dir / INPUT)), plan
