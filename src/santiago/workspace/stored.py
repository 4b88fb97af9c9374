"""Objects that santiago makes without git: files, trees and commits, written as git stores them, into the run's own store."""

from __future__ import annotations

import hashlib
import time
import uuid
import zlib
from typing import TYPE_CHECKING

from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from santiago.workspace.own_objects import OwnObjects

_NOBODY = "santiago <santiago@localhost> 946684800 +0000"
"""The same at every time and place, so that the same content has the same name."""
_LATEST = 4102444799
"""The last second of 2099. Git computes time zones only for the years 1970 to 2099, and `git fsck` refuses what it gets else."""
_CRUD = " .,:;\"\\'"
"""What git strips from the ends of names and addresses."""


class Stored:
    """Writes objects. With no store it only finds out their names."""

    def __init__(self, own: OwnObjects | None, object_format: str) -> None:
        self._own, self._format = own, object_format

    def tree(self, files: Mapping[str, bytes]) -> str:
        """Return the tree with these files, by their names. It holds nothing else, and no folder."""
        entries = ((name.encode(), bytes.fromhex(self._put("blob", files[name]))) for name in sorted(files))
        return self._put("tree", b"".join(b"100644 %b\0%b" % entry for entry in entries))

    def commit(self, tree: str, parents: Iterable[str], message: str, who: str = _NOBODY) -> str:
        heads = (f"tree {tree}", *(f"parent {one}" for one in parents), f"author {who}", f"committer {who}")
        return self._put("commit", "\n".join((*heads, "", message.replace("\0", ""))).encode("utf-8", "replace"))

    def _put(self, kind: str, content: bytes) -> str:
        whole = f"{kind} {len(content)}\0".encode() + content
        name = hashlib.new(self._format, whole, usedforsecurity=False).hexdigest()
        if self._own is not None:
            self._own.make()
            _write(self._own.folder / name[:2] / name[2:], whole)
        return name


def now_by(identity: tuple[str, str]) -> str:
    """Return who made a commit, and when: now. A clock outside of the years that git knows counts as the nearest second of them."""
    name, mail = (part.strip(_CRUD) for part in identity)
    now = min(max(0, int(time.time())), _LATEST)
    return f"{name} <{mail}> {now} {time.strftime('%z', time.localtime(now))}"


def _write(path: Path, whole: bytes) -> None:
    """Write an object. It is not synced: what is lost by a power cut is made anew."""
    if path.exists():
        return
    with guarding(path):
        path.parent.mkdir(exist_ok=True)
        temporary = path.with_name(f"tmp_obj_{uuid.uuid4().hex}")
        temporary.write_bytes(zlib.compress(whole, 1))
        temporary.replace(path)
