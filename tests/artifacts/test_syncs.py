"""What a log was told, and what a person wrote, is on disk with the names of its files when the call returns."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from proofs.crash.syncs import Watch

from santiago.artifacts.files import write_new, write_whole
from santiago.artifacts.inbox import Inbox
from santiago.artifacts.log import Log
from santiago.contract.answers import Letter
from santiago.contract.events import EventKind
from tests.artifacts.runs import calls_of, event, utc, write_log

LOG = "progress.ndjson"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.fixture
def watch(out: Path) -> Iterator[Watch]:
    with Watch(str(out.parent)) as watch:
        yield watch


def test_a_new_log_has_its_name_on_disk_and_light_events_after_a_sync_and_the_end(out: Path, watch: Watch) -> None:
    log = Log.open(out / LOG, utc)
    assert watch.lasting(LOG)
    log.append([event(1, EventKind.RUN_CREATED, log=1)])
    for seq, asked in ((2, log.sync), (3, log.close)):
        log.append([event(seq, EventKind.NOTE)])
        assert not watch.lasting(LOG), "the next one brings it to disk"
        asked()
        assert watch.lasting(LOG), asked


@pytest.mark.parametrize("count", [0, 3])
def test_a_torn_end_is_on_disk_beside_the_log_before_the_cut_which_is_too(out: Path, watch: Watch, count: int) -> None:
    end = len(write_log(out / LOG, count)) if count else 0
    with (out / LOG).open("ab") as file:
        file.write(b'{"seq":')
    Log.open(out / LOG, utc)
    assert watch.findings == []
    assert watch.lasting(f"progress.torn.{end}")
    assert watch.lasting(LOG)


def test_the_end_of_a_log_is_written_to_disk_again_at_its_opening(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, calls = write_log(out / LOG, 3), calls_of(monkeypatch, "pwrite", "fdatasync")
    Log.open(out / LOG, utc)
    assert calls == ["pwrite", "fdatasync"]
    assert (out / LOG).read_bytes() == raw


def test_a_persons_first_letter_is_on_disk_when_dropped_and_so_is_that_it_was_heard(out: Path, watch: Watch) -> None:
    inbox = Inbox(out)
    assert inbox.drop(Letter(kind="stop"))
    assert watch.lasting("inbox/stop.json")
    inbox.put_away(inbox.collect())
    assert watch.lasting("inbox/done/stop.json")
    assert watch.names == set(), "a letter that was obeyed must not come back after a power cut"


def test_a_file_that_is_written_whole_or_made_is_on_disk_with_its_name_and_all_that_it_holds(
    out: Path, watch: Watch
) -> None:
    for content in (b"first", b"second"):
        write_whole(out / "one", content)
        assert watch.lasting("one")
    assert write_new(out / "two", b"once")
    assert watch.lasting("two")
