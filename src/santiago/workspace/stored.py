"""Objects that santiago makes without git: files, trees and commits, written as git stores them, into the run's own store."""

from __future__ import annotations

import hashlib
import uuid
import zlib
from typing import TYPE_CHECKING

from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from santiago.workspace.own_objects import OwnObjects

    Tree = dict[str, "Tree | bytes"]

_WHO = "santiago <santiago@localhost> 946684800 +0000"
"""The same at every time and place, so that the same content has the same name."""


class Stored:
    """Writes objects. With no store it only finds out their names."""

    def __init__(self, own: OwnObjects | None, object_format: str) -> None:
        self._own, self._format = own, object_format

    def tree(self, files: Mapping[str, bytes]) -> str:
        """Return the tree with these files, by their paths. It holds nothing else."""
        top: Tree = {}
        for path, content in files.items():
            *folders, name = path.split("/")
            inner = top
            for folder in folders:
                found = inner.setdefault(folder, {})
                assert isinstance(found, dict)
                inner = found
            inner[name] = content
        return self._tree(top)

    def _tree(self, entries: Tree) -> str:
        lines = []
        for name in sorted(entries, key=lambda name: name + "/" * isinstance(entries[name], dict)):
            entry = entries[name]
            mode, made = (
                ("40000", self._tree(entry)) if isinstance(entry, dict) else ("100644", self._put("blob", entry))
            )
            lines.append(f"{mode} {name}\0".encode() + bytes.fromhex(made))
        return self._put("tree", b"".join(lines))

    def commit(self, tree: str, parents: Iterable[str], message: str) -> str:
        lines = (
            f"tree {tree}",
            *(f"parent {one}" for one in parents),
            f"author {_WHO}",
            f"committer {_WHO}",
            "",
            message,
        )
        return self._put("commit", "\n".join(lines).encode())

    def _put(self, kind: str, content: bytes) -> str:
        whole = f"{kind} {len(content)}\0".encode() + content
        name = hashlib.new(self._format, whole, usedforsecurity=False).hexdigest()
        if self._own is not None:
            self._own.make()
            _write(self._own.folder / name[:2] / name[2:], whole)
        return name


def _write(path: Path, whole: bytes) -> None:
    """Write an object. It is not synced: what is lost by a power cut is made anew."""
    if path.exists():
        return
    with guarding(path):
        path.parent.mkdir(exist_ok=True)
        temporary = path.with_name(f"tmp_obj_{uuid.uuid4().hex}")
        temporary.write_bytes(zlib.compress(whole, 1))
        temporary.replace(path)
