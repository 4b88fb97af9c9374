"""Checks run for real: in order, bounded, redacted, in the sandbox, and counted where the runner is known."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from santiago.contract.outcomes import CheckVerdict
from santiago.contract.reasons import Reason
from santiago.verification.counting.verdict import judge
from tests.verification.conftest import never

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer
    from santiago.verification.port import Checks

PASS, FAIL, NOT_RUN = CheckVerdict.PASS, CheckVerdict.FAIL, CheckVerdict.NOT_RUN
MINUTE = 60_000
PYTEST = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q -p no:cacheprovider"


def test_commands_run_in_order_and_stop_at_the_first_failure(verifier: Checks, checkout: Path) -> None:
    results = verifier.check(str(checkout), ["echo a >>log", "echo b >>log; exit 3", "echo c >>log"], MINUTE, never)
    assert [result.verdict for result in results] == [PASS, FAIL, NOT_RUN]
    assert [result.exit_code for result in results] == [0, 3, None]
    assert (checkout / "log").read_text() == "a\nb\n"


def test_on_the_base_all_commands_run(verifier: Checks, checkout: Path) -> None:
    results = verifier.check(str(checkout), ["exit 3", "test -d ."], MINUTE, never, to_the_end=True)
    assert [result.verdict for result in results] == [FAIL, PASS]


def test_a_failure_that_the_base_has_does_not_keep_later_checks_from_running(verifier: Checks, checkout: Path) -> None:
    commands = ["cat missing-lint-settings; exit 3", "test -d ."]
    before = verifier.check(str(checkout), commands, MINUTE, never, to_the_end=True)
    after = verifier.check(str(checkout), commands, MINUTE, never, before=before)
    assert [result.verdict for result in after] == [FAIL, PASS]
    assert judge(before, after).passed


def test_a_check_that_hangs_is_ended_at_its_limit(verifier: Checks, checkout: Path) -> None:
    (result,) = verifier.check(str(checkout), ["echo began; exec sleep 600"], 300, never)
    assert (result.timed_out, result.verdict, result.output.head) == (True, FAIL, "began\n")
    assert judge(None, [result]).reason is Reason.VERIFICATION_TIMEOUT


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        ("no-such-program-here", "unrunnable"),
        ("python -m pytest_that_is_nowhere", ""),
        ("./made-by-the-story", ""),
        ("./plain-text", ""),
        ("exit 127", "unrunnable"),
        ("exit 2", ""),
    ],
)
def test_what_cannot_be_started_is_told_from_what_fails(
    verifier: Checks, checkout: Path, command: str, cause: str
) -> None:
    (checkout / "plain-text").write_text("no program")
    (result,) = verifier.check(str(checkout), [command], MINUTE, never)
    assert (result.verdict, result.cause) == (FAIL, cause)
    expected = Reason.VERIFICATION_UNRUNNABLE if cause else Reason.STORY_VERIFICATION_FAILED
    assert judge(None, [result]).reason is expected


def test_a_check_that_floods_is_stopped_and_named(
    verifier: Checks, server: ProcessServer, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = server.run
    monkeypatch.setattr(server, "run", lambda command, stopped: real(replace(command, most=1_000_000), stopped))
    (result,) = verifier.check(str(checkout), ["yes"], MINUTE, never)
    assert result.cause == "output_limit"
    assert result.output.dropped > 0
    assert judge(None, [result]).reason is Reason.OUTPUT_LIMIT


def test_output_is_kept_from_both_ends_and_without_secrets(verifier: Checks, checkout: Path) -> None:
    command = "echo first hunter2-hunter2; seq 99999; echo hunter2-hunter2 last"
    (result,) = verifier.check(str(checkout), [command], MINUTE, never)
    assert result.output.head.startswith("first [redacted]\n")
    assert result.output.tail.endswith("[redacted] last\n")
    assert "hunter2" not in result.output.head + result.output.tail
    assert result.output.dropped > 0
    assert len(result.output.head) + len(result.output.tail) + result.output.dropped >= result.output.total - 100


def test_now_kills_the_running_check_and_nothing_after_it_runs(verifier: Checks, checkout: Path) -> None:
    def stopped() -> str | None:
        return "now" if (checkout / "began").exists() else None

    results = verifier.check(str(checkout), ["echo >began; exec sleep 600", "echo >after"], MINUTE, stopped)
    assert [(result.verdict, result.cause) for result in results] == [(NOT_RUN, "stopped"), (NOT_RUN, "")]
    assert not (checkout / "after").exists()
    assert judge(None, results).reason is Reason.INTERRUPTED


def test_stop_lets_the_running_check_end_and_starts_no_other(verifier: Checks, checkout: Path) -> None:
    def stopped() -> str | None:
        return "stop" if (checkout / "began").exists() else None

    results = verifier.check(str(checkout), ["echo >began; sleep 0.5; echo >ended", "echo >after"], MINUTE, stopped)
    assert [result.verdict for result in results] == [PASS, NOT_RUN]
    assert (checkout / "ended").exists()
    assert judge(None, results).reason is Reason.INTERRUPTED


def test_set_up_stops_at_a_failure_and_says_what_went_wrong(verifier: Checks, checkout: Path) -> None:
    assert verifier.set_up(str(checkout), ["echo made >made"], MINUTE, never) == ""
    assert (checkout / "made").exists()
    words = verifier.set_up(str(checkout), ["echo no such luck; exit 4", "echo >after"], MINUTE, never)
    assert words == "the command `echo no such luck; exit 4` of [workspace] setup ended with exit 4: no such luck"
    assert not (checkout / "after").exists()
    words = verifier.set_up(str(checkout), ["sleep 30"], 60, never)
    assert words.endswith(" did not end within 0.001 minutes (verification.timeout_minutes)")


def test_temporary_files_are_gone_afterwards_also_protected_ones(verifier: Checks, checkout: Path) -> None:
    (result,) = verifier.check(
        str(checkout), ['mkdir "$TMPDIR/a" && echo x >"$TMPDIR/a/b" && chmod 000 "$TMPDIR/a"'], MINUTE, never
    )
    assert result.verdict is PASS
    assert list(verifier.runner.scratch.iterdir()) == []


def test_pytest_counts_what_ran(verifier: Checks, checkout: Path) -> None:
    (checkout / "test_it.py").write_text("def test_a(): pass\n\ndef test_b(): pass\n")
    (result,) = verifier.check(str(checkout), [PYTEST], MINUTE, never)
    assert (result.verdict, result.checks) == (PASS, 2)


def test_a_runner_that_ran_no_test_is_no_evidence(verifier: Checks, checkout: Path) -> None:
    (checkout / "test_it.py").write_text("import unittest\n")
    results = verifier.check(str(checkout), ["python -m unittest -q || test $? = 5"], MINUTE, never)
    assert [(result.verdict, result.checks) for result in results] == [(PASS, 0)]
    assert judge(None, results).reason is Reason.NOTHING_VERIFIED


def test_result_files_count_only_when_the_check_wrote_them(verifier: Checks, checkout: Path) -> None:
    cases = '<testsuite><testcase name="a"/><testcase name="b"><skipped/></testcase></testsuite>'
    (checkout / "junit.xml").write_text(cases)
    (checkout / "run").write_text('#!/bin/sh\nsleep 0.1\n[ -z "$1" ] || cp junit.xml junit-new.xml\n')
    (checkout / "run").chmod(0o755)
    old, new = verifier.check(str(checkout), ["./run", "./run write"], MINUTE, never)
    assert (old.checks, new.checks) == (None, 1)


def test_a_hostile_result_file_is_passed_over(verifier: Checks, checkout: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuite><testcase>&b;</testcase></testsuite>'
    (checkout / "bomb.xml").write_text(bomb)
    command = "sleep 0.1; cp bomb.xml junit-1.xml; ln -s /etc/passwd junit-2.xml; mkfifo junit-3.xml; test -e bomb.xml"
    (result,) = verifier.check(str(checkout), [command], MINUTE, never)
    assert (result.verdict, result.checks) == (PASS, None)


def test_a_script_that_is_a_pipe_or_leads_out_is_not_looked_into(verifier: Checks, checkout: Path) -> None:
    """Proof, not promise: santiago neither waits at a pipe nor believes the first bytes that somebody put into it."""
    (checkout.parent / "outside.sh").write_text("exit 0\n")
    (checkout / "link.sh").symlink_to(checkout.parent / "outside.sh")
    os.mkfifo(checkout / "pipe.sh")
    filled = os.open(checkout / "pipe.sh", os.O_RDWR)
    try:
        os.write(filled, b"exit 0\n")
        results = verifier.check(str(checkout), ["timeout 1 sh pipe.sh", "sh link.sh"], MINUTE, never, to_the_end=True)
    finally:
        os.close(filled)
    assert [result.checks for result in results] == [None, None]


def test_a_script_that_only_claims_is_no_evidence(verifier: Checks, checkout: Path) -> None:
    (checkout / "check.sh").write_text("#!/bin/sh\n# pytest\necho '5 passed in 0.1s'\nexit 0\n")
    results = verifier.check(str(checkout), ["sh check.sh"], MINUTE, never)
    assert judge(None, results).reason is Reason.NOTHING_VERIFIED


def test_checks_reach_only_their_own_folder(verifier: Checks, sandbox: Sandbox, checkout: Path) -> None:
    if sandbox.kind == "none":
        pytest.skip("no sandbox works here")
    outside = checkout.parent / "outside"
    outside.mkdir()
    (result,) = verifier.check(str(checkout), [f"echo x >{outside}/x"], MINUTE, never)
    assert result.verdict is FAIL
    assert not (outside / "x").exists()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_counts_what_ran(verifier: Checks, checkout: Path) -> None:
    (checkout / "a.test.js").write_text("const t = require('node:test'); t('one', () => {}); t('two', () => {});\n")
    (checkout / "package.json").write_text('{"scripts": {"test": "node --test"}}')
    (result,) = verifier.check(str(checkout), ["node --test"], MINUTE, never)
    assert (result.verdict, result.checks) == (PASS, 2)
