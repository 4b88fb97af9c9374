"""Whatever a check prints or writes, reading it ends without an error."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.judge.naming import asking, file_of, function_of, junit, named, refused

LINES = """\
test_x (a.B.test_x)| ... |ok|FAIL|ERROR: setUpClass (a.B)|Ran 1 test in 0.1s|TAP version 13|# Subtest: a|    |ok 1 - a
not ok 2 b|# SKIP|---|...|1..2|PASS a.js| FAIL  b.js [ |Test Suites: 1|  ✓ one (1 ms)|  ✘ [fail]: x|  1 test failed
  3 passing (1ms)| Test Files  1|✔ a (1ms)|▶ s|ℹ tests 2|=== RUN   T|--- PASS: T|ok  \tpkg\t1s|FAIL\tpkg|test a ... ok
     Running src/lib.rs (a)|test result: ok. 1 passed;|\r|\x1b[31m|\x1b]|1 passed in 0.1s|- Captured stdout call -
<testsuite>|<testcase name='a' file='a.py'/>|</testsuite>|<!DOCTYPE a>|&a;|-m unittest|pytest|;|jest| > |::|$|["""
PARTS = st.sampled_from(LINES.replace("\n", "|").split("|"))
TEXTS = st.lists(st.one_of(PARTS, st.just("\n"), st.text(max_size=5)), max_size=60).map("".join)


@settings(deadline=None)
@given(output=TEXTS)
def test_any_output_can_be_read(output: str) -> None:
    tests = named(output, Path("/nowhere"), Path("/nowhere/too"), 0)
    assert tests is None or set(tests.values()) <= {"passed", "failed", "skipped"}
    refused(output)


@settings(deadline=None)
@given(text=TEXTS)
def test_any_command_and_any_id_can_be_read(text: str) -> None:
    asking(text, {}, "/r")
    function_of(text)
    assert file_of(text, {"a.py", "b/c.js"}) in {None, "a.py", "b/c.js"}


@settings(deadline=None)
@given(text=st.one_of(TEXTS.map(str.encode), st.binary(max_size=200)))
def test_any_report_can_be_read(text: bytes) -> None:
    tests = junit.tests_of(text, "/nowhere/")
    assert tests is None or set(tests.values()) <= {"passed", "failed", "skipped"}
