"""The repository as santiago uses it: objects through a neutral git directory of its own, refs through the real one.

The neutral directory holds no hook, no filter and no setting that starts a program, and only santiago writes it. From an
agent's folder git reads files and nothing else, no configuration.
"""

from __future__ import annotations

import os
import uuid
from contextlib import closing, contextmanager, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.reasons import Reason
from santiago.workspace.caches import RULES, rules_for
from santiago.workspace.changes import Changes
from santiago.workspace.durable import durability_of
from santiago.workspace.git import MOST, Answer, call, environment
from santiago.workspace.git_processes import Session
from santiago.workspace.inspect import excludes
from santiago.workspace.own_objects import OwnObjects
from santiago.workspace.packs import fold
from santiago.workspace.private import Common, Neutral, settings
from santiago.workspace.stored import Stored, now_by
from santiago.workspace.troubles import GONE, PUT_BACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from santiago.workspace.inspect import Found

    Take = Callable[[bytes], bool]

RAW = b"* -text -eol -ident -filter -working-tree-encoding\n"
"""Attributes that outrank those in the tree: every file is kept byte for byte."""
_TRIES = 20
"""How often writing a ref is tried again if it did not move. Each try takes a few milliseconds."""
_HASH = pattern("[0-9a-f]{40}|[0-9a-f]{64}")

# Commands that read many questions from their input, so that one process can answer them all.
_MOVE = ("update-ref", "--stdin")
_MOVED = b"start: ok\nprepare: ok\ncommit: ok\n"
_COMPARE = (
    "-c", "core.bigFileThreshold=16m", "-c", "core.quotePath=false",
    "diff-tree", "--stdin", "-r", "--raw", "--patch", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
    "--ignore-submodules=none",
)  # fmt: skip
_READ = ("cat-file", "--batch", "-z")
_SIZES = ("cat-file", "--batch-check", "-z")
_READ_BLOB = pattern(rb"[0-9a-f]{40,64} blob ([0-9]+)\n")
_HEADER = pattern(rb"[0-9a-f]{40,64} commit [0-9]+\ntree ([0-9a-f]{40,64})\n((?:parent [0-9a-f]{40,64}\n)*)")
_LARGEST_COMMIT = 2**18
_SIZE = pattern(rb"[0-9a-f]{40,64} blob ([0-9]+)\n")
_MOST_HEADS = 100
_AT_ONCE = 500
"""Questions whose answers fit into a pipe, so that git never waits for us while we wait for git."""
_AROUND = 1000
"""Bytes that git writes around a file."""
_PLAIN = ("core.excludesFile=/dev/null", "core.attributesFile=/dev/null", "core.safecrlf=false", "core.fsync=none")
_OBJECT_OPTIONS = tuple(word for setting in _PLAIN for word in ("-c", setting))


