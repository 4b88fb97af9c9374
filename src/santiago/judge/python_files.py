"""A python test file: the text of one of its tests is the function, and what that uses inside of the file."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALWAYS_USED = pattern(
    r"pytestmark|pytest_\w+|load_tests|__test__|collect_ignore\w*|(?:setup|teardown)(?:_\w+)?|(?:setUp|tearDown)\w*"
)
"""Names of a module that its tests use without a word."""
_NAME = pattern(r"'(\w+)'")
_LONGEST = 1_000_000
_Piece = tuple[str, frozenset[str]]
"""A piece of code, written in one way however it was formatted, and the names in it."""


@lru_cache(maxsize=64)
def parsed(blob: bytes) -> PythonFile | None:
    """Return a file taken apart; None for what is no python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of another project's strings nobody here wants to hear
            return PythonFile(ast.parse(blob)) if len(blob) <= _LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class PythonFile:
    """A python file, taken apart into what its names stand for."""

    def __init__(self, tree: ast.Module) -> None:
        self._classes: dict[str, list[_Piece]] = defaultdict(list)
        """What serves all tests of a class."""
        self._named: dict[str, list[_Piece]] = defaultdict(list)
        """Pieces by the names that they define, those of a class behind its own."""
        self._always: list[_Piece] = []
        self._take_apart(tree, "")

    def _take_apart(self, owner: ast.Module | ast.ClassDef, above: str) -> None:
        shared: list[ast.stmt] = []
        for node in chain.from_iterable(map(_by_alias, owner.body)):
            piece, names = _piece(node), set(_defines(node))
            for name in names:
                self._named[above + name].append(piece)
            is_code = not names and not isinstance(getattr(node, "value", None), ast.Constant)
            if not above and (is_code or any(map(_ALWAYS_USED.fullmatch, names)) or "'autouse'" in piece[0]):
                self._always.append(piece)
            if isinstance(node, ast.ClassDef):
                self._take_apart(node, f"{above}{node.name}.")
            elif not any(name.startswith("test") for name in names):
                shared.append(node)
        if isinstance(owner, ast.ClassDef):
            owner.body = shared
            text, used = _piece(owner)
            self._classes[above[:-1]].append((text, used - {owner.name}))

    def text_of(self, test: str) -> frozenset[str] | None:
        """Return the pieces of a test's text; None where the test is not found."""
        parts = re.split(r"::|\.", test.partition("[")[0])
        for place in range(len(parts)):
            name, around = ".".join(parts[place:]), [".".join(parts[place:end]) for end in range(place + 1, len(parts))]
            shared = [piece for one in around for piece in self._classes.get(one, ())]
            # A method that is nowhere in its class is inherited; what the class names is looked at then.
            if (name in self._named and name not in self._classes) or shared:
                return self._reached([*self._named.get(name, ()), *shared])
        return None

    def _reached(self, start: list[_Piece]) -> frozenset[str]:
        found: set[str] = set()
        seen: set[str] = set()
        waiting = [*start, *self._always]
        while waiting:
            text, names = waiting.pop()
            found.add(text)
            waiting += [piece for name in names - seen for piece in self._named.get(name, ())]
            seen |= names
        return frozenset(found)


def _piece(node: ast.AST) -> _Piece:
    text = ast.dump(node)
    return text, frozenset(_NAME.findall(text))


def _by_alias(node: ast.stmt) -> list[ast.stmt]:
    """Return an import as one import for each name, so that one more name changes no test that uses the others."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return [node]
    return [type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}) for alias in node.names]


def _defines(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement gives a meaning to."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.alias) and node.name != "*":
        yield (node.asname or node.name).partition(".")[0]
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    for inner in ast.iter_child_nodes(node):
        yield from _defines(inner)
