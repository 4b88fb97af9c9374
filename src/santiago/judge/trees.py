"""The extra trees of a verdict: the work with the base's tests and the base with the work's tests; and changed tests."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property
from itertools import takewhile

from santiago.contract import globs
from santiago.contract.ports.workspace import Workspace
from santiago.contract.record import lean
from santiago.judge.judge_files import NAMED_TESTS, JudgeFiles
from santiago.judge.naming.named_tests import file_of, name_of
from santiago.judge.sections import declaration, modules_above, put_back, with_new_examples

_SHARED_FOLDER = (".go", ".java", ".kt", ".cs", ".swift")
"""Languages in which the files of a folder see each other without an import."""
_TO_FAIL = r"(?:\.(?:failing|fails?)|\bxfail|expectedFailure)\b(?:(?!\n\s*\n)[^;}]){0,500}?"
"""How a test is marked as one that fails, up to its name: `test.failing('name'`, or decorators above it."""


@lean(frozen=True, slots=False)
class Trees:
    """A work and its base, with their files divided into those that judge and those that are judged."""

    workspace: Workspace
    files: JudgeFiles
    base: str
    work: str
    paths: Sequence[str]
    """All paths that differ between the two."""
    _texts: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """Cache of `_text_of`: test file → the changed files that hold the text of its tests."""

    @cached_property
    def judging(self) -> tuple[str, ...]:
        """The changed files that judge, wholly or in part."""
        return tuple(path for path in self.paths if self.files.judges(path) or self._in_part(path))

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Those of them that are tests or belong to tests. The others are only loaded before the first test."""
        return tuple(path for path in self.judging if self.files.tests(path) or self._in_part(path, loaded=False))

    def _in_part(self, path: str, *, loaded: bool = True) -> bool:
        """Tell whether the work changed the judging part of a file."""
        if not self._is_shared(path):
            return False
        mine, theirs = self.workspace.read(self.work, path), self._read(self.base, path)
        if mine is None:
            return bool(theirs)
        return put_back(path, mine, theirs, loaded=loaded) != mine or with_new_examples(path, theirs, mine) != theirs

    def _is_shared(self, path: str) -> bool:
        """Tell whether only a part of a file judges. A test judges as a whole, even if examples in it are run."""
        return not self.files.judges(path) and (self.files.is_mixed(path) or self.files.has_inline_tests(path))

    def with_old_tests(self) -> str:
        """Return the work with the judge of the base."""
        return self._composed(self.work, self.base, self.judging)

    def with_new_tests(self, onto: str | None = None) -> str:
        """Return the base, or the commit before any work of the story, with the tests of the work."""
        onto = onto or self.base
        return self._composed(onto, self.work, [path for path in self.tests if not self._moved(path, onto)], new=True)

    def _moved(self, path: str, onto: str) -> bool:
        """Tell whether a file of Rust is new, and its module is not."""
        above = (declaration(path, self._read(onto, one)) for one in modules_above(path))
        return any(above) and path not in self.workspace.files(onto)

    def _composed(self, onto: str, judges_from: str, paths: Sequence[str], *, new: bool = False) -> str:
        mixed: dict[str, bytes] = {}
        for path in paths:
            if self._is_shared(path):
                mine = mixed.get(path) or self.workspace.read(onto, path)
                if mine is None and new and not self.files.is_mixed(path):
                    mine = b""  # what else is in a new file is the work
                    self._declare(path, onto, mixed)
                if mine is not None:
                    theirs = self._read(judges_from, path)
                    mixed[path] = put_back(path, mine, theirs, loaded=not new)
                    mixed[path] = with_new_examples(path, mixed[path], theirs) if new else mixed[path]
        whole = [path for path in paths if path not in mixed]
        return self.workspace.compose(onto, judges_from, whole, mixed)

    def _declare(self, path: str, onto: str, made: dict[str, bytes]) -> None:
        """Make a new file of Rust a module where the work does, since nobody else compiles its tests."""
        for above in modules_above(path):
            mine, line = made.get(above) or self._read(onto, above), declaration(path, self._read(self.work, above))
            if line and not declaration(path, mine):
                made[above] = mine + b"\n#[cfg(test)]\n" + line + b"\n"
                if not mine:
                    self._declare(above, onto, made)

    def text_changed(self, test: str) -> bool:
        """Tell whether the work changed the text of a test of the base."""
        return any(path in self.tests for path in self._text_of(test))

    def steered(self, test: str) -> bool:
        """Tell whether the work left the text of a test as it was, and changed what its runner loads."""
        return not self.text_changed(test) and bool(self._text_of(test))

    def renamed(self, test: str) -> bool:
        """Tell whether the text of a test of the base is in the work under another name."""
        path = self._file_of(test)
        if path is None or path not in self.judging:
            return False
        said = self._said(test, self.base, path)
        return bool(said) and said in self._read(self.work, path).decode(errors="replace")

    def was_to_fail(self, test: str) -> bool:
        """Tell whether the base marks a test as one that is expected to fail, so that it fails there if it would pass."""
        path, marked = self._file_of(test), re.compile(_TO_FAIL + _whole(name_of(test).rpartition(" › ")[2]))
        texts = (self._read(self.base, one).decode(errors="replace") for one in ([path] if path else self.judging))
        return any(map(marked.search, texts))

    def rewritten(self, test: str) -> bool:
        """Tell whether the work changed a test, or another judging file of the base that the test may load."""
        path = self._file_of(test)
        others = [one for one in self._text_of(test) if one != path and one in self.tests]
        if any(one in self.workspace.files(self.base) for one in others):
            return True
        return path is not None and self._said(test, self.base, path) != self._said(test, self.work, path)

    def _said(self, test: str, commit: str, path: str) -> str:
        return text_below(name_of(test), self._read(commit, path).decode(errors="replace"))

    def _read(self, commit: str, path: str) -> bytes:
        return self.workspace.read(commit, path) or b""

    def _text_of(self, test: str) -> tuple[str, ...]:
        """Return the changed files that hold the text of a test; all judging files if the test's own file is unknown."""
        path = self._file_of(test)
        if path is None:
            return self.judging
        if path not in self._texts:
            content = self._read(self.base, path) + self._read(self.work, path)
            self._texts[path] = tuple(judge for judge in self.judging if may_load(path, content, judge))
        return self._texts[path]

    def _file_of(self, test: str) -> str | None:
        return file_of(test, self.workspace.files(self.base))

    def difference(self, tests: Iterable[str]) -> str:
        """Return what the work changed in these tests, then in the rest of their files, or of all that judge if those are unknown."""
        named = {test: self._file_of(test) for test in tests}
        known = [path for path in self.judging if path in named.values()]
        paths = self.judging if None in named.values() else known or self.judging
        return self.workspace.difference(self.base, self.work, paths, first=[*map(name_of, named)])


def _whole(name: str) -> str:
    return rf"(?<!\w){re.escape(name)}(?!\w)"


def text_below(name: str, content: str) -> str:
    """Return the text below the first line with a name: all indented lines, and the line that closes the block."""
    lines = iter(content.splitlines(keepends=True))
    named = re.compile(_whole(name))
    first = next((line for line in lines if named.search(line)), "")
    indent = first[: len(first) - len(first.lstrip())]
    goes_on = tuple(indent + sign for sign in " \t)}]")
    below = takewhile(lambda line: not line.strip() or line.startswith(goes_on), lines)
    return "".join(below).strip()


def may_load(path: str, content: bytes, judge: str) -> bool:
    """Tell whether the tests of a file may load a judging file: other tests only if they are named, anything else always."""
    is_named_after = posixpath.basename(judge).startswith(posixpath.basename(path))  # as tap's snapshots are
    if is_named_after or not globs.matches(judge, NAMED_TESTS):
        return True
    is_beside = posixpath.dirname(path) == posixpath.dirname(judge) and path.endswith(_SHARED_FOLDER)
    return is_beside or posixpath.splitext(posixpath.basename(judge))[0].encode() in content
