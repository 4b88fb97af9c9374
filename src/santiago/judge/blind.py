"""Whether a check can see: on a base whose own files are made unusable, a check that stays green sees nothing of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.judge.shown import lost
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.judge.shown import Shown

GARBAGE = b"\x00\x01}{]['\"`<%#@!$^&*|\\~ santiago tries whether this check can see \xff\xfe\n" * 4
"""Bytes that no language parses."""


def spoil(folder: str, paths: Sequence[str], content: bytes | None) -> None:
    """Make files of a checkout unusable by writing something else into them, or remove them."""
    for place in (Path(folder, path) for path in paths):
        if not os.path.lexists(place) or not is_inside(place.parent, folder):
            continue
        if content is None:
            place.unlink(missing_ok=True)
        elif place.is_file() and not place.is_symlink():
            place.write_bytes(content)


def sees(before: Shown, spoiled: Shown) -> bool:
    """Whether anything that passed on the whole tree does not pass on the spoiled one."""
    return bool(lost(before, spoiled)) or before.is_green != spoiled.is_green
