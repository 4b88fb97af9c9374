"""Every call of the operating system may fail, once or for ever, whole or half: nothing recorded is lost, nobody is told a lie."""

import errno
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from santiago.artifacts.log import Log
from santiago.artifacts.names import attempt_folder
from santiago.artifacts.reader import read_log
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Event, EventKind
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import Reason
from santiago.contract.result import Result, Summary, TotalUsage
from tests.artifacts.runs import ERRORS, FaultyOS, event, file_store, trouble, utc, write_log

STORIES = ("S1", "S2")
ONCE = [(number, False, False) for number in ERRORS]
OTHERWISE = [
    (number, *how) for number in (errno.EIO, errno.ENOSPC) for how in ((True, False), (False, True), (True, True))
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Thousands of syncs: where there is memory to keep files in, they go there."""
    memory = Path("/dev/shm")
    made = tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None)
    yield Path(made)
    shutil.rmtree(made)


def work(folder: Path, told: list[str]) -> None:
    """Carry out what is left of a small run, as a coordinator would, noting the stories that it tells are done."""
    seen: list[Event] = []
    with file_store(folder) as store:
        store.start(seen.append)
        seq = store.head.seq

        def record(kind: EventKind, story: str | None, phase: StoryPhase | RunPhase) -> None:
            nonlocal seq
            seq += 1
            store.append([event(seq, kind, story, phase, attempt=1 if story else None)])

        if not seq:
            record(EventKind.RUN_CREATED, None, RunPhase.CREATED)
        done = {one.story_id for one in seen if one.event is EventKind.STORY_DONE}
        for story in STORIES:
            if story in done:
                continue
            record(EventKind.ATTEMPT_STARTED, story, StoryPhase.RUNNING)
            files = {"verification.json": b"{}\n", "agent.log": b"words\n"}
            store.put_many(attempt_folder(story, 1), files, sync=["verification.json"])
            record(EventKind.STORY_DONE, story, StoryPhase.DONE)
            told.append(story)
        if seen[-1:] == [] or seen[-1].event is not EventKind.RUN_ENDED:
            record(EventKind.RUN_ENDED, None, RunPhase.SUCCESS)
        store.put_result(result_at(store.head))


def result_at(head: object) -> Result:
    data = {"contract_version": 1, "run_id": "run-1", "status": "success", "reason": None, "message": "done", "next_action": "open_pr"}  # fmt: skip
    more = {"stories": [], "summary": codec.to_data(Summary(completed=2)), "usage": codec.to_data(TotalUsage()), "branch": None}  # fmt: skip
    return codec.decode(Result, codec.canonical({**data, **more, "head": codec.to_data(head)}), "result")


def lines_of(folder: Path) -> list[bytes]:
    log = folder / "progress.ndjson"
    return log.read_bytes().split(b"\n")[:-1] if log.exists() else []


def check_finished(folder: Path, kept: list[bytes]) -> None:
    """See that a run that went on after trouble has all, once, and nothing half."""
    assert lines_of(folder)[: len(kept)] == kept
    done = Counter(one.story_id for one in read_log(folder / "progress.ndjson") if one.event is EventKind.STORY_DONE)
    assert done == dict.fromkeys(STORIES, 1)
    result = codec.decode(Result, (folder / "result.json").read_bytes(), "result")
    last = list(read_log(folder / "progress.ndjson"))[-1]
    assert result.head is not None
    assert result.head.seq == last.seq
    assert not list(folder.rglob(".*.tmp"))
    assert all((folder / attempt_folder(story, 1) / "verification.json").read_bytes() == b"{}\n" for story in STORIES)


def whole_lines(folder: Path) -> list[bytes]:
    """Return the lines that a reader accepts by now."""
    log = folder / "progress.ndjson"
    return lines_of(folder)[: sum(1 for _ in read_log(log))] if log.exists() else []


@pytest.mark.parametrize(("number", "forever", "half"), [*ONCE, *OTHERWISE])
def test_after_any_failing_call_the_same_command_finishes_and_nothing_recorded_is_lost(
    folder: Path, number: int, forever: bool, half: bool
) -> None:
    at = 0
    while True:
        at += 1
        out = folder / str(at)
        out.mkdir()
        told: list[str] = []
        with FaultyOS(at, number, forever=forever, half=half).installed() as system:
            error = trouble(lambda out=out, told=told: work(out, told))  # type: ignore[misc]
        assert error is None or (error.kind is Kind.TRANSIENT and errno.errorcode[number] in error.message)
        kept = whole_lines(out)
        assert sum(b'"story_done"' in line for line in kept) >= len(told)
        work(out, [])
        check_finished(out, kept)
        shutil.rmtree(out)
        if not system.failed:
            break
    assert at > 25


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("forever", [False, True])
def test_errors_at_the_repair_of_a_torn_tail_lose_no_byte(folder: Path, number: int, forever: bool) -> None:
    work(folder, [])
    whole = (folder / "progress.ndjson").read_bytes()
    (folder / "result.json").unlink()
    last = whole.rindex(b"\n", 0, -1) + 1
    tail = whole[last : last + 30]
    at = 0
    while True:
        at += 1
        out = folder / str(at)
        shutil.copytree(folder / "attempts", out / "attempts")
        (out / "progress.ndjson").write_bytes(whole[:last] + tail)
        with FaultyOS(at, number, forever=forever).installed() as system:
            error = trouble(lambda out=out: work(out, []))  # type: ignore[misc]
        assert error is None or error.kind is Kind.TRANSIENT
        aside = out / f"progress.torn.{last}"
        assert aside.exists() or (out / "progress.ndjson").read_bytes() == whole[:last] + tail
        work(out, [])
        assert aside.read_bytes() == tail
        check_finished(out, whole[:last].split(b"\n")[:-1])
        repaired = [one for one in read_log(out / "progress.ndjson") if one.event is EventKind.LOG_REPAIRED]
        assert [one.context["length"] for one in repaired] == [len(tail)]
        shutil.rmtree(out)
        if not system.failed:
            break
    assert at > 25


def test_a_failed_write_leaves_no_half_line_a_short_one_is_completed_and_a_failed_sync_is_final(folder: Path) -> None:
    path = folder / "progress.ndjson"
    raw = write_log(path, 5)
    log = Log.open(path, utc)
    with FaultyOS(1, errno.ENOSPC, half=True).installed(), pytest.raises(SantiagoError) as caught:
        log.append([event(6, EventKind.STORY_DONE, "S41")])
    error = caught.value
    assert error.message == "no space left on device [ENOSPC]; 5 events are safe, S41's story_done is not recorded"
    assert (error.hint, error.reason) == ("Free space and run the same command again.", Reason.IO_ERROR)
    assert path.read_bytes() == raw
    log.close()
    real, log = os.write, Log.open(path, utc)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:7]))
        log.append([event(6)])
    assert len(list(read_log(path))) == 6
    with FaultyOS(2, errno.EIO).installed() as system:
        for _ in range(3):
            with pytest.raises(SantiagoError, match="EIO"):
                log.append([event(7)])
    assert (system.failed, system.calls) == (["fdatasync"], 2), "it is never tried again"
    log.close()


def test_on_a_disk_that_is_really_full_the_run_stops_clean_and_goes_on_after_space_was_freed(tmp_path: Path) -> None:
    out = tmp_path / "small"
    out.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(out)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        log = Log.open(out / "progress.ndjson", utc)
        log.append([event(1, EventKind.RUN_CREATED, phase=RunPhase.CREATED)])
        (out / "filler").write_bytes(b"x" * 100_000)
        error, seq = None, 0
        while error is None:
            seq += 1
            error = trouble(lambda seq=seq: log.append([event(seq + 1, EventKind.NOTE, text="y" * 3000)]))  # type: ignore[misc]
        assert error.kind is Kind.TRANSIENT
        assert "ENOSPC" in error.message
        assert [one.seq for one in read_log(out / "progress.ndjson")] == list(range(1, seq + 1))
        with pytest.raises(SantiagoError, match="MiB are free"):
            file_store(out).preflight()
        (out / "filler").unlink()
        log.append([event(seq + 1)])
        log.close()
        assert Log.open(out / "progress.ndjson", utc).head.seq == seq + 1
    finally:
        subprocess.run(["umount", "--lazy", str(out)], check=True)
