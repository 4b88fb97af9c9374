"""`santiago serve`: the pages of this repository in a browser. Web libraries are loaded only here."""

from __future__ import annotations

from pathlib import Path

import click

from santiago.app.actor import actor as named
from santiago.artifacts.run_locations import find_root
from santiago.cli.view.terminal import paint, say
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.web.serving import serve as serve_pages

_NAME = pattern(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")


def serve(read_only: bool, host_name: str | None, actor: str | None) -> int:
    """Serve the pages until Ctrl-C."""
    root = find_root(Path.cwd())
    if root is None:
        hint = "Go to the repository whose runs you want to see."
        raise SantiagoError(Kind.USAGE, "this is not a git repository", hint=hint)
    if host_name and not _NAME.fullmatch(host_name):
        raise click.UsageError("--host-name takes the name alone, in small letters: page.example.org")
    say(
        "Open this link in your browser; it works once. Enter prints another one, Ctrl-C ends it. Runs go on.", err=True
    )
    return serve_pages(
        root.name, named(actor), host_name=host_name or "", read_only=read_only, show=lambda link: say(link, verbatim=True),
        tell=lambda text: say(f"{paint('warning:', 'warn')} {text}", err=True),
    )  # fmt: skip
