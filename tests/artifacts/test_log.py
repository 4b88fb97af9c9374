"""The log keeps what was recorded: no byte of it changes unnoticed, and only a tear at its end is ever cut."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.artifacts import frame, reader
from santiago.artifacts.frame import GENESIS, MAX_LINE, WrongLineError, decode, encode
from santiago.artifacts.log import Log
from santiago.artifacts.reader import Reader, Tail, read_log
from santiago.contract import codec
from santiago.contract.codec import to_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Event, EventKind, LogLine
from santiago.contract.fold import fold_all
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.plan import Plan
from santiago.contract.reasons import Reason
from santiago.contract.result import LogHead
from tests.artifacts.runs import calls_of, event, events, trouble, utc, write_log
from tests.contract.values import example, hints, mutants, values
from tests.golden.essence import essence
from tests.util.each import each

GOLDEN = Path(__file__).parents[1] / "golden"
CREATED = event(1, EventKind.RUN_CREATED, phase=RunPhase.CREATED, log=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "progress.ndjson"


@pytest.fixture(params=["first lines", "later lines"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either of the two parsers, whatever the number of the line."""
    monkeypatch.setattr(frame, "FEW", MAX_LINE if request.param == "first lines" else 0)


def forged(changes: dict[str, Any], count: int = 3) -> bytes:
    """Return a log whose last line says something else, with a chain that fits."""
    prev, lines = GENESIS, []
    for one in events(count):
        line, digest = encode(one, prev)
        if one.seq == count:
            data = {**json.loads(line), **changes}
            del data["h"]
            body = json.dumps(data, separators=(",", ":")).encode()[:-1]
            line = body + b',"h":"' + sha256(prev.encode() + body).hexdigest()[:32].encode() + b'"}\n'
        lines.append(line)
        prev = digest
    return b"".join(lines)


def refusal(path: Path) -> SantiagoError:
    with pytest.raises(SantiagoError) as caught:
        list(read_log(path))
    return caught.value


# What a line is


def test_a_line_is_ascii_with_the_promised_keys_in_order_and_a_hash_over_all_before_it(path: Path) -> None:
    raw, prev = write_log(path, 9), "0" * 32
    assert list(read_log(path)) == events(9)
    assert raw.isascii()
    keys = "seq timestamp run_id story_id chunk event phase attempt status actor context prev h"
    for line in raw.splitlines():
        body, _, rest = line.rpartition(b',"h":')
        assert list(json.loads(line)) == keys.split()
        assert json.loads(line)["prev"] == prev
        prev = sha256(prev.encode() + body).hexdigest()[:32]
        assert rest == f'"{prev}"}}'.encode()


@settings(max_examples=30)
@given(values(LogLine))
def test_every_line_that_the_schema_allows_is_read_back_the_same(line: LogLine) -> None:
    fields = {name: getattr(line, name) for name in hints(Event)}
    if line.story_id is None and line.phase is not None:
        fields["phase"] = next((phase for phase in RunPhase if phase == str(line.phase)), None)
    elif line.phase is not None:
        fields["phase"] = next((phase for phase in StoryPhase if phase == str(line.phase)), None)
    one = Event(**fields)
    written, digest = encode(one, GENESIS)
    assert decode([written], one.seq - 1, GENESIS, one.run_id, set()) == ([(one, digest)], None)


ELSEWHERE = ("h ", "prev ", "seq is 0", "seq is 9")
"""What is compared with the line before, not looked at in one line alone."""


@pytest.mark.usefixtures("parser")
def test_a_line_that_the_schema_refuses_is_refused_also_with_a_good_chain() -> None:
    keys = [name for name in hints(LogLine) if name != "h"]
    whole, taken = example(LogLine), []
    for mutant in mutants(LogLine, to_data(whole)):
        data = mutant.data if isinstance(mutant.data, dict) else {}
        data = {name: data[name] for name in keys if name in data} | data | {"prev": GENESIS}
        data.pop("h", None)
        body = json.dumps(data, separators=(",", ":")).encode()[:-1]
        line = body + b',"h":"' + sha256(GENESIS.encode() + body).hexdigest()[:32].encode() + b'"}\n'
        found, fault = decode([line], whole.seq - 1, GENESIS, "", set())
        if not mutant.name.startswith(ELSEWHERE) and (found or not isinstance(fault, WrongLineError)):
            taken.append(mutant.name)
    assert taken == []


