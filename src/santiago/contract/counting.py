"""Numbers and names in sentences: a number with its noun, a list of names that may be long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def count(number: int, one: str, many: str = "") -> str:
    """Return `1 story`, `2,000 stories`; `many` is needed where an s does not make the plural."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def few(names: Sequence[object], most: int, joint: str = ", ") -> str:
    """Return names as a list; of a long one the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return joint.join(map(str, names[:most])) + more
