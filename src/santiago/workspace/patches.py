"""Patches for people: what matters most comes first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def first_about(words: Sequence[str], patch: str) -> str:
    """Return a patch with the changes first that stand below or beside one of these words. The heading of a file is repeated."""
    either = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words if word) or r"(?!)")
    about: list[str] = []
    others: list[str] = []
    for file in re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE):
        heading, *hunks = re.split(r"^(?=@@ )", file, flags=re.MULTILINE)
        named = [hunk for hunk in hunks if either.search(hunk)]
        rest = [hunk for hunk in hunks if hunk not in named]
        about += [heading, *named] if named else []
        others += [heading, *rest] if rest or not hunks else []
    return "".join(about + others)
