"""Provoking checks: edits of test code after which a check must fail, or must still pass, if nobody has got at it."""

from __future__ import annotations

import re
import secrets
from functools import partial
from typing import TYPE_CHECKING

from santiago.verification.provoking import edits, ends, plant_js, strict
from santiago.verification.provoking.programs import program

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

_NAME = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]*_test)\.py")
_MAIN = re.compile(r"^if __name__ *== *", re.MULTILINE)
_RUNS_ITSELF = re.compile(r"^if __name__ *== *.*(?:\n.*)*?\bunittest\.main\(", re.MULTILINE)


def plant(folder: str, paths: Iterable[str], *, alone: bool) -> str:
    """Plant a failing test into each file that a known runner takes for tests, or in place of its content.

    Returns the test's name, which no work can know beforehand; nothing where there is no such file.
    """
    token, every = _token(), tuple(paths)
    planted = _edit(folder, every, lambda text: planted_text(text, token, alone=alone))
    for path in every:
        if plant_js.is_test(path):
            change = partial(plant_js.planted_text, path, token=token, alone=alone)
            planted |= edits.rewrite(folder, path, change)
    return token if planted else ""


def harden(
    folder: str, tests: Sequence[str], commands: Sequence[str], judges: Collection[str], changed: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Make tests strict and mark programs that judge; return the word by which they say what they found, and the commands.

    The word is empty where there was nothing to edit.
    """
    token = _token()
    marked, asked = ends.Marker(folder, token, tests, changed).mark(commands, judges)
    edited = _edit(folder, frozenset(tests) - marked, lambda text: strict.text_of(text, token, folder, tests))
    return token if edited or marked or asked != tuple(commands) else "", asked


def planted_text(text: str, token: str, *, alone: bool) -> str | None:
    """Return a test file with a failing test in it; None where it would not be found there for sure."""
    if "load_tests" in text or "__test__" in text or edits.parsed(text) is None:
        return None
    test = f"\n\n{program('failing.py', token=token)}\n\n"
    if alone:
        itself = "if __name__ == '__main__':\n    _planted.main()\n" if _RUNS_ITSELF.search(text) else ""
        return test + itself
    main = _MAIN.search(text)
    at = main.start() if main else len(text)
    return text[:at].rstrip("\n") + test + text[at:]


def _edit(folder: str, paths: Iterable[str], change: Callable[[str], str | None]) -> bool:
    done = False
    for path in paths:
        if _NAME.fullmatch(path):
            done |= edits.rewrite(folder, path, change)
    return done


def _token() -> str:
    return f"Planted{secrets.token_hex(6)}"
