"""`santiago run PRD`: plan and execute in one go, the newcomer's command."""

from __future__ import annotations

from dataclasses import replace
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
@click.option("--out-dir", type=click.Path(path_type=Path), help="The run's folder; default .santiago/runs/<run id>.")
@run_options
def command(
    prd: Path,
    agent: str | None,
    model: str | None,
    checks: tuple[str, ...],
    playbook: Path | None,
    out_dir: Path | None,
    flags: Flags,
) -> int:
    """Compile PRD and have an agent carry it out.

    \b
    santiago run docs/prd.md --agent claude --verify "pytest -q"
    santiago run docs/prd.md --agent "my-agent --flag"
    """
    from santiago.app.start.agents import named
    from santiago.app.start.leaks import refuse_secrets
    from santiago.app.start.preflight import refuse_outside
    from santiago.app.start.trust import said_by
    from santiago.artifacts import repository
    from santiago.artifacts.files import read_text
    from santiago.cli.plan import job_from_document, refuse, roomy
    from santiago.cli.start.running import start
    from santiago.cli.start.trust import note_basis
    from santiago.cli.view.text import say
    from santiago.planner.compile import compile_plan
    from santiago.planner.source import Source
    from santiago.report.advice import on_attempts

    job = job_from_document(prd, out_dir)
    refuse_outside(job.document)
    text = read_text(job.document)
    refuse_secrets(text.encode(), job.name)
    source = Source(text, path=job.name)
    compiled = compile_plan(source)
    if compiled.plan is None:
        return refuse(compiled, job, source, as_json=flags.as_json)
    job = roomy(job, compiled.plan, tests_first=bool(flags.tests_first))
    if job.fitted and not flags.as_json:
        say(f"note: {on_attempts(job, compiled.plan)[0]}", err=True)
    settings = job.run_input
    if checks:
        settings = replace(settings, verification=replace(settings.verification, story_commands=checks))
    settings = replace(settings, agent=named(settings.agent, agent, playbook, model))
    if not flags.dry_run:
        repository.keep_out_of_git(Path(settings.repo_path) / ".santiago")
        note_basis(Path(settings.repo_path), settings.run_id)
    said = said_by(agent=agent, model=model, playbook=playbook, checks=checks)
    return start(job.out_dir, settings, compiled.plan, flags, base=Path(settings.repo_path), said=said, compiled=True)
