"""Tests inside source files: whatever the work did to them, the base's are put back, and the work's code stays."""

from __future__ import annotations

import doctest
import types

from santiago.judge import sections
from tests.util.each import each

BASE = '''"""Sums.

>>> 1 + 1
2
"""


def add(a, b):
    """Add.

    >>> add(2, 3)
    5
    """
    return 0


class Pair:
    def swap(self, a, b):
        """Swap: `Pair().swap(1, 2)`.

        >>> Pair().swap(1, 2)
        (2, 1)
        """
        return (b, a)
'''
RUST = """pub fn add(a: i64, b: i64) -> i64 { a - b }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() { assert_eq!(add(2, 3), 5); }
}
"""


def failed(text: str) -> int:
    """Return how many examples of a module fail."""
    module = types.ModuleType("sums")
    exec(compile(text, "sums.py", "exec"), module.__dict__)
    return doctest.testmod(module, report=False, verbose=False).failed


def put_back(work: str, path: str = "sums.py", base: str = BASE) -> str:
    return sections.put_back(path, work.encode(), base.encode()).decode()


@each(
    "work",
    [
        BASE.replace("    5\n", "    0\n"),
        BASE.replace('    """Add.\n\n    >>> add(2, 3)\n    5\n    """\n', ""),
        BASE.replace("    >>> add(2", "    >>> add = int.__add__\n    >>> add(2"),
        BASE.replace(">>> add(2, 3)\n    5", "add(2, 3) is 5").replace("Sums.", "More sums."),
        BASE.partition('"""\n\n\n')[2]
        .replace('    """Add.\n\n    >>> add(2, 3)\n    5\n    """\n', "")
        .replace("):\n    return 0", "): return 0"),
    ],
)
def test_an_example_that_failed_fails_again_whatever_became_of_it(work: str) -> None:
    assert failed(BASE) == 1
    assert failed(work) == 0
    assert failed(put_back(work)) == 1


def test_the_works_code_stays_with_the_bases_examples() -> None:
    work = "import math\n\n\n" + BASE.partition('"""\n\n\n')[2].replace("return 0", "return a + b").replace(
        "(2, 1)", "(1, 2)"
    )
    text = put_back(work)
    assert "return a + b" in text
    assert "import math" in text
    assert failed(text) == 0


def test_examples_of_class_methods_and_properties_are_put_back() -> None:
    base = "class Pair:\n    @classmethod\n    def make(cls):\n        '''\n        >>> Pair.make()\n        1\n        '''\n        return 2\n"
    base += "\n    @property\n    def size(self):\n        '''\n        >>> Pair().size\n        1\n        '''\n        return 2\n"
    assert failed(base) == 2
    assert failed(put_back(base.replace("        1\n", "        2\n"), base=base)) == 2


def test_a_new_example_of_the_work_stays_where_the_base_has_none() -> None:
    work = BASE + '\n\ndef sub(a, b):\n    """Subtract.\n\n    >>> sub(5, 3)\n    2\n    """\n    return a - b\n'
    assert put_back(work) == work


@each("work", ["def broken(:\n", ""])
def test_what_has_no_room_for_tests_stays_as_it_is(work: str) -> None:
    base = BASE.partition('"""\n\n\n')[2]
    assert put_back(work, base=base) == work


@each(
    "work",
    [
        RUST.replace("assert_eq!(add(2, 3), 5);", ""),
        RUST.partition("\n#[cfg")[0],
        RUST.replace("    use super::*;\n", ""),
    ],
)
def test_tests_of_rust_are_put_back(work: str) -> None:
    assert put_back(work.replace("a - b", "b - a"), "lib.rs", RUST) == RUST.replace("a - b", "b - a")


def test_files_of_other_languages_stay_as_they_are() -> None:
    assert put_back("x", "sums.txt") == "x"
