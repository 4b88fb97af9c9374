"""What an attempt that is under way has changed so far. A separate index is used, so that the attempt is not disturbed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from santiago.util import regular
from santiago.workspace.caches import rules_for
from santiago.workspace.snapshot import built_by_cargo, is_folder, noted_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.workspace.folders import Place
    from santiago.workspace.repository import Repository

MOST_BYTES = 256 * 1024
"""Bytes of a difference that is only looked at and not kept."""
MOST_NEW = 200
"""How many new files such a difference shows."""
_DIFF = (
    "-c", "core.quotePath=false",
    "diff", "--patch", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all",
)  # fmt: skip


def so_far(repository: Repository, place: Place, provided: Sequence[str]) -> bytes | None:
    """Return the patch from an attempt's base to its folder, without what was `provided`; None if the folder is gone.

    Nothing is written that others read: no object, no ref, and not the index of the attempt.
    """
    if not is_folder(place.folder) or not place.index.is_file():
        return None
    with TemporaryDirectory() as own:
        index, rules = Path(own, "index"), Path(own, "passed-over")
        shutil.copy2(place.index, index)
        built = built_by_cargo(repository, index, place.folder)
        rules.write_bytes(rules_for((*provided, *noted_names(place.provided), *built)))
        shown = bytearray()

        def take(piece: bytes) -> bool:
            shown.extend(piece)
            return len(shown) <= MOST_BYTES

        repository.on_objects(*_DIFF, index=index, folder=place.folder, take=take)
        for name in _new(repository, place, index, rules):
            if len(shown) > MOST_BYTES:
                break
            shown += _as_patch(place.folder, name)
    return bytes(shown[:MOST_BYTES])


def _new(repository: Repository, place: Place, index: Path, rules: Path) -> list[bytes]:
    """Return the files that git does not know yet, without nested repositories."""
    listing = ("-c", f"core.excludesFile={rules}", "ls-files", "--others", "--exclude-standard", "-z")
    found = repository.on_objects(*listing, index=index, folder=place.folder).out.split(b"\0")
    return [name for name in found if name and not name.endswith(b"/")][:MOST_NEW]


def _as_patch(folder: Path, name: bytes) -> bytes:
    """Return a new file as git would show it; git itself would first write an object for it."""
    content = regular.content(folder / os.fsdecode(name), MOST_BYTES, follow=False)
    head = b"diff --git a/%b b/%b\nnew file\n" % (name, name)
    if content is None:
        return head + b"not a regular file\n"
    if b"\0" in content:
        return head + b"Binary files /dev/null and b/%b differ\n" % name
    lines = content.splitlines()
    return b"%b--- /dev/null\n+++ b/%b\n@@ -0,0 +1,%d @@\n" % (head, name, len(lines)) + b"".join(
        b"+%b\n" % one for one in lines
    )
