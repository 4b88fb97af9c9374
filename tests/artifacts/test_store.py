"""The out-dir holds what was put there, whole, without secrets, and never reaches outside, whatever an agent planted."""

import errno
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from santiago.artifacts import writable_folders
from santiago.artifacts.names import attempt_folder
from santiago.artifacts.store import FileStore
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Event, EventKind
from santiago.contract.fold import Fold
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Limits, RunInput
from santiago.contract.reasons import Reason
from santiago.contract.result import LogHead, Result, Summary, TotalUsage
from santiago.contract.state import initial
from tests.artifacts.runs import FaultyOS, calls_of, event, file_store, trouble
from tests.contract.histories import plan_of
from tests.util.each import each

PLAN = plan_of(S1="", S2="S1")
INPUT = RunInput(contract_version=1, run_id="run-1", repo_path="/repo", prd_path="prd.md")
SECRET = "correct horse battery"


def begun(folder: Path, *secrets: str) -> FileStore:
    """Return the store of a run that has just been created."""
    store = file_store(folder, *secrets)
    store.preflight()
    input_digest, plan_digest = store.freeze(INPUT, PLAN)
    store.start()
    created = event(
        1, EventKind.RUN_CREATED, phase=RunPhase.CREATED, plan_digest=plan_digest, input_digest=input_digest
    )
    store.append([created])
    return store


def result(message: str, head: LogHead | None) -> Result:
    return Result(
        contract_version=1, run_id="run-1", status="failed", reason=Reason.RUN_TIMEOUT, message=message,
        next_action="raise_budget", stories=(), summary=Summary(), usage=TotalUsage(), branch=None, head=head,
    )  # fmt: skip


# Frozen


def test_plan_and_input_are_frozen_with_the_digests_of_the_log_whatever_was_planned_before(tmp_path: Path) -> None:
    earlier = file_store(tmp_path)
    earlier.freeze(INPUT, plan_of(S1=""))
    earlier.put_result(result("no plan", None))
    store = begun(tmp_path)
    assert store.frozen(Plan) == PLAN
    assert store.frozen(RunInput) == INPUT
    first = next(iter(store.events()))
    assert first.context["plan_digest"] == codec.digest(PLAN)
    assert first.context["input_digest"] == codec.digest(INPUT)


def test_another_plan_or_input_for_a_run_that_has_begun_is_refused_by_field_and_digest(tmp_path: Path) -> None:
    begun(tmp_path).close()
    store = file_store(tmp_path)
    assert store.freeze(INPUT, PLAN) == (codec.digest(INPUT), codec.digest(PLAN))
    other = replace(INPUT, limits=Limits(story_max_attempts=9))
    with pytest.raises(SantiagoError, match=r"limits\.story_max_attempts") as caught:
        store.freeze(other, PLAN)
    assert caught.value.kind is Kind.INPUT
    assert codec.digest(other)[:16] in caught.value.message
    assert "--add-attempts" in caught.value.hint
    with pytest.raises(SantiagoError, match="stories"):
        store.freeze(INPUT, plan_of(S1=""))


@each("name", ["plan.json", "run-input.json"])
def test_a_frozen_file_that_was_edited_after_the_run_began_is_refused(tmp_path: Path, name: str) -> None:
    begun(tmp_path).close()
    file = tmp_path / name
    file.write_bytes(file.read_bytes().replace(b'"contract_version": 1', b'"contract_version":  1'))
    with pytest.raises(SantiagoError, match="changed after the run began") as caught:
        file_store(tmp_path).start()
    assert caught.value.kind is Kind.INPUT


# Resuming


def test_a_start_hands_over_every_event_goes_on_after_the_last_and_removes_what_a_crash_left(tmp_path: Path) -> None:
    begun(tmp_path).close()
    (tmp_path / ".result.json.tmp").write_bytes(b"{")
    (tmp_path / "attempts" / "S1" / ".critique.md.tmp").write_bytes(b"half")
    seen: list[Event] = []
    store = file_store(tmp_path)
    assert store.start(seen.append).seq == 1
    assert not list(tmp_path.rglob(".*.tmp"))
    assert store.notices == []  # nothing was lost with them
    store.append([event(2, EventKind.NOTE)])
    assert [one.seq for one in seen] == [1]
    assert [one.seq for one in store.events()] == [1, 2]


