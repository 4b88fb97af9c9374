"""Ways of breaking a source file: each changes one place, the rest of the text stays as it was."""

from __future__ import annotations

import ast
import io
import re
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SWAPPED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
JAVASCRIPT = (
    ("nothing returned", re.compile(r"\breturn ([^;{]+);"), "return null;"),
    ("condition negated", re.compile(r"\bif \(([^{\n]+)\) \{"), r"if (!(\1)) {"),
    ("comparison swapped", re.compile(r" === "), " !== "),
    ("off by one", re.compile(r"([\w\])]) \+ 1\b"), r"\1 + 2"),
    ("off by one", re.compile(r" < "), " <= "),
)


class Change(NamedTuple):
    """One place of a text, and what to put there."""

    way: str
    start: int
    end: int
    instead: str

    def on(self, text: str) -> str:
        return text[: self.start] + self.instead + text[self.end :]


class Text:
    """A text of Python with its syntax tree."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._lines = list(io.StringIO(text))
        self._starts = [0, *accumulate(map(len, self._lines))]

    def line(self, number: int) -> int:
        """Return where a line begins; the first is 1."""
        return self._starts[number - 1]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends; the syntax tree counts columns in bytes."""
        lines = (node.lineno, node.end_lineno)  # type: ignore[attr-defined]
        columns = (node.col_offset, node.end_col_offset)  # type: ignore[attr-defined]
        start, end = (
            self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())
            for line, column in zip(lines, columns, strict=True)
        )
        return start, end

    def source(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]


def places(name: str, text: str) -> list[Change]:
    """Return all the ways in which a source file can be broken."""
    return list(_python(Text(text)) if name.endswith(".py") else _javascript(text))


def undone(before: str, after: str) -> list[Change]:
    """Return the changes of a file, each left out by itself, and all of them left out."""
    old, new = list(io.StringIO(before)), list(io.StringIO(after))
    starts = [0, *accumulate(map(len, new))]
    found = [
        Change("a change left out", starts[new_start], starts[new_end], "".join(old[start:end]))
        for word, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if word != "equal"
    ]
    return [*found, Change("all changes left out", 0, len(after), before)] if found else []


def _javascript(text: str) -> Iterator[Change]:
    for way, pattern, instead in JAVASCRIPT:
        for found in pattern.finditer(text):
            yield Change(way, found.start(), found.end(), found.expand(instead))


def _python(text: Text) -> Iterator[Change]:
    for function in ast.walk(text.tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                for way, place, instead in _ways(node, text):
                    yield Change(way, *text.span(place), instead)


def _ways(node: ast.AST, text: Text) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield how one node can be changed: the way, the place and the new text."""
    if isinstance(node, ast.Return) and node.value:
        yield "nothing returned", node.value, "None"
        yield "constant returned", node.value, "0" if isinstance(node.value, ast.Constant) else "''"
        yield "off by one", node.value, f"({text.source(node.value)}) + 1"
    elif isinstance(node, ast.If | ast.IfExp):
        yield "condition negated", node.test, f"(not ({text.source(node.test)}))"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
        left, right = text.source(node.left), text.source(node.comparators[0])
        yield "comparison swapped", node, f"({left} {SWAPPED[type(node.ops[0])]} {right})"
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "off by one", node, str(node.value + 1)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "a call left out", node, "None"
