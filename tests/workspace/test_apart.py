"""A checkout whose path tells nobody whose it is, so that work cannot behave for santiago's eyes only; it is swept like all."""

from __future__ import annotations

from pathlib import Path

import pytest

from santiago.contract.errors import SantiagoError
from santiago.workspace.workspace import GitWorkspace
from tests.workspace.conftest import Bench, git


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    return tmp_path / "caches"


@pytest.fixture
def workspace(bench: Bench, caches: Path) -> GitWorkspace:
    return GitWorkspace(bench.repo, "the-run", caches / "santiago" / "of-a-repository")


def test_its_path_names_neither_santiago_nor_the_run_nor_the_story(
    bench: Bench, caches: Path, workspace: GitWorkspace
) -> None:
    folder = Path(workspace.checkout(bench.first, "S1-1-alone", apart=True))
    assert git(folder, "status", "--porcelain") == ""
    below = str(folder.relative_to(caches.resolve()))
    assert not [name for name in ("santiago", "the-run", "S1", "alone") if name in below]


def test_it_goes_away_with_its_run_whether_that_ends_or_dies(
    bench: Bench, caches: Path, workspace: GitWorkspace
) -> None:
    with workspace.working():
        workspace.discard(workspace.checkout(bench.first, "S1-1", apart=True))
    assert [entry.name for entry in caches.iterdir()] == ["santiago"]
    workspace.checkout(bench.first, "S1-1", apart=True)  # and here santiago dies
    GitWorkspace(bench.repo, "the-run", caches / "santiago" / "of-a-repository").tidy()
    assert [entry.name for entry in caches.iterdir()] == ["santiago"]


def test_nothing_beside_it_is_ever_removed(workspace: GitWorkspace, caches: Path) -> None:
    (caches / "others").mkdir(parents=True)
    with pytest.raises(SantiagoError):
        workspace.discard(str(caches / "others"))
    assert (caches / "others").is_dir()
