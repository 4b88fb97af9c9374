"""The workspace port on git: ties folders, snapshots and the run's branch together."""

from __future__ import annotations

import os
import re
import shutil
import threading
import uuid
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import is_run_id, is_story_id
from santiago.contract.lazy_regex import pattern
from santiago.contract.ports.workspace import Integration, Opened, Snapshot, WorkspaceConflictError
from santiago.contract.reasons import Reason
from santiago.util.removal import remove
from santiago.workspace import branch, changes, dependencies, gitlinks, lfs, private, refs
from santiago.workspace.caches import is_cache
from santiago.workspace.contents import Contents, Listing
from santiago.workspace.durable import boot
from santiago.workspace.folders import Folders
from santiago.workspace.inspect import find, uncommitted
from santiago.workspace.joining import Applied, apply, compose, message
from santiago.workspace.own_objects import stores_of
from santiago.workspace.repository import Repository, checked
from santiago.workspace.snapshot import Taking
from santiago.workspace.unfinished import so_far

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from santiago.process.place import Dependency
    from santiago.workspace.folders import Place
    from santiago.workspace.inspect import Found
    from santiago.workspace.private import Common
    from santiago.workspace.refs import AttemptRef, Ref

_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")
_SHOW = (
    "--literal-pathspecs", "-c", "core.quotePath=false",
    "diff-tree", "-r", "--patch", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
)  # fmt: skip
_MOST_SHOWN, _MOST_LOOKED_AT, _MOST_SHOWN_FILES = 20_000, 200_000, 500
"""Limits of a difference that a person is shown: its bytes, and the number of its files."""


