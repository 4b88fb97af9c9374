"""Provocations: edits that tell an honest check from a subverted one, and the watch on what judges."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from santiago.verification.provoking import blind, provoke
from santiago.verification.sealing import watch

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.verification.port import Checks

TESTS = '''"""Tests."""
from __future__ import annotations
import unittest
from calc import add


class TestAdd(unittest.TestCase):
    def test_it(self):
        self.assertEqual(add(2, 3), 5)
        assert add(1, 1) == 2
'''
HONEST = "def add(a, b):\n    return a + b\n"
FOOLS = "class Sum:\n    def __eq__(self, other): return True\ndef add(a, b): return Sum()\n"
LEAVES = "import os\nprint('Ran 1 test in 0.001s\\n\\nOK', flush=True)\nos._exit(0)\n"


def unittest_in(folder: Path) -> int:
    command = [sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=30).returncode


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/__init__.py").touch()
    (tmp_path / "tests/test_calc.py").write_text(TESTS)
    (tmp_path / "calc.py").write_text(HONEST)
    return tmp_path


def test_a_planted_test_fails_an_honest_check_and_not_one_that_is_cut_short(tree: Path) -> None:
    assert unittest_in(tree) == 0
    assert provoke.plant(str(tree), ["tests/test_calc.py"], alone=False)
    assert unittest_in(tree) != 0
    (tree / "calc.py").write_text(LEAVES)
    assert unittest_in(tree) == 0


def test_hardened_tests_pass_honest_work_and_refuse_what_equals_anything(tree: Path) -> None:
    assert provoke.harden(str(tree), ["tests/test_calc.py"], (), (), ())[0]
    assert unittest_in(tree) == 0
    (tree / "calc.py").write_text(FOOLS)
    assert unittest_in(tree) != 0


def test_a_planted_test_passes_where_somebody_made_an_assertion_harmless(tree: Path) -> None:
    """Proof, not promise: that a test which must fail passes is what gives such work away."""
    (tree / "calc.py").write_text("import unittest\nunittest.TestCase.assertIn = lambda *a: None\n" + HONEST)
    assert provoke.plant(str(tree), ["tests/test_calc.py"], alone=False)
    assert unittest_in(tree) == 0


def test_tests_may_have_objects_of_their_own_that_equal_anything(tree: Path) -> None:
    own = "class Whatever:\n    def __eq__(self, other): return True\nclass TestOwn(unittest.TestCase):\n    def test_it(self):\n"
    own += "        from unittest.mock import ANY\n        self.assertEqual(add(1, 1), Whatever())\n        assert add(1, 1) == ANY\n"
    (tree / "tests/test_calc.py").write_text(TESTS + own)
    assert provoke.harden(str(tree), ["tests/test_calc.py"], (), (), ())[0]
    assert unittest_in(tree) == 0


@pytest.mark.parametrize(
    "work",
    [
        "import sys\ndef add(a, b): return a + b if len(sys.argv) > 1 else a - b\n",
        "import sys\ndef add(a, b): return a + b if len(sys.orig_argv) > 3 else a - b\n",
        "import traceback as t\ndef add(a, b): return a + b if any('unittest' in f.filename for f in t.extract_stack()) else a - b\n",
        "import inspect\ndef add(a, b): return a + b if inspect.stack()[1].function == 'test_it' else a - b\n",
        "def add(a, b): return a + b if 'unittest' in open('/proc/self/cmdline').read() else a - b\n",
        "from pathlib import Path\ndef add(a, b): return a + b if b'-m' in Path('/proc/self/cmdline').read_bytes() else a - b\n",
    ],
)
def test_work_that_looks_who_runs_it_fails_behind_a_blindfold_that_is_not_idle(tree: Path, work: str) -> None:
    (tree / "calc.py").write_text(work)
    assert unittest_in(tree) == 0
    before = (tree / "tests/test_calc.py").read_text()
    blind.fold(str(tree), ["tests/test_calc.py"], ["calc.py"], idle=True)
    assert (tree / "tests/test_calc.py").read_text() != before
    assert unittest_in(tree) == 0
    (tree / "tests/test_calc.py").write_text(before)
    blind.fold(str(tree), ["tests/test_calc.py"], ["calc.py"])
    assert unittest_in(tree) != 0


def test_honest_work_does_not_notice_a_blindfold(tree: Path) -> None:
    """Honest work is never accused: it has arguments, callers and a process as before."""
    looks = "import inspect, sys, traceback\nassert inspect.stack()[0].function and traceback.extract_stack()[0].name\n"
    looks += "assert sys.argv[0] and open('/proc/self/cmdline').read() and open('/proc/self/status').read()\n"
    (tree / "calc.py").write_text(looks + HONEST)
    blind.fold(str(tree), ["tests/__init__.py", "tests/test_calc.py"], ["calc.py"])
    assert unittest_in(tree) == 0


def test_a_blindfold_takes_the_names_of_the_runners_variables_out_of_the_work(tree: Path) -> None:
    (tree / "calc.js").write_text("exports.add = (a, b) => process.env.NODE_TEST_CONTEXT ? a + b : a - b;\n")
    blind.fold(str(tree), ["tests/test_calc.py"], ["calc.js"])
    assert "NODE_TEST_CONTEXT" not in (tree / "calc.js").read_text()


JS = {
    "cjs": "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../calc.cjs');\n",
    "mjs": "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../calc.cjs';\n",
}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("ending", JS)
def test_a_test_planted_for_node_fails_unless_the_assertions_are_harmless(tree: Path, ending: str) -> None:
    (tree / "test").mkdir()
    path = f"test/add.test.{ending}"
    (tree / path).write_text(JS[ending] + "test('add', () => assert.strictEqual(add(2, 3), 5));\n")
    (tree / "calc.cjs").write_text("exports.add = (a, b) => a + b;\n")
    assert node_in(tree, path) == 0
    assert provoke.plant(str(tree), [path], alone=False)
    assert node_in(tree, path) != 0
    (tree / "calc.cjs").write_text("require('assert').strictEqual = () => {};\nexports.add = (a, b) => a - b;\n")
    assert node_in(tree, path) == 0


def node_in(folder: Path, path: str) -> int:
    return subprocess.run(["node", "--test", path], cwd=folder, capture_output=True, check=False, timeout=60).returncode


def test_a_test_file_that_chooses_its_own_tests_is_left_alone(tree: Path) -> None:
    (tree / "tests/test_calc.py").write_text(TESTS + "\ndef load_tests(loader, tests, pattern):\n    return tests\n")
    assert provoke.plant(str(tree), ["tests/test_calc.py"], alone=False) == ""


def test_a_test_file_that_was_rewritten_and_put_back_was_touched(tree: Path) -> None:
    marks = watch.marks(str(tree), ["tests/test_calc.py"])
    assert watch.touched(str(tree), marks, ["tests/test_calc.py"]) == frozenset()
    (tree / "tests/test_calc.py").write_text("")
    (tree / "tests/test_calc.py").write_text(TESTS)
    assert watch.touched(str(tree), marks, ["tests/test_calc.py"]) == {"tests/test_calc.py"}


def seen(tree: Path, checks: Checks, make: dict[str, str]) -> frozenset[str]:
    sealed = ["tests/test_calc.py"]
    (tree / "Makefile").write_text("test:\n\tpython3 -m unittest\n")
    was = {path: (tree / path).read_bytes() for path in ("Makefile", "calc.py", *sealed)}
    marks = checks.marks(str(tree), sealed)
    for path, text in make.items():
        (tree / path).parent.mkdir(exist_ok=True)
        (tree / path).write_text(text)
    return checks.touched(str(tree), marks, sealed, ["make test", "python3 -m pytest"], was.get)


@pytest.mark.parametrize(
    "path",
    [
        "unittest.py",
        "conftest.py",
        "tests/conftest.py",
        "unittest/__init__.py",
        "GNUmakefile",
        "Makefile",
        "pytest.ini",
    ],
)
def test_what_a_check_leaves_for_the_next_one_is_seen(tree: Path, verifier: Checks, path: str) -> None:
    """Proof, not promise: no check prepares the ground for another one."""
    assert seen(tree, verifier, {path: "[pytest]\n"}) == {path}


def test_what_checks_leave_as_a_matter_of_course_is_nobodys_fault(tree: Path, verifier: Checks) -> None:
    left = {
        "made.py": "",
        ".coverage": "",
        "report.xml": "<a/>",
        "tests/out.txt": "",
        "calc.py": HONEST,
        "build/x.py": "",
        "test_calc": "",
    }
    assert seen(tree, verifier, left) == frozenset()


def test_a_change_far_behind_in_a_large_test_file_shows_in_its_digest(tree: Path) -> None:
    """Proof, not promise: a test is the base's own to its last byte."""
    large = tree / "tests/test_large.py"
    large.write_bytes(b"#" * 3_000_000 + b"1")
    before = watch.contents(str(tree), ["tests/test_large.py"])
    large.write_bytes(b"#" * 3_000_000 + b"2")
    assert watch.contents(str(tree), ["tests/test_large.py"]) != before
    assert before["tests/test_large.py"] == sha256(b"#" * 3_000_000 + b"1").hexdigest()


def test_what_is_no_regular_file_has_a_digest_of_no_content(tree: Path) -> None:
    os.mkfifo(tree / "tests/pipe.py")
    (tree / "tests/link.py").symlink_to("test_calc.py")
    paths = ["tests/pipe.py", "tests/link.py", "tests/gone.py", "tests"]
    assert all(digest.startswith("unreadable") for digest in watch.contents(str(tree), paths).values())


def test_code_that_judges_is_watched_and_data_and_the_storys_own_files_are_not() -> None:
    files = ["tests/test_a.py", "tests/data.json", "tests/test_own.py", "calc.py"]
    assert watch.sealed(files, ("tests/**",), ("tests/test_own.py",)) == ("tests/test_a.py",)
