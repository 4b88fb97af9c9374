"""A python test file: the text of one of its tests is the function, and what that uses inside of the file."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALWAYS_USED = re.compile(
    r"pytestmark|pytest_\w+|load_tests|__test__|collect_ignore\w*|(?:setup|teardown)(?:_\w+)?|(?:setUp|tearDown)\w*"
)
"""Names of a module that its tests use without a word."""
_NAME = re.compile(r"'(\w+)'")
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
        """Pieces by the names that they define, methods with that of their class."""
        self._always: list[_Piece] = []
        for node in tree.body:
            for part in _by_alias(node):
                piece, names = _piece(part), set(_defines(part))
                is_code = not names and not isinstance(getattr(part, "value", None), ast.Constant)
                if is_code or any(map(_ALWAYS_USED.fullmatch, names)) or "'autouse'" in piece[0]:
                    self._always.append(piece)
                for name in names:
                    self._named[name].append(piece)
            if isinstance(node, ast.ClassDef):
                self._take_apart(node, node.name)

    def _take_apart(self, node: ast.ClassDef, name: str) -> None:
        shared: list[ast.stmt] = []
        for one in node.body:
            if isinstance(one, ast.ClassDef):
                self._take_apart(one, f"{name}.{one.name}")
            elif any(own.startswith("test") for own in _defines(one)):
                for own in _defines(one):
                    self._named[f"{name}.{own}"].append(_piece(one))
            else:
                shared.append(one)
        node.body = shared
        text, names = _piece(node)
        self._classes[name].append((text, names - {node.name}))

    def text_of(self, test: str) -> frozenset[str] | None:
        """Return the pieces of a test's text; None where the test is not found."""
        parts = _parts(test)
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


def _parts(test: str) -> list[str]:
    """Return the names in an id: `path::Class::name[case]`, `pkg.module.Class.name`, `name (pkg.module.Class)`."""
    name, _, place = test.partition("[")[0].strip().partition(" (")
    if not place:
        return re.split(r"::|\.", name)
    return [*place.removesuffix(f".{name})").rstrip(")").split("."), name]


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
