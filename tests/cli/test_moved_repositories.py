"""A repository takes its runs along: a moved one goes on, and a copy goes on by itself and never acts on the original."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.inside import Told, inside
from tests.cli.santiago import santiago

pytestmark = pytest.mark.xdist_group("moved repositories")

INSIDE = ["", "out"]
"""Where the run lies in the repository: at home, or in a folder that the user named."""


def says(repo: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return santiago(*arguments, cwd=repo, env=greeter.place(repo))


def looks(repo: Path, *arguments: str | Path) -> Told:
    return inside(*arguments, cwd=repo, env=greeter.place(repo))


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each place of an out-dir, a folder with a repository called original, and a run in it that is not finished."""
    found = {}
    for out_dir in (*INSIDE, "../out"):
        folder = found[out_dir] = tmp_path_factory.mktemp("world")
        repo = greeter.make(folder / "original")
        where = ("--out-dir", out_dir) if out_dir else ()
        ran = says(repo, "run", "prd.md", "--trust-commands", "--only", "S2", *where)
        assert ran.returncode == 0, ran.stderr
        shutil.copytree(folder, folder.with_name(f"{folder.name}-kept"), symlinks=True)
    return found


@pytest.fixture
def begun(worlds: dict[str, Path]) -> Callable[[str], Path]:
    """Put a world back as it was, at the same place, since paths are the subject; return its repository."""

    def put_back(out_dir: str) -> Path:
        folder = worlds[out_dir]
        shutil.rmtree(folder)
        shutil.copytree(folder.with_name(f"{folder.name}-kept"), folder, symlinks=True)
        return folder / "original"

    return put_back


def state_of(repo: Path) -> str:
    found: str = json.loads(looks(repo, "status", "--json").stdout)["state"]
    return found


def everything(repo: Path) -> tuple[str, dict[str, bytes]]:
    """Return all refs of a repository and all files of its runs."""
    kept = [path for name in (".santiago", "out", "../out") for path in (repo / name).rglob("*") if path.is_file()]
    return greeter.git(repo, "for-each-ref"), {str(path): path.read_bytes() for path in kept}


@pytest.mark.parametrize("out_dir", INSIDE)
def test_a_copy_goes_on_by_itself_and_leaves_the_original_as_it_was(begun: Callable[[str], Path], out_dir: str) -> None:
    original = begun(out_dir)
    copy = shutil.copytree(original, original.with_name("copy"), symlinks=True)
    before = everything(original)
    gone_on = says(copy, "resume")
    assert gone_on.returncode == 0, gone_on.stderr
    assert everything(original) == before
    branch = greeter.git(copy, "for-each-ref", "--format=%(refname)", "refs/heads/santiago/")
    assert greeter.git(copy, "show", f"{branch}:both.txt") == "both"
    assert (looks(copy, "audit").returncode, looks(original, "audit").returncode) == (0, 0)
    assert (state_of(copy), state_of(original)) == ("success", "stopped")


@pytest.mark.parametrize("out_dir", [*INSIDE, "../out"])
def test_a_moved_repository_goes_on(begun: Callable[[str], Path], out_dir: str) -> None:
    old = begun(out_dir)
    moved = old.rename(old.with_name("new"))
    assert "can be resumed" in looks(moved, "clean").stdout
    gone_on = says(moved, "resume")
    assert gone_on.returncode == 0, gone_on.stderr
    assert (state_of(moved), looks(moved, "audit").returncode) == ("success", 0)


def test_a_moved_repository_goes_on_also_by_a_run_input_that_names_it_anew(begun: Callable[[str], Path]) -> None:
    old = begun("out")
    wanted = json.loads((old / "out" / "run-input.json").read_bytes())
    (old / "input.json").write_text(json.dumps({**wanted, "repo_path": "."}))
    moved = old.rename(old.with_name("new"))
    frozen = (moved / "out" / "run-input.json").read_bytes()
    gone_on = says(moved, "execute", "--input", "input.json", "--plan", "out/plan.json", "--out-dir", "out")
    assert gone_on.returncode == 0, gone_on.stderr
    assert (moved / "out" / "run-input.json").read_bytes() == frozen


def test_a_plan_that_was_copied_begins_in_the_copy(tmp_path: Path) -> None:
    original = greeter.make(tmp_path / "original")
    assert looks(original, "plan", "prd.md").returncode == 0
    copy = shutil.copytree(original, tmp_path / "copy")
    assert says(copy, "resume", "--trust-commands").returncode == 0
    assert not greeter.git(original, "for-each-ref", "refs/heads/santiago/")
    assert json.loads((greeter.out_dir(copy) / "run-input.json").read_bytes())["repo_path"] == str(copy)


def test_a_copy_does_not_take_over_a_run_whose_folder_stayed(begun: Callable[[str], Path]) -> None:
    original = begun("../out")
    copy = shutil.copytree(original, original.with_name("copy"))
    before = everything(original)
    for words in (("resume",), ("resume", "../out"), ("audit",), ("skip", "S3", "--why", "no"), ("stop",)):
        refused = looks(copy, *words)
        assert (refused.returncode, f"out is a run of {original}" in refused.stderr) == (2, True), (words, refused)
    assert looks(copy, "clean", "--yes", "--force").returncode == 0
    assert everything(original) == before
