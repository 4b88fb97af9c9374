"""A test's text is its file and what else of the judge it may load; tests that are added beside it leave it as it was."""

from types import SimpleNamespace
from typing import Any

from santiago.judge.trees import Trees, may_load, text_below
from tests.util.each import each

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


@each(
    ("path", "judge"),
    [
        (PATH, PATH), (PATH, "tests/conftest.py"), (PATH, "tests/helpers.py"), (PATH, "tests/unit/__snapshots__/test_a.ambr"), (PATH, "pytest.ini"),
        (PATH, "pyproject.toml"), (PATH, "tests/vectors/a.json"), ("test/a.js", "test/help/tool.js"), ("test/a.js", "test/__snapshots__/a.js.snap"),
        (PATH, "tests/test_base.py"), ("pkg/a_test.go", "pkg/util_test.go"), ("gone.rb", "gone.rb"),
        ("test/a.js", "tap-snapshots/test/a.js.test.cjs"),
    ],
)  # fmt: skip
def test_what_a_test_may_load_is_its_text(path: str, judge: str) -> None:
    assert may_load(path, b"from tests.test_base import Base\n", judge)


@each(
    ("path", "judge"),
    [
        (PATH, "tests/unit/test_b.py"), ("src/a.test.js", "src/b.test.js"), ("pkg/a_test.go", "other/x_test.go"),
        ("test/a.js", "tap-snapshots/test/b.js.test.cjs"),
    ],
)  # fmt: skip
def test_other_tests_are_not_its_text(path: str, judge: str) -> None:
    assert not may_load(path, TESTS.encode(), judge)


JS = """describe('sums', () => {
  it('adds', () => {
    equal(add(1, 2), 3);
  });
  it('takes away', () => {});
});
"""


@each(
    ("name", "content", "said"),
    [
        ("test_sub", TESTS, "assert sub(2, 1) == 1"), ("test_size", TESTS, "assert len(self.helper()) == 2"), ("test_si", TESTS, ""),
        ("adds", JS, "equal(add(1, 2), 3);\n  });"), ("test_b", "def test_b(\n    a,\n):\n    assert a\nx = 1\n", "a,\n):\n    assert a"),
    ],
)  # fmt: skip
def test_what_a_test_says_is_all_that_stands_below_its_name(name: str, content: str, said: str) -> None:
    assert text_below(name, content) == said


def is_rewritten(
    test: str, new: str, path: str = PATH, content: str = TESTS, other: tuple[str, str, str] = ("x", "", "")
) -> bool:
    """Tell whether a test is, where its file becomes `new` and the other one, too, has another text."""
    return trees_of(new, path, content, other).rewritten(f"{path}::{test}")


def trees_of(new: str, path: str, content: str, other: tuple[str, str, str] = ("x", "", "")) -> Trees:
    files = {path: (content, new), other[0]: other[1:]}
    trees = [
        {name: both[place].encode() for name, both in files.items() if both[place] is not None} for place in (0, 1)
    ]
    workspace: Any = SimpleNamespace(
        files=lambda commit: frozenset(name for name, text in trees[int(commit)].items() if text),
        read=lambda commit, name: trees[int(commit)].get(name),
    )
    judges: Any = SimpleNamespace(judges=lambda _: True, tests=lambda _: True)
    changed = [name for name, (old, now) in files.items() if old != now]
    return Trees(workspace, judges, "0", "1", changed)


@each(
    ("test", "old", "new"),
    [
        ("test_sub", "== 1", "== 2"), ("test_sub", "assert sub", "return\n    assert sub"), ("test_sub", "def test_sub", "def test_gone"),
        ("TestThings::test_size", "== 2", ">= 2"), ("test_sub", TESTS, ""),
    ],
)  # fmt: skip
def test_a_test_that_says_something_else_is_rewritten(test: str, old: str, new: str) -> None:
    assert is_rewritten(test, TESTS.replace(old, new))


@each(
    ("old", "new"),
    [
        ("import add, sub", "import add, mul, sub"), ("CASES", "MORE = [1]\nCASES"), ("def test_sub", "def test_new():\n    assert mul\n\n\ndef test_sub"),
        ("    size", "    def test_more(self): ...\n\n    size"), ("class", "class TestNew:\n    def setUp(self): ...\n\n\nclass"),
    ],
)  # fmt: skip
def test_tests_that_are_added_beside_others_rewrite_none(old: str, new: str) -> None:
    assert not is_rewritten("test_sub", TESTS.replace(old, new, 1))
    assert not is_rewritten("adds", JS.replace("it('takes", "it('twice', () => {});\n  it('takes"), "a.test.js", JS)


def test_what_tests_load_rewrites_them_where_it_was_there_before() -> None:
    assert is_rewritten("test_sub", TESTS, other=("tests/helpers.py", "x = 1\n", "x = 2\n"))
    assert not is_rewritten("test_sub", TESTS, other=("tests/helpers.py", "", "x = 2\n"))
    assert not is_rewritten("test_sub", TESTS, other=("tests/test_other.py", "x = 1\n", "x = 2\n"))


def test_a_test_is_steered_where_only_what_its_runner_loads_has_changed() -> None:
    """Such files are put back, but they are no tests of the work: over the base they would make every test fail."""
    workspace: Any = SimpleNamespace(
        files=lambda _: frozenset({PATH, "hooks.py", "tests/help.py"}),
        read=lambda commit, name: TESTS.encode() if name == PATH else commit.encode(),
        compose=lambda onto, judges_from, whole, _: " ".join([onto, judges_from, *whole]),
    )
    judges: Any = SimpleNamespace(judges=lambda _: True, tests=lambda path: path != "hooks.py")
    for changed, steered in ((["hooks.py"], True), (["hooks.py", "tests/help.py"], False), ([PATH], False)):
        trees = Trees(workspace, judges, "0", "1", changed)
        assert trees.steered(f"{PATH}::test_sub") is steered
        assert trees.text_changed(f"{PATH}::test_sub") is not steered
        assert trees.with_old_tests() == " ".join(["1", "0", *changed])
        assert trees.with_new_tests() == " ".join(["0", "1", *(path for path in changed if path != "hooks.py")])


@each(
    ("path", "test", "content"),
    [
        ("test.js", "adds", "test('a', t => {});\ntest.failing('adds', t => {\n\tt.is(add(1, 2), 3);\n});\n"),
        ("test.js", "main › adds", "test.failing('adds', t => {});\n"),
        ("a.test.ts", "a.test.ts > sums > adds", "  it.fails(\n    'adds',\n    () => {})\n"),
        (PATH, f"{PATH}::test_add[1]", "@pytest.mark.xfail(strict=True, reason='later')\n@other\ndef test_add(a):\n    assert add(a)\n"),
        (PATH, "tests.unit.test_a.Sums.test_add", "class Sums:\n    @unittest.expectedFailure\n    def test_add(self):\n"),
    ],
)  # fmt: skip
def test_a_test_that_is_expected_to_fail_is_known_by_its_mark(path: str, test: str, content: str) -> None:
    """In ava, jest, vitest, pytest and unittest."""
    assert trees_of("", path, content).was_to_fail(test)
    other = content.replace("adds", "other").replace("test_add", "test_other")
    assert not trees_of("", path, f"{other}\n\ntest('adds', t => {{}});\ndef test_add(): ...\n").was_to_fail(test)
