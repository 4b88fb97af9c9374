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
_LONGEST = 1_000_000


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
        self._named: dict[str, list[ast.AST]] = defaultdict(list)
        self._always: list[ast.AST] = []
        self._pieces: dict[ast.AST, tuple[str, frozenset[str]]] = {}
        self._shells: dict[ast.ClassDef, ast.ClassDef] = {}
        self.names_of_files = frozenset(_names_of_files(tree))
        for node in tree.body:
            for part in _by_alias(node):
                names = set(_defines(part))
                is_used = not names or any(map(_ALWAYS_USED.fullmatch, names)) or "autouse" in _decorators(part)
                self._always += [part] if is_used and not _is_docstring(part) else []
                for name in names:
                    self._named[name].append(part)

    def text_of(self, test: str) -> frozenset[str] | None:
        """Return the pieces of a test's text; None where the test is not found."""
        parts = _parts(test)
        for place in range(len(parts)):
            start = self._found(parts[place:])
            if start:
                return self._reached(start)
        return None

    def _found(self, names: list[str]) -> list[ast.AST]:
        """Return the function that these names lead to, with the classes around it."""
        found: list[ast.AST] = []
        nodes = self._named.get(names[0], [])
        for name in names[1:]:
            inner = [node for node in nodes if isinstance(node, ast.ClassDef)]
            members: list[ast.AST] = [one for node in inner for one in node.body if name in _defines(one)]
            if not members and not any(node.bases for node in inner):
                return []
            found += map(self._without_tests, inner)
            nodes = members
        is_test = all(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign) for node in nodes)
        return [*found, *nodes] if is_test else []

    def _without_tests(self, node: ast.ClassDef) -> ast.AST:
        """Return a class with what serves all of its tests."""
        if node not in self._shells:
            body = [one for one in node.body if not any(name.startswith("test") for name in _defines(one))]
            self._shells[node] = ast.ClassDef(
                name=node.name, bases=node.bases, keywords=node.keywords, body=body, decorator_list=node.decorator_list
            )
        return self._shells[node]

    def _reached(self, start: list[ast.AST]) -> frozenset[str]:
        found: set[str] = set()
        seen: set[str] = set()
        waiting = [*start, *self._always]
        while waiting:
            text, names = self._piece(waiting.pop())
            found.add(text)
            for name in names - seen:
                waiting += self._named.get(name, [])
            seen |= names
        return frozenset(found)

    def _piece(self, node: ast.AST) -> tuple[str, frozenset[str]]:
        if node not in self._pieces:
            self._pieces[node] = (ast.dump(node), frozenset(_uses(node)))
        return self._pieces[node]


def _parts(test: str) -> list[str]:
    """Return the names in an id: `path::Class::name[case]`, `pkg.module.Class.name`, `name (pkg.module.Class)`."""
    plain = test.partition("[")[0].strip()
    name, _, place = plain.partition(" (")
    if place:
        dotted = place.rstrip(")").split(".")
        return dotted if dotted[-1] == name else [*dotted, name]
    return re.split(r"::|\.", plain)


def _by_alias(node: ast.stmt) -> list[ast.stmt]:
    """Return an import as one import for each name, so that one more name changes no test that uses the others."""
    if isinstance(node, ast.ImportFrom):
        return [ast.ImportFrom(module=node.module, names=[alias], level=node.level) for alias in node.names]
    if isinstance(node, ast.Import):
        return [ast.Import(names=[alias]) for alias in node.names]
    return [node]


def _defines(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement gives a meaning to."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names if alias.name != "*")
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    for inner in ast.iter_child_nodes(node):
        yield from _defines(inner)


def _uses(node: ast.AST) -> Iterator[str]:
    """Yield the names that a piece of code uses: variables, fixtures among its parameters, names in strings."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.arg):
            yield inner.arg
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.isidentifier():
            yield inner.value


def _names_of_files(tree: ast.Module) -> Iterator[str]:
    """Yield the words that may mean other files: the parts of imports, and of strings that look like names or paths."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module or "").split(".")
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (part for alias in node.names for part in alias.name.split("."))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"[\w./-]{1,200}", node.value)
        ):
            yield from re.split(r"[./]", node.value)
            yield node.value.rpartition("/")[2]


def _decorators(node: ast.AST) -> str:
    return " ".join(map(ast.dump, getattr(node, "decorator_list", ())))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
