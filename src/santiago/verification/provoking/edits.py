"""Editing the texts of a checkout for a trial: files that may be anything, since an agent wrote some of them."""

from __future__ import annotations

import ast
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.util import regular

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST = 2_000_000


def read(folder: str, path: str) -> str | None:
    """Return a text; None where it is none, or too large to be edited."""
    raw = regular.content(Path(folder, path), _LARGEST + 1, follow=False)
    try:
        return raw.decode("utf-8") if raw is not None and len(raw) <= _LARGEST else None
    except UnicodeError:
        return None


def rewrite(folder: str, path: str, change: Callable[[str], str | None]) -> bool:
    """Change a text in place; say whether it was changed."""
    text = read(folder, path)
    try:
        changed = None if text is None else change(text)
    except RecursionError:  # Python reads texts that are nested deeper than its library can write them
        return False
    if changed is None:
        return False
    try:
        with open(Path(folder, path), "wb", opener=_no_link) as file:
            file.write(changed.encode())
    except (OSError, UnicodeError):
        return False
    return True


def parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def first_place(tree: ast.Module) -> int:
    """Return where statements may be put in: behind what must stand first in a module."""
    for place, statement in enumerate(tree.body):
        if not _must_stand_first(place, statement):
            return place
    return len(tree.body)


def begun_with(text: str, first: str) -> str | None:
    """Return Python that begins with other statements; None where it is no Python."""
    tree = parsed(text)
    if tree is None:
        return None
    place = first_place(tree)
    line = (tree.body[place - 1].end_lineno or 0) if place else 0
    lines = text.split("\n")
    return "\n".join([*lines[:line], first, *lines[line:]])


def _must_stand_first(place: int, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return place == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
