"""A repository knows its runs, from every worktree, wherever their out-dirs are and whatever became of them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from santiago.artifacts.log import Log
from santiago.artifacts.registry import common_git_dir, forget, register, runs, standing
from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase
from tests.artifacts.runs import event, utc
from tests.util.each import each


@pytest.fixture
def common(tmp_path: Path) -> Path:
    return tmp_path / "git"


def a_run(common: Path, run_id: str, created: str, *phases: RunPhase) -> Path:
    """Register a run whose log goes through these phases."""
    out = common.parent / run_id
    out.mkdir()
    (out / "plan.json").write_bytes(b"{}")
    if phases:
        log = Log.open(out / "progress.ndjson", utc)
        kinds = [EventKind.RUN_CREATED, *[EventKind.NOTE] * (len(phases) - 1)]
        log.append([event(seq, kind, phase=phase) for seq, (kind, phase) in enumerate(zip(kinds, phases, strict=True), 1)])  # fmt: skip
        log.close()
    register(common, run_id, out, created)
    return out


def git(*arguments: str, cwd: Path) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    return subprocess.run(["git", *identity, *arguments], cwd=cwd, capture_output=True, text=True, check=True).stdout


def test_all_worktrees_of_a_repository_share_one_registry(tmp_path: Path) -> None:
    main, other = tmp_path / "main", tmp_path / "other"
    main.mkdir()
    git("init", "-q", cwd=main)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=main)
    git("worktree", "add", "-q", str(other), cwd=main)
    expected = (main / git("rev-parse", "--git-common-dir", cwd=main).strip()).resolve()
    assert common_git_dir(main) == expected
    assert common_git_dir(other) == expected
    assert common_git_dir(tmp_path) is None


@each("what", ["pipe", "zeros", "far too large"])
def test_what_is_no_git_directory_and_no_word_of_one_is_none_and_never_waited_for(tmp_path: Path, what: str) -> None:
    if what == "pipe":
        os.mkfifo(tmp_path / ".git")
    else:
        (tmp_path / ".git").write_bytes(b"gitdir: \0" if what == "zeros" else b"gitdir: " + b"x" * (1 << 17))
    assert common_git_dir(tmp_path) is None


def test_runs_are_listed_the_newest_first(common: Path) -> None:
    for run_id, created in (("r_b", "2026-01-02T00:00:00Z"), ("r_c", "2026-01-03T00:00:00Z"), ("r_a", "2026-01-01T00:00:00Z")):  # fmt: skip
        a_run(common, run_id, created)
    assert [run.run_id for run in runs(common)] == ["r_c", "r_b", "r_a"]
    forget(common, "r_c")
    assert [run.run_id for run in runs(common)] == ["r_b", "r_a"]


def test_a_run_can_be_resumed_until_its_log_says_that_it_succeeded_and_its_result_is_written(common: Path) -> None:
    created, executing = RunPhase.CREATED, RunPhase.EXECUTING
    a_run(common, "r_1", "2026-01-01T00:00:00Z", created, executing, RunPhase.PAUSED)
    a_run(common, "r_2", "2026-01-02T00:00:00Z", created, executing, RunPhase.FAILED)
    a_run(common, "r_3", "2026-01-03T00:00:00Z", created, executing, RunPhase.RUN_VERIFICATION, RunPhase.SUCCESS)
    assert [standing(run) for run in runs(common)] == ["resumable"] * 3
    result = runs(common)[0].out_dir / "result.json"
    result.write_bytes(b'{"status": "blocked"}')
    assert standing(runs(common)[0]) == "resumable", "a result of an earlier end counted as that of the success"
    result.write_bytes(b'{"status": "success"}')
    assert [standing(run) for run in runs(common)] == ["ended", "resumable", "resumable"]


def test_a_run_that_is_gone_or_damaged_is_listed_as_such_and_a_moved_one_can_be_registered_again(common: Path) -> None:
    a_run(common, "r_1", "2026-01-01T00:00:00Z", RunPhase.CREATED)
    out = a_run(common, "r_2", "2026-01-02T00:00:00Z", RunPhase.CREATED, RunPhase.EXECUTING)
    moved = out.with_name("moved")
    shutil.move(out, moved)
    assert standing(runs(common)[0]) == "gone"
    register(common, "r_2", moved, "2026-01-02T00:00:00Z")
    assert [(run.run_id, standing(run)) for run in runs(common)] == [("r_2", "resumable"), ("r_1", "resumable")]
    log = moved / "progress.ndjson"
    log.write_bytes(log.read_bytes().replace(b"run-1", b"run-2", 1))
    assert [(run.run_id, standing(run)) for run in runs(common)] == [("r_2", "damaged"), ("r_1", "resumable")]


def test_a_note_that_cannot_be_read_hides_no_other_run_and_a_repository_without_runs_has_none(common: Path) -> None:
    assert runs(common) == []
    with pytest.raises(ValueError, match="not a run id"):
        register(common, "../evil", common, "")
    a_run(common, "r_1", "2026-01-01T00:00:00Z", RunPhase.CREATED)
    folder = common / "santiago" / "runs"
    (folder / "r_2.json").write_bytes(b"{")
    (folder / "r_3.json").write_bytes(b"[]")
    (folder / "r_4.json").write_bytes(b'{"run_id": "r_9", "out_dir": "/", "created": ""}')
    (folder / "r_5.json").symlink_to("nowhere")
    os.mkfifo(folder / "r_6.json")
    (folder / "r_7.json").write_bytes(b"[" * 20_000)
    assert [run.run_id for run in runs(common)] == ["r_1"]
