"""What tools leave for themselves never enters a snapshot, also where no repository's rule speaks of it."""

from pathlib import Path

import pytest

from tests.workspace.conftest import STAY, Bench, commit, git

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
    lay(bench.opened(), "work", *names)
    held = bench.tree(bench.taken().commit)
    bench.workspace.close("S1", 1)
    assert "work" in held
    return [name for name in names if name in held]


def test_caches_are_no_work_and_an_attempt_that_left_nothing_else_changed_nothing(bare: Bench) -> None:
    assert kept(bare, *LITTER.split()) == []
    lay(bare.opened("S2"), *LITTER.split())
    assert bare.workspace.snapshot("S2", 1, "S2\n") is None


def test_what_the_base_has_stays_the_agents_to_change(bare: Bench) -> None:
    lay(bare.repo, "node_modules/own/index.js", "fixtures/a.egg-info/PKG-INFO")
    git(bare.repo, "add", "-f", "-A")
    git(bare.repo, "commit", "-qm", "Tracked all the same")
    folder = bare.opened()
    lay(folder, "node_modules/own/index.js", "node_modules/new/index.js", text="changed\n")
    snapshot = bare.taken()
    assert [change.path for change in snapshot.changes] == ["node_modules/own/index.js"]


def test_a_target_is_a_build_only_beside_a_crate_old_or_new(bare: Bench) -> None:
    assert kept(bare, "target/practice.txt", "src/target/of.py") == ["target/practice.txt", "src/target/of.py"]
    assert kept(bare, "Cargo.toml", "target/debug/x") == ["Cargo.toml"]
    for crate in ("tools/x/", ""):
        lay(bare.repo, f"{crate}Cargo.toml")
        commit(bare.repo, "A crate")
        assert kept(bare, f"{crate}target/debug/x", f"{crate}src/main.rs") == [f"{crate}src/main.rs"]
