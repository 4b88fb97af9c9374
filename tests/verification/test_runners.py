"""The runner's own summary decides how many checks ran: 0 is no evidence (P21)."""

from __future__ import annotations

import pytest

from santiago.verification.commandline import recipes as behind_them
from santiago.verification.commandline import runners
from santiago.verification.counting import tally
from santiago.verification.counting.tally import Tally

COMMANDS = {
    "pytest -q": ("pytest",), "python -m pytest tests": ("pytest",), "python3.12 -I -m pytest": ("pytest",), "uv run --with x pytest -n 4": ("pytest",),
    ".venv/bin/pytest": ("pytest",), "poetry run pytest": ("pytest",), "coverage run -m pytest": ("pytest",), "PYTHONPATH=src pytest": ("pytest",),
    "cd sub && pytest": ("pytest",), "python -m unittest discover": ("unittest",), "coverage run -m unittest": ("unittest",), "go test ./...": ("go",),
    "go vet ./...": (), "cargo test --all": ("cargo",), "cargo +nightly test": ("cargo",), "cargo nextest run": ("cargo",), "cargo build": (),
    "npx jest": ("jest",), "node_modules/.bin/jest": ("jest",), "yarn jest": ("jest",), "npx vitest run": ("vitest",), "npx mocha": ("mocha",),
    "node --test tests/": ("node",), "node app.js": (), "bundle exec rspec": ("rspec",), "vendor/bin/phpunit": ("phpunit",), "ctest --test-dir b": ("ctest",),
    "dotnet test": ("dotnet",), "mvn -q test": ("maven",), "./mvnw verify": ("maven",), "./gradlew test": ("gradle",), "gradle :app:test": ("gradle",),
    "gradle run": (), "make test": (), "sh -c 'pytest -q'": ("pytest",), "timeout 60 env A=1 pytest": ("pytest",), "echo pytest": (),
    "pytest a && npx jest": ("pytest", "jest"), "grep pytest log": (), "time pytest": ("pytest",),
    "prove -r t": ("prove",), "prove -e sh t/*.sh": ("prove",), "python3 -m doctest -v calc.py": ("doctest",), "python3 -m doctest calc.py": (),
}  # fmt: skip