@pytest.mark.usefixtures("parser")
def test_tables_and_letters_of_every_plane_are_read_back_and_half_a_pair_spoils_nothing(path: Path) -> None:
    rows = [["R1#1", "tests/test_a.py::test_x", "failed", "passed"], ["R1#2", "", "", ""]]
    text = "half \ud800 pair, whole \U0001f600 \uffff"
    Log.open(path, utc).append([CREATED, event(2, EventKind.NOTE, text=text, criteria=rows)])
    assert list(read_log(path))[1].context == {"text": text.replace("\ud800", "\\ud800"), "criteria": rows}


def test_an_event_too_large_out_of_order_or_of_another_run_is_never_written(path: Path) -> None:
    log = Log.open(path, utc)
    log.append([CREATED])
    with pytest.raises(WrongLineError, match="more than the"):
        log.append([event(2, EventKind.NOTE, text="x" * MAX_LINE)])
    for wrong in (event(3), event(1), event(2, run_id="run-2")):
        with pytest.raises(ValueError, match="cannot be line 2"):
            log.append([wrong])
    assert log.head.seq == 1
    log.append([event(2, EventKind.NOTE)])
    assert len(list(read_log(path))) == 2


# Damage


def test_cut_at_any_byte_the_log_keeps_all_whole_lines_and_knows_the_rest_as_torn(path: Path) -> None:
    raw = write_log(path, 4)
    for length in range(len(raw), -1, -1):
        os.truncate(path, length)
        reader = Reader(path)
        assert len(list(reader)) == raw[:length].count(b"\n")
        assert reader.end + reader.torn == length


def test_no_flipped_bit_is_silent_and_only_one_in_the_last_line_counts_as_torn(path: Path) -> None:
    raw = write_log(path, 3)
    last = raw.rindex(b"\n", 0, -1) + 1
    with path.open("r+b", buffering=0) as file:
        for index in range(len(raw)):
            for bit in range(8):
                byte = bytes([raw[index] ^ 1 << bit])
                os.pwrite(file.fileno(), byte, index)
                reader = Reader(path)
                found: list[Event] = []
                error = trouble(lambda reader=reader, found=found: found.extend(reader))  # type: ignore[misc]
                assert len(found) < 3
                if error is None:
                    assert reader.torn
                    assert index >= last - 1
                else:
                    assert error.kind in {Kind.BLOCKED, Kind.INPUT}
                    # A newline made out of another byte ends the line early, and then it is not the last.
                    assert index < last or byte == b"\n"
            os.pwrite(file.fileno(), raw[index : index + 1], index)
    assert len(list(read_log(path))) == 3


