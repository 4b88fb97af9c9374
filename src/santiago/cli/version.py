"""`santiago version`: the same as `santiago --version`."""

from __future__ import annotations

import json

import click

from santiago import __version__


@click.command("version")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(as_json: bool) -> None:
    """Print the version."""
    click.echo(json.dumps({"version": __version__}) if as_json else f"santiago {__version__}")
