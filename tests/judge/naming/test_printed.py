"""Names in what runners print; the samples are shortened from real output."""

from pathlib import Path

from santiago.judge.naming.named_tests import Tests
from santiago.judge.naming.printed_results import named
from tests.judge.showing import results

NOWHERE = Path("/nowhere")


def _named(output: str) -> Tests | None:
    return named(output.replace(f"{NOWHERE}/checkout/", ""), NOWHERE / "reports", NOWHERE / "checkout", 0)


def test_unittest_with_docstrings_noise_subtests_and_modules_that_do_not_load() -> None:
    assert _named(
        """\
test_ef (tests.test_a.U.test_ef) ... expected failure
test_fail (tests.test_a.U.test_fail) ... FAIL
test_noise (tests.test_a.U.test_noise) ... hellook
test_lines (tests.test_a.U.test_lines) ... it is ok
or not
skipped 'why'
test_lost (tests.test_a.U.test_lost) ... its last words
test_s (tests.test_a.U.test_s) ... skipped 'why not'
test_doc (tests.test_a.U.test_doc)
What it does ... ok
test_sub (tests.test_a.U.test_sub)
A docstring ... \n\
  test_sub (tests.test_a.U.test_sub) (i=1)
A docstring ... FAIL
test_us (tests.test_a.U.test_us) ... unexpected success
ERROR
tests.test_b (unittest.loader._FailedTest.tests.test_b) ... ERROR

======================================================================
ERROR: setUpClass (tests.test_a.V)
----------------------------------------------------------------------
ValueError: it is ok

----------------------------------------------------------------------
Ran 10 tests in 0.001s

FAILED (failures=2)
"""
    ) == {
        "tests.test_a.U.test_ef": "passed",
        "tests.test_a.U.test_fail": "failed",
        "tests.test_a.U.test_noise": "passed",
        "tests.test_a.U.test_lines": "skipped",
        "tests.test_a.U.test_lost": "failed",
        "tests.test_a.U.test_s": "skipped",
        "tests.test_a.U.test_doc": "passed",
        "tests.test_a.U.test_sub": "failed",
        "tests.test_a.U.test_us": "failed",
        "tests.test_b": "failed",
        "tests.test_a.V": "failed",
    }


def test_a_module_that_is_not_there_is_no_test_that_fails() -> None:
    """Proof, not promise: a story that has still to write the module its check names is not held to have changed a test."""
    output = """\
test_new (unittest.loader._FailedTest.test_new) ... ERROR

======================================================================
ERROR: test_new (unittest.loader._FailedTest.test_new)
----------------------------------------------------------------------
ImportError: Failed to import test module: test_new
ModuleNotFoundError: No module named '{missing}'

Ran 1 test in 0.001s

FAILED (errors=1)
"""
    assert not _named(output.format(missing="tests.test_new"))
    assert _named(output.format(missing="yaml")) == {"test_new": "failed"}, "it is there, and lacks something else"
    beside = "test_old (tests.test_old.U.test_old) ... ok\n" + output.format(missing="tests.test_new")
    both = {"tests.test_old.U.test_old": "passed", "test_new": "failed"}
    assert _named(beside.replace("Ran 1 test ", "Ran 2 tests ")) == both, "tests that ran are held to what they said"


def test_unittest_before_3_11_leaves_a_test_with_failed_subtests_without_a_status() -> None:
    assert _named(
        """\
test_sub (tests.test_a.U)
A docstring ... test_ok (tests.test_a.U) ... ok

======================================================================
FAIL: test_sub (tests.test_a.U) (i=1)
----------------------------------------------------------------------
Ran 2 tests in 0.001s
"""
    ) == {"tests.test_a.U.test_sub": "failed", "tests.test_a.U.test_ok": "passed"}


def test_a_runner_that_counts_more_tests_than_it_names_names_none() -> None:
    assert _named("..\nFAIL: test_x (a.B.test_x)\nRan 2 tests in 0.1s\n") is None
    assert _named("  .....\n\n  5 passing (2ms)\n") is None
    assert _named("3 passed in 0.1s\n") is None  # pytest that wrote no report
    assert _named("  ✔ one\n\n  1 passing (2ms)\n\n  ..\n\n  2 passing (2ms)\n") is None


def test_the_worst_of_two_processes_counts_and_a_second_test_of_a_name_gets_a_number() -> None:
    one = "test_x (a.B.test_x) ... {}\nRan 1 test in 0.1s\n\nOK\n"
    assert _named(one.format("FAIL") + one.format("ok")) == {"a.B.test_x": "failed"}
    assert _named("TAP version 13\nok 1 - same\nnot ok 2 - same\n1..2\n") == {"same": "passed", "same (2)": "failed"}


