"""Git directories written by hand: the neutral one, and a private one for every folder, without any git process."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.record import record
from santiago.util import regular
from santiago.util.disk import failed, guarding

if TYPE_CHECKING:
    from santiago.workspace.inspect import Found

_BOOLEANS = ("filemode", "symlinks", "ignorecase", "precomposeunicode")
"""Settings that git chose for the file system when the repository was made. None of them can start a program."""
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1", ""}), frozenset({"false", "no", "off", "0"})

_PACKED = "# pack-refs with: peeled fully-peeled sorted "
"""First line of a file of packed refs."""


def put(path: Path, content: bytes) -> None:
    """Write a small file, unless it already has this content."""
    if regular.content(path, len(content) + 1) == content:
        return
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise failed(path, error) from None


def settings(found: Found, *, of_agent: bool = False) -> bytes:
    """Return the configuration of a hand-made git directory: santiago's own, or an agent's."""
    lines = ["[core]", f"\trepositoryformatversion = {1 if found.object_format != 'sha1' else 0}"]
    for name in _BOOLEANS:
        value = found.config.get(f"core.{name}", "absent").lower()
        if value in _TRUE | _FALSE:
            lines.append(f"\t{name} = {'true' if value in _TRUE else 'false'}")
    if not of_agent:
        shared = found.config.get("core.sharedrepository", "")
        if shared.isalnum():
            lines.append(f"\tsharedRepository = {shared}")
    else:
        name, mail = found.identity
        lines += [
            "\tbare = false",
            "\tlogAllRefUpdates = true",
            "[user]",
            f"\tname = {_quoted(name)}",
            f"\temail = {_quoted(mail)}",
        ]
        # The user's settings may ask for signatures or automatic clean-ups. Neither can work here.
        lines += ["[commit]", "\tgpgSign = false", "[gc]", "\tauto = 0", "[maintenance]", "\tauto = false"]
    if found.object_format != "sha1":
        lines += ["[extensions]", f"\tobjectFormat = {found.object_format}"]
    return ("\n".join(lines) + "\n").encode()


class Neutral:
    """A git directory of santiago's own. Nothing in it starts a program, and its content is fixed when it is made."""

    def __init__(self, folder: Path, found: Found, excludes: bytes, attributes: bytes = b"") -> None:
        self.folder = folder
        self._files = {
            folder / "HEAD": b"ref: refs/heads/none\n",
            folder / "config": settings(found),
            folder / "info" / "exclude": excludes,
            folder / "info" / "attributes": attributes,
        }
        self._refs = folder / "refs"
        self._right: dict[Path, tuple[int, ...]] = {}
        """The stat marks of each file when its content was last found right."""
        self.mend()

    def mend(self) -> None:
        """Write those files again whose content was changed."""
        for path, content in self._files.items():
            mark = _mark(path)  # taken before reading: a change meanwhile gives another mark next time
            if mark is None or mark != self._right.get(path):
                put(path, content)
                self._right[path] = mark or ()
        if not self._refs.is_dir():
            with guarding(self.folder):
                self._refs.mkdir(exist_ok=True)


def _mark(path: Path) -> tuple[int, ...] | None:
    """Return marks (inode, size, times) that change whenever the file is changed or replaced."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return (info.st_dev, info.st_ino, info.st_mode, info.st_size, info.st_ctime_ns)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@record
class Common:
    """What the private git directories of all folders share."""

    config: bytes
    excludes: bytes
    """Ignore rules that are in no commit."""
    stores: tuple[str, ...]
    """The folders of objects, by the paths at which programs in the folder see them."""


def make(folder: Path, found: Found, common: Common, commit: str, branch: str | None) -> Path:
    """Make a folder whose own git directory has this commit checked out, borrowing the repository's objects."""
    inside = folder / ".git"
    files = {
        "config": common.config,
        "objects/info/alternates": b"".join(os.fsencode(store) + b"\n" for store in common.stores),
        "HEAD": f"ref: refs/heads/{branch}\n".encode() if branch else f"{commit}\n".encode(),
    }
    if branch:
        files["packed-refs"] = f"{_PACKED}\n{commit} refs/heads/{branch}\n".encode()
    if common.excludes:
        files["info/exclude"] = common.excludes
    if found.shallow:
        files["shallow"] = (found.common / "shallow").read_bytes()
    folder.mkdir(parents=True)
    # Only the folders that git needs, since each costs time to make and to remove. Paths are plain text to save time, too.
    for name in ("", "/objects", "/objects/info", "/refs", *(("/info",) if common.excludes else ())):
        os.mkdir(f"{inside}{name}")
    for name, content in files.items():
        with open(f"{inside}/{name}", "wb") as file:
            file.write(content)
    return inside
