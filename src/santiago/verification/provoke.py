"""Provoking checks: edits of test code after which a check must fail, or must still pass, if nobody has got at it."""

from __future__ import annotations

import ast
import os
import re
import secrets
import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.verification import runners, shell

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

REACHED = 97
"""Exit code of a prolonged command that was not cut short."""
_NAME = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]*_test)\.py")
_MAIN = re.compile(r"^if __name__ *== *", re.MULTILINE)
_RUNS_ITSELF = re.compile(r"^if __name__ *== *.*(?:\n.*)*?\bunittest\.main\(", re.MULTILINE)
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*")
_TEST = """

import unittest as _planted


class Test{token}(_planted.TestCase):
    def test_{token}(self):
        raise AssertionError("{token}")


"""
_STRICT = """
import unittest as _planted

class _Nothing:
    __slots__ = ()

def _same(first, second):
    for one in (first, second):
        of = type(one)
        if of.__module__ not in ("builtins", "unittest.mock", __name__) and (one == _Nothing()) is True:
            raise AssertionError("{token}: equals anything")
    return first == second

def _equal(self, first, second, msg=None):
    if not _same(first, second):
        raise self.failureException(self._formatMessage(msg, "%r != %r" % (first, second)))

_planted.TestCase._baseAssertEqual = _equal
"""


def plant(folder: str, paths: Iterable[str], *, alone: bool) -> str:
    """Plant a failing test into each file that Python's runners take for tests, or in place of its content.

    Returns the test's name, which no work can know beforehand; nothing where there is no such file.
    """
    token = _token()
    return token if _edit(folder, paths, lambda text: planted_text(text, token, alone=alone)) else ""


def harden(folder: str, paths: Iterable[str]) -> str:
    """Make the comparisons in test files refuse what equals anything; return the word by which they say so."""
    token = _token()
    return token if _edit(folder, paths, lambda text: strict_text(text, token)) else ""


def prolonged(command: str) -> str:
    """Return a `python -c` command with strict comparisons and an exit code that it must reach; nothing for others."""
    texts = _plain_words(command)
    at = texts.index("-c") if "-c" in texts else -1
    if at < 1 or at + 1 >= len(texts) or not _PYTHON.fullmatch(texts[at - 1]):
        return ""
    code = _prolonged_text(texts[at + 1])
    return " ".join(map(shlex.quote, [*texts[: at + 1], code, *texts[at + 2 :]])) if code else ""


def prolong(folder: str, command: str, judges: Collection[str]) -> bool:
    """Do the same to the file of a `python FILE` command, where the file is a judge and not the work."""
    texts = _plain_words(command)
    script = runners.script_of(texts) if texts and _PYTHON.fullmatch(texts[0]) else None
    return script is not None and script in judges and _rewritten(Path(folder, script), _prolonged_text)


def _plain_words(command: str) -> list[str]:
    """Return the words of a single command in which the shell changes nothing."""
    words = shell.tokens(command) or ()
    return [] if any(word.kind != "word" or word.dynamic for word in words) else [word.text for word in words]


def _prolonged_text(text: str) -> str | None:
    code = None if "exit" in text or "SystemExit" in text else strict_text(text, _token())
    return None if code is None else f"{code}\nraise SystemExit({REACHED})\n"


def planted_text(text: str, token: str, *, alone: bool) -> str | None:
    """Return a test file with a failing test in it; None where it would not be found there for sure."""
    if "load_tests" in text or "__test__" in text or _parsed(text) is None:
        return None
    test = _TEST.format(token=token)
    if alone:
        itself = "if __name__ == '__main__':\n    _planted.main()\n" if _RUNS_ITSELF.search(text) else ""
        return test + itself
    main = _MAIN.search(text)
    at = main.start() if main else len(text)
    return text[:at].rstrip("\n") + test + text[at:]


def strict_text(text: str, token: str) -> str | None:
    """Return Python whose `==` and assertEqual raise where a side equals even what nobody can know."""
    tree = _parsed(text)
    if tree is None:
        return None
    tree = ast.fix_missing_locations(_Strict().visit(tree))
    at = next(
        (place for place, statement in enumerate(tree.body) if not _must_stand_first(place, statement)), len(tree.body)
    )
    tree.body[at:at] = ast.parse(_STRICT.format(token=token)).body
    return ast.unparse(tree)


class _Strict(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.expr:  # the library's name
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            return ast.Call(ast.Name("_same", ast.Load()), [node.left, node.comparators[0]], [])
        return node


def _must_stand_first(place: int, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return place == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _edit(folder: str, paths: Iterable[str], change: Callable[[str], str | None]) -> bool:
    done = False
    for path in paths:
        if _NAME.fullmatch(path):
            done |= _rewritten(Path(folder, path), change)
    return done


def _rewritten(place: Path, change: Callable[[str], str | None]) -> bool:
    try:
        with open(place, "rb", opener=_no_link) as file:
            text = change(file.read().decode("utf-8"))
        if text is None:
            return False
        with open(place, "wb", opener=_no_link) as file:
            file.write(text.encode())
    except (OSError, UnicodeError):
        return False
    return True


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _token() -> str:
    return f"Planted{secrets.token_hex(6)}"


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