def test_node_in_tap_with_nested_tests_and_a_file_that_does_not_load() -> None:
    assert _named(
        """\
TAP version 13
# ok 77 - said by a test
# Subtest: top
ok 1 - top
  ---
  stack: |-
    # Subtest: no test
    ok 1 - no test
  ...
# Subtest: skips why
ok 5 - skips why # SKIP because \\# x
# Subtest: suite
    # Subtest: two \\# hash
    ok 2 - two \\# hash
    # Subtest: inner
        # Subtest: one
        not ok 1 - one
        1..1
    not ok 3 - inner
    1..2
not ok 7 - suite
# Subtest: /nowhere/checkout/b.test.js
not ok 2 - /nowhere/checkout/b.test.js
1..4
# tests 15
"""
    ) == results(
        passed="top | suite > two # hash",
        failed="suite > inner > one | suite > inner | suite | b.test.js",
        skipped="skips why",
    )


def test_node_in_its_own_outline_with_colours_and_carriage_returns() -> None:
    assert _named(
        """\
\x1b[32m✔ top \x1b[90m(1.678802ms)\x1b[39m\x1b[39m\r
✖ todo fails (0.189768ms) # TODO\r
▶ suite\r
  ✔ two # hash (3ms) (0.4ms)\r
  ▶ inner\r
    ✖ one (0.3ms)\r
  ✖ inner (0.6ms)\r
  ﹣ gone (0.1ms) # SKIP\r
✖ suite (5.350991ms)\r
ℹ tests 5\r
✖ failing tests:\r
✖ one (0.3ms)\r
"""
    ) == results(
        passed="top | suite > two # hash (3ms)",
        failed="suite > inner > one | suite > inner | suite",
        skipped="todo fails | suite > gone",
    )


def test_tape_has_comments_for_tests_and_the_last_one_failed_where_all_ends_there() -> None:
    tests = """\
TAP version 13
# adds
ok 1 should be strictly equal
# fails
not ok 2 oops
  ---
    operator: equal
  ...
ok 3 fine
# SKIP skip opt
# TODO later
not ok 4 x # TODO
# empty
"""
    found = results(passed="adds", failed="fails", skipped="skip opt | later")
    assert _named(tests + "\n1..4\n# tests 4\n# pass  2\n# fail  2\n") == {**found, "empty": "passed"}
    assert _named(tests) == {**found, "empty": "failed"}


def test_node_tap_counts_subtests_and_no_single_assertions() -> None:
    assert _named(
        """\
TAP version 14
1..1
# Subtest: a.test.js
    ok 1 - top assert
    # Subtest: fails
        not ok 1 - oops
          ---
          diff: |
            --- expected
            +++ actual
          ...
        ok 2 - fine
        1..2
    not ok 2 - fails # time=33.104ms

    ok 3 - left out # SKIP
    1..3
not ok 1 - a.test.js # time=85.382ms
"""
    ) == {"a.test.js > fails": "failed", "a.test.js > left out": "skipped", "a.test.js": "failed"}


def test_tap_without_subtests_names_each_result() -> None:
    assert _named("1..3\nok 1 adds\nnot ok 2 fails\n# (in test file a.bats)\nok 3 waits # skip no net\n") == {
        "adds": "passed",
        "fails": "failed",
        "waits": "skipped",
    }


def test_jest_with_and_without_outline() -> None:
    end = "\nTest Suites: 2 failed, 1 passed, 3 total\nTests:       1 failed, 11 total\n"
    listed = """\
FAIL ./a.test.js (5.1 s)
  ✓ top (3 ms)
  ✕ fails (4 ms)
  ○ skipped skips
  ✎ todo later
  suite
    ✓ one (25 ms)
    inner
      ✓ one

  ● fails

      ✓ no test, but code that is shown

FAIL ./b.test.js
  ● Test suite failed to run

PASS src/c.test.js
  ✓ top

Summary of all failing tests
FAIL ./a.test.js
  ● fails
"""
    assert _named((listed + end).replace("\n", "\r\n")) == results(
        passed="a.test.js > top | a.test.js > suite > one | a.test.js > suite > inner > one | src/c.test.js > top",
        failed="a.test.js > fails | b.test.js",
        skipped="a.test.js > skips | a.test.js > later",
    )
    plain = "FAIL ./a.test.js\n  ● fails\n\n    Expected: 2\n\nPASS src/c.test.js\n"
    assert _named(plain + end) == {"a.test.js": "failed", "src/c.test.js": "passed"}


def test_a_jest_file_that_fails_outside_of_its_tests_has_failed() -> None:
    output = "FAIL a.test.js\n  ✓ top\n\n  ● Test suite failed to run\n\nTest Suites: 1 failed, 1 total\n"
    assert _named(output) == {"a.test.js": "failed", "a.test.js > top": "passed"}


