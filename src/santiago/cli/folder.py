"""A folder in place of a document: take its main document, and tell which ones are not taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path


def document_of(path: Path) -> Path:
    """Return the document that a path names; of a folder, its main one."""
    if not path.is_dir():
        if " " in str(path) and not path.suffix and not path.exists():
            _lead_on(str(path))
        return path
    from santiago.app.folder import document_in
    from santiago.app.paths import shortest
    from santiago.planner.findings import few

    document, beside = document_in(path)
    rest = f"; not taken: {few(beside)}" if beside else ""
    click.echo(f"{shortest(path)} is a folder: {shortest(document)} is planned{rest}", err=True)
    return document


def _lead_on(sentence: str) -> None:
    """Raise with the command for somebody who gave a sentence instead of a file."""
    from shlex import quote

    from santiago.contract.errors import Kind, SantiagoError

    hint = f"`santiago plan --with AGENT {quote(sentence)}` has an agent plan a sentence, and you review its plan."
    raise SantiagoError(Kind.USAGE, "there is no such file, and it reads like a sentence", where=sentence, hint=hint)
