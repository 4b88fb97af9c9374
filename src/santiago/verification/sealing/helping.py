"""Files that are there for the judges: helpers that say no for tests, questions that tests and checks read, tests of any name."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from santiago.verification.sealing import comparisons, globs, named_tests, sections
from santiago.verification.sealing.examining import names_others

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.verification.sealing.judges import Judges

_HELPS = re.compile(
    rb"^[ \t]*(?:el)?if\b[^\n]{0,200}\n?[ \t]*raise AssertionError|\bself\.failureException\b|\bpytest\.fail\(|\bthrow new (?:\w+\.)?AssertionError\b",
    re.MULTILINE,
)
"""What hardly anybody writes who does not help tests to say no."""
_HELPER_NAME = re.compile(
    r"(?:.*[_.-])?(?:asserts?|assertions?|expectations?|tests?(?:ing|_?utils?|_?helpers?|_?support))(?:[_.-].*)?"
)
_ASSERTS = re.compile(rb"^[ \t]+assert\b[^\n]{0,200}[!=]=", re.MULTILINE)
_SAYS_NO = re.compile(rb"\bassert\b|\braise\b|\bthrow\b|\bexpect\(")
_READING = r"(?:<|\bcat\b|\b(?:open|File|Path)\b|(?:[rR]ead|[lL]oad|[pP]arse)\w{0,20}\W)"
_RUNS_TESTS = re.compile(
    rb"\b(?:unittest|pytest|jest|mocha|vitest|rspec|phpunit|tox|nox|ruff|mypy|eslint|(?:npm|cargo|go|make|node) (?:--)?test)\b"
)
"""What says which tests are to be run."""
_SETTINGS = re.compile(
    r"(?:requirements|constraints)\S*\.txt|.*(?:config|conf|settings|lock)\b.*|\.env.*", re.IGNORECASE
)
"""What work and judges both live with."""
_EXCUSES = re.compile(r"ignore|exclude|skip|allow|baseline|suppress|waive|exempt", re.IGNORECASE)
"""How files are called that say what a judge is to pass over."""
_WORDS_CODE = ".py .js .mjs .cjs .ts .tsx .jsx .rb .go .rs .c .cc .cpp .h .java .kt .sh .php .pl"
_CODE = tuple(_WORDS_CODE.split())
_LONGEST = 100_000
_MOST_READ = 60
"""Tests that are read in order to see whether they use a file."""
_MOST_WORK = 150
"""The same for work; where there is more, nobody knows that it does not."""


@dataclass(frozen=True)
class Helpers:
    protected: tuple[str, ...]
    base_files: frozenset[str]
    judges: Judges
    read: Callable[[str], bytes | None] = field(repr=False)
    """A file of the base."""

    def holds(self, path: str) -> bool:
        """Whether a file of the base is there for the judges."""
        return self._says_no(path) or self._is_named_test(path) or self._is_question(path) or self._is_table(path)

    def excuses(self, path: str) -> bool:
        """Whether a new file says what a judge is to pass over: its name says so, and the judge knows it."""
        name = path.rpartition("/")[2]
        if not _EXCUSES.search(name):
            return False
        return any(name in self._text(script) for script in sorted(self.judges.scripts & self.base_files)[:_MOST_READ])

    def _says_no(self, path: str) -> bool:
        """Whether a file says no for the tests that use it, or is called after what they ask for."""
        name = path.rpartition("/")[2]
        stem, _, ending = name.rpartition(".")
        if path in self.judges.run and path not in self.judges.scripts:
            return False  # it may be checked by asserts of its own, but it is the work
        if ending in {"py", "js", "mjs", "cjs", "ts"}:
            text, kind = self.read(path) or b"", f".{ending}"
            signs = _SAYS_NO if _HELPER_NAME.fullmatch(stem) else _HELPS
            says_no = signs.search(text) or (_ASSERTS.search(text) and not self._is_used_by_work(path, stem, kind))
            return bool(says_no) and self._is_used_by_tests(stem, kind)
        return comparisons.is_question(path) and self._is_used_by_tests(name, "")

    def _is_named_test(self, path: str) -> bool:
        """Whether a check names it as a test, and it is one: it has tests, is about other files, and is no part of them."""
        if path not in self.judges.named or not named_tests.holds_tests(self.read(path) or b""):
            return False
        stem, dot, ending = path.rpartition("/")[2].rpartition(".")
        about_others = names_others(path, self._text(path), "", self.base_files)
        return about_others and not self._is_used_by_work(path, stem, dot + ending)

    def _is_question(self, path: str) -> bool:
        """Whether a judge reads a data file that the work does not speak of: what the judge asks, or which tests it runs."""
        name = path.rpartition("/")[2]
        if not comparisons.is_data(path) or sections.steers(path) or _SETTINGS.fullmatch(name):
            return False
        reads = re.compile(rf"{_READING}[^\n]{{0,120}}?(?<![\w.-]){re.escape(name)}\b")
        readers = [one for one in self._judging if reads.search(self._text(one))]
        is_list = bool(readers) and _RUNS_TESTS.search(self.read(path) or b"") is not None
        return (is_list or any(map(self._is_about_work, readers))) and not self._work_speaks_of(path)

    def _is_table(self, path: str) -> bool:
        """Whether a module has nothing in it but tables, and only tests of other modules import it."""
        stem = path.rpartition("/")[2].removesuffix(".py")
        if not path.endswith(".py") or not _only_tables(self.read(path) or b""):
            return False
        users = [one for one in self._judging if one.endswith(".py") and _uses(stem).search(self.read(one) or b"")]
        return any(self._is_about_work(one, path) for one in users) and not self._work_speaks_of(path)

    def _is_about_work(self, judge: str, besides: str = "") -> bool:
        """Whether a judge looks at code; if it only has helpers beside itself, then the data may be what it judges."""
        beside = judge.rpartition("/")[0]
        work = {one for one in self._work if one != besides and (not beside or one.rpartition("/")[0] != beside)}
        return names_others(judge, self._text(judge), "", work)

    def _work_speaks_of(self, path: str) -> bool:
        """Whether the work may know a file: by its name, by its folder, or by a pattern of its kind."""
        folder, _, name = path.rpartition("/")
        stem, _, ending = name.rpartition(".")
        near = f"|['\"/]{re.escape(folder.rpartition('/')[2])}['\"/]" if folder else ""
        speaks = re.compile(
            rf"(?<![\w-]){re.escape(name)}|['\"/.]{re.escape(stem)}\b|\b(?:from|import)\b[^\n]{{0,200}}\b{re.escape(stem)}\b|[*}}]\.{re.escape(ending)}\b{near}"
        )
        work = [one for one in self._work if one != path]
        return len(work) > _MOST_WORK or any(speaks.search(self._text(one)) for one in work)

    @cached_property
    def _judging(self) -> tuple[str, ...]:
        """Tests and scripts that judge, as many as are read."""
        scripts = sorted(self.judges.scripts & self.base_files)
        tests = (one for one in sorted(self.base_files) if one.endswith(_CODE) and self._is_test(one))
        return (*scripts[:_MOST_READ], *[one for one in tests if one not in self.judges.scripts][:_MOST_READ])

    @cached_property
    def _work(self) -> tuple[str, ...]:
        """Code that is no test and judges nothing."""
        code = (one for one in self.base_files if one.endswith(_CODE) or "." not in one.rpartition("/")[2])
        return tuple(sorted(one for one in code if not self._is_test(one)))

    def _is_test(self, path: str) -> bool:
        return path in self.judges.loaded or globs.matches(path, self.protected) or self._is_named_test(path)

    def _is_used_by_work(self, path: str, name: str, ending: str) -> bool:
        others = (one for one in self.base_files if one.endswith(ending) and one != path)
        work = sorted(one for one in others if not globs.matches(one, self.protected))
        return any(_uses(name).search(self.read(one) or b"") for one in work[:_MOST_READ])

    def _is_used_by_tests(self, name: str, ending: str) -> bool:
        uses = _uses(name)
        alike = {one for one in self.base_files if one.endswith(ending)}
        tests = sorted(one for one in alike if one in self.judges.scripts or globs.matches(one, self.protected))
        return any(uses.search(self.read(test) or b"") for test in tests[:_MOST_READ])

    def _text(self, path: str) -> str:
        return (self.read(path) or b"")[:_LONGEST].decode("utf-8", "replace")


def _uses(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?:\b(?:from|import|require)\b|['\"./])[^\n]{0,200}?\b" + re.escape(name).encode() + rb"\b")


def _only_tables(raw: bytes) -> bool:
    """Whether a module only gives names to literals, one of which holds several others."""
    try:
        body = ast.parse(raw[:_LONGEST]).body
        values = [
            node.value for node in body if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        ]
        texts = [node for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
        held = [ast.literal_eval(value) for value in values]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return False
    return len(values) + len(texts) == len(body) and any(isinstance(one, list | tuple | dict | set) for one in held)
