"""Putting what commands print now into a page; where the page leaves lines out with `…`, it goes on leaving them out."""

from difflib import SequenceMatcher
from pathlib import Path

from tests.docs.matching import normal
from tests.docs.playing import Typed

ALIKE = 0.6
"""How much of a shown line must be in a printed one for that to have come in its place."""


def renew(page: Path, typed: list[Typed]) -> None:
    """Rewrite what the page shows below the commands that print something else now."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for one in sorted(typed, key=lambda one: -one.line):
        if one.shown is not None and not one.is_right:
            command = lines[one.line - 1]
            indent = command[: len(command) - len(command.lstrip())]
            shows = renewed(one.shown, one.printed)
            lines[one.line : one.line + len(one.shown)] = [(indent + line).rstrip() for line in shows]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def renewed(shown: list[str], printed: list[str]) -> list[str]:
    """Return what a page should show instead: printed lines only, and `…` where it had some left out."""
    found: list[str] = []
    at, is_open = 0, False
    for line in shown:
        if line.strip() == "…":
            is_open = True
            continue
        place = _place(line, printed, at)
        if place is None:
            continue
        found += ["…"] if is_open and place > at else printed[at:place]
        found.append(printed[place])
        at, is_open = place + 1, False
    return found + (["…"] if is_open and at < len(printed) else printed[at:])


def _place(line: str, printed: list[str], after: int) -> int | None:
    """Return where the line that is most like a shown one is printed, from a place on."""
    rated = [
        (SequenceMatcher(None, normal(line), normal(other)).ratio(), -number)
        for number, other in enumerate(printed[after:], after)
    ]
    best = max(rated, default=(0.0, 0))
    return -best[1] if best[0] > ALIKE else None
