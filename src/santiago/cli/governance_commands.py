"""The commands that look after product truth and scenarios."""

from __future__ import annotations

import click

from santiago.cli.options import body, json_option


@click.group("truth")
def truth() -> None:
    """Look after the product truth in .sigee/product-truth."""


@truth.command("validate")
@click.option("--strict", is_flag=True, help="Also ask that everything is there, agrees, and is no starter.")
@json_option
@body("truth:validate")
def validate() -> None:
    """Check the files, the hierarchy, the links and the scenarios. Exit 0 where all is well, 30 otherwise."""


@truth.command("impact")
@click.option("--base", metavar="REF", help="The commit before the change; HEAD~1 where nothing is said.")
@click.option("--head", metavar="REF", help="The commit after it; HEAD where nothing is said.")
@click.option("--changed-file", "files", metavar="FILE", multiple=True, help="A changed file, in place of commits.")
@click.option("--ticket", metavar="ID", help="Also keep the result for this ticket, where its done gate looks for it.")
@click.option("--enforce-layer-guard", "enforce", is_flag=True, help="Refuse core impact without an active override.")
@json_option
@body("truth:impact")
def impact() -> None:
    """Say what a change concerns, and what must be verified. Exit 10 where the layer guard refuses it."""


@click.group("scenario")
def scenario() -> None:
    """Look after the scenarios in .sigee/dag/scenarios."""


@scenario.command("compile")
@click.option("--check-only", is_flag=True, help="Write nothing; say what is edited or out of date.")
@json_option
@body("scenario:compile_all")
def compile_all() -> None:
    """Bring the copies below the runtime root up to date. Exit 30 where something is wrong, and nothing is written then."""


@scenario.command("run")
@click.option("--ticket", metavar="ID", help="The ticket whose evidence this is; without one it opens no gate.")
@click.option("--at", metavar="REF", help="Run in a clean checkout of this commit, not on the files as they stand.")
@click.option("--only", metavar="STEP", help="Only this step, and what it waits for.")
@click.option("--changed-only", is_flag=True, help="Only what a change concerns: HEAD~1 to HEAD, or as said below.")
@click.option("--base", metavar="REF", help="With --changed-only: the commit before the change.")
@click.option("--head", metavar="REF", help="With --changed-only: the commit after it.")
@click.option("--changed-file", "files", metavar="FILE", multiple=True, help="Only what this file concerns.")
@click.option("--include-global-gates", "gates", is_flag=True, help="Also the gates of all scenarios.")
@click.option(
    "--timeout",
    type=click.IntRange(1, 24 * 60),
    metavar="MIN",
    default=10,
    show_default=True,
    help="Minutes per command.",
)
@click.option(
    "--sandbox", type=click.Choice(("auto", "required", "off")), default="auto", help="The fence around commands."
)
@click.option("--trust-commands", is_flag=True, help="Run the scenarios' commands without asking.")
@click.option("--trust-project", is_flag=True, help="With --at: trust the settings that come with the repository.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
@click.option("--dry-run", is_flag=True, help="Show the steps in their order, and run nothing.")
@json_option
@body("scenario:run")
def run() -> None:
    """Run red, impl, units, green and smoke of each scenario, in order, up to the first that fails.

    Exit 30 where one failed. A red step that passes is reported: it proves nothing.
    """
