"""`santiago export`: a run in the forms that CI services read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from santiago.app.finding import find_run
from santiago.app.loading import load
from santiago.app.paths import near
from santiago.artifacts.files import write_whole
from santiago.cli.view.terminal import say
from santiago.report.exports import FORMS

if TYPE_CHECKING:
    from pathlib import Path


def export(form: str, run: str | None, output: Path | None) -> None:
    """Print a run in another form, or write it to a file."""
    found = load(find_run(run))
    content = FORMS[form](found)
    if output is None:
        click.echo(content, nl=False)
        return
    write_whole(output, content)
    say(f"wrote {near(output)}: {form} of {found.run_id}")
