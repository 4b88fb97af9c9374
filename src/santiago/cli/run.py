"""`santiago run PRD`: plan and execute in one go, the newcomer's command."""

from __future__ import annotations

from pathlib import Path

import click

from santiago.cli.options import Flags, agent_names, run_options


@click.command("run")
@click.argument("prd", type=click.Path(path_type=Path))
@click.option(
    "--agent",
    metavar="NAME",
    shell_complete=agent_names,
    help="An agent by name, or any command line; default: the first that is installed and signed in.",
)
@click.option("--model", metavar="NAME", help="The model that the agent should use, by its own name for it.")
@click.option("--verify", "checks", multiple=True, metavar="CMD", help="A check of every story (may be repeated).")
@click.option("--playbook", type=click.Path(path_type=Path), help="What the scripted agent plays.")
@click.option("--allow-fallback", is_flag=True, help="Let phases and feature bullets become stories.")
@click.option("--out-dir", type=click.Path(path_type=Path), help="The run's folder; default .santiago/runs/<run id>.")
@click.option("--enqueue", is_flag=True, help="Hand the document to the planner instead: a request on the board.")
@run_options
def command(
    prd: Path,
    agent: str | None,
    model: str | None,
    checks: tuple[str, ...],
    playbook: Path | None,
    allow_fallback: bool,
    out_dir: Path | None,
    enqueue: bool,
    flags: Flags,
) -> int:
    """Compile PRD and have an agent carry it out.

    \b
    santiago run docs/prd.md --agent claude --verify "pytest -q"
    santiago run docs/prd.md --agent "my-agent --flag"
    """
    if enqueue:
        from santiago.cli.queue import enqueue as hand_over

        return hand_over(prd, checks, flags.actor, as_json=flags.as_json)
    from santiago.cli.start.document import Worker, carry_out

    worker = Worker(agent=agent, model=model, checks=checks, playbook=playbook)
    return carry_out(prd, out_dir, worker, flags, fallback=allow_fallback)
