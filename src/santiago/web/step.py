"""An act of a person between its two presses: understood and shown, and not done yet."""

from __future__ import annotations

from collections.abc import Callable

from santiago.contract.record import record
from santiago.report.page import Line


@record
class Step:
    """An act that was understood, and is shown before it is done."""

    title: str
    lines: tuple[Line, ...]
    """What it means, with everything that its person agrees to."""
    button: str
    command: str
    """The command that does the same."""
    back: str
    """The address, below the path, of the page that it came from; what it leads to is shown there."""
    do: Callable[[], str]
    """Does it, and returns what to tell."""
    act: str = ""
    text: str = ""
    """What was typed, so that it is not lost."""
    agreed: str = ""
    """The word that must be typed; empty where none is needed."""
