"""Provoking a check: a test that must fail is planted among the real ones; a check that passes then has lost its judge."""

from __future__ import annotations

import ast
import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from santiago.contract.outcomes import CheckResult

_NAME = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]*_test)\.py")
_MAIN = re.compile(r"^if __name__ *== *", re.MULTILINE)
_RUNS_ITSELF = re.compile(r"^if __name__ *== *.*(?:\n.*)*?\bunittest\.main\(", re.MULTILINE)
_TEST = """

import unittest as _planted


class Test{token}(_planted.TestCase):
    def test_{token}(self):
        raise AssertionError("{token}")


"""


def candidates(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the files among these that Python's runners take for tests."""
    return tuple(path for path in paths if _NAME.fullmatch(path))


def plant(folder: str, paths: Iterable[str], token: str, *, alone: bool) -> int:
    """Plant a failing test into each file, or in place of its content; return into how many."""
    planted = 0
    for path in paths:
        place = Path(folder, path)
        try:
            with place.open("rb", opener=_no_link) as file:
                text = planted_text(file.read().decode("utf-8"), token, alone=alone)
            if text is not None:
                with place.open("wb", opener=_no_link) as file:
                    file.write(text.encode())
                planted += 1
        except (OSError, UnicodeDecodeError):
            continue
    return planted


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


def reacts(result: CheckResult, token: str) -> bool:
    """Whether a check noticed a planted test: it failed, and says which."""
    return result.exit_code not in (0, None) and token in result.output.head + result.output.tail


def passed(results: Sequence[CheckResult]) -> bool:
    """Whether any check ended well although it had to fail."""
    return any(result.exit_code == 0 and result.cause != "contradicted" for result in results)


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
