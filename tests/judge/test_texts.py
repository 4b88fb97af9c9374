"""A test's text is its file and what else of the judge it may load; what is only added to it leaves it as it was."""

from __future__ import annotations

import pytest

from santiago.judge.trees import may_load, only_grew, text_below

TESTS = '''"""Tests."""
import os, sys
from pkg import add, sub

CASES = [(1, 3)]


@pytest.fixture
def numbers():
    return [1, 2]


def test_sub():
    assert sub(2, 1) == 1


class TestThings(Base):
    size = 2

    def test_size(self):
        assert len(self.helper()) == 2
'''
PATH = "tests/unit/test_a.py"


@pytest.mark.parametrize(
    ("path", "judge"),
    [
        (PATH, PATH), (PATH, "tests/conftest.py"), (PATH, "tests/helpers.py"), (PATH, "tests/unit/__snapshots__/test_a.ambr"), (PATH, "pytest.ini"),
        (PATH, "pyproject.toml"), (PATH, "tests/vectors/a.json"), ("test/a.js", "test/help/tool.js"), ("test/a.js", "test/__snapshots__/a.js.snap"),
        (PATH, "tests/test_base.py"), ("pkg/a_test.go", "pkg/util_test.go"), ("gone.rb", "gone.rb"),
    ],
)  # fmt: skip
def test_what_a_test_may_load_is_its_text(path: str, judge: str) -> None:
    assert may_load(path, b"from tests.test_base import Base\n", judge)


@pytest.mark.parametrize(
    ("path", "judge"), [(PATH, "tests/unit/test_b.py"), ("src/a.test.js", "src/b.test.js"), ("pkg/a_test.go", "other/x_test.go")]
)  # fmt: skip
def test_other_tests_are_not_its_text(path: str, judge: str) -> None:
    assert not may_load(path, TESTS.encode(), judge)


def grew(old: str, new: str, path: str = PATH) -> bool:
    assert old in TESTS
    return only_grew(path, TESTS.encode(), TESTS.replace(old, new, 1).encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("== 1", "== 2"), ("[1, 2]", "[3]"), ("(1, 3)", "(1, 4)"), ("(Base)", ""), ("size = 2", "size = 3"), ("def test_sub", "def test_gone"),
        ("from pkg import add, sub", "from fake import add, sub"), ("assert sub", "return\n    assert sub"), ("import os, sys", "import os, sys ("),
        ("class TestThings", "def test_sub():\n    pass\n\n\nclass TestThings"), ("size = 2", "size = 2\n    def test_size(self):\n        pass\n"),
        ("CASES", "pytestmark = skip\nCASES"), ("def test_sub", "@fixture(autouse=True)\ndef quiet(): ...\n\n\ndef test_sub"),
        ("    size", "    def setUp(self): ...\n\n    size"), ("def test_sub", "def setup_module(): ...\n\n\ndef test_sub"), (TESTS, ""),
    ],
)  # fmt: skip
def test_a_file_whose_tests_were_changed_did_not_only_grow(old: str, new: str) -> None:
    assert not grew(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import add, sub", "import add, mul, sub"), ("CASES", "MORE = [1]\nCASES"),
        ("def test_sub", "def test_new(setup_db):\n    assert mul\n\n\ndef test_sub"),
        ("    size", "    def test_more(self): ...\n\n    size"), ("assert sub(2, 1) == 1", "assert (\n        sub(2, 1) == 1\n    )  # one"),
        ("class TestThings", "class TestNew:\n    size = 3\n\n    def setUp(self): ...\n\n    def test_size(self): ...\n\n\nclass TestThings"),
    ],
)  # fmt: skip
def test_tests_that_are_added_to_a_file_leave_the_others_as_they_were(old: str, new: str) -> None:
    assert grew(old, new)
    assert not grew(old, new, "test/a.js"), "only python is read so closely"


def test_a_new_file_changes_nothing_unless_it_serves_tests_that_do_not_ask_for_it() -> None:
    assert only_grew("tests/vectors/a.json", b"", b"[]")
    assert only_grew("tests/helpers.py", b"", b"def make(): ...\n")
    assert not only_grew("tests/conftest.py", b"", b"def pytest_runtest_call(item): ...\n")


JS = """describe('sums', () => {
  it('adds', () => {
    equal(add(1, 2), 3);
  });
  it('takes away', () => {});
});
"""


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("test_sub", TESTS, "assert sub(2, 1) == 1"), ("test_size", TESTS, "assert len(self.helper()) == 2"), ("test_si", TESTS, ""),
        ("adds", JS, "equal(add(1, 2), 3);\n  });"), ("test_b", "def test_b(\n    a,\n):\n    assert a\nx = 1\n", "a,\n):\n    assert a"),
    ],
)  # fmt: skip
def test_what_a_test_says_is_all_that_stands_below_its_name(name: str, content: str, said: str) -> None:
    assert text_below(name, content) == said
