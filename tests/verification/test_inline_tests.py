"""Tests inside the work's own file are sealed like others: a story may add to them, not loosen them (promise 2)."""

from __future__ import annotations

import pytest

from santiago.contract.ports.workspace import Change
from santiago.verification.sealing import globs, inline_rust, seal

RUST = """/// Adds.
///
/// ```
/// assert_eq!(calc::add(2, 3), 5);
/// ```
pub fn add(a: i64, b: i64) -> i64 { a - b } // { not a brace

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sum: i64) { assert_eq!(sum, 5, "a } in a string"); }

    #[test]
    fn small() {
        /* a comment /* within another */ */
        check(add(2, 3));
    }

    #[tokio::test]
    #[should_panic]
    async fn large() { panic!("{}", 'x') }
}
"""
FIXED = RUST.replace("{ a - b }", "{ a + b }")
LOOSENED = {
    "emptied": FIXED.replace("check(add(2, 3));", ""),
    "another value": FIXED.replace("sum, 5", "sum, -1"),
    "an early return": FIXED.replace("fn small() {", "fn small() { return;"),
    "ignored": FIXED.replace("#[test]\n", "#[test]\n    #[ignore]\n"),
    "no module": FIXED.partition("#[cfg(test)]")[0],
    "never compiled": FIXED.replace("#[cfg(test)]\n", "#[cfg(any())]\n"),
    "within a comment": FIXED.replace("#[test]", "/* /* */ #[test]").replace("#[tokio", "*/ #[test] fn small() {}\n #[tokio"),
    "within a string": FIXED.replace("#[cfg(test)]", 'const X: &str = r#"#[cfg(test)]') + '"#;',
    "an assertion of its own": "macro_rules! assert_eq { ($($t:tt)*) => {} }\n" + FIXED,
    "an assertion by another name": FIXED.replace("use super::*;", "use super::*; use crate::nothing as assert_eq;"),
    "its own function in the way": FIXED.replace("use super::*;", "use super::*; fn add(a: i64, b: i64) -> i64 { a + b }"),
    "another function imported": FIXED.replace("use super::*;", "use super::*; use crate::fake::{sub, add};"),
    "right only under test": RUST.replace("{ a - b }", "{ if cfg!(test) { a + b } else { a - b } }"),
    "two functions": "#[cfg(not(test))]\n" + RUST,
    "equal to anything": RUST + "impl PartialEq<i64> for Sum { fn eq(&self, _other: &i64) -> bool { true } }",
    "another example": FIXED.replace("calc::add(2, 3), 5)", "calc::add(2, 3), -1)"),
    "an example that is not run": FIXED.replace("/// ```\n/// assert", "/// ```ignore\n/// assert"),
}  # fmt: skip
WELCOME = {
    "the work": FIXED,
    "another layout": FIXED.replace("    ", "\t").replace("fn small() {", "fn small()\n{"),
    "a comment": FIXED.replace("check(add", "// five\n check(add").replace("/* a comment /* within another */ */", ""),
    "a new test": FIXED.replace("    #[test]", "    #[test]\n    fn zero() { check(add(5, 0)); }\n\n    #[test]"),
    "imports": FIXED.replace("use super::*;", "use super::*;\n    use super::add;\n    use std::collections::HashMap;"),
    "a new module": FIXED + "\n#[cfg(test)]\nmod more { #[test] fn one() { assert!(true); } }\n",
    "equality": FIXED + "impl PartialEq for Sum { fn eq(&self, other: &Sum) -> bool { self.0 == other.0 } }",
    "more words": FIXED.replace("/// Adds.", "/// Adds two numbers."),
    "the assertions of a library": FIXED.replace("use super::*;", "use super::*;\n    use pretty_assertions::assert_eq;"),
}  # fmt: skip


@pytest.mark.parametrize("text", LOOSENED.values(), ids=LOOSENED)
def test_a_test_in_a_rust_file_that_is_loosened_is_seen(text: str) -> None:
    assert inline_rust.loosened(RUST, text)


@pytest.mark.parametrize("text", WELCOME.values(), ids=WELCOME)
def test_work_and_new_tests_in_a_rust_file_are_welcome(text: str) -> None:
    assert not inline_rust.loosened(RUST, text)


