"""Work prints what it likes; reading it must not take longer than its length: promise 5, everything is bounded."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from santiago.contract.outcomes import CheckResult, CheckVerdict, Output
from santiago.contract.units import Seconds
from santiago.verification.counting import failures, tally, verdict
from tests.verification import hostile

ROOT = Path(__file__).parents[2]
KEPT = 128 * 1024
"""As much of an output as is kept."""


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))


def test_no_pattern_takes_more_than_its_share_for_hostile_text() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.verification.hostile"],
        cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=limited,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == []


def test_a_slow_pattern_would_be_found() -> None:
    slow = hostile.Subject("slow", re.compile(r"^\s*--- (\S+)", re.MULTILINE), frozenset({"findall"}))
    assert hostile.is_slow(slow)


@pytest.mark.parametrize(
    "piece",
    ["\n", "\r", " \n", "1", "Ran 1 tests in 1s\n\n", "no tests collected in 1", "a > a FAILED ", '"Action":"pass"'],
)
def test_what_a_check_printed_is_read_whatever_it_is(piece: str) -> None:
    text = piece * (KEPT // len(piece))
    result = CheckResult(
        command="./check", exit_code=1, seconds=Seconds(1), timed_out=False,
        output=Output(head=text, tail=text, dropped=0, total=2 * KEPT), checks=None, verdict=CheckVerdict.FAIL, cause="",
    )  # fmt: skip
    assert failures.failures(result) == failures.failures(result)
    assert len(failures.last_lines(result)) <= 20
    assert verdict.is_inherited(result, result)


def test_a_count_of_thousands_of_digits_is_no_count() -> None:
    assert tally.recognise(f"Ran {'9' * 5000} tests in 1s\n\nOK\n") is None
    assert tally.recognise(f"{'9' * 5000} passed in 1s\n") is None


def test_empty_lines_and_overlong_ones_change_no_summary() -> None:
    assert tally.read(("unittest",), "x" * 100_000 + "\nRan 3 tests in 0.1s" + "\n" * 5000 + "OK (skipped=1)\n") == (
        tally.Tally(2, 0)
    )
