"""`santiago resume`: go on with a run. More budget that a person grants is recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

import click

from santiago.cli.options import Flags, agent_option, run_options

if TYPE_CHECKING:
    from pathlib import Path


@click.command("resume")
@click.argument("run", required=False)
@click.option(
    "--add-attempts", type=click.IntRange(0, 1000), default=0, help="More attempts for failed or spent stories."
)
@click.option(
    "--add-minutes", type=click.FloatRange(0), default=0.0, help="More minutes for the run and failed or spent stories."
)
@click.option("--add-cost", type=click.FloatRange(0), default=0.0, metavar="USD", help="More money for the run.")
@click.option("--add-tokens", type=click.IntRange(0), default=0, help="More tokens for the run.")
@click.option(
    "--hint", "hints", nargs=2, multiple=True, metavar="STORY TEXT", help="A hint for a story's next attempt."
)
@agent_option("Go on with another agent, from here on.")
@click.option("--model", metavar="NAME", help="Go on with another model.")
@run_options
def command(
    run: str | None, add_attempts: int, add_minutes: float, add_cost: float, add_tokens: int,
    hints: tuple[tuple[str, str], ...], agent: str | None, model: str | None, flags: Flags,
) -> int:  # fmt: skip
    """Go on with RUN (a folder or an id), or with the latest run of this repository that has begun and is not finished.

    A plan that was never started is begun only if it is named.
    """
    from dataclasses import replace

    from santiago.app.finding import find_story, naming
    from santiago.app.loading import frozen, load
    from santiago.app.start.lineup import named
    from santiago.app.start.trust import said_by
    from santiago.cli.start.again import tell_changes
    from santiago.cli.start.running import start
    from santiago.contract.units import Minutes, Usd
    from santiago.executor.reopen import Grants
    from santiago.report.remedies import granting

    out_dir = meant(run, as_json=flags.as_json)
    if out_dir is None:
        return 0
    tell_changes(out_dir)
    plan, settings = frozen(out_dir)
    grants = Grants(
        attempts=add_attempts,
        minutes_ms=int(Minutes.of(add_minutes)) if add_minutes else 0,
        cost_micro_usd=int(Usd.of(add_cost)) if add_cost else 0,
        tokens=add_tokens,
        hints=tuple((find_story(load(out_dir), name).id, text) for name, text in hints),
    )
    # The name of a model is valid only for its own agent.
    before = replace(settings.agent, model_hint=None) if agent else settings.agent
    other = named(before, agent, None, model) if agent or model else None
    said = said_by(agent=agent, model=model)
    with naming(settings.run_id or out_dir.name), granting(out_dir):
        return start(out_dir, settings, plan, flags, base=out_dir, grants=grants, agent=other, said=said)


def meant(name: str | None, *, as_json: bool) -> Path | None:
    """Return the folder of the run to go on with; None if all are finished, which is then printed."""
    from santiago.app.finding import find_run, unfinished
    from santiago.artifacts import registry
    from santiago.cli.view.text import say
    from santiago.report.run_status import planned_line

    if name is not None:
        return find_run(name)
    newest, left = unfinished()
    if left is not None:
        if left is not newest:
            say(f"the newest run, {newest.run_id}, is finished; going on with {left.run_id}", err=True)
        return left.out_dir
    if registry.standing(newest) == "planned":
        _refuse_planned(newest.out_dir)
    if as_json:
        click.echo(json.dumps({"type": "stream", "schema_version": "1.0"}))
        click.echo(json.dumps({"type": "nothing_to_resume", "run_id": newest.run_id}))
        return None
    say(f"{newest.run_id} is finished; nothing to resume", err=True)
    if told := planned_line():
        say(told, err=True)
    return None


def _refuse_planned(out_dir: Path) -> NoReturn:
    """Raise for a plan that was never started: a person begins it, and nobody goes on with it."""
    from santiago.app.loading import load
    from santiago.contract.errors import Kind, SantiagoError
    from santiago.report.remedies import beginning

    run = load(out_dir)
    message = f"nothing to resume: {run.run_id} of {run.plan.source.path} is planned, and was never started"
    raise SantiagoError(Kind.USAGE, message, hint=f"Begin it: `{beginning(run)[0]}`.")
