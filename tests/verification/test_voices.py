"""A voice fails at the beginning of a test or of a docstring's examples, and says its name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from santiago.contract.outcomes import CheckResult, CheckVerdict, Output
from santiago.contract.units import Seconds
from santiago.verification.provoking import voices

if TYPE_CHECKING:
    from pathlib import Path

MODULE = '''"""Words."""


def first(text):
    """Return the first word.

    >>> first("a b")
    'a'
    """
    raise NotImplementedError


class Words:
    def last(self, text):
        """Return the last word:
        >>> Words().last("a b")
        'b'

        >>> Words().last("c")
        'c'
        """
        return text.split()[-1]

    def none(self):
        """Say nothing."""
'''
TEST = "#include <assert.h>\nint main(void) { assert(1 + 1 == 2); return 0; }\n"


def result(command: str, folder: Path, *, dropped: int = 0) -> CheckResult:
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    return CheckResult(
        command=command, exit_code=done.returncode, seconds=Seconds(1), timed_out=False, checks=None, verdict=CheckVerdict.FAIL,
        output=Output(head=text, tail="", dropped=dropped, total=len(text) + dropped),
    )  # fmt: skip


@pytest.mark.parametrize("runner", ["doctest", "pytest -q --doctest-modules"])
def test_every_docstring_with_examples_says_its_name(tmp_path: Path, runner: str) -> None:
    (tmp_path / "words.py").write_text(MODULE)
    command = f"{sys.executable} -m {runner} words.py"
    word, names = voices.plant(str(tmp_path), ["words.py"], ["words.py"], [command])
    assert names == {"words_py.first", "words_py.Words.last"}
    assert voices.heard(word, result(command, tmp_path)) == names
    assert voices.heard(word, result(command, tmp_path, dropped=1)) is None


def test_examples_that_no_check_runs_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(MODULE)
    assert not voices.plant(str(tmp_path), ["words.py"], ["words.py"], ["pytest -q"])[1]
    assert (tmp_path / "words.py").read_text() == MODULE


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler")
@pytest.mark.parametrize(("flags", "heard"), [("", frozenset({"assert"})), ("-DNDEBUG", frozenset())])
def test_a_test_in_c_says_that_its_asserts_speak(tmp_path: Path, flags: str, heard: frozenset[str]) -> None:
    (tmp_path / "test.c").write_text(TEST)
    word, names = voices.plant(str(tmp_path), ["test.c"], ["add.h"], ["make"])
    shown = result(f"cc -Wall -Wextra -Werror {flags} -o t test.c && ./t", tmp_path)
    assert names == {"assert"}
    assert voices.heard(word, shown) == heard
    assert (shown.exit_code == 0) == (not heard)


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { return 0; }\n",
        "#define assert(x) (x)\nint main(void) { return 0; }\n",
        "void f(void) { assert(1); }\n",
    ],
)
def test_a_source_that_asserts_or_tests_nothing_is_left_alone(text: str) -> None:
    assert voices.in_c(text, "Voice") is None
