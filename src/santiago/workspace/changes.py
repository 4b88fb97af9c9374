"""What changed between two trees, as it comes from git: the list in full, the patch within a limit, what matters most first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.workspace import PATCH_CUT, Change
from santiago.contract.reasons import Reason

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


MOST_PATCH = 1024 * 1024
MOST_LIST = 256 * 1024 * 1024
GITLINK = "160000"
"""The mode of a submodule."""


class Changes:
    """Takes the output of a raw diff with patch, NUL-separated, between a first and a last line."""

    def __init__(self, first: bytes, last: bytes) -> None:
        self.first, self.last = first, last
        self.listed: tuple[Change, ...] = ()
        self.blobs: tuple[str, ...] = ()
        """The new content of the files that were not removed, by git's names."""
        self.patch = ""
        self._data = bytearray()
        self._patch_at: int | None = None

    def take(self, piece: bytes) -> bool:
        """Take a piece of the output; return False when the patch is long enough."""
        seen = max(0, len(self._data) - 1)
        self._data += piece
        if self._patch_at is None:
            # No path is empty, so two NULs in a row are the border between the list and the patch.
            border = self._data.find(b"\0\0", seen)
            self._patch_at = border + 2 if border >= 0 else None
        if self._patch_at is None and len(self._data) > MOST_LIST:
            raise SantiagoError(
                Kind.TRANSIENT, "the attempt changed too many files to list", reason=Reason.DISK_LIMIT,
                hint="Find out what the attempt writes; `.gitignore` keeps generated files out.",
            )  # fmt: skip
        return self._patch_at is None or len(self._data) - self._patch_at <= MOST_PATCH

    def finish(self) -> None:
        """Parse what was taken; raise if git could not read the trees."""
        if not self._data.startswith(self.first):
            raise SantiagoError(
                Kind.TRANSIENT, "git cannot read what it should compare", where=self.first.decode().strip(), reason=Reason.IO_ERROR,
                hint="Look at the repository with `git fsck`, then run the same command again.",
            )  # fmt: skip
        if self._data.endswith(self.last):
            del self._data[-len(self.last) :]
        end = self._patch_at - 1 if self._patch_at is not None else len(self._data)
        fields = bytes(self._data[len(self.first) : end]).split(b"\0")
        self.listed = tuple(_change(head, path) for head, path in zip(fields[::2], fields[1::2], strict=False))
        heads = (head.decode("ascii").split(" ") for head in fields[:-1:2])
        self.blobs = tuple(blob for _, mode, _, blob, _ in heads if mode.startswith("1") and mode != GITLINK)
        if self._patch_at is not None:
            text = bytes(self._data[self._patch_at : self._patch_at + MOST_PATCH])
            cut = len(self._data) - self._patch_at > MOST_PATCH
            self.patch = text.decode("utf-8", "backslashreplace") + (PATCH_CUT if cut else "")


def _change(head: bytes, path: bytes) -> Change:
    old_mode, new_mode, _, _, status = head.decode("ascii").removeprefix(":").split(" ")
    return Change(status=status, path=path.decode("utf-8", "backslashreplace"), old_mode=old_mode, new_mode=new_mode)
