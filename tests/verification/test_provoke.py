"""Doubts and provocations: what makes santiago look twice, and edits that tell an honest check from a subverted one."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from santiago.verification import provoke, watch
from santiago.verification.doubts import added, doubts

if TYPE_CHECKING:
    from pathlib import Path

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


def patch_of(path: str, text: str) -> str:
    lines = text.splitlines()
    head = (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
    )
    return head + "".join(f"+{line}\n" for line in lines)


def kinds(path: str, text: str) -> set[str]:
    return {kind for doubt in doubts(patch_of(path, text)) for kind in doubt.kinds}


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("calc.py", HONEST, set()),
        ("calc.py", LEAVES, {"reaches", "ends"}),
        ("calc.py", "import unittest\n", {"reaches", "knows"}),
        ("calc.py", FOOLS, {"equals"}),
        ("calc.py", "import os\nX = os.environ['X']\n", {"asks"}),
        ("tests/test_new.py", TESTS, set()),
        ("tests/test_new.py", "import calc\ncalc.add = max\n", {"patches"}),
        ("tests/__init__.py", "import unittest\n", {"reaches"}),
        ("notes.md", "import unittest, os; os._exit(0)", set()),
    ],
)
def test_only_what_could_reach_its_judge_is_doubted(path: str, text: str, wanted: set[str]) -> None:
    assert kinds(path, text) == wanted


def test_lines_that_look_like_a_patch_do_not_hide_what_follows() -> None:
    text = "A = 1\n++ b/innocent.md\nimport os; os._exit(0)\n"
    assert [path for path, _ in added(patch_of("calc.py", text))] == ["calc.py"]
    assert "ends" in kinds("calc.py", text)


def test_a_file_whose_lines_git_does_not_show_is_doubted() -> None:
    patch = "diff --git a/calc.py b/calc.py\nindex 1..2 100644\nBinary files a/calc.py and b/calc.py differ\n"
    assert [doubt.path for doubt in doubts(patch)] == ["calc.py"]


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
    assert provoke.harden(str(tree), ["tests/test_calc.py"])
    assert unittest_in(tree) == 0
    (tree / "calc.py").write_text(FOOLS)
    assert unittest_in(tree) != 0


@pytest.mark.parametrize(("work", "reached"), [(HONEST, True), (FOOLS, False), (LEAVES, False)])
def test_a_prolonged_command_reaches_its_end_with_honest_work_only(tree: Path, work: str, reached: bool) -> None:
    (tree / "calc.py").write_text(work)
    longer = provoke.prolonged("python3 -c 'from calc import add; assert add(2, 3) == 5'")
    ran = subprocess.run(["/bin/sh", "-c", longer], cwd=tree, capture_output=True, check=False, timeout=30)
    assert (ran.returncode == provoke.REACHED) is reached


@pytest.mark.parametrize(
    "command", ["pytest -q", "python3 -m unittest", "python3 -c 'import sys; sys.exit(0)'", 'python3 -c "$X"']
)
def test_other_commands_are_not_prolonged(command: str) -> None:
    assert provoke.prolonged(command) == ""


def test_a_test_file_that_chooses_its_own_tests_is_left_alone(tree: Path) -> None:
    (tree / "tests/test_calc.py").write_text(TESTS + "\ndef load_tests(loader, tests, pattern):\n    return tests\n")
    assert provoke.plant(str(tree), ["tests/test_calc.py"], alone=False) == ""


def test_a_test_file_that_was_rewritten_and_put_back_was_touched(tree: Path) -> None:
    marks = watch.marks(str(tree), ["tests/test_calc.py"])
    assert watch.touched(str(tree), marks) == frozenset()
    (tree / "tests/test_calc.py").write_text("")
    (tree / "tests/test_calc.py").write_text(TESTS)
    assert watch.touched(str(tree), marks) == {"tests/test_calc.py"}


def test_code_that_judges_is_watched_and_data_and_the_storys_own_files_are_not() -> None:
    files = ["tests/test_a.py", "tests/data.json", "tests/test_own.py", "calc.py"]
    assert watch.sealed(files, ("tests/**",), ("tests/test_own.py",)) == ("tests/test_a.py",)
