"""Real runs of the runners that are at hand: their tests are named, and they do what they do without being asked."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from santiago.judge.naming.named_tests import Tests
from santiago.judge.naming.printed_results import named
from santiago.judge.naming.runner_options import asking, refused
from tests.judge.showing import results

PYTEST = f"{sys.executable} -m pytest -p no:cacheprovider"
TESTS = """\
import pytest, unittest
@pytest.mark.parametrize("x", [1, "a::b"])
def test_p(x): assert x == 1
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail(strict=True)
def test_xpass(): pass
@pytest.fixture
def broken():
    yield
    raise ValueError
def test_teardown(broken): assert 0
class TestC:
    class TestD:
        def test_n(self): pass
class U(unittest.TestCase):
    def test_u(self): pass
"""
NESTED = """\
import pathlib, subprocess, sys
def test_outer(tmp_path):
    (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
    ended = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path)])
    assert ended.returncode == 1
    assert not pathlib.Path("fail").exists()
"""


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Tests | None]:
    """Run a command on these files, and return what it named."""
    checkout, reports = tmp_path / "checkout", tmp_path / "the reports"
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # most of a start of pytest is its plugins

    def run(command: str, files: dict[str, str]) -> Tests | None:
        shutil.rmtree(reports, ignore_errors=True)
        reports.mkdir()
        for name, text in files.items():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_text(text)
        asked, added = asking(command, os.environ, str(reports))
        since_ns = max(path.stat().st_mtime_ns for path in checkout.rglob("*"))
        ended = subprocess.run(
            asked, shell=True, cwd=checkout, env={**os.environ, **added}, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert not refused(ended.stdout)
        return named(ended.stdout.replace(f"{checkout}/", ""), reports, checkout, since_ns)

    return run


def test_pytest_names_every_test_and_files_that_it_could_not_collect(check: Callable[..., Tests | None]) -> None:
    files = {"tests/test_a.py": TESTS, "tests/test_b.py": "import nothere", "conftest.py": ""}
    assert check(f"{PYTEST} -q --continue-on-collection-errors", files) == {
        "tests/test_b.py": "failed",
        "tests/test_a.py::test_p[1]": "passed",
        "tests/test_a.py::test_p[a::b]": "failed",
        "tests/test_a.py::test_skip": "skipped",
        "tests/test_a.py::test_xfail": "passed",
        "tests/test_a.py::test_xpass": "failed",
        "tests/test_a.py::test_teardown": "failed",
        "tests/test_a.py::TestC::TestD::test_n": "passed",
        "tests/test_a.py::U::test_u": "passed",
    }


def test_several_runs_of_pytest_are_all_named_or_none_where_a_script_lets_them_overwrite_each_other(
    check: Callable[..., Tests | None],
) -> None:
    files = {"test_a.py": "def test_x(): pass", "test_b.py": "def test_y(): assert 0"}
    named_both = {"test_a.py::test_x": "passed", "test_b.py::test_y": "failed"}
    assert check(f"{PYTEST} test_a.py && {PYTEST} test_b.py", files) == named_both
    assert check("sh run", {**files, "run": f"{PYTEST} test_a.py\n{PYTEST} test_a.py"}) is None


def test_a_report_that_the_command_asks_for_itself_is_read_where_it_is(check: Callable[..., Tests | None]) -> None:
    files = {"test_a.py": "def test_x(): pass"}
    assert check(f"{PYTEST} --junitxml=out/mine.xml", files) == {"test_a.py::test_x": "passed"}


def test_what_a_failed_test_printed_names_no_test_of_the_check(check: Callable[..., Tests | None]) -> None:
    said = "test_y (a.B.test_y) ... ok\\nRan 1 test in 0.1s\\nTAP version 13\\nok 1 - z\\n1..1"
    files = {"test_a.py": f"def test_x():\n    print('{said}')\n    assert 0"}
    assert check(f"{PYTEST} -q", files) == {"test_a.py::test_x": "failed"}


@pytest.mark.parametrize("fails", [False, True])
def test_the_outer_run_counts_where_a_test_runs_pytest(check: Callable[..., Tests | None], fails: bool) -> None:
    files = {"test_a.py": NESTED} | ({"fail": ""} if fails else {})
    assert check(f"{PYTEST} -q", files) == {"test_a.py::test_outer": "failed" if fails else "passed"}


def test_unittest_names_every_test_also_where_it_was_told_to_be_quiet(check: Callable[..., Tests | None]) -> None:
    body = TESTS.partition("class U")
    files = {
        "test_a.py": f"import unittest\n{body[1]}{body[2]}\n    def test_f(self): self.fail()",
        "test_b.py": "import nothere",
    }
    assert check(f"{sys.executable} -m unittest -q", files) == {
        "test_a.U.test_u": "passed",
        "test_a.U.test_f": "failed",
        "test_b": "failed",
    }


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("reporter", ["tap", "spec"])
def test_node_names_every_test_in_both_of_its_forms(check: Callable[..., Tests | None], reporter: str) -> None:
    test = """
const {test, describe, it} = require('node:test');
test('top', () => {});
test('skips', {skip: 'why'}, () => {});
describe('suite', () => { it('one # 1', () => { console.log('ok 1 - fake'); }); it('two', () => { throw new Error('x'); }); });
"""
    files = {"a.test.js": test, "b.test.js": "require('nothere')"}
    assert check(f"node --test --test-reporter={reporter}", files) == results(
        passed="top | suite > one # 1", failed="suite > two | suite | b.test.js", skipped="skips"
    )