def test_a_log_that_tells_an_impossible_story_is_refused_with_its_line(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.append([event(2, EventKind.STORY_DONE, "S1", StoryPhase.DONE)])
    store.close()
    with pytest.raises(SantiagoError, match="cannot go from planned to done") as caught:
        file_store(tmp_path).start(Fold(initial(PLAN)).apply)
    assert (caught.value.kind, caught.value.line) == (Kind.BLOCKED, 2)


@each("content", [None, b""])
def test_a_result_without_its_log_is_damage_and_never_a_new_run(tmp_path: Path, content: bytes | None) -> None:
    store = begun(tmp_path)
    store.put_result(result("late", store.head))
    store.close()
    (tmp_path / "progress.ndjson").unlink()
    if content is not None:
        (tmp_path / "progress.ndjson").write_bytes(content)
    again = file_store(tmp_path)
    for attempt in (lambda: again.freeze(INPUT, PLAN), again.start, lambda: list(again.events())):
        with pytest.raises(SantiagoError) as caught:
            attempt()
        assert caught.value.reason is Reason.ARTIFACT_CORRUPT


# The result


def test_an_older_result_is_kept_under_the_number_of_its_last_event(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.put_result(result("first", store.head))
    first = (tmp_path / "result.json").read_bytes()
    store.put_result(result("first", store.head))
    assert not (tmp_path / "result.1.json").exists()
    store.append([event(2, EventKind.NOTE)])
    store.put_result(result("second", store.head))
    assert (tmp_path / "result.1.json").read_bytes() == first
    assert codec.decode(Result, store.get("result.json") or b"", "r").head == store.head


def test_a_damaged_result_is_set_aside_and_written_again_from_the_log(tmp_path: Path) -> None:
    begun(tmp_path).close()
    (tmp_path / "result.json").write_bytes(b'{"contract_ver')
    store = file_store(tmp_path)
    store.start()
    assert (tmp_path / "result.damaged.json").read_bytes() == b'{"contract_ver'
    assert "could not be read" in store.notices[0]
    store.put_result(result("again", store.head))
    assert codec.decode(Result, store.get("result.json") or b"", "r").message == "again"


# Paths


@each("path", ["../x", "/etc/x", "a/../../x", "", "a//b", "./a", "a/.", "a\0b"])
def test_a_path_that_could_leave_the_out_dir_is_never_used(tmp_path: Path, path: str) -> None:
    store = begun(tmp_path / "out")
    attempts: list[Callable[[], object]] = [
        lambda: store.put(path, b"x"),
        lambda: store.get(path),
        lambda: store.put_many("attempts/S1/1", {path: b"x"}),
    ]
    for attempt in attempts:
        with pytest.raises(ValueError, match="not a path inside"):
            attempt()
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


@each("place", ["attempts/S1", "attempts/S1/1", "attempts/S1/1/outcome.json"])
def test_a_planted_link_is_refused_to_read_and_write_and_its_target_is_untouched(tmp_path: Path, place: str) -> None:
    store = begun(tmp_path / "out")
    outside = tmp_path / "outside"
    (outside / "1").mkdir(parents=True)
    (outside / "outcome.json").write_bytes(b"theirs")
    (outside / "1" / "outcome.json").write_bytes(b"theirs")
    link = tmp_path / "out" / place
    if link.is_dir():
        link.rmdir()
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / "outcome.json" if link.suffix else outside)
    path = "attempts/S1/1/outcome.json"
    attempts: list[Callable[[], object]] = [
        lambda: store.put(path, b"ours"),
        lambda: store.put_many("attempts/S1/1", {"outcome.json": b"ours"}, sync=["outcome.json"]),
        lambda: store.get(path),
    ]
    for attempt in attempts:
        with pytest.raises(SantiagoError) as caught:
            attempt()
        assert (caught.value.kind, caught.value.reason) == (Kind.BLOCKED, Reason.ARTIFACT_CORRUPT)
    assert {file.read_bytes() for file in outside.rglob("*.json")} == {b"theirs"}


def test_a_planted_hard_link_is_replaced_and_a_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    store = begun(tmp_path / "out")
    precious = tmp_path / "precious"
    precious.write_bytes(b"theirs")
    (tmp_path / "out/attempts/S1/1").mkdir()
    os.link(precious, tmp_path / "out/attempts/S1/1/outcome.json")
    store.put_many("attempts/S1/1", {"outcome.json": b"ours"})
    assert precious.read_bytes() == b"theirs"
    assert store.get("attempts/S1/1/outcome.json") == b"ours"
    os.mkfifo(tmp_path / "out/attempts/S1/pipe")
    with pytest.raises(SantiagoError, match="is a link, a device"):
        store.get("attempts/S1/pipe")
    with pytest.raises(SantiagoError, match="is a link, a device"):
        store.put("attempts/S1/pipe", b"x")


# Whole or not at all


@each("half", [False, True])
def test_a_file_that_cannot_be_replaced_stays_as_it_was(tmp_path: Path, half: bool) -> None:
    store = begun(tmp_path)
    store.put("planning/session.json", b"the old one")
    at, failed = 0, True
    while failed:
        at += 1
        with FaultyOS(at, errno.EIO, half=half).installed() as system:
            error = trouble(lambda: store.put("planning/session.json", b"a newer one"))
        failed = bool(system.failed)
        content = (tmp_path / "planning/session.json").read_bytes()
        # Only the last sync, of the folder, fails with the new file in place.
        assert content == b"the old one" or system.failed in ([], ["fsync"])
        assert (error is None) == (not failed)
        store.put("planning/session.json", b"the old one")
    assert at > 5
    assert not list(tmp_path.rglob(".*.tmp"))


def test_a_file_is_on_disk_before_its_name_and_that_before_anybody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = begun(tmp_path)
    store.put("planning/session.json", b"old")
    calls: list[str] = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (real_sync(handle), calls.append(_kind(handle)))[0])  # type: ignore[func-returns-value]
    monkeypatch.setattr(os, "replace", lambda *a, **k: (real_replace(*a, **k), calls.append("replace"))[0])  # type: ignore[func-returns-value]
    store.put("planning/session.json", b"new")
    assert calls == ["file", "replace", "folder"]


