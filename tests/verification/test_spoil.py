"""A spoiled test fails at its end, whatever it did before, and each of the runners says so by its name."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from santiago.contract.outcomes import CheckResult, CheckVerdict, Output
from santiago.contract.units import Seconds
from santiago.verification.provoking.spoil import failing, spoiled_text

if TYPE_CHECKING:
    from pathlib import Path

TESTS = '''"""Tests."""
import unittest


class First(unittest.TestCase):
    def test_one(self):
        self.assertEqual(1, 1)

    def test_two(self):
        for value in range(3):
            with self.subTest(value=value):
                self.assertTrue(True)
        return


class Second(unittest.TestCase):
    def test_one(self):
        with self.assertRaises(KeyError):
            raise KeyError
'''


@pytest.mark.parametrize("runner", ["pytest -q", "unittest", "unittest -q"])
def test_every_test_is_named_as_failing_once_it_is_spoiled(tmp_path: Path, runner: str) -> None:
    (tmp_path / "test_words.py").write_text(spoiled_text(TESTS, "Spoiled") or "")
    command = f"{sys.executable} -m {runner} test_words.py"
    done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    shown = CheckResult(
        command=command, exit_code=done.returncode, seconds=Seconds(1), timed_out=False, checks=3, verdict=CheckVerdict.FAIL,
        output=Output(head=text, tail="", dropped=0, total=len(text)),
    )  # fmt: skip
    assert done.returncode != 0
    assert len(failing(shown)) == 3


@pytest.mark.parametrize("text", ["def f():\n    pass\n", "def test_(:\n", ""])
def test_what_holds_no_test_is_left_alone(text: str) -> None:
    assert spoiled_text(text, "Spoiled") is None