OUTPUTS: list[tuple[str, str, Tally | None]] = [
    ("pytest", "============ 3 passed in 0.12s ============", Tally(3, 0)),
    ("pytest", "..                      [100%]\n2 passed in 0.01s\n", Tally(2, 0)),
    ("pytest", "=== 1 failed, 2 passed, 1 skipped, 1 warning in 1.02s (0:00:01) ===", Tally(3, 1)),
    ("pytest", "\x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 0.3s\x1b[0m", Tally(5, 0)),
    ("pytest", "====== no tests ran in 0.01s ======", Tally(0, 0)),
    ("pytest", "=== 3 deselected in 0.02s ===", Tally(0, 0)),
    ("pytest", "=== 4 skipped in 0.02s ===", Tally(0, 0)),
    ("pytest", "=== 1 passed, 3 deselected in 0.02s ===", Tally(1, 0)),
    ("pytest", "=== 2 tests collected in 0.01s ===", Tally(0, 0)),
    ("pytest", "=== 1/2 tests collected (1 deselected) in 0.01s ===", Tally(0, 0)),
    ("pytest", "=== 1 error in 0.10s ===", Tally(1, 1)),
    ("pytest", "=== 1 passed, 2 errors in 0.10s ===", Tally(3, 2)),
    ("pytest", "=== 2 passed, 1 xfailed, 1 xpassed in 0.10s ===", Tally(4, 0)),
    ("pytest", "bringing up nodes...\n....  [100%]\n4 passed in 0.90s", Tally(4, 0)),
    ("pytest", "..s.F                                        [100%]\n", Tally(4, 1)),
    ("pytest", "..                  [ 40%]\n", None),
    ("pytest", "all 3 tests passed, believe me", None),
    ("pytest", "", None),
    ("unittest", "...\n-----\nRan 3 tests in 0.001s\n\nOK\n", Tally(3, 0)),
    ("unittest", "Ran 4 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n", Tally(3, 2)),
    ("unittest", "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", Tally(0, 0)),
    ("unittest", "Ran 0 tests in 0.000s\n\nOK\n", Tally(0, 0)),
    ("unittest", "Ran 2 tests in 0.000s\n\nOK (skipped=2)\n", Tally(0, 0)),
    ("go", "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tx/y\t0.1s\n", Tally(2, 1)),
    ("go", "ok  \tx/y\t0.003s\nok  \tx/z\t(cached)\n?   \tx/w\t[no test files]\n", Tally(2, 0)),
    ("go", "?   \tx/w\t[no test files]\n", Tally(0, 0)),
    ("go", "ok  \tx/y\t0.003s [no tests to run]\n", Tally(0, 0)),
    ("go", "# x/y\n./a.go:3:1: undefined: foo\nFAIL\tx/y [build failed]\nFAIL\n", Tally(1, 1)),
    ("go", '{"Action":"run","Test":"TestA"}\n{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}\n', Tally(1, 0)),
    ("cargo", (
     "test a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests x\n\n"
     "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"), Tally(2, 0)),
    ("cargo", "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n", Tally(3, 2)),
    ("cargo", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 5 filtered out\n", Tally(0, 0)),
    ("cargo", "     Summary [   0.013s] 5 tests run: 4 passed, 1 failed, 0 skipped\n", Tally(5, 1)),
    ("cargo", "error[E0425]: cannot find value\n", None),
    ("jest", "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 4 passed, 5 total\nSnapshots:   0 total\nTime: 1 s\n", Tally(5, 1)),
    ("jest", "Test Suites: 1 failed, 1 total\nTests:       0 total\n", Tally(1, 1)),
    ("jest", "Test Suites: 1 skipped, 0 of 1 total\nTests:       3 skipped, 3 total\n", Tally(0, 0)),
    ("jest", "No tests found, exiting with code 0\n", None),
    ("jest", '{"numFailedTestSuites":0,"numFailedTests":0,"numPassedTestSuites":1,"numPassedTests":3}', Tally(3, 0)),
    ("vitest", " Test Files  1 passed (1)\n      Tests  3 passed (3)\n   Start at  10:00:00\n", Tally(3, 0)),
    ("vitest", " Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 3 passed | 1 skipped (5)\n", Tally(4, 1)),
    ("vitest", " Test Files  no tests\n      Tests  no tests\n", Tally(0, 0)),
    ("mocha", "\n  3 passing (12ms)\n  1 pending\n  2 failing\n", Tally(5, 2)),
    ("mocha", "\n  0 passing (1ms)\n", Tally(0, 0)),
    ("node", "# tests 3\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 0\n", Tally(3, 1)),
    ("node", "ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\n", Tally(2, 0)),
    ("node", "# tests 0\n# pass 0\n# fail 0\n", Tally(0, 0)),
    ("rspec", "Finished in 0.1 seconds\n3 examples, 1 failure, 1 pending\n", Tally(2, 1)),
    ("rspec", "0 examples, 0 failures\n", Tally(0, 0)),
    ("rspec", "0 examples, 0 failures, 1 error occurred outside of examples\n", Tally(1, 1)),
    ("phpunit", "OK (3 tests, 5 assertions)\n", Tally(3, 0)),
    ("phpunit", "FAILURES!\nTests: 4, Assertions: 4, Failures: 1, Errors: 1, Skipped: 1.\n", Tally(3, 2)),
    ("phpunit", "No tests executed!\n", Tally(0, 0)),
    ("ctest", "100% tests passed, 0 tests failed out of 7\n", Tally(7, 0)),
    ("ctest", "50% tests passed, 1 tests failed out of 2\n", Tally(2, 1)),
    ("ctest", "No tests were found!!!\n", Tally(0, 0)),
    ("dotnet", "Passed!  - Failed:     0, Passed:     4, Skipped:     1, Total:     5, Duration: 20 ms - x.dll\n", Tally(4, 0)),
    ("dotnet", "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5\n", Tally(5, 1)),
    ("dotnet", "Total tests: 3\n     Passed: 2\n     Failed: 1\n", Tally(3, 1)),
    ("dotnet", "Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0, duration: 1s\n", Tally(3, 0)),
    ("maven", (
     "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in FooTest\n[INFO] Results:\n"
     "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n"), Tally(2, 0)),
    ("maven", "[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 1\n", Tally(2, 2)),
    ("maven", "[INFO] No tests to run.\n", Tally(0, 0)),
    ("maven", "[INFO] BUILD SUCCESS\n", None),
    ("gradle", "5 tests completed, 2 failed, 1 skipped\n", Tally(4, 2)),
    ("gradle", "BUILD SUCCESSFUL in 1s\n", None),
    ("prove", "t/c.t .. ok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs ( 0.02 usr = 0.07 CPU)\nResult: PASS\n", Tally(2, 0)),
    ("prove", "t/b.t .. skipped: later\nFiles=1, Tests=0,  1 wallclock secs\nResult: NOTESTS\n", Tally(0, 0)),
    ("prove", (
     "Test Summary Report\n-------------------\nt/a.t (Wstat: 512 (exited 2) Tests: 3 Failed: 2)\n  Failed tests:  2-3\n"
     "t/b.t  (Wstat: 256 Tests: 1 Failed: 1)\nFiles=2, Tests=4,  1 wallclock secs\nResult: FAIL\n"), Tally(4, 3)),
    ("prove", "t/d.t (Wstat: 65280 (exited 255) Tests: 0 Failed: 0)\nFiles=1, Tests=0,  1 wallclock secs\nResult: FAIL\n", Tally(1, 1)),
    ("prove", "Cannot detect source\n", None),
    ("doctest", "2 tests in 2 items.\n0 passed and 2 failed.\n***Test Failed*** 2 failures.\n", Tally(2, 2)),
    ("doctest", "1 test in 1 item.\n1 passed.\nTest passed.\n", Tally(1, 0)),
    ("doctest", "***Test Failed*** 2 failures.\n", None),
]  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), COMMANDS.items())
def test_a_runner_is_known_from_the_command_line(command: str, expected: tuple[str, ...]) -> None:
    assert runners.known_runners(command) == expected


