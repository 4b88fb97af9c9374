"""What `santiago` without a command prints in a repository that has runs or planning sessions: which, and how to see them."""

from __future__ import annotations

from pathlib import Path

from santiago.app.finding import running_or_newest, runs_here
from santiago.artifacts.repository import find_root
from santiago.cli.view.text import paint, say
from santiago.contract.errors import SantiagoError
from santiago.report.review import sessions_of
from santiago.report.run_status import standing


def offer() -> None:
    """Print the running or newest run, and the newest open planning session; nothing if there is none."""
    rows = [*_run(), *_session()]
    if not rows:
        return
    say()
    for here, _ in rows:
        say(f"{paint('Here:', 'cyan', bold=True, stderr=False)} {here}")
    for _, command in rows:
        say(f"next: {command}")


def _run() -> list[tuple[str, str]]:
    try:
        out_dir, _ = running_or_newest(None)
        known = runs_here()
    except SantiagoError:
        return []
    more = f" and {len(known) - 1} more" if len(known) > 1 else ""
    return [(f"run {out_dir.name}, {standing(out_dir)}{more}", "santiago watch   # look at it, answer, stop, go on")]


def _session() -> list[tuple[str, str]]:
    root = find_root(Path.cwd())
    found = sessions_of(root)[:1] if root else []
    does = "look at it, plan on, make it final"
    return [(f"planning session {name}, {word}", f"santiago review {name}   # {does}") for name, word in found]
