"""A repository takes its runs along: a moved one goes on, and a copy goes on by itself and never acts on the original."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.cli import greeter
from tests.cli.santiago import santiago

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

INSIDE = ["", "out"]
"""Where the run lies in the repository: at home, or in a folder that the user named."""


def says(repo: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return santiago(*arguments, cwd=repo, env=greeter.place(repo))


def begun(folder: Path, out_dir: str) -> Path:
    """Make a repository with a run in it that is not finished."""
    repo = greeter.make(folder)
    where = ("--out-dir", out_dir) if out_dir else ()
    ran = says(repo, "run", "prd.md", "--trust-commands", "--only", "S2", *where)
    assert ran.returncode == 0, ran.stderr
    return repo


def state_of(repo: Path) -> str:
    found: str = json.loads(says(repo, "status", "--json").stdout)["state"]
    return found


def everything(repo: Path) -> tuple[str, dict[str, bytes]]:
    """Return all refs of a repository and all files of its runs."""
    kept = [path for name in (".santiago", "out") for path in (repo / name).rglob("*") if path.is_file()]
    return greeter.git(repo, "for-each-ref"), {str(path): path.read_bytes() for path in kept}


@pytest.mark.parametrize("out_dir", INSIDE)
def test_a_copy_goes_on_by_itself_and_leaves_the_original_as_it_was(tmp_path: Path, out_dir: str) -> None:
    original = begun(tmp_path / "original", out_dir)
    copy = shutil.copytree(original, tmp_path / "copy", symlinks=True)
    before = everything(original)
    gone_on = says(copy, "resume")
    assert gone_on.returncode == 0, gone_on.stderr
    assert everything(original) == before
    branch = greeter.git(copy, "for-each-ref", "--format=%(refname)", "refs/heads/santiago/")
    assert greeter.git(copy, "show", f"{branch}:both.txt") == "both"
    assert (says(copy, "audit").returncode, says(original, "audit").returncode) == (0, 0)
    assert (state_of(copy), says(original, "resume").returncode) == ("success", 0)


@pytest.mark.parametrize("out_dir", [*INSIDE, "../out"])
def test_a_moved_repository_goes_on(tmp_path: Path, out_dir: str) -> None:
    moved = begun(tmp_path / "old", out_dir).rename(tmp_path / "new")
    assert "can be resumed" in says(moved, "clean").stdout
    gone_on = says(moved, "resume")
    assert gone_on.returncode == 0, gone_on.stderr
    assert (state_of(moved), says(moved, "audit").returncode) == ("success", 0)


def test_a_moved_repository_goes_on_also_by_a_run_input_that_names_it_anew(tmp_path: Path) -> None:
    old = begun(tmp_path / "old", "out")
    wanted = json.loads((old / "out" / "run-input.json").read_bytes())
    (old / "input.json").write_text(json.dumps({**wanted, "repo_path": "."}))
    moved = old.rename(tmp_path / "new")
    frozen = (moved / "out" / "run-input.json").read_bytes()
    gone_on = says(moved, "execute", "--input", "input.json", "--plan", "out/plan.json", "--out-dir", "out")
    assert gone_on.returncode == 0, gone_on.stderr
    assert (moved / "out" / "run-input.json").read_bytes() == frozen


def test_a_plan_that_was_copied_begins_in_the_copy(tmp_path: Path) -> None:
    original = greeter.make(tmp_path / "original")
    assert says(original, "plan", "prd.md").returncode == 0
    copy = shutil.copytree(original, tmp_path / "copy")
    assert says(copy, "resume", "--trust-commands").returncode == 0
    assert not greeter.git(original, "for-each-ref", "refs/heads/santiago/")
    assert json.loads((greeter.out_dir(copy) / "run-input.json").read_bytes())["repo_path"] == str(copy)


@pytest.mark.parametrize(
    "words", [("resume",), ("resume", "out"), ("audit",), ("skip", "S3", "--why", "no"), ("stop",)]
)
def test_a_copy_does_not_take_over_a_run_whose_folder_stayed(tmp_path: Path, words: tuple[str, ...]) -> None:
    original = begun(tmp_path / "original", "../out")
    copy = shutil.copytree(original, tmp_path / "copy")
    before, log = everything(original), (tmp_path / "out" / "progress.ndjson").read_bytes()
    refused = says(copy, *words)
    assert (refused.returncode, f"out is a run of {original}" in refused.stderr) == (2, True), refused.stderr
    assert says(copy, "clean", "--yes", "--force").returncode == 0
    assert (everything(original), (tmp_path / "out" / "progress.ndjson").read_bytes()) == (before, log)
    assert says(original, "resume").returncode == 0
