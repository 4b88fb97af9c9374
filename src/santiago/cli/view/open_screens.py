"""Starts the screens. Each is loaded after the chunks of its plan were painted."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.screen import Screen

    from santiago.app.planning.planning_sessions import Planning


def has_screen() -> bool:
    """Tell whether there is a terminal for a screen, and nobody asked for plain lines."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return terminal and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("SANTIAGO_PLAIN")


def browse(out_dir: Path, note: str, *, any_run: bool = False) -> int:
    """Show a run until its screen is left; return the exit code. With `any_run`, another one that begins takes its place."""
    from santiago.artifacts.names import PLAN

    def make(plain: bool) -> Screen[None]:
        from santiago.tui.watch import WatchScreen

        return WatchScreen(out_dir, plain=plain, note=note, any_run=any_run)

    return _show(out_dir.name, out_dir / PLAN, make)


def review(planning: Planning, revision: int | None = None) -> int:
    """Show a session until its screen is left; return the exit code."""

    def make(plain: bool) -> Screen[None]:
        from santiago.tui.review import ReviewScreen

        return ReviewScreen(planning.folder, plain=plain, revision=revision)

    plan = planning.folder / "revisions" / f"{revision or planning.state.revision:04}.json"
    return _show(planning.session_id, plan, make)


def _show(name: str, plan: Path, make: Callable[[bool], Screen[None]]) -> int:
    from santiago.cli.view.terminal import say
    from santiago.report.plan_outline import outline
    from santiago.tui.app import Opening, run

    code, said = run(Opening(name, outline(plan), make))
    if said:
        say(said, err=True)
    return code
