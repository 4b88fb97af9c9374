"""A test's text is its function, what that uses, and the files of the judge that it loads; nothing else."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from santiago.judge.texts import Tree, changed

TESTS = '''"""Tests."""
import helpers
import os, sys
from base import Base, shared
from pkg import add, sub

LIMIT = 3
CASES = [(1, LIMIT)]


def total(values):
    return add(*values)


@pytest.fixture
def numbers():
    return [1, 2]


@pytest.fixture(autouse=True)
def quiet():
    os.environ.pop("X", None)


@pytest.mark.parametrize("case", CASES)
def test_cases(case):
    assert case


def test_total(numbers):
    assert total(numbers) == 3


@pytest.fixture
def prepared():
    make("ready")


def test_prepared(prepared):
    assert True is not False


def test_sub():
    """Subtracts."""
    assert sub(2, 1) == 1


@slow
class TestThings(Base):
    size = 2

    def setup_method(self):
        self.things = make(self.size)

    def helper(self):
        return self.things

    def test_size(self):
        assert len(self.helper()) == 2

    def test_other(self):
        assert True

    class TestInner:
        def test_deep(self):
            assert 1


class TestMore(TestThings):
    size = 4
'''
PATH = "tests/unit/test_a.py"
FILES: dict[str, str] = {
    PATH: TESTS, "tests/conftest.py": "", "tests/unit/__init__.py": "", "other/conftest.py": "", "other/helpers.py": "", "golden/plain.txt": "",
    "notes.txt": "",
    "tests/helpers.py": "from inner import x\n",
    "tests/inner.py": "x = 1\n", "tests/base.py": "", "tests/unrelated.py": "", "tests/shared.py": "", "src/pkg/__init__.py": "def add(a, b): ...\n",
    "tests/unit/test_b.py": "DATA = open(HERE / 'vectors' / 'a.json')\nimport test_c\n", "tests/vectors/a.json": "[]", "tests/vectors/b.json": "[]",
    "tests/unit/test_c.py": "def test_c():\n    assert open('plain.txt')\n", "tests/plain.txt": "", "tests/unit/__snapshots__/test_a.ambr": "",
    "test/a.js": "const h = require('./help/tool');\ntest('one', () => read('one.data.json'));\n", "test/help/tool.js": "require('./index')\n",
    "test/help/index.js": "", "test/b.js": "", "test/one.data.json": "", "test/__snapshots__/a.js.snap": "", "pkg/a_test.go": "", "pkg/util_test.go": "",
    "other/x_test.go": "", "pytest.ini": "",
}  # fmt: skip


def tree(files: dict[str, str]) -> Tree:
    blobs = {path: text.encode() for path, text in files.items()}
    return Tree(blobs.keys(), blobs.get)


def has_changed(test: str, old: str, new: str, *, before: str = TESTS) -> bool:
    assert old in before
    after = {**FILES, PATH: before.replace(old, new)}
    return changed(f"{PATH}::{test}", PATH, tree({**FILES, PATH: before}), tree(after), [PATH])


@pytest.mark.parametrize(
    ("test", "old", "new"),
    [
        ("test_sub", "== 1", "== 2"), ("test_total[x]", "== 3", "== 4"), ("test_total", "[1, 2]", "[3]"), ("test_total", "add(*values)", "3"),
        ("test_cases[1-3]", "LIMIT = 3", "LIMIT = 4"), ("test_cases", "CASES)", "CASES[:0])"), ("test_sub", '"X"', '"Y"'),
        ("TestThings::test_size", "== 2", "== 3"), ("TestThings::test_size", "size = 2", "size = 3"), ("TestThings::test_size", "make(", "fake("),
        ("TestThings::test_size", "return self.things", "return [1, 2]"), ("TestThings::test_size", "@slow\n", ""), ("TestThings::test_size", "(Base)", ""),
        ("TestThings::TestInner::test_deep", "assert 1", "assert 0"), ("TestMore::test_size", "== 2", "== 3"), ("TestMore::test_size", "size = 4", "size = 5"),
        ("test_sub", "def test_sub", "def test_gone"), ("test_sub", "from pkg import add, sub", "from fake import add, sub"),
        ("test_prepared", '"ready"', '"other"'), ("test_nowhere", "LIMIT = 3", "LIMIT = 4"),
        ("test_sub", "LIMIT = 3", "sys.path.insert(0, 'x')\nLIMIT = 3"), ("test_sub", "LIMIT = 3", "LIMIT = ("),
        ("test_sub", "LIMIT = 3", "pytestmark = skip\nLIMIT = 3"),
    ],
)  # fmt: skip
def test_what_a_test_uses_is_its_text(test: str, old: str, new: str) -> None:
    assert has_changed(test, old, new)


@pytest.mark.parametrize(
    ("test", "old", "new"),
    [
        ("test_sub", "== 3", "== 4"), ("test_sub", "[1, 2]", "[3]"), ("test_sub", "LIMIT = 3", "LIMIT = 4"), ("test_sub", "add(*values)", "3"),
        ("TestThings::test_size", "assert True", "assert False"), ("test_total", "size = 2", "size = 3"),
        ("test_sub", "import add, sub", "import add, sub, mul"),
        ("test_sub", "def total", "def test_new():\n    assert sub(1, 1) == 0\n\n\ndef total"), ("test_sub", "# x\n", ""),
        ("test_sub", '"""Tests."""', '"""More."""'),
        ("test_sub", "assert sub(2, 1) == 1", "assert (\n        sub(2, 1) == 1\n    )  # one"), ("TestThings::test_size", "size = 4", "size = 5"),
        ("TestMore::test_size", "== 1", "== 2"),
    ],
)  # fmt: skip
def test_what_other_tests_use_is_not_its_text(test: str, old: str, new: str) -> None:
    assert not has_changed(test, old, new, before=TESTS + "# x\n")


@pytest.mark.parametrize("test", ["tests.unit.test_a.TestThings.test_size", "tests.unit.test_a.TestThings::test_size"])
def test_ids_of_other_runners_name_the_same_function(test: str) -> None:
    for old, new, expected in (("== 2", "== 3", True), ("== 1", "== 2", False)):
        after = tree({**FILES, PATH: TESTS.replace(old, new)})
        assert changed(test, PATH, tree(FILES), after, [PATH]) is expected


@pytest.mark.parametrize(
    ("path", "judge"),
    [
        (PATH, "tests/conftest.py"), (PATH, "tests/unit/__init__.py"), (PATH, "tests/helpers.py"), (PATH, "tests/inner.py"), (PATH, "tests/base.py"),
        (PATH, "tests/unit/conftest.py"), ("tests/unit/test_c.py", "golden/plain.txt"), (PATH, "tests/unit/__snapshots__/test_a.ambr"),
        (PATH, "pytest.ini"), (PATH, "pyproject.toml"), ("tests/unit/test_b.py", "tests/vectors/a.json"),
        ("tests/unit/test_b.py", "tests/vectors/b.json"), ("tests/unit/test_b.py", "tests/plain.txt"), ("test/a.js", "test/help/tool.js"),
        ("test/a.js", "test/help/index.js"), ("test/a.js", "test/one.data.json"), ("test/a.js", "test/__snapshots__/a.js.snap"),
        ("pkg/a_test.go", "pkg/util_test.go"), ("test/a.js", "test/a.js"), ("gone.rb", "gone.rb"),
    ],
)  # fmt: skip
def test_every_judge_file_that_a_test_loads_is_its_text(path: str, judge: str) -> None:
    after = tree({**FILES, judge: "changed"})
    assert changed("some test", path, tree(FILES), after, [judge])


@pytest.mark.parametrize(
    ("path", "judge"),
    [
        (PATH, "other/conftest.py"), (PATH, "tests/unrelated.py"), (PATH, "tests/unit/test_b.py"), (PATH, "tests/vectors/a.json"), (PATH, "tests/plain.txt"),
        (PATH, "other/helpers.py"), (PATH, "notes.txt"), ("test/a.js", "test/b.js"), ("pkg/a_test.go", "other/x_test.go"),
        ("tests/unit/test_c.py", "tests/vectors/a.json"),
    ],
)  # fmt: skip
def test_a_judge_file_that_a_test_does_not_load_is_not_its_text(path: str, judge: str) -> None:
    after = tree({**FILES, judge: "changed"})
    assert not changed("some test", path, tree(FILES), after, [judge])


def test_where_the_file_is_unknown_every_changed_judge_file_may_be_the_text() -> None:
    assert changed("a test", None, tree(FILES), tree(FILES), ["tests/unrelated.py"])
    assert not changed("a test", None, tree(FILES), tree(FILES), [])


def test_many_tests_of_one_file_read_and_parse_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = "\n".join(f"def test_{number}():\n    assert total({number})\n" for number in range(2_000))
    before = f"def total(x):\n    return x\n\n\n{functions}".encode()
    after = before + b"\n\ndef test_new(): pass\n"
    counts: Counter[str] = Counter()
    parse = ast.parse

    def parsing(source: bytes) -> ast.Module:
        counts["parsed"] += 1
        return parse(source)

    def tree_of(blob: bytes) -> Tree:
        def read(path: str) -> bytes:
            counts["read"] += 1
            return blob

        return Tree(["test_x.py"], read)

    monkeypatch.setattr(ast, "parse", parsing)
    trees = tree_of(before), tree_of(after)
    assert not any(changed(f"test_x.py::test_{number}", "test_x.py", *trees, ["test_x.py"]) for number in range(2_000))
    assert counts == {"read": 2, "parsed": 2}
