"""`santiago step`: carry a plan out step by step. A person approves each step's plan, and later its result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from santiago.cli.options import Flags, Reading, agent_option, reading_options, run_options

if TYPE_CHECKING:
    from santiago.contract.plan import Plan


@click.command("step")
@click.argument("what", required=False, metavar="[PLAN|RUN]")
@agent_option("An agent by name, or any command line.")
@click.option("--model", metavar="NAME", help="The model that the agent should use, by its own name for it.")
@click.option("--verify", "checks", multiple=True, metavar="CMD", help="A check of every step (may be repeated).")
@click.option("--playbook", type=click.Path(path_type=Path), help="What the scripted agent plays.")
@click.option("--new", is_flag=True, help="Start a new run, even if one of this plan is not finished.")
@click.option("--write-back", is_flag=True, help="Tick in the plan's document what is done, on the run's branch.")
@reading_options
@run_options
def command(
    what: str | None,
    agent: str | None,
    model: str | None,
    checks: tuple[str, ...],
    playbook: Path | None,
    new: bool,
    reading: Reading,
    flags: Flags,
) -> int:
    """Carry a plan out with your approval before and after each step; without a name, go on with the latest one.

    \b
    santiago step docs/plan.md --agent claude --verify "pytest -q"
    santiago step                    go on where it was left
    santiago answer                  what is asked, from any other terminal
    """
    from santiago.app.finding import names_run
    from santiago.app.loading import load
    from santiago.cli.start.again import decide, go_on
    from santiago.cli.start.document import Worker, carry_out
    from santiago.contract.errors import Kind, SantiagoError

    flags = replace(flags, gate="step")
    path = Path(what) if what is not None else None
    if path is None or (not path.is_file() and names_run(str(path))):
        return _go_on(what, flags)
    if not path.is_file():
        hint = "Name a document, a run's folder or a run's id."
        raise SantiagoError(Kind.USAGE, f"there is no plan and no run {what!r}", where=str(path), hint=hint)
    worker = Worker(agent=agent, model=model, checks=checks, playbook=playbook)
    way, run = decide(path, flags, new=new)
    if way == "resume" and run is not None:
        return go_on(run, worker, flags)
    if way == "nothing":
        return 0
    after = load(run) if way == "rebase" and run is not None else None
    return carry_out(path, None, worker, flags, reading=reading, told=_imported, after=after)


def _go_on(run: str | None, flags: Flags) -> int:
    from santiago.app.finding import naming
    from santiago.app.loading import frozen
    from santiago.cli.resume import meant
    from santiago.cli.start.again import tell_changes
    from santiago.cli.start.running import start
    from santiago.report.remedies import granting

    out_dir = meant(run, as_json=flags.as_json)
    if out_dir is None:
        return 0
    tell_changes(out_dir)
    plan, settings = frozen(out_dir)
    with naming(settings.run_id or out_dir.name), granting(out_dir):
        return start(out_dir, settings, plan, flags, base=out_dir)


def _imported(plan: Plan) -> None:
    from santiago.cli.view.text import say
    from santiago.util.text import count, harmless

    say(f"{harmless(plan.title)}: {count(len(plan.stories), 'step')} imported", err=True)