class GitWorkspace:
    """All that one run does with git. `scratch` is a folder of santiago's own, outside the repository.

    Every git process of the run carries `marks` in its environment. No snapshot takes the files that santiago itself
    `provided`, such as an `.env` that git ignores. If `stores_at` is given, programs that run in a folder find the borrowed
    objects in numbered folders below it.
    """

    def __init__(
        self,
        repo: Path,
        run_id: str,
        scratch: Path,
        marks: Mapping[str, str] | None = None,
        provided: Sequence[str] = (),
        stores_at: str | None = None,
    ) -> None:
        if not is_run_id(run_id):
            raise SantiagoError(Kind.INPUT, "not a run id", where=run_id, reason=Reason.INVALID_INPUT)
        self.repo = repo
        self._run_id = run_id
        self.branch = f"refs/heads/santiago/{run_id}"
        self.prefix = f"refs/santiago/{run_id}"
        self.folders = Folders(scratch, run_id)
        self._marks = marks
        self._copied = self._provided = provided
        self._stores_at = stores_at
        self._lock = threading.Lock()
        self._repository: Repository | None = None
        self._filled: dict[str, str] = {}
        """Folder → the commit that it was made from."""
        self._bases: dict[tuple[str, int], str] = {}
        self._known_trees: dict[tuple[str, str, str], Applied] = {}
        """Tree, snapshot and its base → what became of them together."""
        self._listing = Listing()
        self._contents = Contents()
        self._head: str | None = None
        """The head of the branch when this process last saw or moved it. Moving it checks again."""

    @property
    def repository(self) -> Repository:
        with self._lock:
            if self._repository is None:
                self._repository = Repository(find(self.repo), self._run_id, self._marks)
            return self._repository

    @cached_property
    def stores(self) -> tuple[str, ...]:
        """The folders of objects that the folders of attempts borrow from."""
        self.repository.own.make()
        return stores_of(self.repository.own.folder)

    def dependencies(self, names: Sequence[str]) -> tuple[Dependency, ...]:
        """Return the folders of the repository with these names that git ignores. No snapshot takes them."""
        found = dependencies.find(self.repository, self.files(self.repository.found.head), names)
        self._provided = (*self._provided, *(one.name for one in found))
        return found

    @cached_property
    def _common(self) -> Common:
        at = self._stores_at
        seen = self.stores if at is None else [f"{at}/{number}" for number in range(len(self.stores))]
        return self.repository.common_to_folders(seen, self._provided)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Within this context, git processes stay alive, and folders are removed in the background. At its end both are over."""
        try:
            with self.repository.session(), self.folders.sweeping():
                yield
        finally:
            self.repository.own.clear()

    def inspect(self) -> Found:
        """Return the facts about the repository; raise if no run can work in it."""
        return self.repository.found

    def is_dirty(self) -> bool:
        """Tell whether there are uncommitted changes. A run does not see them."""
        return bool(self.uncommitted())

    def uncommitted(self, but: Sequence[str] = ()) -> str:
        """Return the first path with uncommitted changes, apart from some; empty if there is none."""
        return uncommitted(self.repository.found.root, but)

    def begin(self, commit: str) -> str:
        """Make the run's branch on a commit where there is none yet, and return its head."""
        self._head = branch.begin(self.repository, self.branch, commit)
        return self._head

    def head(self) -> str | None:
        """Return the head of the run's branch; None where there is no branch yet."""
        self._head = self.repository.resolve(self.branch)
        return self._head

    def open(self, story: str, attempt: int, base: Sequence[str]) -> Opened:
        place = self._place(story, attempt)
        commit = self.merged(story, attempt, base)
        # The log does not know this attempt yet, so a folder that is left here holds no work.
        self.close(story, attempt)
        self._bases[story, attempt] = commit
        with self.folders.written():
            place.own.mkdir(parents=True)
            place.base.write_text(f"{commit}\n", encoding="ascii")
            place.boot.write_text(boot(), encoding="ascii")
            inside = self._fill(place.folder, commit, f"santiago/{story}-{attempt}")
            # Copied with its time stamp, which git needs to notice files that changed in the same moment.
            shutil.copy2(inside / "index", place.index)
        gitlinks.fence(self.repository, place.index)
        return Opened(folder=str(place.folder), base=commit)

    def merged(self, story: str, attempt: int, base: Sequence[str]) -> str:
        """Return one commit that has the snapshots of all dependencies applied to the run's head."""
        commit = self.stacked(base, f"the work that {story} depends on", f"Base of {story}, attempt {attempt}\n")
        if commit not in base:
            # Only this ref keeps the commit while the agent works on it.
            ref = refs.base_of(self._ref(story, attempt))
            self.repository.move(ref, commit, self.repository.resolve(ref) or self.repository.zero)
        return commit

    def stacked(
        self, base: Sequence[str], what: str = "the work of several stories", message: str = "Verified ahead\n"
    ) -> str:
        commit, *rest = map(checked, base)
        for snapshot in rest:
            parent = self.base_of(snapshot)
            if parent == commit:
                commit = snapshot
                continue
            applied = self._applied(commit, snapshot, parent)
            if applied.tree is None:
                hint = "Santiago integrates these stories one by one first."
                raise WorkspaceConflictError(f"{what} does not fit together", applied.conflicts, hint)
            commit = self.repository.commit(applied.tree, commit, message)
        return commit

    def _applied(self, onto: str, snapshot: str, base: str) -> Applied:
        """Return the tree of `onto` with the changes of a snapshot. The same work is applied to the same tree again and again."""
        key = (self.tree(onto), snapshot, base)
        if key not in self._known_trees:
            self._known_trees[key] = apply(self.repository, onto, snapshot, base)
        return self._known_trees[key]

    def _fill(self, folder: Path, commit: str, name: str | None) -> Path:
        """Make a folder with a commit's files and a private git directory."""
        repository = self.repository
        inside = private.make(folder, repository.found, self._common, commit, name)
        repository.on_objects("read-tree", "-u", "--reset", checked(commit), index=inside / "index", folder=folder)
        lfs.fill(repository, folder, inside / "index")
        self._filled[str(folder)] = commit
        return inside

    def not_in_checkouts(self, commit: str) -> tuple[list[str], list[str]]:
        """Return what a checkout of a commit lacks: its submodules (empty folders), and files of LFS that stay pointers."""
        files = self.files(commit)
        rules = (path for path in files if path.rpartition("/")[2] == lfs.ATTRIBUTES.decode())
        uses_lfs = any(lfs.gives(self.read(commit, path)) for path in rules)
        if not uses_lfs and ".gitmodules" not in files:
            return [], []
        self.folders.temporary.mkdir(parents=True, exist_ok=True)
        index = self.folders.temporary / f"index-{uuid.uuid4().hex}"
        try:
            self.repository.on_objects("read-tree", checked(commit), index=index)
            links = [link.path for link in gitlinks.listed(self.repository, index)]
            pointers = lfs.absent(self.repository, index) if uses_lfs else []
        finally:
            index.unlink(missing_ok=True)
        return [os.fsdecode(path) for path in links], [os.fsdecode(path) for path in pointers]

    def commit_in(self, folder: str) -> str:
        """Return the commit that a folder was made from."""
        return self._filled[folder]

    def noted_index(self, folder: str) -> Path:
        """Return a copy of the index of a folder in which nothing has run yet. The caller removes it."""
        note = self.folders.temporary / f"index-{uuid.uuid4().hex}"
        with self.folders.written():
            note.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(Path(folder, ".git", "index"), note)
        return note

    def changed_in(self, folder: str, index: Path) -> dict[str, bool] | None:
        """Return what is new in a folder since its index was noted, without caches, and whether git ignores it.

        None if a tracked file changed.
        """
        arguments = ("status", "--porcelain", "-z", "--ignored", "--untracked-files=normal", "--ignore-submodules=all")
        lines = self.repository.on_objects(*arguments, index=index, folder=Path(folder)).out.split(b"\0")
        new = [line for line in lines if line[:2] in (b"??", b"!!")]
        if any(
            line[1:2] != b" " for line in lines if line and line not in new
        ):  # the second letter compares with the index; the first is about the last commit
            return None
        found = {os.fsdecode(line[3:]).rstrip("/"): line[:2] == b"!!" for line in new}
        return {name: ignored for name, ignored in found.items() if name not in self._copied and not is_cache(name)}

    def watched(self, folder: str) -> Callable[[], tuple[str, ...]]:
        index = self.noted_index(folder)

        def touched() -> tuple[str, ...]:
            arguments = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all")
            try:
                lines = self.repository.on_objects(*arguments, index=index, folder=Path(folder)).out.split(b"\0")
            finally:
                index.unlink(missing_ok=True)
            names = (os.fsdecode(line[3:]) for line in lines if line and line[1:2] != b" ")
            return tuple(name for name in names if name.rstrip("/") not in self._copied and not is_cache(name))

        return touched

    def prepared(self, story: str, attempt: int) -> None:
        place = self._place(story, attempt)
        listing = ("ls-files", "--others", "--exclude-standard", "--directory", "-z")
        place.provided.write_bytes(self.repository.on_objects(*listing, index=place.index, folder=place.folder).out)

    def lay(self, story: str, attempt: int, commit: str) -> bool:
        """Put the changes of a snapshot into the folder. The folder's index stays as it was, so git shows them as changes."""
        place, base = self._place(story, attempt), self._bases[story, attempt]
        applied = apply(self.repository, base, commit, self.base_of(commit))
        if applied.tree is None:
            return False
        index = place.own / "laid"
        with self.folders.written():
            shutil.copy2(place.index, index)
            move = ("read-tree", "-m", "-u", checked(base), checked(applied.tree))
            self.repository.on_objects(*move, index=index, folder=place.folder)
            lfs.fill(self.repository, place.folder, index)
            index.unlink()
        return True

    def snapshot(self, story: str, attempt: int, message: str) -> Snapshot | None:
        place = self._place(story, attempt)
        # From memory if possible, since an agent without a sandbox could change the note.
        base = self._bases.pop((story, attempt), None) or _noted(place.base)
        if base is None:
            raise SantiagoError(Kind.BUG, f"{story} attempt {attempt} is not open")
        taken = Taking(self.repository, place, base, self._provided).take(message, self._ref(story, attempt))
        if taken is not None:
            self._listing.follow(base, taken)
            self._contents.follow(base, taken)
        return taken

    def so_far(self, story: str, attempt: int) -> bytes | None:
        """Return what an attempt has changed so far, as a patch; None if it is not under way."""
        return so_far(self.repository, self._place(story, attempt), self._provided)

    def whole(self, story: str, attempt: int) -> bool:
        """Tell whether the attempt's folder is surely complete. It may not be if the machine was restarted since."""
        place = self._place(story, attempt)
        # The agent's files were not synced, so a power cut may have lost some of them.
        return place.folder.is_dir() and bool(boot()) and _noted(place.boot) == boot()

    def restore(self, story: str, attempt: int, message: str = "", base: Sequence[str] = ()) -> Snapshot | None:
        """Return the attempt's work. If it was not kept yet, keep it now from its leftover folder; None if nothing is left."""
        place = self._place(story, attempt)
        kept = self.kept(story, attempt)
        if kept is not None or not place.folder.is_dir():
            return kept
        began = self.merged(story, attempt, base) if base else _noted(place.base) or self.head()
        if began is None:
            return None
        place.own.mkdir(parents=True, exist_ok=True)
        return Taking(self.repository, place, began, self._provided).take(
            message or f"{story}, attempt {attempt}, interrupted\n", self._ref(story, attempt), trust_index=False
        )

    def checkout(self, commit: str, name: str) -> str:
        if _NAME.fullmatch(name) is None:
            raise SantiagoError(Kind.BUG, f"not a name for a folder: {name!r}")
        folder = self.folders.clean(name)
        self.folders.discard(folder)
        with self.folders.written():
            self._fill(folder, checked(commit), None)
        return str(folder)

    def compose(
        self, onto: str, other: str, paths: Sequence[str], contents: Mapping[str, bytes], message: str = ""
    ) -> str:
        return compose(self.repository, self.folders, (checked(onto), checked(other)), paths, contents, message)

    def keep_tests(self, story: str, attempt: int, commit: str) -> None:
        ref = refs.tests_of(self._ref(story, attempt))
        self.repository.move(ref, checked(commit), self.repository.resolve(ref) or self.repository.zero)

    def changed(self, old: str, new: str) -> tuple[str, ...]:
        changes = self.repository.changes(self.tree(old), self.tree(new))
        return tuple(change.path for change in changes.listed)

    def difference(self, old: str, new: str, paths: Sequence[str], first: Sequence[str] = ()) -> str:
        shown = bytearray()

        def take(piece: bytes) -> bool:
            shown.extend(piece)
            return len(shown) <= _MOST_LOOKED_AT

        if paths:
            trees = self.repository.trees(checked(old), checked(new))
            self.repository.on_objects(*_SHOW, *trees, "--", *paths[:_MOST_SHOWN_FILES], take=take)
        return changes.first_about(first, shown.decode("utf-8", "replace"))[:_MOST_SHOWN]

    def integrate(
        self,
        story: str,
        commit: str,
        base: str,
        subject: str,
        trailers: Sequence[tuple[str, str]],
        onto: str | None = None,
    ) -> Integration:
        repository = self.repository
        head = onto or self._head or self.head()
        if head is None:
            raise SantiagoError(Kind.BUG, f"the run's branch is missing, {story} cannot be integrated")
        tree = repository.trees(checked(commit))[0]  # raises where there is no such commit
        if head == commit or head == base == self.base_of(commit):
            return Integration(head=commit, moved=False)
        applied = self._applied(head, commit, checked(base))
        if applied.tree is None:
            return Integration(head=None, moved=True, conflict=", ".join(applied.conflicts))
        new = repository.commit(applied.tree, head, message(subject, tuple(trailers)))
        return Integration(head=new, moved=applied.tree != tree)

    def advance(self, old: str, new: str) -> str:
        lfs.Objects(self.repository).bring_all_back()
        self._head = branch.advance(self.repository, self.branch, checked(old), checked(new))
        return self._head

    def close(self, story: str, attempt: int) -> None:
        place = self._place(story, attempt)
        # The notes are removed last: without them, the base of a folder would be unknown.
        self.folders.discard(place.folder)
        self.folders.discard(place.own)

    def put_aside(self, story: str, attempt: int) -> str:
        """Keep the folder of an attempt whose work git cannot keep; return where it is now, or nothing."""
        return self.folders.put_aside(self._place(story, attempt).folder)

    def discard(self, folder: str) -> None:
        self.folders.discard(Path(folder))

    def unlock(self) -> None:
        """Remove what a crash left in the repository: locks on the run's refs, unused objects. No git of the run may be alive."""
        self.repository.own.clear()
        refs.break_stale(self.repository.common, (self.branch, self.prefix))

    def tidy(self) -> None:
        """Remove all folders that a crash left; the work in them is kept by now."""
        self.folders.discard_all()

    def kept(self, story: str, attempt: int) -> Snapshot | None:
        ref = self._ref(story, attempt)
        commit = self.repository.resolve(ref)
        if commit is None:
            return None
        tree = self.tree(commit)
        changes = self.repository.changes(self.tree(self.base_of(commit)), tree)
        return Snapshot(commit=commit, tree=tree, ref=ref, changes=changes.listed, patch=changes.patch)

    def take_over(self, ref: str, message: str) -> str | None:
        """Return a snapshot of a person's own commit, which no ref names yet; None if there is no such commit."""
        commit, head = self.repository.resolve(ref), self.head()
        if commit is None or head is None:
            return None
        common = self.repository.on_refs("merge-base", head, commit, accept=(0, 1)).text or head
        return self.repository.commit(self.tree(commit), common, message)

    def keep(self, story: str, attempt: int, commit: str) -> None:
        """Keep a commit as an attempt's work. The log already has the attempt."""
        self.repository.move(self._ref(story, attempt), checked(commit), self.repository.zero)

    def base_of(self, commit: str) -> str:
        return self.repository.parent(commit) or commit

    def tree(self, commit: str) -> str:
        return self.repository.trees(checked(commit))[0]

    def files(self, commit: str) -> frozenset[str]:
        return self._listing.of(self.repository, checked(commit))

    def mentions(self, commit: str, text: str) -> bool:
        """Tell whether any file of a commit contains a text; true if that cannot be found out."""
        arguments = ("grep", "--quiet", "--text", "--fixed-strings", "-e", text, checked(commit))
        try:
            return self.repository.on_objects(*arguments, accept=(0, 1)).code == 0
        except SantiagoError:
            return True

    def mentioned(self, commit: str, words: Sequence[str]) -> set[str]:
        """Return which of these words stand in the files of a commit."""
        if not words:
            return set()
        asked = [part for word in words for part in ("-e", word)]
        options = ("grep", "-I", "-h", "--only-matching", "--word-regexp", "--fixed-strings")
        try:
            return set(
                os.fsdecode(self.repository.on_objects(*options, *asked, checked(commit), accept=(0, 1)).out).split()
            )
        except SantiagoError:
            return set()

    def read(self, commit: str, path: str) -> bytes | None:
        return self._contents.of(self.repository, checked(commit), path)

    def content(self, commit: str, path: str) -> bytes:
        """Return a file as a checkout holds it, also one of LFS; empty if there is none."""
        read = self.read(commit, path) or b""
        pointer = lfs.pointer_in(read)
        return (pointer and lfs.Objects(self.repository).beginning(pointer)) or read

    def anchored(self, since: str) -> int:
        """Return the number of the latest event that a commit on the run's branch names; 0 where none does."""
        show = "--format=%(trailers:key=Santiago-Head,valueonly,separator=%x20)"
        found = self.repository.on_refs("log", show, f"{checked(since)}..{self.branch}", accept=(0, 128)).text
        return max((int(seq) for seq in re.findall(r"^([0-9]{1,15}):[0-9a-f]+", found, re.MULTILINE)), default=0)

    def landed(self, since: str | None) -> str | None:
        """Return the story whose work came onto the run's branch last, if the head is not this commit."""
        head = self.head()
        if head in (None, since):
            return None
        show = "--format=%(trailers:key=Santiago-Story,valueonly,separator=%x20)"
        return self.repository.on_refs("log", "-1", show, self.branch, accept=(0, 128)).text.strip() or None

    def refs(self) -> list[AttemptRef]:
        """Return the refs that keep this run's attempts."""
        return refs.attempts(self.repository, self.prefix)

    def reachable(self, commit: str) -> bool:
        """Say whether some ref keeps a commit."""
        answer = self.repository.on_refs("for-each-ref", "--count=1", "--contains", checked(commit), accept=(0, 129))
        return answer.code == 0 and bool(answer.out)

    def prune(self) -> list[str]:
        """Delete this run's refs and folders, and return their names; the run's branch stays."""
        self.repository.own.clear()
        for left in (self.repository.guarded_lfs, self.folders.examined):
            shutil.rmtree(left, ignore_errors=True)
        listed = refs.of_run(self.repository, self.prefix)
        refs.delete(self.repository, listed)
        aside = [str(path) for path in self.folders.aside.glob("*")]
        for path in aside:
            remove(path)
        return [ref.name for ref in listed] + aside + self.folders.discard_all()

    def broken(self) -> list[Ref]:
        """Return the refs of this run, including its branch, that lead to missing objects."""
        return refs.broken(self.repository, self.prefix, self.branch)

    def forget(self, broken: Sequence[Ref]) -> None:
        """Delete refs of this run's attempts that lead nowhere. The log already says so."""
        refs.delete(self.repository, broken)

    def _place(self, story: str, attempt: int) -> Place:
        if not is_story_id(story) or attempt < 1:
            raise SantiagoError(
                Kind.INPUT, "not the id of a story's attempt", where=f"{story}/{attempt}", reason=Reason.INVALID_INPUT
            )
        return self.folders.attempt(story, attempt)

    def _ref(self, story: str, attempt: int) -> str:
        return f"{self.prefix}/{story}/{attempt}"


def _noted(note: Path) -> str | None:
    """Return what was noted when the attempt began; None if a crash left no note."""
    try:
        text = note.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return None
    return text or None
