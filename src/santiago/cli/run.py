"""`santiago run PRD`: plan and execute in one go, the newcomer's command."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from santiago.cli.folder import document_of
from santiago.cli.options import Flags, Reading, agent_option, reading_options, run_options
from santiago.contract.reasons import ExitCode


@click.command("run")
@click.argument("prd", type=click.Path(path_type=Path))
@agent_option("An agent by name, or any command line; default: the first that is installed and signed in.")
@click.option("--model", metavar="NAME", help="The model that the agent should use, by its own name for it.")
@click.option("--verify", "checks", multiple=True, metavar="CMD", help="A check of every story (may be repeated).")
@click.option("--playbook", type=click.Path(path_type=Path), help="What the scripted agent plays.")
@click.option("--out-dir", type=click.Path(path_type=Path), help="The run's folder; default .santiago/runs/<run id>.")
@click.option("--enqueue", is_flag=True, help="Hand the document to the planner instead: a request on the board.")
@click.option("--new", is_flag=True, help="Start a new run, even if one of this document is not finished.")
@click.option("--resume", is_flag=True, help="Go on with the run of this document that is not finished.")
@reading_options
@run_options
def command(
    prd: Path,
    agent: str | None,
    model: str | None,
    checks: tuple[str, ...],
    playbook: Path | None,
    out_dir: Path | None,
    enqueue: bool,
    new: bool,
    resume: bool,
    reading: Reading,
    flags: Flags,
) -> int:
    """Compile PRD and have an agent carry it out. Where a run of PRD is not finished, that one goes on.

    \b
    santiago run docs/prd.md --agent claude --verify "pytest -q"
    santiago run docs/prd.md --agent claude,codex --max-cost 5
    santiago run docs/prd.md --agent "my-agent --flag"
    """
    prd = document_of(prd)
    if enqueue:
        from santiago.cli.queue import enqueue as hand_over

        return hand_over(prd, checks, flags.actor, as_json=flags.as_json)
    if new and resume:
        raise click.UsageError("--new starts afresh and --resume goes on: name one of them.")
    from santiago.app.loading import load
    from santiago.cli.start.again import decide, go_on
    from santiago.cli.start.document import Worker, carry_out

    worker = Worker(agent=agent, model=model, checks=checks, playbook=playbook)
    way, run = decide(prd, flags, new=new or out_dir is not None, resume=resume)
    if way == "resume" and run is not None:
        return go_on(run, worker, flags)
    if way == "nothing":
        return 0
    after = load(run) if way == "rebase" and run is not None else None
    code = carry_out(prd, out_dir, worker, flags, reading=reading, after=after)
    if code == ExitCode.BLOCKED and not (flags.no_input or flags.as_json or after or out_dir) and sys.stdin.isatty():
        from santiago.cli.start.mending import mended

        return carry_out(prd, None, worker, flags, reading=reading) if mended(prd) else code
    return code
