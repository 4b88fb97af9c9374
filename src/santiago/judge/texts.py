"""The text of a test: its file, and what else of the judge it may load."""

from __future__ import annotations

import ast
import posixpath
import warnings
from collections import Counter
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.judge import globs
from santiago.judge.judges import NAMED_TESTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_SHARED_FOLDER = (".go", ".java", ".kt", ".cs", ".swift")
"""Languages in which the files of a folder see each other without a word."""
_UNASKED = pattern(r"'autouse'|id='pytestmark'|name='(?:pytest_\w+|load_tests|(?:setup|teardown|setUp|tearDown)\w*)'")
"""Code that serves tests which do not ask for it."""
_LONGEST = 1_000_000


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
        if isinstance(node, ast.Import | ast.ImportFrom):
            names, node.names = node.names, []
            yield from ((above, ast.dump(node) + ast.dump(alias)) for alias in names)
            continue
        name, inside = above + getattr(node, "name", ""), []
        if isinstance(node, ast.ClassDef):
            inside, node.body = node.body, []
        yield name, ast.dump(node)
        yield from _pieces(inside, f"{name}.")
