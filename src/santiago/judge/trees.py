"""The trees that a verdict looks at beside base and work, each with the tests of the other, and what became of these."""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.judge import globs
from santiago.judge.judges import NAMED_TESTS
from santiago.judge.naming import file_of, name_of
from santiago.judge.sections import put_back

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from santiago.contract.ports.workspace import Workspace
    from santiago.judge.judges import JudgeFiles

_SHARED_FOLDER = (".go", ".java", ".kt", ".cs", ".swift")
"""Languages in which the files of a folder see each other without a word."""
_UNASKED = pattern(r"'autouse'|id='pytestmark'|name='(?:pytest_\w+|load_tests|(?:setup|teardown|setUp|tearDown)\w*)'")
"""Code that serves tests which do not ask for it."""
_LONGEST = 1_000_000


@dataclass(frozen=True)
class Trees:
    """One work and its base, told apart into what judges and what is judged."""

    workspace: Workspace
    files: JudgeFiles
    base: str
    work: str
    paths: Sequence[str]
    """All paths that differ between the two."""
    _texts: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """What was found to be the text of each file's tests."""

    @cached_property
    def judging(self) -> tuple[str, ...]:
        """The changed files that judge, wholly or in part."""
        return tuple(path for path in self.paths if self.files.judges(path) or self._in_part(path))

    def _in_part(self, path: str) -> bool:
        """Whether the work changed the part of a file that judges."""
        if not self._is_shared(path):
            return False
        mine, theirs = self.workspace.read(self.work, path), self._read(self.base, path)
        return put_back(path, mine, theirs) != mine if mine is not None else bool(theirs)

    def _is_shared(self, path: str) -> bool:
        """Whether a file judges in part only; a test judges as a whole, also where examples in it are run."""
        return not self.files.judges(path) and (self.files.is_mixed(path) or self.files.has_inline_tests(path))

    def with_old_tests(self) -> str:
        """Return the work with the judge of the base."""
        return self._composed(self.work, self.base)

    def with_new_tests(self) -> str:
        """Return the base with the judge of the work."""
        return self._composed(self.base, self.work)

    def _composed(self, onto: str, judges_from: str) -> str:
        mixed: dict[str, bytes] = {}
        for path in self.judging:
            if self._is_shared(path):
                mine = self.workspace.read(onto, path)
                if mine is not None:
                    mixed[path] = put_back(path, mine, self._read(judges_from, path))
        whole = [path for path in self.judging if path not in mixed]
        return self.workspace.compose(onto, judges_from, whole, mixed)

    def text_changed(self, test: str) -> bool:
        """Whether the work changed the text of a test of the base."""
        return bool(self._text_of(test))

    def renamed(self, test: str) -> bool:
        """Whether what a test of the base says stands in the work, below another name."""
        path = self._file_of(test)
        if path is None or path not in self.judging:
            return False
        old, new = (self._read(commit, path).decode(errors="replace") for commit in (self.base, self.work))
        said = text_below(name_of(test), old)
        return bool(said) and said in new

    def rewritten(self, test: str) -> bool:
        """Whether the work took anything away from the text of a test, or changed it."""
        return not self._rewritten.isdisjoint(self._text_of(test))

    @cached_property
    def _rewritten(self) -> frozenset[str]:
        both = ((path, self._read(self.base, path), self._read(self.work, path)) for path in self.judging)
        return frozenset(path for path, old, new in both if not only_grew(path, old, new))

    def _read(self, commit: str, path: str) -> bytes:
        return self.workspace.read(commit, path) or b""

    def _text_of(self, test: str) -> tuple[str, ...]:
        """Return the changed files that are the text of a test: all that judge where nobody knows its own."""
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
        """Return what the work did to the files of these tests; to all that judge where the files are not known."""
        files = {self._file_of(test) for test in tests}
        known = [path for path in self.judging if path in files]
        return self.workspace.difference(self.base, self.work, self.judging if None in files else known or self.judging)


def text_below(name: str, content: str) -> str:
    """Return what stands below the first line with a name: all that is set in, and what closes what that line opens."""
    lines = iter(content.splitlines(keepends=True))
    named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    first = next((line for line in lines if named.search(line)), "")
    indent = first[: len(first) - len(first.lstrip())]
    goes_on = tuple(indent + sign for sign in " \t)}]")
    below = takewhile(lambda line: not line.strip() or line.startswith(goes_on), lines)
    return "".join(below).strip()


def may_load(path: str, content: bytes, judge: str) -> bool:
    """Whether the tests of a file may load a file of the judge: other tests where they are named, all else always."""
    if path == judge or not globs.matches(judge, NAMED_TESTS):
        return True
    is_beside = posixpath.dirname(path) == posixpath.dirname(judge) and path.endswith(_SHARED_FOLDER)
    return is_beside or posixpath.splitext(posixpath.basename(judge))[0].encode() in content


def only_grew(path: str, old: bytes, new: bytes) -> bool:
    """Whether a file holds all that it held, and nothing more that changes it; only Python is read for that."""
    if not path.endswith(".py") or max(len(old), len(new)) > _LONGEST:
        return old in (b"", new)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of another project's strings nobody here wants to hear
            then, now = (Counter(_pieces(ast.parse(text).body)) for text in (old, new))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    known = {name for name, _ in then}
    return then <= now and not any(_changes(name, text, known) for name, text in now - then)


def _changes(name: str, text: str, known: Collection[str]) -> bool:
    """Whether a piece that was added changes what was there: it takes a name, or serves what does not ask for it."""
    owner, _, own = name.rpartition(".")
    return bool(own and name in known) or bool((not owner or owner in known) and _UNASKED.search(text))


def _pieces(body: Sequence[ast.stmt], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield statements with the names that they define, those of a class behind its own; imports name by name."""
    for node in body:
        match node:
            case ast.Import(names) | ast.ImportFrom(_, names):
                node.names = []
                yield from ((above, ast.dump(node) + ast.dump(alias)) for alias in names)
            case ast.ClassDef(name, body=inside):
                node.body = []
                yield above + name, ast.dump(node)
                yield from _pieces(inside, f"{above}{name}.")
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                yield above + name, ast.dump(node)
            case _:
                yield above, ast.dump(node)
