"""The same verdict wherever a repository stands and whatever fence there is, or a refusal that names the remedy."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from santiago.process import landlock, sandbox
from tests.cli.greeter import committed
from tests.cli.inside import inside
from tests.process.test_sandbox import KINDS

EVERYWHERE = [
    *KINDS,
    pytest.param("landlock", marks=pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")),
    pytest.param("none"),
]
PLACES = [("/tmp", "home"), ("/tmp", "/srv"), ("/srv",), ("home",)]
STANDING = [
    pytest.param(*one.values, place, marks=one.marks)
    for one, places in zip(EVERYWHERE, PLACES, strict=True)
    for place in places
]
PRD = "# Numbers\n\n- [ ] S1: `numbers.two()` returns 2\n"
PACKAGE = "def one():\n    return 1\n"
TESTS = """import unittest, own_numbers

class Numbers(unittest.TestCase):
    def test_one(self):
        self.assertEqual(own_numbers.one(), 1)

    def test_two(self):
        self.assertEqual(own_numbers.two(), 2)
"""
GOOD = "\n\ndef two():\n    return 2\n"
BROKEN = "\n\ndef one():\n    return None\n\n\ndef two():\n    return None\n"
CHECK = ".venv/bin/python -m unittest discover -s tests"
NODE_TEST = """const test = require("node:test"); const assert = require("node:assert");
const { one, two } = require("@own/numbers"); const { three } = require("three");
test("one", () => assert.equal(one(), 1)); test("two", () => assert.equal(two() + one(), three()));
"""
NODE_CHECK = "node --test packages/app/test.js"


@contextmanager
def folder(place: str, tmp_path: Path) -> Iterator[Path]:
    """A folder for repositories, in one of the places where people have them."""
    if place == "/tmp":
        yield tmp_path
        return
    above = Path.home() if place == "home" else Path(place)
    if not os.access(above, os.W_OK):
        pytest.skip(f"{above} cannot be written by us")
    with tempfile.TemporaryDirectory(prefix=".santiago-test-", dir=above) as made:
        yield Path(made)


def run(repo: Path, kind: str, check: str, agent: str) -> tuple[int, str]:
    """Have a story carried out with two attempts at most; return the exit code, and what was said."""
    (repo.parent / "agent.sh").write_text(f"#!/bin/sh\n{agent}\n")
    (repo.parent / "agent.sh").chmod(0o755)
    more = ["--sandbox", "off"] if kind == "none" else []
    words = ("run", "prd.md", "--verify", check, "--plain", "--no-input", "--trust-commands", "--agent")
    with pytest.MonkeyPatch.context() as patch:
        if kind != "bubblewrap":
            patch.setattr(sandbox, "_bubblewrap", lambda _: None)  # as if it were not installed
        if kind not in ("bubblewrap", "namespaces"):
            patch.setattr(sandbox, "_namespaces", lambda _: None)  # as if the kernel gave none
        env = {"XDG_CACHE_HOME": str(repo.parent / "cache")}
        told = inside(*words, repo.parent / "agent.sh", *more, cwd=repo, env=env)
    assert told.returncode == 10 or f", sandbox {kind}" in told.stderr, told.stderr
    return told.returncode, told.stdout + told.stderr


def attempts(repo: Path) -> int:
    return len(list(repo.glob(".santiago/runs/*/attempts/S1/*")))


def editable(top: Path) -> Path:
    """A repository with an environment of its own, into which its package is installed to be changed in place."""
    repo = top / "my repo"
    rules = ".venv/\n.santiago/\n"
    committed(
        repo,
        {"src/own_numbers.py": PACKAGE, "tests/test_numbers.py": TESTS, "prd.md": PRD, ".gitignore": rules,
           "santiago.toml": "[limits]\nstory_max_attempts = 2\n"},
    )  # fmt: skip
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(repo / ".venv")], check=True)
    site = next((repo / ".venv/lib").glob("python*/site-packages"))
    (site / "__editable__.own_numbers.pth").write_text(f"{repo}/src\n")
    (site / "own_numbers-1.dist-info").mkdir()
    note = {"url": repo.as_uri(), "dir_info": {"editable": True}}
    (site / "own_numbers-1.dist-info/direct_url.json").write_text(json.dumps(note))
    return repo


@pytest.mark.parametrize(("kind", "place"), STANDING)
def test_an_editable_install_brings_the_work_to_its_checks_everywhere(kind: str, place: str, tmp_path: Path) -> None:
    """Broken work is not done although the user's own files would pass, and good work is."""
    with folder(place, tmp_path) as top:
        repo = editable(top)
        (repo / "src/own_numbers.py").write_text(PACKAGE + GOOD)  # not committed
        is_judged(repo, kind, CHECK, "src/own_numbers.py", BROKEN, GOOD)