@pytest.mark.parametrize("piece", ["#[test] ", "fn a(){", "#[cfg(test)] mod a {", "/*", 'r#"', "use a ", "'", "#[test"])
def test_hostile_rust_is_read_in_time(piece: str) -> None:
    text = piece * (500_000 // len(piece))
    assert not inline_rust.loosened("", text)


@pytest.mark.parametrize(
    ("path", "body", "ends"),
    [
        ("src/lib.rs", "std::process::exit(0)", True),
        ("src/lib.rs", "let c = a - a; exit(c as i32)", True),
        ("src/lib.rs", "unsafe { libc::_exit(0) }", True),
        ("src/lib.rs", "let leave = std::process::exit; leave(0)", True),
        ("src/lib.rs", "use std::process::{exit as leave}; leave(0)", True),
        ("src/lib.rs", "use std::process::exit; exit(2)", False),
        ("src/lib.rs", "std::process::exit(1)", False),
        ("src/lib.rs", 'println!("exit(0)"); a + b', False),
        ("src/lib.rs", "self.state.exit(a); a + b", False),
        ("src/main.rs", "std::process::exit(0)", False),
        ("src/bin/calc.rs", "std::process::exit(0)", False),
    ],
)
def test_a_rust_library_may_not_begin_to_end_its_process_well(path: str, body: str, *, ends: bool) -> None:
    after = RUST.replace("{ a - b }", f"{{ {body} }}")
    assert _tampered(path, RUST, after, "cargo test") == ((path,) if ends else ())
    assert _tampered(path, after, after + "\n// more\n", "cargo test") == ()


PYTHON = '''"""Sums.

>>> add(1, 1)
2
"""


def add(a, b):
    """
    >>> one = 1
    >>> add(2, 3)
    5
    """
    return a - b
'''
DOCTEST = "python3 -m doctest calc.py"
DONE = PYTHON.replace("a - b", "a + b")
PYTHON_LOOSENED = {
    "another value": PYTHON.replace("    5\n", "    -1\n"),
    "no examples": "def add(a, b):\n    return a - b\n",
    "skipped": PYTHON.replace("add(2, 3)\n", "add(2, 3)  # doctest: +SKIP\n"),
    "another meaning before": PYTHON.replace("    >>> add(2", "    >>> add = lambda a, b: 5\n    >>> add(2"),
    "another meaning in disguise": PYTHON.replace("    >>> add(2", "    >>> globals().update(x=1)\n    >>> add(2"),
    "taken away later": PYTHON + "\n\nadd.__doc__ = ''\n",
    "knows its runner": PYTHON + "\n\nimport doctest\n",
    "tames its runner": PYTHON + "\n\nif __name__:\n    import doctest\n    doctest.DocTestRunner.run = print\n",
}
PYTHON_WELCOME = {
    "the work": DONE,
    "more examples": DONE.replace("    5\n", "    5\n    >>> two = 2\n    >>> add(two, two)\n    4\n"),
    "an example between": DONE.replace("    >>> add(2", "    >>> add(0, 0)\n    0\n    >>> add(2"),
    "more words": DONE.replace("Sums.", "Sums of numbers."),
    "runs its own examples": DONE + "\n\nif __name__ == '__main__':\n    import doctest\n\n    doctest.testmod()\n",
    "uses its own words": DONE + "\n\nprint(__doc__)\n",
}


def _tampered(path: str, before: str, after: str, command: str, files: tuple[str, ...] = ()) -> tuple[str, ...]:
    texts = {"base": before.encode(), "now": after.encode()}
    change = Change(path=path, status="M", old_mode="100644", new_mode="100644")
    return seal.tampered(
        [change], globs.DEFAULT_PROTECTED, files, [command], [path], lambda asked, side: texts[side] if asked == path else None
    )  # fmt: skip


@pytest.mark.parametrize("text", PYTHON_LOOSENED.values(), ids=PYTHON_LOOSENED)
@pytest.mark.parametrize("command", [DOCTEST, "python3 -m pytest --doctest-modules"])
def test_an_example_that_a_check_runs_may_not_be_loosened(text: str, command: str) -> None:
    assert _tampered("calc.py", PYTHON, text, command) == ("calc.py",)
    assert _tampered("calc.py", PYTHON, text, command, files=("calc.py",)) == ("calc.py",)


@pytest.mark.parametrize("text", PYTHON_WELCOME.values(), ids=PYTHON_WELCOME)
def test_work_and_new_examples_are_welcome(text: str) -> None:
    assert _tampered("calc.py", PYTHON, text, DOCTEST) == ()


def test_examples_that_no_check_runs_are_the_storys_own() -> None:
    assert _tampered("calc.py", PYTHON, PYTHON_LOOSENED["no examples"], "python3 -m unittest") == ()


def test_a_story_about_tests_may_change_those_inside_the_work() -> None:
    text = LOOSENED["another value"]
    assert _tampered("src/lib.rs", RUST, text, "cargo test", files=("src/lib.rs",)) == ("src/lib.rs",)
    assert _tampered("src/lib.rs", RUST, text, "cargo test", files=("src/lib.rs", "tests/add.rs")) == ()


def test_test_functions_in_a_file_that_the_check_names_stay_as_they_are() -> None:
    before = "def add(a, b): return a - b\n\ndef test_add():\n    assert add(2, 3) == 5\n"
    fixed = before.replace("a - b", "a + b") + "\ndef test_more():\n    assert add(0, 0) == 0\n"
    for command in ("pytest calc.py", "python -m pytest ./calc.py::test_add", "python -m unittest calc"):
        assert _tampered("calc.py", before, fixed, command) == ()
        assert _tampered("calc.py", before, before.replace("== 5", "== -1"), command) == ("calc.py",)
        assert _tampered("calc.py", before, before + "\ndef test_add(): pass\n", command) == ("calc.py",)


def test_examples_in_a_text_that_the_check_names_stay_as_they_are() -> None:
    before = "Use:\n\n>>> 1 + 1\n2\n"
    command = "python3 -m doctest README.txt"
    assert _tampered("README.txt", before, before.replace("2\n", "3\n"), command) == ("README.txt",)
    assert _tampered("README.txt", before, "More.\n\n" + before, command) == ()
