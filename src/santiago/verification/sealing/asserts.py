"""Asserts by which the work's own file is checked: they may not go, and nothing may take their meaning from them."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

Side = Literal["base", "now"]

_C = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".inc", ".m", ".mm")
_COMPILERS = frozenset(
    {"cc", "gcc", "clang", "c++", "g++", "clang++", "tcc", "make", "gmake", "cmake", "ctest", "meson", "ninja"}
)
_SILENCED = re.compile(rb"^[ \t]*#[ \t]*(?:define[ \t]+(NDEBUG|_{0,2}assert\w*)\b|undef[ \t]+(assert)\b)", re.MULTILINE)
"""What makes C's asserts say nothing."""
_OWN_NAME = re.compile(rb"assert\w+")
"""A name that only means something to those who use it."""


def loosened(
    path: str,
    run: Collection[str],
    programs: Collection[str],
    read: Callable[[str, Side], bytes | None],
    base: Collection[str],
) -> bool:
    """Whether asserts that checks rely on are gone or idle; `run` are the files that checks run, `programs` what they start."""
    if path.endswith(_C) and not _COMPILERS.isdisjoint(programs):
        before, after = (
            Counter(b"".join(one) for one in _SILENCED.findall(read(path, side) or b"")) for side in ("base", "now")
        )
        return any(not _OWN_NAME.fullmatch(name) or _is_used(name, base, read) for name in after - before)
    if not path.endswith(".py") or path not in run:
        return False
    was, is_now = _checked(read(path, "base")), _checked(read(path, "now"))
    return was is not None and is_now is not None and bool(was - is_now)


def _is_used(name: bytes, base: Collection[str], read: Callable[[str, Side], bytes | None]) -> bool:
    word = re.compile(rb"\b%s\b" % name)
    return any(word.search(read(path, "base") or b"") for path in base if path.endswith(_C))


def _checked(raw: bytes | None) -> Counter[str] | None:
    """Return what a module asserts of its own functions when it is run; None where it cannot be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(raw or b"")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    own = frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    main = [node for node in tree.body if isinstance(node, ast.If) and "__main__" in ast.dump(node.test)]
    found = Counter(question for block in main for question in _questions(block, own))
    called = {name for block in main for name in _called_plainly(block)}
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in called):
        asked = Counter(_questions(function, own))
        found += asked + Counter({f"{function.name}()": 1} if asked else {})
    return found


def _called_plainly(block: ast.AST) -> Iterator[str]:
    """Yield the names that are called without arguments: that is how a module checks itself."""
    for node in ast.walk(block):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            yield node.func.id


def _questions(block: ast.AST, own: frozenset[str]) -> Iterator[str]:
    """Yield the asserts that ask something of the module itself, with the conditions under which they do."""
    waiting = [("", node) for node in ast.iter_child_nodes(block)]
    while waiting:
        above, node = waiting.pop()
        if isinstance(node, ast.Assert) and any(isinstance(one, ast.Name) and one.id in own for one in ast.walk(node)):
            yield above + ast.dump(node.test)
        if isinstance(node, ast.If | ast.While):
            above += ast.dump(node.test)
        elif isinstance(node, ast.Try | ast.FunctionDef | ast.Lambda):
            above += type(node).__name__
        waiting += [(above, child) for child in ast.iter_child_nodes(node)]
