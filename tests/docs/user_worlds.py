"""The worlds of the pages for users: small repositories with a document, and what their stand-in for an agent does."""

import importlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.world import World

Moves = dict[str, list[dict[str, Any]]]


def counter(world: World) -> None:
    """Give a module without functions, a test of it, and a document that asks for two functions."""
    world.commit(
        {"counter.py": '"""Counts things."""\n', "test_counter.py": _test("counter", "counter.__doc__"), "prd.md": ""}
    )
    answers(
        world,
        stories={
            "R1": [{"append": {"counter.py": "\n\ndef words(text):\n    return len(text.split())\n"}}],
            "R2": [{"append": {"counter.py": "\n\ndef lines(text):\n    return len(text.splitlines())\n"}}],
        },
        tests={
            "R1": [_tested("R1#1", "test_words", 'counter.words("a b") == 2')],
            "R2": [_tested("R2#1", "test_lines", r'counter.lines("a\nb") == 2')],
        },
    )


def words(world: World) -> None:
    """Give the counter with a document that asks for one function."""
    counter(world)
    prd = '# Counter\n\n## R1: Count words\n\n**Acceptance criteria**\n- `words("a b")` is 2\n'
    world.commit({"prd.md": prd})


def notes(world: World) -> None:
    """Give a document of two stories with a check each; the stand-in gets the second one wrong at first."""
    world.commit({"prd.md": ""})
    answers(
        world,
        stories={
            "R1": [{"write": {"notes.txt": "milk\n"}}],
            "R2": [{"write": {"count.txt": "none\n"}}, {"write": {"count.txt": "1\n"}}],
        },
    )


PYTHON = {
    "money.py": "def total(amounts):\n    return sum(amounts)\n",
    "tests/test_money.py": "from money import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "pyproject.toml": '[project]\nname = "money"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
    ".gitignore": ".venv/\n",
}
UV = """\
#!/bin/sh
# Does what uv does here, with packages that are there already: no test fetches anything.
case "$*" in
sync*) python3 -m venv --without-pip .venv && cp -R packages/. .venv/lib/python*/site-packages/ ;;
"run --no-sync"*) shift 2; exec ".venv/bin/$@" ;;
esac
"""


def pytest_project(world: World) -> None:
    """Give a Python project whose .venv has pytest: copied, since no test fetches anything."""
    world.commit(PYTHON)
    world.unseen("python3 -m venv --without-pip .venv")
    _copy_pytest(next((world.repo / ".venv" / "lib").glob("python*")) / "site-packages")


def uv_project(world: World) -> None:
    """Give a fresh clone of a project with a lock file of uv, and a program that stands in for uv."""
    _copy_pytest(world.repo / "packages")
    world.commit({**PYTHON, "uv.lock": "version = 1\n"})
    world.program("uv", UV)


def _copy_pytest(folder: Path) -> None:
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        source = Path(str(importlib.import_module(name).__file__)).parent
        shutil.copytree(source, folder / name, ignore=_left_out)
    shutil.copy(Path(pytest.__file__).parents[1] / "py.py", folder)


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Return what pytest does not need: of hundreds of lexers it loads two."""
    lexers = {"__init__.py", "_mapping.py", "diff.py", "python.py"}
    return {"__pycache__", *(set(names) - lexers if Path(folder).name == "lexers" else ())}


JAVASCRIPT = {
    "package.json": '{"name": "web", "scripts": {"test": "node --test"}}\n',
    "sum.js": "exports.sum = (a, b) => a + b;\n",
    "sum.test.js": """\
const test = require("node:test");
const assert = require("node:assert");
const { sum } = require("./sum.js");

test("adds", () => assert.equal(sum(1, 2), 3));
""",
}


def npm_project(world: World) -> None:
    """Give a JavaScript project with a test script."""
    world.commit(JAVASCRIPT)


def cargo_project(world: World) -> None:
    """Give a Rust library with one test, and the toolchain of whoever runs the tests."""
    for name in ("CARGO_HOME", "RUSTUP_HOME"):
        folder = Path(os.environ.get(name, Path.home() / f".{name.partition('_')[0].lower()}"))
        world.variables |= {name: str(folder)} if folder.is_dir() else {}
    world.commit(
        {
            "Cargo.toml": '[package]\nname = "money"\nversion = "0.1.0"\nedition = "2021"\n',
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "money"\nversion = "0.1.0"\n',
            "src/lib.rs": "pub fn double(cents: u64) -> u64 {\n    2 * cents\n}\n\n#[test]\nfn doubles() {\n    assert_eq!(double(2), 4);\n}\n",
            ".gitignore": "/target\n",
        }
    )


def monorepo(world: World) -> None:
    """Give a repository with a part in Python and one in JavaScript."""
    web = {f"web/{name}": text for name, text in JAVASCRIPT.items()}
    world.commit({"api/money.py": "rate = 1\n", "api/test_money.py": _test("money", "money.rate"), **web})


def bare(world: World) -> None:
    """Give a document, and neither code nor tests."""
    counter(world)
    world.unseen("git rm -q *.py && git commit -q -m 'Only what is wanted'")


def _test(module: str, holds: str) -> str:
    return f"import unittest\nimport {module}\n\n\nclass Test(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue({holds})\n"


def _tested(criterion: str, name: str, holds: str) -> dict[str, Any]:
    return {"write": {f"{name}.py": _test("counter", holds)}, "evidence": {criterion: f"{name}.Test.test_it"}}


def answers(world: World, **moves: Moves) -> None:
    """Write the playbook of the stand-in beside the repository."""
    world.write("../answers.yaml", yaml.safe_dump(moves, sort_keys=False))


USER_WORLDS = {
    world.__name__: world
    for world in (counter, words, notes, pytest_project, uv_project, npm_project, cargo_project, monorepo, bare)
}