@each(
    "change",
    [
        lambda lines: lines[:3] + lines[4:],
        lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
        lambda lines: lines[:4] + lines[3:],
        lambda lines: [*lines[:3], lines[3].replace(b"S2", b"S9"), *lines[4:]],
        lambda lines: [*lines[:3], b"", *lines[3:]],
        lambda lines: lines[1:],
    ],
)
def test_a_changed_line_in_the_middle_is_refused_with_its_number_and_nothing_changes(
    tmp_path: Path, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    path = tmp_path / "progress.ndjson"
    raw = b"\n".join(change(write_log(path, 8).splitlines())) + b"\n"
    path.write_bytes(raw)
    with pytest.raises(SantiagoError) as caught:
        Log.open(path, utc)
    assert (caught.value.kind, caught.value.reason) == (Kind.BLOCKED, Reason.ARTIFACT_CORRUPT)
    assert 1 <= caught.value.line <= 5
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == raw


@each(
    ("changes", "words"),
    [
        ({"event": "agent_says_done"}, "no event 'agent_says_done'"),
        ({"phase": "paused"}, "no phase 'paused' of a story"),
        ({"story_id": None, "phase": "verified"}, "no phase 'verified' of a run"),
        ({"context": {"secret_plan": 1}}, "no detail 'secret_plan'"),
        ({"context": {"ms": "many"}}, "the detail ms cannot be 'many'"),
        ({"context": {"tests": [["a"]]}}, r"the detail tests cannot be"),
        ({"context": {"criteria": [["R1#1"], "passed"]}}, r"the detail criteria cannot be"),
        ({"run_id": "run-2"}, "belongs to the run run-2"),
        ({"seq": 7}, "its number is 7"),
        ({"status": "great"}, "no status 'great'"),
        ({"context": {"text": "\ud800"}}, "not JSON"),
    ],
)
@pytest.mark.usefixtures("parser")
def test_a_forged_line_with_a_good_hash_is_refused_not_cut(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    path = tmp_path / "progress.ndjson"
    path.write_bytes(forged(changes))
    error = refusal(path)
    assert words in error.message
    assert (error.kind, error.line) == (Kind.BLOCKED, 3)


@pytest.mark.usefixtures("parser")
@each("text", [b"[" * 100_000 + b"]" * 100_000, b"\xe4", b'"a\nb"', b"1" * 5000])
def test_a_forged_line_that_no_parser_takes_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "progress.ndjson"
    *before, last, _ = forged({"context": {"text": "HERE"}}).split(b"\n")
    body = last[: last.index(b',"h":')].replace(b'"HERE"', text)
    prev = json.loads(last)["prev"].encode()
    line = body + b',"h":"' + sha256(prev + body).hexdigest()[:32].encode() + b'"}'
    path.write_bytes(b"\n".join([*before, line, b""]))
    assert refusal(path).line == 3


def test_a_log_of_a_newer_version_or_of_none_is_refused(path: Path) -> None:
    path.write_bytes(forged({"context": {"log": 2, "unheard_of": True}}, count=1))
    error = refusal(path)
    assert (error.kind, "newer" in error.hint) == (Kind.INPUT, True)
    assert "version 2" in error.message
    assert "up to version 1" in error.message
    path.write_bytes(forged({"context": {}}, count=1))
    assert "must begin with run_created" in refusal(path).message


def test_lines_that_were_dropped_another_log_and_none_are_noticed_by_who_knows_the_head(path: Path) -> None:
    other = LogHead(seq=4, hash="f" * 32)
    with pytest.raises(SantiagoError, match="missing") as caught:
        Log.open(path, utc, anchor=other)
    assert caught.value.kind is Kind.BLOCKED
    assert not path.exists()
    raw = write_log(path, 5)
    with pytest.raises(SantiagoError, match=r"result\.json recorded"):
        Log.open(path, utc, anchor=other)
    head = Log.open(path, utc).head
    path.write_bytes(raw[: raw.rindex(b"\n", 0, -1) + 1] + b'{"seq":5,"half')
    before = path.read_bytes()
    with pytest.raises(SantiagoError, match="ends with event 4, but 5"):
        Log.open(path, utc, anchor=head)
    assert path.read_bytes() == before


# The torn tail


@each(
    "tail",
    [b'{"seq":4,"timest', b"\0" * 4096, b'{"seq":4' + b"\0" * 5000, b'{"seq":4}\n', b'{"seq":4}\n' + b"\0" * 99, b"x" * (3 << 20)],
)  # fmt: skip
def test_a_torn_tail_is_set_aside_byte_for_byte_and_recorded_and_the_run_goes_on(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "progress.ndjson"
    raw = write_log(path, 3)
    path.write_bytes(raw + tail)
    assert len(list(read_log(path))) == 3
    assert path.read_bytes() == raw + tail, "a reader leaves it where it is"
    seen: list[Event] = []
    log = Log.open(path, utc, take=seen.append)
    aside = path.with_name(f"progress.torn.{len(raw)}")
    assert aside.read_bytes() == tail
    assert path.read_bytes().startswith(raw)
    assert seen == list(read_log(path))
    expected = {"offset": len(raw), "length": len(tail), "digest": sha256(tail).hexdigest()}
    assert (seen[-1].event, seen[-1].context) == (EventKind.LOG_REPAIRED, expected)
    log.append([event(5)])
    log.close()
    assert Log.open(path, utc).head.seq == 5


def test_a_second_tear_at_the_same_place_does_not_overwrite_the_first(path: Path) -> None:
    raw = write_log(path, 3)
    for tail in (b"first", b"second"):
        path.write_bytes(raw + tail)
        Log.open(path, utc)
    aside = path.with_name(f"progress.torn.{len(raw)}")
    assert aside.read_bytes() == b"first"
    assert aside.with_name(aside.name + ".2").read_bytes() == b"second"


def test_a_first_line_that_was_never_finished_leaves_an_empty_log_to_begin_with(path: Path) -> None:
    path.write_bytes(b'{"seq":1,"time')
    log = Log.open(path, utc)
    assert path.with_name("progress.torn.0").read_bytes() == b'{"seq":1,"time'
    log.append([CREATED])
    assert [one.event for one in read_log(path)] == [EventKind.RUN_CREATED]


# Other things in the log's place, other writers


@each("what", ["pipe", "link", "folder"])
def test_what_is_no_regular_file_is_refused_and_never_waited_for(tmp_path: Path, what: str) -> None:
    path = tmp_path / "progress.ndjson"
    match what:
        case "pipe":
            os.mkfifo(path)
        case "link":
            (path.parent / "elsewhere").write_bytes(b"")
            path.symlink_to("elsewhere")
        case _:
            path.mkdir()
    for attempt in (lambda: list(read_log(path)), lambda: Log.open(path, utc)):
        with pytest.raises(SantiagoError, match="not a regular file") as caught:
            attempt()
        assert caught.value.kind is Kind.INPUT


def test_two_writers_the_second_to_write_is_told_and_nothing_is_overwritten(path: Path) -> None:
    write_log(path, 2)
    first, second = Log.open(path, utc), Log.open(path, utc)
    first.append([event(3, story="S1")])
    for _ in range(2):  # and stays told
        with pytest.raises(SantiagoError, match="something else wrote") as caught:
            second.append([event(3, story="S2")])
        assert caught.value.kind is Kind.BLOCKED
    assert [one.story_id for one in read_log(path)][2:] == ["S1"]


@each("how", ["replaced", "removed", "cut"])
def test_a_log_that_was_replaced_removed_or_cut_under_a_running_run_stops_it(tmp_path: Path, how: str) -> None:
    path = tmp_path / "progress.ndjson"
    raw = write_log(path, 3)
    log = Log.open(path, utc)
    if how == "cut":
        os.truncate(path, len(raw) - 10)
    else:
        path.rename(path.with_name("moved"))
    if how == "replaced":
        path.write_bytes(raw)
    with pytest.raises(SantiagoError) as caught:
        log.append([event(4)])
    assert (caught.value.kind, caught.value.reason) == (Kind.BLOCKED, Reason.ARTIFACT_CORRUPT)


def test_a_batch_is_one_write_and_light_events_wait_for_a_sync(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log.open(path, utc)
    log.append([CREATED])
    calls = calls_of(monkeypatch, "write", "fdatasync", "fsync")
    log.append([event(2, EventKind.TIME_USED, ms=15000), event(3, EventKind.NOTE)])
    assert calls == ["write"]
    log.append([event(4, EventKind.TIME_USED, ms=1), event(5, EventKind.STORY_DONE, "S1"), event(6, EventKind.NOTE)])
    assert calls == ["write", "write", "fdatasync"]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 400))
@settings(max_examples=40)
def test_however_it_was_batched_and_torn_the_log_continues_where_whole_lines_end(
    tmp_path_factory: pytest.TempPathFactory, batches: list[int], cut: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "progress.ndjson"
    all_events = events(sum(batches))
    log, at = Log.open(path, utc), 0
    for size in batches:
        log.append(all_events[at : at + size])
        at += size
    log.close()
    raw = path.read_bytes()
    os.truncate(path, max(len(raw) - cut, 0))
    whole = path.read_bytes().count(b"\n")
    seen: list[Event] = []
    again = Log.open(path, utc, take=seen.append)
    assert seen[:whole] == all_events[:whole]
    rest = [replace(one, seq=again.head.seq + 1 + index) for index, one in enumerate(all_events[whole:])]
    if rest:
        again.append(rest)
    again.close()
    assert list(read_log(path)) == [*seen, *rest]


@each("version", ["v1", *sorted({path.parent.name for path in GOLDEN.glob("*/progress.ndjson")} - {"v1"})])
def test_logs_of_every_released_version_tell_the_same_story_as_on_the_day_they_were_written(version: str) -> None:
    """Promises 3 and 4."""
    plan = codec.decode(Plan, (GOLDEN / version / "plan.json").read_bytes(), "plan.json")
    state = fold_all(plan, read_log(GOLDEN / version / "progress.ndjson"))
    assert essence(state) == json.loads((GOLDEN / version / "state.json").read_bytes())


# A log that is followed is judged as one that is read


Fault = tuple[Kind, int, str, str] | None


def fault_of(read: Callable[[], object]) -> Fault:
    error = trouble(read)
    return None if error is None else (error.kind, error.line, error.message, error.hint)


NEWER = encode(event(1, EventKind.RUN_CREATED, log=2), GENESIS)[0]
ODD_FIRST = encode(event(1, EventKind.NOTE), GENESIS)[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda _: NEWER,
        lambda _: ODD_FIRST,
        lambda raw: raw + b'{"seq":6,"half',
        lambda raw: raw + b'{"seq":6}\n',
        lambda raw: raw + b'{"seq":6}\n' + b"\0" * 99,
        lambda raw: raw + b"x" * (3 << 20),
        lambda raw: raw.replace(b"S2", b"S9", 1),
        lambda raw: raw[raw.index(b"\n") + 1 :],
        lambda raw: raw + raw,
    ],
    ids=["newer", "other first line", "half a line", "a line whose hash fails", "that and zeros", "three MiB", "edited", "first dropped", "repeated"],
)  # fmt: skip
def test_who_follows_a_log_finds_what_who_reads_it_finds(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(write_log(path, 5)))
    reader, tail = Reader(path), Tail(path)
    read: list[Event] = []
    followed: list[Event] = []
    assert fault_of(lambda: followed.extend(tail.read())) == fault_of(lambda: read.extend(reader))
    assert followed == read
    assert (tail.seq, tail.hash, tail.end, tail.torn) == (reader.seq, reader.hash, reader.end, reader.torn)


def test_a_line_that_was_unfinished_is_read_when_its_writer_has_seen_to_it(path: Path) -> None:
    whole = write_log(path, 3)
    last = whole.rindex(b"\n", 0, -1) + 1
    path.write_bytes(whole[:last] + b'{"seq":3}\n')
    tail = Tail(path)
    assert [one.seq for one in tail.read()] == [1, 2]
    assert tail.torn
    os.truncate(path, last)
    with path.open("ab") as file:
        file.write(whole[last:])
    assert ([one.seq for one in tail.read()], tail.torn) == ([3], 0)


def test_events_that_were_not_taken_come_again_the_next_time(path: Path) -> None:
    write_log(path, 5)
    tail = Tail(path)
    first = tail.read()
    assert [next(first).seq, next(first).seq] == [1, 2]
    first.close()  # type: ignore[attr-defined]
    assert [one.seq for one in tail.read()] == [3, 4, 5]


def test_the_log_of_a_long_run_is_followed_in_bounded_memory(path: Path) -> None:
    prev, lines = GENESIS, []
    for one in (*events(1), *(event(number, EventKind.NOTE, f"S{number}") for number in range(2, 3000))):
        line, prev = encode(one, prev)
        lines.append(line)
    path.write_bytes(b"".join(lines))
    tail = Tail(path)
    assert sum(1 for _ in tail.read()) == len(lines)
    in_a_piece = reader.PIECE // min(map(len, lines)) + 1
    assert len(tail._stories) <= reader.MOST_NAMES + in_a_piece < len(lines)


def test_a_log_that_vanishes_while_it_is_followed_is_missed_and_a_pipe_in_its_place_is_none(path: Path) -> None:
    tail = Tail(path)
    assert list(tail.read()) == []
    write_log(path, 2)
    assert len(list(tail.read())) == 2
    path.unlink()
    kind, _, message, _ = fault_of(lambda: list(tail.read())) or pytest.fail("it was read")
    assert (kind, "the log was removed" in message) == (Kind.BLOCKED, True)
    os.mkfifo(path)
    kind, _, message, _ = fault_of(lambda: list(Tail(path).read())) or pytest.fail("it was read")
    assert (kind, message) == (Kind.INPUT, "the log is not a regular file")