def test_vitest_with_and_without_names() -> None:
    end = " FAIL  b.test.js [ b.test.js ]\n FAIL  a.test.js > fails\n\n Test Files  2 failed | 1 passed (3)\n"
    listed = """\
 ✓ a.test.js > top 1ms
 × a.test.js > fails 16ms
   → expected 1 to be 2
 ↓ a.test.js > later [skipped]
 ✓ a.test.js > suite > two (3 ms) 0ms
"""
    assert _named(listed + end) == results(
        passed="a.test.js > top | a.test.js > suite > two (3 ms)",
        failed="a.test.js > fails | b.test.js",
        skipped="a.test.js > later",
    )
    plain = " ❯ a.test.js (10 tests | 1 failed | 2 skipped) 18ms\n   ✓ top 1ms\n ✓ c.test.js  (1 test) 3ms\n"
    assert _named(plain + end) == {"a.test.js": "failed", "c.test.js": "passed", "b.test.js": "failed"}


def test_mocha_blames_a_broken_hook_on_the_test_that_it_ran_for() -> None:
    assert _named(
        """\
  ✔ top
  1) fails
  - later
  hook
    2) "before each" hook: each for "never"

  suite
noise
    ✔ one (12ms)
    inner
      ✓ one
    ✔ last
    3) "after all" hook for "last"


  4 passing (10ms)
  3 failing

  1) fails:
     Error: x
"""
    ) == results(
        passed="top | suite > one | suite > inner > one", failed="fails | hook > never | suite > last", skipped="later"
    )


AVA_DETAILS = """\
  ─

  one › fails

  one › throws

  Error thrown in test:

  - 1
  + 2

  2 tests failed
  1 known failure
  1 test skipped
"""
AVA: Tests = results(
    passed="one › adds | one › known | one › slow",
    failed="test/bad.js | one › fails | one › throws",
    skipped="one › skipped",
)


def test_ava_gives_a_message_behind_the_title_of_a_failed_test() -> None:
    listed = """\
  ✘ test/bad.js exited with a non-zero exit code: 1
  - [skip] one › skipped
  ✔ one › adds
    ℹ hi
  ✘ [fail]: one › fails
  ✔ [expected fail] one › known
  ✘ [fail]: one › throws Error thrown in test
  ✔ one › slow (159ms)
"""
    assert _named(listed + AVA_DETAILS) == AVA


def test_ava_before_version_5_has_no_words_in_brackets() -> None:
    listed = """\
  ✖ test/bad.js exited with a non-zero exit code: 1
  - one › skipped
  ✔ one › adds
  ✖ one › fails \n\
  ✔ one › known
  ✖ one › throws Error thrown in test
  ✔ one › slow (174ms)
"""
    assert _named(listed + AVA_DETAILS) == AVA


def test_go_has_the_package_before_each_test() -> None:
    assert _named(
        """\
# example.com/m/bad [example.com/m/bad.test]
=== RUN   TestA
--- PASS: TestA (0.00s)
=== RUN   TestS
--- SKIP: TestS (0.00s)
=== RUN   TestP
noise=== RUN   TestP/one_two
no newline--- PASS: TestP (0.00s)
    --- PASS: TestP/one_two (0.00s)
=== RUN   TestDies
panic: 1
FAIL\texample.com/m\t0.009s
FAIL\texample.com/m/bad [build failed]
=== RUN   TestA
--- PASS: TestA (0.00s)
PASS
ok  \texample.com/m/sub\t(cached)
ok  \texample.com/m/quiet\t0.1s
ok  \texample.com/m/none\t0.1s [no tests to run]
?   \texample.com/m/cmd\t[no test files]
FAIL
"""
    ) == {
        "example.com/m/TestA": "passed",
        "example.com/m/TestS": "skipped",
        "example.com/m/TestP": "passed",
        "example.com/m/TestP/one_two": "passed",
        "example.com/m/TestDies": "failed",
        "example.com/m/bad": "failed",
        "example.com/m/sub/TestA": "passed",
        "example.com/m/quiet": "passed",
    }


def test_cargo_has_the_target_before_each_test() -> None:
    assert _named(
        """\
     Running unittests src/lib.rs (target/debug/deps/alpha-795c7e3dafd4c066)

running 4 tests
test tests::ign ... ignored, why
test tests::ok ... ok
test tests::bad ... FAILED
test tests::sp - should panic ... ok

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.20s

     Running tests/it.rs (target/debug/deps/it-846cfaf84cf3dece)

running 1 test
test ok ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests alpha

running 1 test
test src/lib.rs - add (line 1) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.25s
"""
    ) == {
        "alpha/src/lib.rs::tests::ign": "skipped",
        "alpha/src/lib.rs::tests::ok": "passed",
        "alpha/src/lib.rs::tests::bad": "failed",
        "alpha/src/lib.rs::tests::sp": "passed",
        "it/tests/it.rs::ok": "passed",
        "Doc-tests alpha::src/lib.rs - add (line 1)": "passed",
    }
