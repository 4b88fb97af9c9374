"""Asks a person what a process without a terminal could not ask: one consent after the other, without defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.report.page import Line
from santiago.tui.deciding import Deciding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen

    from santiago.report.consents import Consent


def ask_each(
    screen: Screen[None], wanted: Sequence[Consent], command: str, then: Callable[[bool], None], *, plain: bool
) -> None:
    """Ask all consents over a screen. `then` gets whether all were given. `command` is the command for the same start."""
    if not wanted:
        then(True)
        return
    first = wanted[0]

    def chosen(key: str | None) -> None:
        if key is None:
            then(False)
        else:
            ask_each(screen, wanted[1:], command, then, plain=plain)

    lines = [*(Line(line) for line in first.lines), Line(""), Line(f"$ {command} {' '.join(first.said)}", "dim")]
    screen.app.push_screen(Deciding(first.title, lines, {"y": first.yes}, plain=plain), chosen)
