"""Files that somebody else could have placed are read within limits, and what cannot be written is said as one error."""

import errno
import json
import os
from pathlib import Path

import pytest

from santiago.artifacts import beneath, files, run_locations
from santiago.artifacts.run_locations import RUNS, unstarted_run
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.disk import failed
from tests.artifacts.runs import FaultyOS
from tests.util.each import each


def planned(root: Path, name: str) -> Path:
    folder = root / RUNS / name
    folder.mkdir(parents=True)
    (folder / "run-input.json").write_text(json.dumps({"prd_path": "prd.md"}))
    return folder


@each("what", ["pipe", "folder", "far too large", "too deep", "half"])
def test_planning_again_takes_the_newest_run_that_has_not_begun_and_has_an_input(tmp_path: Path, what: str) -> None:
    planned(tmp_path, "r_0")
    older = planned(tmp_path, "r_1")
    (planned(tmp_path, "r_3") / "progress.ndjson").touch()
    place = planned(tmp_path, "r_2") / "run-input.json"
    place.unlink()
    match what:
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case "far too large":
            place.write_text(json.dumps({"prd_path": "prd.md"}) + " " * run_locations._LARGEST_INPUT)
        case "too deep":
            place.write_bytes(b"[" * 100_000)
        case _:
            place.write_bytes(b'{"prd_path": "prd.md"')
    assert unstarted_run(tmp_path, "prd.md") == older
    assert unstarted_run(tmp_path, "other.md") is None


def test_a_file_that_outgrows_the_limit_while_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "record.json"
    file.write_bytes(b"12345")
    handle, real = os.open(tmp_path, os.O_RDONLY), os.read

    def growing(at: int, most: int) -> bytes:
        with file.open("ab") as writer:
            writer.write(b"67890")
        return real(at, most)

    assert beneath.read(handle, file.name, 8) == b"12345"
    monkeypatch.setattr(os, "read", growing)
    with pytest.raises(beneath.PlantedError):
        beneath.read(handle, file.name, 8)
    os.close(handle)


@each("number", [errno.EROFS, errno.EACCES, errno.EEXIST, errno.ENOENT, errno.ENOSPC, errno.EIO])
def test_what_cannot_be_written_is_the_same_error_wherever_it_happens(tmp_path: Path, number: int) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b"old")
    with FaultyOS(1, number).installed(), pytest.raises(SantiagoError) as caught:
        files.write_whole(path, b"new")
    expected = failed(path, OSError(number, ""), "it was not written")
    for name in ("kind", "message", "hint", "where", "reason"):
        assert getattr(caught.value, name) == getattr(expected, name)
    assert caught.value.reason is Reason.IO_ERROR
    assert caught.value.kind is (Kind.TRANSIENT if number in {errno.ENOSPC, errno.EIO} else Kind.INPUT)
    assert path.read_bytes() == b"old"