@pytest.mark.parametrize(("runner", "output", "expected"), OUTPUTS)
def test_the_summary_of_a_runner_is_read(runner: str, output: str, expected: Tally | None) -> None:
    assert tally.read((runner,), output) == expected


def test_of_two_runners_both_must_leave_a_summary() -> None:
    both = ("pytest", "jest")
    assert tally.read(both, "2 passed in 0.1s\n") is None
    assert tally.read(both, "2 passed in 0.1s\nTests:       3 passed, 3 total\n") == Tally(5, 0)


def test_a_runner_is_found_behind_package_scripts_make_targets_and_shell_scripts() -> None:
    files = {
        "package.json": b'{"scripts": {"test": "npm run unit", "unit": "jest --ci", "pretest": "eslint ."}}',
        "Makefile": b".PHONY: test\nCC := gcc\n\ntest: build\n\t@sh scripts/check.sh\n\nbuild:\n\techo built\n",
        "scripts/check.sh": b"#!/bin/sh\nset -e\npython -m pytest -q\n",
        "justfile": b"test:\n    cargo test\n",
    }

    def behind(command: str) -> set[str]:
        return {runner for line in behind_them.expanded(command, files.get) for runner in runners.known_runners(line)}

    assert behind("npm test") == behind("npm run test") == behind("pnpm test") == {"jest"}
    assert (
        behind("make test")
        == behind("make")
        == behind("./scripts/check.sh")
        == behind("bash scripts/check.sh")
        == {"pytest"}
    )
    assert behind("just test") == {"cargo"}
    assert behind("make build") == behind("npm start") == behind("echo") == set()


def test_scripts_that_run_each_other_in_a_circle_end() -> None:
    files = {"package.json": b'{"scripts": {"test": "npm test && npm test"}}', "a.sh": b"sh a.sh\nsh a.sh\n"}
    assert len(behind_them.expanded("npm test", files.get)) <= 200
    assert len(behind_them.expanded("sh a.sh", files.get)) <= 200


def test_a_summary_is_recognised_where_no_runner_is_known() -> None:
    assert tally.recognise("running\n3 passed in 0.1s\n") == Tally(3, 0)
    assert tally.recognise("built 3 files in 2s\n") is None