def is_judged(repo: Path, kind: str, check: str, path: str, broken: str, good: str) -> None:
    """See that the first attempt, broken work, is not taken, and that the second one is."""
    work = f"""if [ $SANTIAGO_ATTEMPT = 1 ]; then printf '%s' '{broken}'; else printf '%s' '{good}'; fi >>{path}"""
    code, said = run(repo, kind, check, work)
    assert (code, attempts(repo)) == (0, 2), said
    assert "S1 attempt 1: story_verification_failed" in said


@pytest.mark.parametrize("kind", EVERYWHERE[2:])
def test_a_check_that_heeds_no_search_path_is_refused_where_only_that_would_help(tmp_path: Path, kind: str) -> None:
    repo = editable(tmp_path)
    code, said = run(repo, kind, f"PYTHONPATH=. {CHECK}", "true")
    assert (code, attempts(repo)) == (10, 0), said
    assert "__editable__.own_numbers.pth" in said
    assert "bubblewrap" in said


needs_node = pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")


@pytest.fixture
def monorepo(tmp_path: Path) -> Path:
    """Two packages of which one uses the other, linked to each other as npm links workspaces."""
    repo = tmp_path / "repo"
    committed(
        repo,
        {"packages/numbers/index.js": "exports.one = () => 1;\n",
           "packages/numbers/package.json": '{"name": "@own/numbers"}', "packages/app/test.js": NODE_TEST,
           "package.json": '{"workspaces": ["packages/*"]}', ".gitignore": "node_modules/\n.santiago/\n", "prd.md": PRD,
           "santiago.toml": "[limits]\nstory_max_attempts = 2\n"},
    )  # fmt: skip
    (repo / "node_modules/three").mkdir(parents=True)
    (repo / "node_modules/three/index.js").write_text("exports.three = () => 3;\n")
    (repo / "node_modules/@own").mkdir()
    (repo / "node_modules/@own/numbers").symlink_to("../../packages/numbers")
    return repo


@needs_node
@pytest.mark.parametrize("kind", KINDS)
def test_packages_of_a_monorepo_mean_the_work(monorepo: Path, kind: str) -> None:
    (monorepo / "packages/numbers/index.js").write_text(
        "exports.one = () => 1; exports.two = () => 2;\n"
    )  # not committed
    broken = "exports.one = exports.two = () => null;"
    is_judged(monorepo, kind, NODE_CHECK, "packages/numbers/index.js", broken, "exports.two = () => 2;")


@needs_node
@pytest.mark.parametrize("kind", EVERYWHERE[2:])
def test_links_between_packages_are_refused_where_they_lead_to_the_users_files(monorepo: Path, kind: str) -> None:
    code, said = run(monorepo, kind, NODE_CHECK, "true")
    assert (code, attempts(monorepo)) == (10, 0), said
    assert f"{monorepo}/node_modules/@own/numbers" in said
    assert "bubblewrap" in said


@needs_node
@pytest.mark.parametrize("kind", EVERYWHERE[2:])
def test_installed_packages_are_there_without_any_set_up(monorepo: Path, kind: str) -> None:
    """Behind stronger fences the monorepo above has shown it."""
    shutil.rmtree(monorepo / "node_modules/@own")
    check = 'node -e \'if (require("three").three() !== require("./three.js")) process.exit(1)\''
    assert run(monorepo, kind, check, "echo 'module.exports = 3;' >three.js")[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_set_up_installs_once_and_agent_and_checks_get_the_same(tmp_path: Path, kind: str) -> None:
    install = "mkdir -p node_modules && date +%s%N >>node_modules/stamp && sleep 0.01"
    settings = f'[workspace]\nsetup = ["{install}"]\n[limits]\nstory_max_attempts = 2\n'
    repo = tmp_path / "repo"
    committed(repo, {"prd.md": PRD, ".gitignore": "node_modules/\n.santiago/\n", "santiago.toml": settings})
    check = "test $(wc -l <node_modules/stamp) = 1 && cmp node_modules/stamp seen"
    code, said = run(repo, kind, check, "cp node_modules/stamp seen")
    assert code == 0, said
