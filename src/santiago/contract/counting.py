"""A number with the noun that it counts, in the singular or the plural."""

from __future__ import annotations


def count(number: int, one: str, many: str = "") -> str:
    """Return `1 story`, `2,000 stories`; `many` is needed where an s does not make the plural."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