def _kind(handle: int) -> str:
    return "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"


# Costs


def test_evidence_costs_four_syncs_a_batch_one_a_note_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost: a commit that names an event which a power cut took would make the log look cut."""
    store = begun(tmp_path)
    calls = calls_of(monkeypatch, "fsync", "fdatasync")
    files = {"prompt.md": b"p", "agent.log": b"a", "verification.json": b"{}", "outcome.json": b"{}"}
    store.put_many(attempt_folder("S1", 1), files, sync=["verification.json", "outcome.json"])
    # Two files, the attempt's folder, and the story's folder in which that is new.
    assert calls == ["fsync"] * 4
    store.put_many(attempt_folder("S1", 1), {"critique.md": b"c"})
    store.put("planning/session.json", b"{}", sync=False)
    assert len(calls) == 4
    store.append([event(2, EventKind.ATTEMPT_STARTED, "S1", attempt=1)])
    store.append([event(3, EventKind.ATTEMPT_ENDED, "S1"), event(4, EventKind.STORY_VERIFIED, "S1")])
    store.append([event(5, EventKind.STORY_DONE, "S1")])
    assert calls[4:] == ["fdatasync"] * 3
    store.append([event(6, EventKind.NOTE)])
    assert len(calls) == 7
    assert store.anchor().startswith("6:")
    store.anchor()
    assert calls[7:] == ["fdatasync"]


# Secrets


def test_no_secret_reaches_a_file_or_the_log_json_stays_json_and_clean_text_is_searched_once(tmp_path: Path) -> None:
    store = begun(tmp_path, SECRET)
    spread = {"head": "-----BEGIN PRIVATE KEY----- abc", "tail": "def -----END PRIVATE KEY-----", "said": f"<{SECRET}>"}
    store.put("evidence/notes.json", json.dumps(spread).encode())
    store.put_many("attempts/S1/1", {"agent.log": f"token {SECRET}\n".encode()})
    noted = event(2, EventKind.NOTE, text=f"use {SECRET}", options=[SECRET])
    store.append([noted])
    found: dict[str, Any] = json.loads(store.get("evidence/notes.json") or b"")
    assert found == {**spread, "said": "<[redacted]>"}
    assert list(store.events())[-1] == store.redacted(noted)
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    store.put_many("attempts/S1/1", {"agent.log": SECRET.encode()}, clean=["agent.log"])
    assert store.get("attempts/S1/1/agent.log") == SECRET.encode()


# Preflight


def test_too_little_room_or_a_file_for_an_out_dir_is_said_at_first_and_a_missing_one_is_made(tmp_path: Path) -> None:
    with pytest.raises(SantiagoError, match="nothing was started") as caught:
        writable_folders.check(tmp_path, least_free=1 << 62)
    assert caught.value.kind is Kind.TRANSIENT
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SantiagoError) as caught:
            writable_folders.check(path)
        assert caught.value.kind is Kind.INPUT
    assert writable_folders.check(tmp_path / "new" / "out") == []
    assert list((tmp_path / "new" / "out").iterdir()) == []


def test_a_read_only_mount_is_refused_before_anything_starts(tmp_path: Path) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", str(tmp_path)], capture_output=True, check=False)  # fmt: skip
    if mounted.returncode:
        pytest.skip("mounting is not permitted here")
    try:
        with pytest.raises(SantiagoError, match=r"read-only file system \[EROFS\]") as caught:
            writable_folders.check(tmp_path)
        assert caught.value.kind is Kind.INPUT
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts are listed in /proc")
def test_a_network_file_system_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 1 {os.major(device)}:{os.minor(device)} / / rw - nfs4 server:/ rw\n", encoding="utf-8")
    monkeypatch.setattr("santiago.util.mounts.MOUNTS", mounts)
    assert "network file system (nfs4)" in writable_folders.check(tmp_path)[0]
