"""Asking a person what a process without a terminal could not ask, one thing after the other, each with no default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.report.pages import Line
from santiago.tui.deciding import Deciding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen

    from santiago.report.consents import Consent


def ask_each(
    screen: Screen[None], wanted: Sequence[Consent], command: str, then: Callable[[bool], None], *, plain: bool
) -> None:
    """Ask all of it over a screen; `then` hears whether everything was agreed to. `command` would start the same."""
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
