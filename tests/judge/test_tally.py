"""The runner's own summary says how many tests ran: none is no evidence."""

from santiago.judge.naming.printed_results import Tally, tally
from tests.util.each import each

OUTPUTS: list[tuple[str, tuple[int, int] | None]] = [
    ("============ 3 passed in 0.12s ============", (3, 0)),
    ("..                      [100%]\n2 passed in 0.01s\n", (2, 0)),
    ("=== 1 failed, 2 passed, 1 skipped, 1 warning in 1.02s (0:00:01) ===", (3, 1)),
    ("\x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 0.3s\x1b[0m", (5, 0)),
    ("====== no tests ran in 0.01s ======", (0, 0)),
    ("=== 3 deselected in 0.02s ===", (0, 0)),
    ("=== 4 skipped in 0.02s ===", (0, 0)),
    ("=== 1 passed, 3 deselected in 0.02s ===", (1, 0)),
    ("=== 2 tests collected in 0.01s ===", (0, 0)),
    ("=== 1 error in 0.10s ===", (1, 1)),
    ("=== 1 passed, 2 errors in 0.10s ===", (3, 2)),
    ("bringing up nodes...\n....  [100%]\n4 passed in 0.90s", (4, 0)),
    ("..                  [ 40%]\n", None),
    ("all 3 tests passed, believe me", None),
    ("", None),
    ("...\n-----\nRan 3 tests in 0.001s\n\nOK\n", (3, 0)),
    ("Ran 4 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n", (3, 2)),
    ("Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", (0, 0)),
    ("Ran 0 tests in 0.000s\n\nOK\n", (0, 0)),
    ("Ran 2 tests in 0.000s\n\nOK (skipped=2)\n", (0, 0)),
    ("?   \tx/w\t[no test files]\n", (0, 0)),
    (
        "test a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\n   Doc-tests x\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n",
        (2, 0),
    ),
    ("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n", (3, 2)),
    ("running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 5 filtered out\n", (0, 0)),
    ("     Summary [   0.013s] 5 tests run: 4 passed, 1 failed, 0 skipped\n", (5, 1)),
    ("error[E0425]: cannot find value\n", None),
    (
        "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 4 passed, 5 total\nSnapshots:   0 total\nTime: 1 s\n",
        (5, 1),
    ),
    ("Test Suites: 1 skipped, 0 of 1 total\nTests:       3 skipped, 3 total\n", (0, 0)),
    (" Test Files  1 passed (1)\n      Tests  3 passed (3)\n   Start at  10:00:00\n", (3, 0)),
    (" Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 3 passed | 1 skipped (5)\n", (4, 1)),
    ("\n  3 passing (12ms)\n  1 pending\n  2 failing\n", (5, 2)),
    ("\n  0 passing (1ms)\n", (0, 0)),
    ("# tests 3\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 0\n", (3, 1)),
    ("ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\n", (2, 0)),
    ("# tests 0\n# pass 0\n# fail 0\n", (0, 0)),
    ("Finished in 0.1 seconds\n3 examples, 1 failure, 1 pending\n", (2, 1)),
    ("0 examples, 0 failures\n", (0, 0)),
    ("OK (3 tests, 5 assertions)\n", (3, 0)),
    ("No tests executed!\n", (0, 0)),
    ("100% tests passed, 0 tests failed out of 7\n", (7, 0)),
    ("50% tests passed, 1 tests failed out of 2\n", (2, 1)),
    ("No tests were found!!!\n", (0, 0)),
    ("Passed!  - Failed:     0, Passed:     4, Skipped:     1, Total:     5, Duration: 20 ms - x.dll\n", (4, 0)),
    ("Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5\n", (5, 1)),
    ("Total tests: 3\n     Passed: 2\n     Failed: 1\n", (3, 1)),
    ("Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0, duration: 1s\n", (3, 0)),
    (
        (
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s\n[INFO] Results:\n"
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n"
        ),
        (2, 0),
    ),
    ("[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 1\n", (2, 2)),
    ("[INFO] No tests to run.\n", (0, 0)),
    ("[INFO] BUILD SUCCESS\n", None),
    ("5 tests completed, 2 failed, 1 skipped\n", (4, 2)),
    ("BUILD SUCCESSFUL in 1s\n", None),
    (
        "t/c.t .. ok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs ( 0.02 usr = 0.07 CPU)\nResult: PASS\n",
        (2, 0),
    ),
    ("t/b.t .. skipped: later\nFiles=1, Tests=0,  1 wallclock secs\nResult: NOTESTS\n", (0, 0)),
    ("Cannot detect source\n", None),
    ("1 test in 1 item.\n1 passed.\nTest passed.\n", (1, 0)),
    ("***Test Failed*** 2 failures.\n", None),
    ("FAILURES!\nTests: 4, Assertions: 4, Errors: 1, Failures: 1, Skipped: 1.\n", (3, 2)),
    ("=== 2 passed, 1 xfailed, 1 xpassed in 0.10s ===", (2, 0)),
    ("No tests found, exiting with code 0\n", (0, 0)),
    ("Ran 2 tests in 1s\n\nOK\nRan 3 tests in 1s\n\nFAILED (errors=1)\n", (5, 1)),
    ("replaced 3 files in 2 folders\n", None),
    ("5 files in 3 folders\n", None),
]


@each(("output", "expected"), OUTPUTS)
def test_the_summary_of_a_runner_is_read(output: str, expected: tuple[int, int] | None) -> None:
    assert tally(output) == (None if expected is None else Tally(*expected))


def test_of_two_runners_both_count() -> None:
    assert tally("2 passed in 0.1s\nTests:       3 passed, 3 total\n") == Tally(5, 0)


def test_a_count_of_thousands_of_digits_is_no_count() -> None:
    assert tally(f"Ran {'9' * 5000} tests in 1s\n\nOK\n") is None
    assert tally(f"{'9' * 5000} passed in 1s\n") is None


def test_empty_lines_and_overlong_ones_change_no_summary() -> None:
    text = "x" * 100_000 + "\nRan 3 tests in 0.1s" + "\n" * 5000 + "OK (skipped=1)\n"
    assert tally(text) == Tally(2, 0)
