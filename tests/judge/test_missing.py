"""What keeps a check from running: this machine's lack blocks a run, what the story has still to make does not."""

from __future__ import annotations

from typing import Any

from santiago.judge.missing import found_no_test, missing, waits_for_tests
from tests.judge.showing import shown
from tests.util.each import each

PYPROJECT = {"pyproject.toml": b'[project]\nname = "app"\ndependencies = ["attrs>=22", "More-Itertools"]\n'}
TRACE = "tests/test_a.py:1: in <module>\n    import {0}\nE   ModuleNotFoundError: No module named '{0}'\n"


def found(
    output: str, *, code: int = 1, files: dict[str, bytes] | None = None, words: tuple[str, ...] = (), **more: Any
) -> tuple[str, str] | None:
    given = files or {}
    lack = missing(shown(exit_code=code, output=output, **more), given, given.get, words)
    return (lack.kind, lack.name) if lack else None


@each(
    ("output", "code", "name"),
    [
        ("/bin/sh: 1: no-such-tool: not found\n", 127, "no-such-tool"),
        ("bash: line 1: no-such-tool: command not found\n", 127, "no-such-tool"),
        ("/bin/sh: 1: /opt/tool: Permission denied\n", 126, "/opt/tool"),
        ("make: no-such-tool: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n", 2, "no-such-tool"),
        ("", 127, ""),
    ],
)
def test_a_program_that_is_not_installed(output: str, code: int, name: str) -> None:
    assert found(output, code=code) == ("program", name)


@each("path", ["./made-by-the-story", "scripts/check.sh"])
def test_a_program_inside_the_checkout_is_the_storys_to_make(path: str) -> None:
    assert found(f"/bin/sh: 1: {path}: not found\n", code=127) is None


@each("python", ["python3", "/usr/bin/python3.12", ".venv/bin/python"])
def test_a_test_runner_that_python_does_not_have(python: str) -> None:
    assert found(f"{python}: No module named pytest\n") == ("Python", "pytest")


@each("module", ["attr", "requests", "app"])
def test_a_module_that_nobody_declares_is_still_to_be_written(module: str) -> None:
    assert found(TRACE.format(module)) is None


@each("module", ["attrs", "more_itertools"])
def test_a_declared_python_module_is_the_machines_lack(module: str) -> None:
    assert found(TRACE.format(module), files=PYPROJECT) == ("Python", module)


@each("path", ["src/attrs/__init__.py", "attrs.py", "lib/attrs.pyi"])
def test_a_declared_module_that_the_repository_holds_is_its_own(path: str) -> None:
    assert found(TRACE.format("attrs"), files={**PYPROJECT, path: b""}) is None


def test_a_module_that_a_story_names_will_be_its_own() -> None:
    assert found(TRACE.format("attrs"), files=PYPROJECT, words=("src/attrs.py",)) is None


def test_a_node_module_is_the_machines_lack_and_a_file_is_not() -> None:
    text = "Error: Cannot find module '{}'\nRequire stack:\n- /x/a.test.js\n"
    assert found(text.format("@scope/thing")) == ("Node", "@scope/thing")
    assert found(text.format("./app")) is None
    assert found(text.format("thing"), files={"packages/thing/package.json": b"{}"}) is None


@each(
    ("output", "name"),
    [
        ("a_test.go:4:2: no required module provides package example.org/x; to add it:\n", "example.org/x"),
        ("error: no matching package named `serde` found\n", "serde"),
        ("error: failed to get `serde` as a dependency of package `app`\n", "serde"),
    ],
)
def test_what_a_build_cannot_get(output: str, name: str) -> None:
    assert found(output) == ("build", name)


def test_a_check_with_any_passing_test_can_run() -> None:
    text = TRACE.format("attrs")
    assert missing(shown("a b-", output=text), PYPROJECT, PYPROJECT.get, ()) is None
    assert missing(shown("a-", output=text), PYPROJECT, PYPROJECT.get, ()) is not None
    assert missing(shown("a", output=text), PYPROJECT, PYPROJECT.get, ()) is None


@each(
    "text",
    [
        "no tests ran in 0.01s", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", "No tests found, exiting with code 1",
        'npm error Missing script: "test"', "make: *** No rule to make target 'test'.  Stop.", "Could not find 'test/'",
    ],
)  # fmt: skip
def test_where_there_is_nothing_to_run_yet_the_base_says_nothing(text: str) -> None:
    assert found_no_test(shown(exit_code=1, output=text))
    assert not found_no_test(shown("a-", output=text))
    assert not found_no_test(shown(output=text))


@each("code", [0, 5])
def test_a_check_waits_for_tests_only_where_there_are_none_that_it_could_have_found(code: int) -> None:
    none = shown(exit_code=code, checks=0, output="no tests ran in 0.01s")
    assert waits_for_tests(none, ["README.md", "words.py"])
    assert not waits_for_tests(shown(exit_code=101, checks=0, output="error: could not compile"), ["src/lib.rs"])
    assert not waits_for_tests(none, ["words.py", "elsewhere/test_words.py"])
    assert not waits_for_tests(shown(exit_code=code), ["words.py"])
    assert not waits_for_tests(shown("a-"), ["words.py"])
