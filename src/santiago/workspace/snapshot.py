"""Snapshots: every file of an agent's folder becomes a commit on the attempt's base, with an index of santiago's own."""

from __future__ import annotations

import itertools
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.workspace import Snapshot
from santiago.contract.reasons import Reason
from santiago.workspace import gitlinks, lfs
from santiago.workspace.caches import rules_for
from santiago.workspace.troubles import is_of_the_machine, refused, trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.workspace.changes import Changes
    from santiago.workspace.folders import Place
    from santiago.workspace.git import Answer
    from santiago.workspace.repository import Repository

MOST_BYTES = 2**30
"""Bytes of all new and changed files together, as their sizes say. Holes in a file count: git reads them too."""
MOST_FILES = 100_000
MOST_NAMED = 10
_CRATE = b"Cargo.toml"


class Sizes:
    """Takes the names of new and changed files as git lists them, NUL-separated, and tells which of them fit."""

    def __init__(self, folder: Path) -> None:
        self._top = os.fsencode(folder)
        self._rest = b""
        self._bytes = 0
        self.fitting: list[bytes] = []
        self.large: list[str] = []
        """What does not fit, in words."""

    def take(self, piece: bytes) -> bool:
        """Take a piece of the list; return False when there are too many files."""
        *names, self._rest = (self._rest + piece).split(b"\0")
        for name in names:
            if len(self.fitting) >= MOST_FILES:
                self.large.append(f"more than {MOST_FILES:,} new or changed files")
                return False
            self._measure(name)
        return True

    def _measure(self, name: bytes) -> None:
        try:
            info = os.lstat(os.path.join(self._top, name))  # noqa: PTH118  # bytes
        except OSError:
            self.fitting.append(name)  # it was removed, which is a change as well
            return
        if stat.S_ISDIR(info.st_mode):
            return  # a repository inside this one, whose files come later
        size = info.st_size if stat.S_ISREG(info.st_mode) else 0
        if self._bytes + size <= MOST_BYTES:
            self._bytes += size
            self.fitting.append(name)
        elif len(self.large) < MOST_NAMED:
            self.large.append(f"{name.decode('utf-8', 'backslashreplace')[:200]} ({size / 2**30:,.1f} GiB)")


_LONGEST_PATH = 4096
"""Longest path in bytes, with the final NUL. A system with a lower limit gives an error, and git then names the file."""


def mend(folder: Path, nested: Path, submodules: set[bytes]) -> list[str]:
    """Mend everything below a folder. Git directories are moved to `nested`, except those of known submodules.

    What lies too deep for any path is moved there too, since git would fail on it. Return messages on that.
    """
    top = os.fsencode(folder)
    waiting, too_deep = [b""], []
    while waiting:
        place = waiting.pop()
        here = os.path.join(top, place) if place else top  # noqa: PTH118  # bytes
        # If it still cannot be read, git will name it as left out.
        with suppress(OSError):
            _give_back(here, 0o700)
            for entry in list(os.scandir(here)):
                inside = os.path.join(place, entry.name)  # noqa: PTH118  # bytes
                if len(entry.path) >= _LONGEST_PATH:
                    too_deep.append(f"path of {len(inside)} bytes: {_short(inside)}")
                    _take_out(here, entry, nested)
                elif entry.name == b".git":
                    if place and place not in submodules:
                        _give_back(entry.path, 0o700 if entry.is_dir(follow_symlinks=False) else 0)
                        _take_out(here, entry, nested)
                elif entry.is_dir(follow_symlinks=False):
                    if inside not in submodules:
                        waiting.append(inside)
                elif entry.is_file(follow_symlinks=False):
                    _give_back(entry.path, 0o400)
    return too_deep


def _give_back(path: bytes, rights: int) -> None:
    with suppress(OSError):
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        if mode & rights != rights:
            os.chmod(path, mode | rights)  # noqa: PTH101  # bytes


