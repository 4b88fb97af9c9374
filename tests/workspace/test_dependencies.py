"""Which folders of the repository a checkout gets although git ignores them."""

from __future__ import annotations

from pathlib import Path

import pytest

from santiago.workspace.dependencies import on_path
from tests.workspace.conftest import STAY, Bench, git
from tests.workspace.test_caches import lay

WAYS = (STAY,)

NAMES = (".venv", "venv", "node_modules", "vendor")


def found(bench: Bench, *names: str) -> list[str]:
    return [one.name for one in bench.workspace.dependencies(names or NAMES)]


def rules(bench: Bench, text: str) -> None:
    (bench.repo / ".gitignore").write_text(text)
    git(bench.repo, "add", ".gitignore")
    git(bench.repo, "commit", "-qm", "Rules")


def test_folders_that_git_ignores_are_found_also_beside_files_further_down(bench: Bench) -> None:
    rules(bench, "vendor/\n")
    lay(bench.repo, ".venv/pyvenv.cfg", "vendor/x", "node_modules/x", "lib/node_modules/x", "lib/untracked/vendor/x")
    assert found(bench) == [".venv", "node_modules", "vendor", "lib/node_modules"]


def test_what_is_tracked_or_only_uncommitted_is_no_dependency(bench: Bench) -> None:
    lay(bench.repo, "vendor/x", "lib/vendor/x")
    git(bench.repo, "add", "vendor")
    git(bench.repo, "commit", "-qm", "Our own vendor")
    assert found(bench) == []


def test_an_environment_that_ignores_itself_is_found(bench: Bench) -> None:
    lay(bench.repo, "env/.gitignore", text="*\n")
    assert found(bench, "env") == ["env"]


def test_a_link_to_an_environment_elsewhere_is_followed(bench: Bench, tmp_path: Path) -> None:
    lay(tmp_path, "envs/one/pyvenv.cfg")
    (bench.repo / ".venv").symlink_to(tmp_path / "envs/one")
    assert [(one.name, one.source) for one in bench.workspace.dependencies(NAMES)] == [
        (".venv", str(tmp_path / "envs/one"))
    ]


@pytest.mark.parametrize("name", ["target", "build", "dist", "lib/build"])
def test_what_a_build_made_is_never_provided(bench: Bench, name: str) -> None:
    rules(bench, "target/\nbuild/\ndist/\n")
    lay(bench.repo, f"{name}/x")
    assert found(bench, name) == []


def test_a_path_names_one_folder(bench: Bench) -> None:
    rules(bench, "deps/\n")
    lay(bench.repo, "lib/deps/x", "deps/x")
    assert found(bench, "lib/deps", "../repo/deps", "/deps") == ["lib/deps"]


def test_no_snapshot_takes_what_was_provided(bench: Bench) -> None:
    rules(bench, "")
    lay(bench.repo, "deps/.gitignore", text="*\n")
    assert found(bench, "deps") == ["deps"]
    folder = bench.workspace.open("S1", 1, (bench.first,)).folder
    lay(folder, "deps/new", "work")
    snapshot = bench.workspace.snapshot("S1", 1, "S1\n")
    assert snapshot is not None
    assert [change.path for change in snapshot.changes] == ["work"]


def test_an_environment_in_use_is_known_by_the_search_path(bench: Bench) -> None:
    lay(bench.repo, "env/pyvenv.cfg", "env/bin/x", "tools/bin/x")
    path = f"{bench.repo}/env/bin:/usr/bin:{bench.repo}/tools/bin:{bench.repo}"
    assert on_path(bench.repo, path) == ["env"]
