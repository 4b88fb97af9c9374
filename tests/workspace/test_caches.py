"""What tools leave for themselves never enters a snapshot, also where no repository's rule speaks of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.conftest import STAY, Bench, git

WAYS = (STAY,)

LITTER = (
    "__pycache__/a.cpython-311.pyc lib/__pycache__/c.pyc stray.pyc .pytest_cache/v/x .mypy_cache/x .ruff_cache/x .hypothesis/x"
    " .tox/x .nox/x .venv/x node_modules/m/index.js packages/a/node_modules/m/index.js .nyc_output/x .gradle/x a.egg-info/PKG-INFO"
    " .coverage"
)


def lay(folder: Path | str, *names: str, text: str = "x\n") -> None:
    for name in names:
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def bare(bench: Bench) -> Bench:
    """The bench without any ignore rule."""
    git(bench.repo, "rm", "-q", ".gitignore")
    git(bench.repo, "commit", "-qm", "No rules")
    return Bench(bench.repo, bench.scratch, bench.again())


def kept(bench: Bench, *names: str) -> list[str]:
    """Let an attempt write files beside a real one, and return which of them its snapshot holds."""
    folder = bench.workspace.open("S1", 1, (bench.first,)).folder
    lay(folder, "work", *names)
    snapshot = bench.workspace.snapshot("S1", 1, "S1\n")
    assert snapshot is not None
    assert "work" in bench.tree(snapshot.commit)
    return [name for name in names if name in bench.tree(snapshot.commit)]


def test_caches_are_no_work(bare: Bench) -> None:
    assert kept(bare, *LITTER.split()) == []


def test_an_attempt_that_left_only_caches_changed_nothing(bare: Bench) -> None:
    folder = bare.workspace.open("S1", 1, (bare.first,)).folder
    lay(folder, *LITTER.split())
    assert bare.workspace.snapshot("S1", 1, "S1\n") is None


def test_what_the_base_has_stays_the_agents_to_change(bare: Bench) -> None:
    lay(bare.repo, "node_modules/own/index.js", "fixtures/a.egg-info/PKG-INFO")
    git(bare.repo, "add", "-f", "-A")
    git(bare.repo, "commit", "-qm", "Tracked all the same")
    folder = bare.workspace.open("S1", 1, (bare.first,)).folder
    lay(folder, "node_modules/own/index.js", "node_modules/new/index.js", text="changed\n")
    snapshot = bare.workspace.snapshot("S1", 1, "S1\n")
    assert snapshot is not None
    assert [change.path for change in snapshot.changes] == ["node_modules/own/index.js"]


def test_a_target_is_a_build_only_beside_a_crate(bare: Bench) -> None:
    assert kept(bare, "target/practice.txt", "src/target/of.py") == ["target/practice.txt", "src/target/of.py"]


@pytest.mark.parametrize("crate", ["", "tools/x/"])
def test_what_cargo_built_is_no_work(bare: Bench, crate: str) -> None:
    lay(bare.repo, f"{crate}Cargo.toml")
    git(bare.repo, "add", "-A")
    git(bare.repo, "commit", "-qm", "A crate")
    assert kept(bare, f"{crate}target/debug/x", f"{crate}src/main.rs") == [f"{crate}src/main.rs"]


def test_a_new_crate_leaves_its_build_behind(bare: Bench) -> None:
    assert kept(bare, "Cargo.toml", "target/debug/x") == ["Cargo.toml"]