def _take_out(here: bytes, entry: os.DirEntry[bytes], nested: Path) -> None:
    nested.mkdir(parents=True, exist_ok=True)
    target = os.fsencode(nested / str(len(list(nested.iterdir()))))
    handle = os.open(here, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.rename(entry.name, target, src_dir_fd=handle)
    finally:
        os.close(handle)


def _short(path: bytes) -> str:
    return f"{path[:60].decode('utf-8', 'backslashreplace')}…"


GITLINK = "160000"


class Taking:
    """One snapshot in the making."""

    def __init__(self, repository: Repository, place: Place, base: str, provided: Sequence[str] = ()) -> None:
        self.repository = repository
        self.place = place
        self.base = base
        self.provided = (*provided, *noted_names(place.provided))
        """Untracked files from before the agent began. They are not its work, and may be secret."""
        self.index = place.index
        self.left_out: tuple[str, ...] = ()
        self.too_large: tuple[str, ...] = ()

    def take(self, message: str, ref: str, *, trust_index: bool = True) -> Snapshot | None:
        """Return the snapshot; None if the folder equals the base, or is not a folder any more.

        A snapshot without changes means that there were only files which git could not take.
        """
        try:
            return self._taken(message, ref, trust_index=trust_index)
        except SantiagoError as error:
            if error.reason is not Reason.ARTIFACT_CORRUPT:
                raise
        # Git borrowed a file's content from unreferenced objects of the user's repository, and a clean-up removed it since.
        return self._taken(message, ref, trust_index=False)

    def _taken(self, message: str, ref: str, *, trust_index: bool) -> Snapshot | None:
        gathered = self._gather(trust_index=trust_index)
        if gathered is None:
            return None
        tree, changes = gathered
        if not (changes.listed or self.left_out or self.too_large):
            return None
        commit = self.repository.commit(tree, self.base, message)
        commit, ref = self._keep(commit, tree, ref)
        return Snapshot(
            commit=commit, tree=tree, ref=ref, changes=changes.listed, patch=changes.patch, left_out=self.left_out,
            too_large=self.too_large,
        )  # fmt: skip

    def _keep(self, commit: str, tree: str, ref: str) -> tuple[str, str]:
        """Put the commit under its ref, or under another name if the ref already keeps different work."""
        for name in itertools.chain([ref], (f"{ref}-{number}" for number in itertools.count(2))):
            try:
                self.repository.move(name, commit, self.repository.zero)
            except SantiagoError as error:
                kept = self.repository.resolve(name) if error.kind is Kind.BLOCKED else None
                if kept is None:
                    raise
                if self.repository.trees(kept) == [tree] and self.repository.parent(kept) == self.base:
                    return kept, name
            else:
                return commit, name
        raise AssertionError

    def _gather(self, *, trust_index: bool) -> tuple[str, Changes] | None:
        """Take all files into the index, and return their tree and how it differs from the base's."""
        if not is_folder(self.place.folder):
            return None
        if trust_index and self.index.exists():
            answer = self._add()
            if answer.code == 0 and not answer.err:
                tree, changes = self._compared()
                if not any(change.new_mode == GITLINK and change.old_mode != GITLINK for change in changes.listed):
                    return tree, changes
        return self._gather_thoroughly()

    def _gather_thoroughly(self) -> tuple[str, Changes]:
        """Do the same with a fresh index, after mending permissions and turning nested repositories into plain folders."""
        known = self._fresh_index("index.again")
        too_deep = mend(self.place.folder, self.place.own / "nested", {link.path for link in known})
        answer = self._add()
        if answer.code not in (0, 1) and not is_of_the_machine(answer.err):
            # Attributes may ask for the impossible, such as an encoding that the file does not have.
            self._fresh_index("index.raw")
            answer = self._add(raw=True)
        complaints = refused(answer.err)
        if answer.code and not complaints:
            raise trouble(("add",), answer.err)
        self.left_out = (*too_deep, *complaints)
        return self._compared()

    def _fresh_index(self, name: str) -> list[gitlinks.Gitlink]:
        self.index = self.place.own / name
        for stale in (self.index, self.index.with_name(f"{name}.lock")):
            stale.unlink(missing_ok=True)
        self.repository.on_objects("read-tree", self.base, index=self.index)
        gitlinks.fence(self.repository, self.index)
        return gitlinks.listed(self.repository, self.index)

    def _add(self, *, raw: bool = False) -> Answer:
        """Have git add every file. Santiago itself handles submodules, before and after."""
        folder = self.place.folder
        links = gitlinks.listed(self.repository, self.index)
        self._edit(gitlinks.edits(gitlinks.gone(folder, links), remove=True))
        accept = (0, 1, 128) if not raw else (0, 1)
        passing_over = self._passing_over()
        sizes = self._measured(passing_over)
        self.too_large = tuple(sizes.large)
        # Git cannot be told to leave out so many files, so that it is told which ones to take.
        some, every = ("update-index", "--add", "--remove", "-z", "--stdin"), ("add", "-A", "--ignore-errors")
        answer = self.repository.on_objects(
            *passing_over, *(some if self.too_large else every),
            index=self.index, folder=folder, raw=raw, writes=True, accept=accept,
            stdin=b"".join(name + b"\0" for name in sizes.fitting) if self.too_large else b"",
        )  # fmt: skip
        self._edit(gitlinks.edits(gitlinks.moved(folder, links), remove=False))
        return answer

    def _measured(self, passing_over: tuple[str, ...]) -> Sizes:
        """Return the sizes of what is new or changed. No file is read for it.

        The index that was noted when the attempt began knows the files' sizes; by a fresh one, git would have to read them.
        """
        sizes, index = Sizes(self.place.folder), self.place.index if self.place.index.exists() else self.index
        listing = ("ls-files", "--others", "--modified", "--exclude-standard", "-z")
        self.repository.on_objects(
            *passing_over, *listing, index=index, folder=self.place.folder, take=sizes.take, accept=(0, 1, 128)
        )
        return sizes

    def _passing_over(self) -> tuple[str, ...]:
        """Return the options that keep git from adding provided or built files, unless the base has them."""
        names = (*self.provided, *built_by_cargo(self.repository, self.index, self.place.folder))
        if not names:
            return ()
        rules = self.place.own / "passed-over"
        rules.write_bytes(rules_for(names))
        return ("-c", f"core.excludesFile={rules}")

    def _edit(self, lines: bytes) -> None:
        if lines:
            self.repository.on_objects("update-index", "-z", "--index-info", index=self.index, stdin=lines)

    def _compared(self) -> tuple[str, Changes]:
        tree, changes = self._difference()
        if not lfs.is_used(self.place.folder, (change.path for change in changes.listed)):
            return tree, changes
        pointed, lost = lfs.point(self.repository, self.place.folder, self.index, self.base)
        self.left_out = (*self.left_out, *lost)
        return self._difference() if pointed else (tree, changes)

    def _difference(self) -> tuple[str, Changes]:
        tree = self.repository.on_objects("write-tree", index=self.index, writes=True).text
        return tree, self.repository.changes(self.repository.trees(self.base)[0], tree)


def noted_names(note: Path) -> list[str]:
    """Return the noted names, without those that hold a line break, which no ignore rule can hold."""
    try:
        names = note.read_bytes().split(b"\0")
    except FileNotFoundError:
        return []
    return [os.fsdecode(name) for name in names if name and b"\n" not in name]


def is_folder(path: Path) -> bool:
    """Tell whether a path is a real folder. A link does not count: what it leads to is not the attempt's."""
    return path.is_dir() and not path.is_symlink()


def built_by_cargo(repository: Repository, index: Path, folder: Path) -> list[str]:
    """Return the folders that cargo builds into: a `target` is one only where a crate stands beside it."""
    crates = {_CRATE}
    if _CRATE in index.read_bytes():
        crates.update(repository.on_objects("ls-files", "-z", "--", "*Cargo.toml", index=index).out.split(b"\0"))
    beside = [Path(os.fsdecode(crate)).parent for crate in crates if crate.rpartition(b"/")[2] == _CRATE]
    return [str(one / "target") for one in beside if (folder / one / "Cargo.toml").is_file()]
