"""Tests inside source files put back: the examples in Python's docstrings, and Rust's `#[cfg(test)]` modules.

Such a file is work and judge at once. It stays the work's, with the tests that the base had in it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from santiago.judge.python_text import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXAMPLE = ">>> "
_LARGEST = 1024 * 1024
_Owner = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
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
    owners = dict(_owners(parsed(work)))
    lines = work.splitlines(keepends=True)
    examples = [
        (owners[name], ast.get_source_segment(base, text) or "")
        for name, owner in _owners(parsed(base))
        if (text := _docstring(owner)) and _EXAMPLE in str(text.value) and name in owners
    ]
    for owner, written in sorted(examples, key=lambda one: -_first_line(one[0])):
        old, first = _docstring(owner), _first_line(owner)
        if not isinstance(owner, ast.Module) and first == owner.lineno:
            continue  # all on one line: no room for an example
        indent = " " * (owner.body[0].col_offset if owner.body else 0)
        lines[first - 1 : old.end_lineno if old else first - 1] = [f"{indent}{written}\n"]
    return "".join(lines)


def _owners(owner: _Owner, name: str = "") -> Iterator[tuple[str, _Owner]]:
    """Yield a module and what it defines, by qualified names."""
    yield name, owner
    for one in owner.body:
        if isinstance(one, _Owner):
            yield from _owners(one, f"{name}.{one.name}")


def _docstring(owner: _Owner) -> ast.Constant | None:
    match owner.body[:1]:
        case [ast.Expr(ast.Constant(str()) as text)]:
            return text
    return None


def _first_line(owner: _Owner) -> int:
    return owner.body[0].lineno if owner.body else 1


def _rust(base: str, work: str) -> str:
    for found in _RUST_TESTS.finditer(base):
        tests, name = found[0], found[2]
        theirs = next((one for one in _RUST_TESTS.finditer(work) if one[2] == name), None)
        before, after = (work[: theirs.start()], work[theirs.end() :]) if theirs else (f"{work.rstrip()}\n\n", "\n")
        work = before + tests + after
    return work