class Repository:
    """Git commands on one repository."""

    def __init__(self, found: Found, run_id: str, marks: Mapping[str, str] | None = None) -> None:
        self.found = found
        self._marks = dict(marks or {})
        """Environment variables by which the next start finds git processes that a crash left behind."""
        self.common = found.common
        self.durability = durability_of(found.common, found.objects)
        self.zero = "0" * (64 if found.object_format == "sha256" else 40)
        self._trees = {found.head: found.tree}
        self._parents: dict[str, str] = {}
        self._excludes = excludes(found)
        self._neutral = Neutral(self.common / "santiago" / "neutral", found, RULES + self._excludes)
        self.own = OwnObjects(self.common / "santiago" / "objects" / run_id, found.objects)
        self.guarded_lfs = self.common / "santiago" / "lfs" / run_id
        """Keeps the run's objects of LFS for as long as its refs."""
        self._unnamed: set[str] = set()
        """Commits that are only in santiago's own store."""
        self._sessions: dict[tuple[str, ...], Session] = {}

    def common_to_folders(self, stores: Sequence[str], provided: Sequence[str]) -> Common:
        """Return what the private git directories of folders share: where to find objects, and the ignore rules."""
        rules = [line for line in self._excludes.split(b"\n") if line.strip() and not line.startswith(b"#")]
        excludes = b"".join(rule + b"\n" for rule in rules) + rules_for(provided)
        return Common(config=settings(self.found, of_agent=True), excludes=excludes, stores=tuple(stores))

    @cached_property
    def _raw(self) -> Neutral:
        return Neutral(self.common / "santiago" / "raw", self.found, RULES + self._excludes, RAW)

    def on_objects(
        self,
        *arguments: str,
        index: Path | None = None,
        folder: Path | None = None,
        raw: bool = False,
        writes: bool = False,
        stdin: bytes = b"",
        accept: Sequence[int] = (0,),
        take: Take | None = None,
    ) -> Answer:
        """Run a command that needs objects, an index or files, but no ref. If it `writes` objects, they go to the run's own store."""
        neutral = self._raw if raw else self._neutral
        self._look(neutral)
        if writes:
            self.own.make()
        env = self._object_env() | {"GIT_DIR": str(neutral.folder)}
        if index is not None:
            env["GIT_INDEX_FILE"] = str(index)
        if folder is not None:
            # Agents without a sandbox can write here, and a filter planted in these settings would run on the files.
            neutral.mend()
            env["GIT_WORK_TREE"] = str(folder)
        return call((*_OBJECT_OPTIONS, *arguments), env, neutral.folder, stdin=stdin, accept=accept, take=take)

    def _look(self, neutral: Neutral) -> None:
        """Raise if the repository is gone, so that nothing is written into whatever is at its path now."""
        if neutral.folder.is_dir():
            return
        arguments = ("cat-file", "-e", self.found.head)
        if self.common.is_dir() and call(arguments, self._ref_env, self.common, accept=(0, 1, 128)).code == 0:
            neutral.mend()  # only santiago's own folder was removed
        else:
            raise SantiagoError(Kind.TRANSIENT, GONE, where=str(self.common), hint=PUT_BACK, reason=Reason.IO_ERROR)

    def _object_env(self) -> dict[str, str]:
        store = self.own.folder if self.own.is_there else self.found.objects
        return self._identity_env | {"GIT_OBJECT_DIRECTORY": str(store)}

    @cached_property
    def _identity_env(self) -> dict[str, str]:
        name, mail = self.found.identity
        env = environment() | self._marks | {
            "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail, "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail,
        }  # fmt: skip
        return env | {"GIT_SHALLOW_FILE": str(self.common / "shallow")} if self.found.shallow else env

    def on_refs(self, *arguments: str, stdin: bytes = b"", accept: Sequence[int] = (0,)) -> Answer:
        """Run a command on the repository's real refs, without its hooks."""
        self._look(self._neutral)
        return call((*self._ref_options, *arguments), self._ref_env, self._neutral.folder, stdin=stdin, accept=accept)

    @cached_property
    def _ref_options(self) -> tuple[str, ...]:
        patience = ("-c", "core.filesRefLockTimeout=2000", "-c", "core.packedRefsTimeout=2000")
        return (*self.durability.options, *patience)

    @cached_property
    def _ref_env(self) -> dict[str, str]:
        name, mail = self.found.identity
        own = {"GIT_DIR": str(self.common), "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail}
        return environment() | self._marks | own

    @contextmanager
    def session(self) -> Iterator[None]:
        """Within this context, keep the git processes that move refs, compare trees and read files."""
        self.own.make()  # before they start: each looks for the store only once
        self._sessions = {command: self._session(command) for command in (_MOVE, _COMPARE, _READ, _SIZES)}
        try:
            yield
        finally:
            sessions, self._sessions = self._sessions, {}
            for session in sessions.values():
                session.close()

    def _session(self, command: tuple[str, ...]) -> Session:
        if command is _MOVE:
            return Session((*self._ref_options, *command), self._ref_env, self._neutral.folder)
        env = self._object_env() | {"GIT_DIR": str(self._neutral.folder)}
        return Session((*_OBJECT_OPTIONS, *command), env, self._neutral.folder)

    def _ask(self, command: tuple[str, ...], question: bytes, last: bytes, take: Take = lambda _: True) -> None:
        """Ask the git process that was kept for this command, or else a new one for this question only."""
        self._look(self._neutral)
        if command in self._sessions:
            self._sessions[command].ask(question, last, take)
            return
        with closing(self._session(command)) as session:
            session.ask(question, last, take)

    @property
    def stored(self) -> Stored:
        """Return what writes objects into the run's own store."""
        return Stored(self.own, self.found.object_format)

    def commit(self, tree: str, parent: str, message: str) -> str:
        """Write a commit."""
        made = self.stored.commit(checked(tree), [checked(parent)], message, now_by(self.found.identity))
        self._trees[made], self._parents[made] = tree, parent
        self._unnamed.add(made)
        return made

    def changes(self, old: str, new: str) -> Changes:
        """Return how one tree differs from another."""
        # Git repeats a line that it cannot read. This random one marks the end, since no tree can contain it.
        changes = Changes(f"{checked(old)} {checked(new)}\n".encode(), f"{uuid.uuid4().hex}\n".encode())
        self._ask(_COMPARE, changes.first + changes.last, changes.last, changes.take)
        changes.finish()
        return changes

    def content(self, commit: str, path: str) -> bytes | None:
        """Return a file of a commit; None if it is missing or too large to matter."""
        output = bytearray()

        def take(piece: bytes) -> bool:
            output.extend(piece)
            return len(output) <= MOST + _AROUND

        # Git answers "missing" to an unknown name. This random one marks the end, since no file can contain it.
        last = uuid.uuid4().hex.encode()
        question = f"{checked(commit)}:".encode() + os.fsencode(path)
        self._ask(_READ, question + b"\0" + last + b"\0", last + b" missing\n", take)
        found = _READ_BLOB.match(output)
        if found is None or "\0" in path or int(found[1]) > MOST:
            return None
        return bytes(output[found.end() : found.end() + int(found[1])])

    def header(self, commit: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the tree and the parents of a commit that anybody may have made; None if there is no such commit."""
        output = bytearray()

        def take(piece: bytes) -> bool:
            output.extend(piece)
            return len(output) <= _LARGEST_COMMIT

        last = uuid.uuid4().hex.encode()
        question = b"%b\0%b\0" % (checked(commit).encode(), last)
        self._ask(_READ, question, last + b" missing\n", take)
        found = _HEADER.match(output)
        if found is None or len(output) > _LARGEST_COMMIT:
            return None
        return found[1].decode(), tuple(found[2].decode().split()[1::2])

    def holding(self, commit: str, names: Sequence[str]) -> tuple[dict[str, bytes], tuple[str, ...]] | None:
        """Return the files with these names, and the parents; None if a commit that anybody may have made holds anything else."""
        header, read = self.header(commit), {name: self.content(commit, name) for name in names}
        found = {name: content for name, content in read.items() if content is not None}
        # Equal names mean equal content, so nothing else lies in that tree: no link, no other path.
        if header is None or Stored(None, self.found.object_format).tree(found) != header[0]:
            return None
        return found, header[1]

    @property
    def for_refs(self) -> tuple[dict[str, str], Path]:
        """Return environment and folder of git commands that move objects and refs between a remote and this repository."""
        return self._ref_env, self._neutral.folder

    def message(self, commit: str) -> str:
        """Return the message of a commit that anybody may have made, as far as it is not too long."""
        return self.on_objects("show", "--no-patch", "--format=%B", checked(commit)).text[:_LARGEST_COMMIT]

    def shares_history(self, commit: str, others: Sequence[str]) -> bool:
        """Tell whether a commit has an ancestor in common with one of these, as far as they are here."""
        asked = "".join(f"{checked(one)}\n" for one in others).encode()
        here = self.on_objects("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=asked).text.splitlines()
        known = [line.partition(" ")[2] for line in here if line.startswith("commit ")]
        return any(self.on_objects("merge-base", commit, one, accept=(0, 1)).code == 0 for one in known[:_MOST_HEADS])

    def size(self, blobs: Sequence[str]) -> int:
        """Return how many bytes these files have together."""
        found: list[bytes] = []
        for at in range(0, len(blobs), _AT_ONCE):
            output, last = bytearray(), uuid.uuid4().hex.encode()
            some = "".join(f"{checked(blob)}\0" for blob in blobs[at : at + _AT_ONCE]).encode()
            self._ask(_SIZES, some + last + b"\0", last + b" missing\n", partial(_extend, output))
            found += _SIZE.findall(output)
        return sum(map(int, found))

    @property
    def for_transfers(self) -> tuple[dict[str, str], Path]:
        """Return environment and folder of git commands that move objects between a remote and the run's own store."""
        self.own.make()
        return self._object_env() | {"GIT_DIR": str(self._neutral.folder)}, self._neutral.folder

    def parent(self, commit: str) -> str | None:
        """Return a commit's first parent; None where it has none."""
        if commit not in self._parents:
            found = self.resolve(f"{checked(commit)}^1")
            if found is None:
                return None
            self._parents[commit] = found
        return self._parents[commit]

    def trees(self, *commits: str) -> list[str]:
        """Return the trees of commits; those that santiago made itself are known without asking."""
        unknown = [commit for commit in dict.fromkeys(commits) if commit not in self._trees]
        if unknown:
            answer = self.on_objects("rev-parse", *(f"{checked(commit)}^{{tree}}" for commit in unknown))
            self._trees.update(zip(unknown, answer.text.split(), strict=True))
        return [self._trees[commit] for commit in commits]

    def resolve(self, ref: str) -> str | None:
        """Return the commit of a ref; None where there is no such ref."""
        return self.on_refs("rev-parse", "-q", "--verify", f"{ref}^{{commit}}", accept=(0, 1)).text or None

    def move(self, ref: str, new: str, old: str) -> None:
        """Write a ref if it is still at `old` (all zeros: it does not exist). It is on disk on return."""
        with self._handed_over(checked(new)):
            self._moved(ref, new, old)
            tables = self.common / "reftable"
            place = tables if tables.is_dir() else (self.common / ref).parent
            self.durability.barrier(place, self.common)
        self._fold_packs()

    def _fold_packs(self) -> None:
        if (self.common / "gc.pid").exists():
            return  # git tidies up by itself, and might miss a pack that goes meanwhile
        for objects in (self.found.objects, self.own.folder):
            with suppress(SantiagoError):  # many packs are slow, and nothing worse; the next move tries again
                fold(objects, self._identity_env | {"GIT_DIR": str(self._neutral.folder)})

    def _moved(self, ref: str, new: str, old: str) -> None:
        """Write a ref. It is tried again, since git may wrongly say that a ref moved while other processes pack the refs."""
        order = f"start\nupdate {ref} {new} {old}\nprepare\ncommit\n".encode()
        for _ in range(_TRIES):
            try:
                return self._ask(_MOVE, order, _MOVED)
            except SantiagoError as error:
                if error.kind is not Kind.BLOCKED or (self.resolve(ref) or self.zero) != old:
                    raise
        return self._ask(_MOVE, order, _MOVED)

    @contextmanager
    def _handed_over(self, commit: str) -> Iterator[None]:
        """Within this context, a commit is in the repository with all that it needs, safe from any clean-up."""
        fresh, known = [], commit
        while known in self._unnamed:
            fresh.append(known)
            known = self._parents[known]
        if not fresh:
            yield
            return
        wanted = f"{commit}\n^{known}\n".encode()
        command = ("pack-objects", "--revs", "--quiet", "--delta-base-offset", str(self.own.staging))
        env = self._object_env() | {"GIT_DIR": str(self._neutral.folder)}
        packed = call((*self.durability.options, *command), env, self._neutral.folder, stdin=wanted).text
        with self.own.guarded(packed):
            yield
        self._unnamed.difference_update(fresh)


def _extend(output: bytearray, piece: bytes) -> bool:
    output.extend(piece)
    return True


def checked(name: str) -> str:
    """Return the name if it is the full name of an object, else raise. Only checked names reach git."""
    if _HASH.fullmatch(name) is None:
        raise SantiagoError(Kind.BUG, f"not the name of a commit or tree: {name!r}")
    return name
