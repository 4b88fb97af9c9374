"""Tests inside source files put back: the examples in Python's docstrings, and Rust's `#[cfg(test)]` modules.

Such a file is work and judge at once. It stays the work's, with the tests that the base had in it.
"""

from __future__ import annotations

import ast
import re

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
    ours = _docstrings(ast.parse(work))
    for name, text in _docstrings(ast.parse(base)).items():
        if ">>> " in text and ours.get(name, text) != text:
            # A class method is found with its class bound to it; the docstring is that of the function inside.
            owner = f'getattr({name}, "__func__", {name}).__doc__' if name else "__doc__"
            work = f"{work.rstrip()}\n{owner} = {text!r}\n"
    return work


def _docstrings(owner: ast.Module | ast.ClassDef, above: str = "") -> dict[str, str]:
    """Return the docstrings of a module and of what it and its classes define, by qualified names."""
    found = {above: ast.get_docstring(owner, clean=False) or ""}
    for one in owner.body:
        name = f"{above}.{one.name}".lstrip(".") if isinstance(one, ast.ClassDef | ast.FunctionDef) else ""
        if isinstance(one, ast.ClassDef):
            found |= _docstrings(one, name)
        elif isinstance(one, ast.FunctionDef):
            found[name] = ast.get_docstring(one, clean=False) or ""
    return found


def _rust(base: str, work: str) -> str:
    for found in _RUST_TESTS.finditer(base):
        tests, name = found[0], found[2]
        theirs = next((one for one in _RUST_TESTS.finditer(work) if one[2] == name), None)
        before, after = (work[: theirs.start()], work[theirs.end() :]) if theirs else (f"{work.rstrip()}\n\n", "\n")
        work = before + tests + after
    return work
