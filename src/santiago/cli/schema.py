"""`santiago schema NAME`: JSON Schemas of the documents, for programs."""

from __future__ import annotations

import json

import click

NAMES = ("run-input", "plan", "detail", "event", "result", "session", "ticket")


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES))
@click.option("--json", "as_json", is_flag=True, help="Print JSON (it always is).")
def command(name: str, as_json: bool) -> None:
    """Print the JSON Schema of a document, generated from santiago's own types."""
    from santiago.contract.schema import schema_of

    click.echo(json.dumps(schema_of(name), indent=2, sort_keys=True))
