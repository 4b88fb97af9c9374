"""Provoking a check: a test that must fail is planted among the real ones; a check that passes then has lost its judge."""

from __future__ import annotations

import ast
import os
import re
import secrets
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]*_test)\.py")
_MAIN = re.compile(r"^if __name__ *== *", re.MULTILINE)
_RUNS_ITSELF = re.compile(r"^if __name__ *== *.*(?:\n.*)*?\bunittest\.main\(", re.MULTILINE)
_TEST = """

import unittest as _planted


class Test{token}(_planted.TestCase):
    def test_{token}(self):
        raise AssertionError("{token}")


"""


def plant(folder: str, paths: Iterable[str], *, alone: bool) -> str:
    """Plant a failing test into each file that Python's runners take for tests, or in place of its content.

    Returns the test's name, which no work can know beforehand; nothing where there is no such file.
    """
    token, planted = f"Planted{secrets.token_hex(6)}", False
    for path in paths:
        if _NAME.fullmatch(path):
            planted |= _plant(Path(folder, path), token, alone=alone)
    return token if planted else ""


def _plant(place: Path, token: str, *, alone: bool) -> bool:
    try:
        with open(place, "rb", opener=_no_link) as file:
            text = planted_text(file.read().decode("utf-8"), token, alone=alone)
        if text is None:
            return False
        with open(place, "wb", opener=_no_link) as file:
            file.write(text.encode())
    except (OSError, UnicodeDecodeError):
        return False
    return True


def planted_text(text: str, token: str, *, alone: bool) -> str | None:
    """Return a test file with a failing test in it; None where it would not be found there for sure."""
    if "load_tests" in text or "__test__" in text or not _is_python(text):
        return None
    test = _TEST.format(token=token)
    if alone:
        itself = "if __name__ == '__main__':\n    _planted.main()\n" if _RUNS_ITSELF.search(text) else ""
        return test + itself
    main = _MAIN.search(text)
    at = main.start() if main else len(text)
    return text[:at].rstrip("\n") + test + text[at:]


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
