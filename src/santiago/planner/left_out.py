"""Findings about units that the author marked: dropped, put off or optional."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.plan import Finding
from santiago.planner.draft import Status, Unit
from santiago.planner.findings import note

if TYPE_CHECKING:
    from collections.abc import Iterable

_SAID = {
    Status.DROPPED: ("dropped", "marked as dropped, cancelled or removed; not planned", "Remove the mark to plan it."),
    Status.FUTURE: ("out_of_scope", "out of scope or put off; not planned", "Remove the mark, or move it, to plan it."),
    Status.OPTIONAL: ("optional", "marked as optional; planned like the others", "Remove it if it is not wanted."),
}


def left_out(units: Iterable[Unit]) -> list[Finding]:
    """Return a note for every unit whose mark keeps it out of the plan, or should make one think."""
    found = []
    for unit in units:
        if unit.status in _SAID:
            code, says, hint = _SAID[unit.status]
            name = f"{unit.id} {unit.title}" if unit.id else unit.title
            found.append(note(code, unit.line, f"{name[:80]}: {says}", hint))
    return found
