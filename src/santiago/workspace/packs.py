"""Folding small packs into one.

Every work that is handed over, and every transfer, brings a pack of its own, since one pack is one wait for the disk. Git
looks for each object in all of them, so after some thousand stories each git command would take ten times as long, a person's too.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.util.disk import guarding
from santiago.workspace.durable import Durability, sync
from santiago.workspace.git import call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MANY = 50
"""How many packs git itself puts up with before it tidies up."""
_SMALL = 8 * 2**20
"""Bytes of the largest pack that is folded, so that folding stays a matter of milliseconds in any repository."""
_PARTS = (".idx", ".rev", ".pack")
"""The files of a pack in the order of removing, since git sees a pack by its index."""
_INDEX_OF_ALL = "multi-pack-index"
"""Names packs, so whoever made it folds them."""


def fold(objects: Path, env: Mapping[str, str]) -> None:
    """Make one pack of the small ones in a folder of objects, if they are many. All objects stay, whether a ref names them or not."""
    folder = objects / "pack"
    if small := _small(folder):
        words = ("pack-objects", "--stdin-packs", "--quiet", "--delta-base-offset", str(folder / "pack"))
        names = "".join(f"{name}.pack\n" for name in small).encode()
        # Another process that folds the same ones may take them away meanwhile. Then git fails, and nothing is lost.
        made = call(
            (*Durability.EACH.options, *words), {**env, "GIT_OBJECT_DIRECTORY": str(objects)}, folder, stdin=names
        )
        with guarding(folder):
            sync(folder)  # before the others go
            for name in small:
                if name != f"pack-{made.text}":
                    for end in _PARTS:
                        (folder / f"{name}{end}").unlink(missing_ok=True)


def _small(folder: Path) -> list[str]:
    """Return the names of the small packs, if there are many of them. One with a note of any kind beside it belongs to somebody."""
    parts: dict[str, set[str]] = {}
    with suppress(FileNotFoundError):
        for file in folder.iterdir():
            name, dot, end = file.name.partition(".")
            parts.setdefault(name, set()).add(dot + end)
    whole = [name for name, ends in parts.items() if {".idx", ".pack"} <= ends <= set(_PARTS)]
    if len(whole) < MANY or _INDEX_OF_ALL in parts:
        return []
    small = []
    for name in whole:
        with suppress(FileNotFoundError):
            if (folder / f"{name}.pack").stat().st_size <= _SMALL:
                small.append(name)
    return small if len(small) >= MANY else []
