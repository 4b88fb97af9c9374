"""What people type first: `santiago` alone, `runs`, `version`, `help`; and what a shell completes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from santiago import __version__
from santiago.artifacts.registry import common_git_dir, register
from santiago.cli.commands import COMMANDS, overview
from santiago.contract.reasons import ExitCode
from tests.cli import greeter
from tests.cli.inside import inside
from tests.cli.santiago import santiago
from tests.contract.test_imports import HEAVY, families, listed, loaded_by
from tests.tui.made import NOW, Made, asking_run, failed_run
from tests.util.each import each

RUNS = {"r_failed": failed_run, "r_asking": asking_run, "r_planned": Made}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a run that failed, one that asks, a plan that never began, and a ticket."""
    repo = greeter.committed(tmp_path_factory.mktemp("where") / "repo", {"README.md": ""})
    common = common_git_dir(repo)
    assert common
    for day, (name, make) in enumerate(RUNS.items(), 11):
        make(repo / ".santiago" / "runs" / name)
        register(common, name, repo / ".santiago" / "runs" / name, NOW.replace("-15T", f"-{day}T"))
    said(repo, "queue", "add", "CSV export")
    return repo


def said(repo: Path, *words: str, code: int = 0) -> str:
    return inside(*words, cwd=repo, env=greeter.place(repo), code=code).stdout


def test_santiago_alone_begins_with_where_you_stand(repo: Path, tmp_path: Path) -> None:
    """The newest run, the open questions, the board; in a folder with nothing, how to begin. The commands follow."""
    where, _, commands = said(repo, code=ExitCode.USAGE).partition("\n\n")
    for text in (
        "r_planned",
        "2 other runs",
        "1 question for you: S3-agent-1 of r_asking",
        "the board: OPEN",
        "next: santiago",
    ):
        assert text in where
    assert commands == f"{overview()}\n"
    assert "git init" in said(tmp_path, code=ExitCode.USAGE)
    empty = greeter.committed(tmp_path / "empty", {"README.md": ""})
    assert "next: santiago init" in said(empty, code=ExitCode.USAGE)
    (empty / "santiago.toml").touch()
    assert "next: santiago run" in said(empty, code=ExitCode.USAGE)


def test_santiago_alone_says_where_you_stand_even_if_a_run_is_damaged(repo: Path, tmp_path: Path) -> None:
    subprocess.run(["cp", "-r", str(repo), str(tmp_path / "copy")], check=True)
    (tmp_path / "copy/.santiago/runs/r_planned/plan.json").write_text("{")
    assert "run r_planned: damaged" in said(tmp_path / "copy", code=ExitCode.USAGE)


def test_runs_lists_state_document_age_and_what_to_do_next(repo: Path, tmp_path: Path) -> None:
    found: Any = json.loads(said(repo, "runs", "--json"))
    rows = {row["run_id"]: row for row in found["runs"]}
    assert list(rows) == ["r_planned", "r_asking", "r_failed"], "newest first"
    assert {name: row["state"] for name, row in rows.items()} == {
        "r_planned": "planned",
        "r_asking": "blocked",
        "r_failed": "failed",
    }
    assert {row["document"] for row in rows.values()} == {"docs/prd.md"}
    assert rows["r_asking"]["questions"] == ["S3-agent-1"]
    assert rows["r_asking"]["next"].startswith("santiago answer S3-agent-1 ")
    assert rows["r_failed"]["next"] == "santiago resume .santiago/runs/r_failed --add-attempts 2"
    lines = said(repo, "runs").splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(rows)
    empty = greeter.committed(tmp_path / "empty", {"README.md": ""})
    said(empty, "runs", code=ExitCode.USAGE)
    assert json.loads(said(empty, "runs", "--json")) == {"contract_version": 1, "runs": [], "more": 0}


def test_version_and_help_are_what_people_type_and_load_nothing_heavy(tmp_path: Path) -> None:
    for words in (["-V"], ["--version"], ["version"]):
        assert santiago(*words, cwd=tmp_path).stdout == f"santiago {__version__}\n"
    assert json.loads(said(tmp_path, "version", "--json")) == {"version": __version__}
    assert said(tmp_path, "help") == santiago("help", cwd=tmp_path).stdout == f"{overview()}\n"
    assert said(tmp_path, "help", "queue", "add") == said(tmp_path, "queue", "add", "--help")
    said(tmp_path, "help", "nonsense", code=ExitCode.USAGE)
    assert all(len(line) <= 80 for line in overview().splitlines())
    for word in ("help", "version", "-V"):
        assert families(loaded_by("-m", "santiago", word)) == set()


def completed(repo: Path, line: str, shell: str = "bash") -> set[str]:
    """Return what a shell is offered for the last word of a command line."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1)}
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "santiago"], cwd=repo, capture_output=True, text=True, check=True,
        env={**os.environ, **greeter.place(repo), **asked, "_SANTIAGO_COMPLETE": f"{shell}_complete"},
    )  # fmt: skip
    assert families(listed(ran.stderr), HEAVY - {"santiago.planner"}) == set()
    if shell == "zsh":
        return set(ran.stdout.splitlines()[1::3])
    return {one.partition(",")[2].partition("\t")[0] for one in ran.stdout.splitlines() if one}


STORIES = {f"S{number}" for number in range(1, 10)}


@each(
    ("line", "expected"),
    [
        ("santiago status ", set(RUNS)),
        ("santiago show ", {*RUNS, *STORIES}),
        ("santiago show r_failed S", STORIES),
        ("santiago log r_asking --story ", STORIES),
        ("santiago resume r_asking --chunks ", {"1", "2", "3", "4", "5"}),
        ("santiago resume --chunks 2-", {"2-1", "2-2", "2-3", "2-4", "2-5"}),
        ("santiago queue decide ", {"REQ-1"}),
        ("santiago queue move --id R", {"REQ-1"}),
        ("santiago answer r_asking ", {"S3-agent-1"}),
        ("santiago help run", {"run", "runs"}),
        ("santiago vers", {"version"}),
        ("santiago show nowhere S", set()),
    ],
)
def test_a_shell_completes_runs_stories_chunks_tickets_and_questions(repo: Path, line: str, expected: set[str]) -> None:
    found = completed(repo, line)
    assert {one for one in found if not one.startswith("-")} == expected


def test_every_shell_completes_the_same_and_nothing_outside_of_a_repository(repo: Path, tmp_path: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert completed(repo, "santiago status ", shell) == set(RUNS)
        assert "_SANTIAGO_COMPLETE" in said(tmp_path, "completion", shell)
    assert completed(tmp_path, "santiago status ") == set()
    assert set(COMMANDS) == completed(tmp_path, "santiago ")
