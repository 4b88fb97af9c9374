"""The commands about many machines: workers, and the engine between them."""

from __future__ import annotations

import click

from santiago.cli.options import PATH, body, json_option, places_options, trust_option


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


@click.command("workers")
@click.argument("words", nargs=-1, metavar="[drain NAME]")
@places_options
@trust_option
@json_option
@body("machines:workers")
def workers() -> None:
    """List the workers of this repository: what each does, since when, and what it has used. `drain NAME` lets one end.

    What a worker does and uses is known of runs that are coordinated in this repository. A worker that is drained ends its
    orders, takes no more, and exits.
    """


@click.group("engine")
def engine() -> None:
    """The server that carries orders from the coordinator to workers: PostgreSQL or Temporal."""


@engine.command("init")
@places_options
@trust_option
@body("machines:init")
def init() -> None:
    """Make what orders need there: a schema in PostgreSQL, a namespace in Temporal. Doing it again changes nothing."""


@engine.command("check")
@places_options
@trust_option
@json_option
@body("machines:check")
def check() -> None:
    """Check the engine's schema or namespace, rights and version; write a ref on the git remote, and delete it."""
