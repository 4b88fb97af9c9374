"""How a command is started so that its runners name their tests, what an id tells, and that any text can be read."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.judge.naming import junit
from santiago.judge.naming.named_tests import file_of, function_of
from santiago.judge.naming.printed_results import named
from santiago.judge.naming.runner_options import asking, refused
from tests.util.each import each

REPORT = "--junitxml=/r/pytest.xml -o junit_family=xunit1"


def test_pytest_and_go_are_asked_by_variables_that_keep_what_was_in_them() -> None:
    asked, added = asking("make test", {"PYTEST_ADDOPTS": "-x", "GOFLAGS": "-mod=vendor", "HOME": "/h"}, "/r")
    assert asked == "make test"
    assert added == {"PYTEST_ADDOPTS": f"-x {REPORT}", "GOFLAGS": "-mod=vendor -v"}


def test_a_folder_with_a_space_stays_one_word() -> None:
    assert "--junitxml='/r s/pytest.xml'" in asking("pytest", {}, "/r s")[1]["PYTEST_ADDOPTS"]


@each(
    ("command", "asked"),
    [
        ("python -m unittest", "python -m unittest -v"),
        ("python3 -m unittest discover -s tests", "python3 -m unittest discover -v -s tests"),
        ("python -m unittest -q tests.test_a && tool -q", "python -m unittest -v -v tests.test_a && tool -q"),
        ("python -m unittest a --quiet", "python -m unittest -v a -v"),
        ("sh -c 'python -m unittest'", "sh -c 'python -m unittest -v'"),
        ("python -m unittest_more", "python -m unittest_more"),
        ("npx --no-install jest src", "npx --no-install jest --verbose src"),
        ("CI=1 node_modules/.bin/jest && true", "CI=1 node_modules/.bin/jest --verbose && true"),
        ("pnpm vitest run", "pnpm vitest --reporter=verbose run"),
        ("npm install jest", "npm install jest"),
        ("npx -p jest jest", "npx -p jest jest"),
        ("npm test", "npm test"),
    ],
)
def test_runners_that_need_a_word_get_it_and_other_commands_stay(command: str, asked: str) -> None:
    assert asking(command, {}, "/r")[0] == asked


def test_several_starts_of_pytest_write_a_report_each() -> None:
    asked, added = asking("A=1 pytest a && python3 -m pytest b; pip install pytest", {}, "/r")
    first, second = (f"--junitxml=/r/pytest-{number}.xml -o junit_family=xunit1" for number in (1, 2))
    assert asked == f"A=1 pytest {first} a && python3 -m pytest {second} b; pip install pytest"
    assert "PYTEST_ADDOPTS" not in added


def test_a_usage_error_about_the_report_is_a_refusal_and_no_other_error_is() -> None:
    assert refused("ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --junitxml=/r/pytest.xml\n")
    assert not refused("pytest: error: unrecognized arguments: --cov=src\n  inifile: None\n")


FILES = frozenset(
    {
        "tests/test_a.py",
        "tests/unit/test_b.py",
        "other/test_b.py",
        "pkg/__init__.py",
        "src/x.test.js",
        "crates/alpha/src/lib.rs",
        "tests/it.rs",
        "app/src/test/java/com/x/FooTest.java",
    }
)


@each(
    ("test", "function"),
    [
        ("tests/test_a.py::test_x[3]", "tests/test_a.py::test_x"),
        ("tests/test_a.py::C::test_x[a::b-[c]]", "tests/test_a.py::C::test_x"),
        ("tests/[id]/test_a.py::test_x", "tests/[id]/test_a.py::test_x"),
        ("com.x.FooTest::adds(int, int)[2]", "com.x.FooTest::adds"),
        ("pkg.mod.Class.test_x", "pkg.mod.Class.test_x"),
        ("example.com/m/sub/TestA/one_two", "example.com/m/sub/TestA"),
        ("example.com/Testing/TestA", "example.com/Testing/TestA"),
        ("a.test.js > suite > one (2)", "a.test.js > suite > one"),
        ("a.test.js > A::b [c]", "a.test.js > A::b [c]"),
    ],
)
def test_the_function_of_a_test_is_its_id_without_parameters(test: str, function: str) -> None:
    assert function_of(test) == function


@each(
    ("test", "file"),
    [
        ("tests/test_a.py::test_x[3]", "tests/test_a.py"),
        ("test_a.py::test_x", "tests/test_a.py"),
        ("test_b.py::test_x", None),
        ("unit/test_b.py::test_x", "tests/unit/test_b.py"),
        ("tests.test_a.Class.test_x", "tests/test_a.py"),
        ("test_a.Class.test_x", "tests/test_a.py"),
        ("pkg.Class.test_x", "pkg/__init__.py"),
        ("src/x.test.js > suite > one", "src/x.test.js"),
        ("./src/x.test.js", "src/x.test.js"),
        ("/tmp/checkout/src/x.test.js", "src/x.test.js"),
        ("alpha/src/lib.rs::tests::ok", "crates/alpha/src/lib.rs"),
        ("it/tests/it.rs::it", "tests/it.rs"),
        ("com.x.FooTest$Inner::adds", "app/src/test/java/com/x/FooTest.java"),
        ("a title", None),
    ],
)
def test_the_file_of_a_test_is_found_where_its_id_tells(test: str, file: str | None) -> None:
    assert file_of(test, FILES) == file


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
