"""Frames around output, and titles as wide as the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.cli.view.text import columns_of, paint
from santiago.report.failure import Output
from santiago.util.text import fit, flat, harmless, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.report.page import Tone


def framed(told: Sequence[str | Output], *, stderr: bool = True) -> list[str]:
    """Return the lines of a report, with each output in its frame."""
    return [line for one in told for line in (_frame(one, stderr=stderr) if isinstance(one, Output) else [one])]


def _frame(output: Output, *, stderr: bool) -> list[str]:
    lines = [f"│ {harmless(line).rstrip()}"[:400] for line in output.lines]
    if not output.command:
        return lines
    columns, ended = min(columns_of(stderr=stderr) or 100, 120), output.ended
    command = fit(f"$ {flat(output.command)}", max(20, columns - width(ended) - 2)).rstrip()
    room = max(2, columns - width(command) - width(ended))
    return [f"{command}{' ' * room}{ended}", *lines]


def title_line(text: str, tone: Tone = "bad", *, stderr: bool = True) -> str:
    columns = min(columns_of(stderr=stderr) or 100, 100)
    side = max(3, (columns - width(text) - 2) // 2)
    return paint(f"{'─' * side} {text} {'─' * side}", tone, stderr=stderr)
