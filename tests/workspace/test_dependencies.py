"""Which folders of the repository a checkout gets although git ignores them."""

from __future__ import annotations

from pathlib import Path

from santiago.workspace.dependencies import on_path
from tests.workspace.conftest import STAY, Bench, commit
from tests.workspace.test_caches import lay

WAYS = (STAY,)

NAMES = (".venv", "venv", "node_modules", "vendor")


def found(bench: Bench, *names: str) -> list[str]:
    return [one.name for one in bench.workspace.dependencies(names or NAMES)]


def rules(bench: Bench, text: str) -> None:
    (bench.repo / ".gitignore").write_text(text)
    commit(bench.repo, "Rules")


def test_folders_that_git_ignores_are_found_also_further_down_and_what_a_build_made_never(bench: Bench) -> None:
    rules(bench, "vendor/\ntarget/\nbuild/\ndist/\n")
    lay(bench.repo, ".venv/pyvenv.cfg", "vendor/x", "node_modules/x", "lib/node_modules/x", "lib/untracked/vendor/x")
    assert found(bench) == [".venv", "node_modules", "vendor", "lib/node_modules"]
    assert found(bench, "lib/node_modules", "../repo/vendor", "/vendor") == ["lib/node_modules"]
    lay(bench.repo, "env/.gitignore", text="*\n")
    assert found(bench, "env") == ["env"], "it ignores itself"
    builds = ("target", "build", "dist", "lib/build")
    lay(bench.repo, *(f"{name}/x" for name in builds))
    assert found(bench, *builds) == []


def test_what_is_tracked_or_only_uncommitted_is_no_dependency(bench: Bench) -> None:
    lay(bench.repo, "vendor/x")
    commit(bench.repo, "Our own vendor")
    lay(bench.repo, "lib/vendor/x")
    assert found(bench) == []


def test_a_link_to_an_environment_is_followed_and_one_in_use_is_known_by_the_search_path(
    bench: Bench, tmp_path: Path
) -> None:
    lay(tmp_path, "envs/one/pyvenv.cfg")
    (bench.repo / ".venv").symlink_to(tmp_path / "envs/one")
    (link,) = bench.workspace.dependencies(NAMES)
    assert (link.name, link.source) == (".venv", str(tmp_path / "envs/one"))
    lay(bench.repo, "env/pyvenv.cfg", "env/bin/x", "tools/bin/x")
    path = f"{bench.repo}/env/bin:/usr/bin:{bench.repo}/tools/bin:{bench.repo}"
    assert on_path(bench.repo, path) == ["env"]


def test_no_snapshot_takes_what_was_provided(bench: Bench) -> None:
    rules(bench, "")
    lay(bench.repo, "deps/.gitignore", text="*\n")
    assert found(bench, "deps") == ["deps"]
    folder = bench.opened()
    lay(folder, "deps/new", "work")
    snapshot = bench.taken()
    assert [change.path for change in snapshot.changes] == ["work"]
