"""The command of workers."""

from __future__ import annotations

import click

from santiago.cli.options import PATH, body, places_options


@click.command("work")
@places_options
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Attempts side by side.")
@click.option("--pool", metavar="NAME", default="default", show_default=True, help="Take orders of this pool only.")
@click.option("--judge", "judges", is_flag=True, help="Only judge work; never start an agent.")
@click.option(
    "--repo", type=PATH, help="Work in this checkout with its ignored folders, instead of a clone of its own."
)
@click.option("--once", is_flag=True, help="End after one order.")
@click.option(
    "--idle", type=click.FloatRange(0, min_open=True), metavar="MIN", help="End after so long without an order."
)
@click.option(
    "--no-sandbox", "unfenced", is_flag=True, help="Work without a sandbox, on a machine that has nothing else."
)
@body("work:work")
def work() -> None:
    """Carry out attempts of runs that other machines coordinate, with this machine's own clone, sandbox and sign-in.

    Whoever can write to engine and remote runs commands here. SIGTERM lets orders end that are under way; a second one ends
    them at once.

    \b
    santiago work --engine postgresql://db.example.org/santiago --remote git@example.org:team/project.git
    santiago work --engine file:/run/secrets/engine --remote https://example.org/project.git --once --idle 10
    """
