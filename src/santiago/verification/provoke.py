"""Provoking checks: edits of test code after which a check must fail, or must still pass, if nobody has got at it."""

from __future__ import annotations

import re
import secrets
import shlex
from functools import partial
from typing import TYPE_CHECKING

from santiago.verification import plant_js, runners, shell, strict, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

REACHED = 97
"""Exit code of a prolonged command that was not cut short."""
_NAME = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]*_test)\.py")
_MAIN = re.compile(r"^if __name__ *== *", re.MULTILINE)
_RUNS_ITSELF = re.compile(r"^if __name__ *== *.*(?:\n.*)*?\bunittest\.main\(", re.MULTILINE)
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*")
_NODE = re.compile(r"(?:.*/)?node(?:js)?")
_TEST = """

import unittest as _planted


class Test{token}(_planted.TestCase):
    def test_{token}(self):
        def plain():
            assert [1] == [2]

        def unraised():
            with self.assertRaises(KeyError):
                pass

        def unraised_in_pytest():
            with __import__("sys").modules["pytest"].raises(KeyError):
                pass

        asked = [
            lambda: self.assertEqual(1, 2), lambda: self.assertEqual([1], [2]), lambda: self.assertEqual("a", "b"),
            lambda: self.assertTrue(0), lambda: self.assertFalse(1), lambda: self.assertIn(1, ()), lambda: self.assertIs(1, None),
            lambda: self.assertIsNone(1), lambda: self.assertAlmostEqual(1, 2), lambda: self.assertGreater(1, 2), self.fail, unraised,
        ]
        asked += [plain] * __debug__ + [unraised_in_pytest] * ("pytest" in __import__("sys").modules)
        for ask in asked:
            try:
                ask()
            except BaseException:
                continue
            return  # somebody has made this assertion harmless: that the test passes gives it away
        raise AssertionError("{token}")


"""


def plant(folder: str, paths: Iterable[str], *, alone: bool) -> str:
    """Plant a failing test into each file that a known runner takes for tests, or in place of its content.

    Returns the test's name, which no work can know beforehand; nothing where there is no such file.
    """
    token, every = _token(), tuple(paths)
    planted = _edit(folder, every, lambda text: planted_text(text, token, alone=alone))
    for path in every:
        if plant_js.is_test(path):
            change = partial(plant_js.planted_text, path, token=token, alone=alone)
            planted |= texts.rewrite(folder, path, change)
    return token if planted else ""


def harden(folder: str, paths: Iterable[str]) -> str:
    """Make test files strict; return the word by which they say what they refuse."""
    token, tests = _token(), tuple(paths)
    return token if _edit(folder, tests, lambda text: strict.text_of(text, token, folder, tests)) else ""


def prolonged(command: str) -> str:
    """Return a `python -c` or `node -e` command with an exit code that it must reach; nothing for others."""
    words = _plain_words(command)
    at = next((place for place, word in enumerate(words) if word in {"-c", "-e", "--eval"}), 0)
    if at < 1 or at + 1 >= len(words):
        return ""
    program, code = words[at - 1], words[at + 1]
    longer = None
    if _PYTHON.fullmatch(program) and words[at] == "-c":
        longer = _prolonged_text(code)
    elif _NODE.fullmatch(program) and words[at] != "-c" and "exit" not in code:
        longer = f"{code}\n;process.exit({REACHED})\n"
    return " ".join(map(shlex.quote, [*words[: at + 1], longer, *words[at + 2 :]])) if longer else ""


def prolong(folder: str, command: str, judges: Collection[str]) -> bool:
    """Do the same to the file of a `python FILE` command, where the file is a judge and not the work."""
    words = _plain_words(command)
    script = runners.script_of(words) if words and _PYTHON.fullmatch(words[0]) else None
    return script is not None and script in judges and texts.rewrite(folder, script, _prolonged_text)


def _plain_words(command: str) -> list[str]:
    """Return the words of a single command in which the shell changes nothing."""
    words = shell.tokens(command) or ()
    return [] if any(word.kind != "word" or word.dynamic for word in words) else [word.text for word in words]


def _prolonged_text(text: str) -> str | None:
    code = None if "exit" in text or "SystemExit" in text else strict.text_of(text, _token())
    return None if code is None else f"{code}\nraise SystemExit({REACHED})\n"


def planted_text(text: str, token: str, *, alone: bool) -> str | None:
    """Return a test file with a failing test in it; None where it would not be found there for sure."""
    if "load_tests" in text or "__test__" in text or texts.parsed(text) is None:
        return None
    test = _TEST.format(token=token)
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
            done |= texts.rewrite(folder, path, change)
    return done


def _token() -> str:
    return f"Planted{secrets.token_hex(6)}"
