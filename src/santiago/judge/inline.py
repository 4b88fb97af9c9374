"""Tests inside source files put back: the examples in Python's docstrings, and Rust's `#[cfg(test)]` modules.

Such a file is work and judge at once. It stays the work's, with the tests that the base had in it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 1024 * 1024
_RUST_TESTS = re.compile(
    r"^([ \t]*)#\[cfg\(test\)\]\n(?:[ \t]*#\[[^\n]*\n)*\1(?:pub )?mod (\w+) \{\n(?:(?!\1\})[^\n]*\n)*\1\}[ \t]*$",
    re.MULTILINE,
)
"""A module of tests, as far as the brace that stands under its beginning."""


def with_inline_tests(path: str, base: bytes, work: bytes) -> bytes:
    """Return a file of the work with the tests that the base's version has inside it; the work's own where there are none."""
    put_back = {".py": _python, ".rs": _rust}.get(path[-3:])
    if put_back is None or base == work or max(len(base), len(work)) > _LARGEST:
        return work
    try:
        return put_back(base.decode(), work.decode()).encode()
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # nobody could run its tests either
        return work


def _python(base: str, work: str) -> str:
    """Return the work with the base's examples set at its end, where all that they belong to is known."""
    ours = dict(_docstrings(ast.parse(work)))
    for name, text in _docstrings(ast.parse(base)):
        if ">>> " in text and ours.get(name, text) != text:
            # A class method is found with its class bound to it; the docstring is that of the function inside.
            owner = f'getattr({name}, "__func__", {name}).__doc__' if name else "__doc__"
            work = f"{work.rstrip()}\n{owner} = {text!r}\n"
    return work


def _docstrings(owner: ast.Module | ast.ClassDef | ast.FunctionDef, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the docstrings of a module and of what it and its classes define, by qualified names."""
    yield name, ast.get_docstring(owner, clean=False) or ""
    for one in () if isinstance(owner, ast.FunctionDef) else owner.body:
        if isinstance(one, ast.ClassDef | ast.FunctionDef):
            yield from _docstrings(one, f"{name}.{one.name}".lstrip("."))


def _rust(base: str, work: str) -> str:
    for found in _RUST_TESTS.finditer(base):
        same = [one[0] for one in _RUST_TESTS.finditer(work) if one[2] == found[2]]
        work = work.replace(same[0], found[0], 1) if same else f"{work.rstrip()}\n\n{found[0]}\n"
    return work
