"""`santiago rebase RUN PRD`: take a changed document, settings and branch into a new run, and keep what is done."""

from __future__ import annotations

from pathlib import Path

import click

from santiago.cli.options import Flags, Reading, agent_names, reading_options, run_options


@click.command("rebase")
@click.argument("run")
@click.argument("prd", type=click.Path(path_type=Path))
@click.option("--agent", metavar="NAME", shell_complete=agent_names, help="Another agent than the run's own.")
@click.option("--model", metavar="NAME", help="Another model.")
@click.option("--verify", "checks", multiple=True, metavar="CMD", help="Other checks of every story.")
@click.option("--playbook", type=click.Path(path_type=Path), help="What the scripted agent plays.")
@reading_options
@run_options
def command(
    run: str,
    prd: Path,
    agent: str | None,
    model: str | None,
    checks: tuple[str, ...],
    playbook: Path | None,
    reading: Reading,
    flags: Flags,
) -> int:
    """Carry PRD out from where RUN (a folder or an id) stands, as a new run.

    Stories keep their ids. Those that RUN finished and that ask for the same are done: only their checks run. Settings and
    commits that came since are taken in.

    \b
    santiago rebase r_20261115_114848 docs/prd.md
    """
    from santiago.app.finding import find_run
    from santiago.app.loading import load
    from santiago.cli.start.document import Worker, carry_out

    worker = Worker(agent=agent, model=model, checks=checks, playbook=playbook)
    return carry_out(prd, None, worker, flags, reading=reading, after=load(find_run(run)))
