"""A log that is followed is judged as one that is read: the same events, the same refusals, in the same words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from santiago.artifacts import chain
from santiago.artifacts.frame import GENESIS, encode
from santiago.artifacts.reader import Reader
from santiago.artifacts.tail import Tail
from santiago.contract.errors import Kind
from santiago.contract.events import EventKind
from tests.artifacts.runs import event, events, trouble, write_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from santiago.contract.events import Event


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "progress.ndjson"


Fault = tuple[Kind, int, str, str] | None


def seen(read: Callable[[], object]) -> Fault:
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
    assert seen(lambda: followed.extend(tail.read())) == seen(lambda: read.extend(reader))
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
    in_a_piece = chain.PIECE // min(map(len, lines)) + 1
    assert len(tail._stories) <= chain.MOST_NAMES + in_a_piece < len(lines)


def test_a_log_that_vanishes_while_it_is_followed_is_missed_and_a_pipe_in_its_place_is_none(path: Path) -> None:
    tail = Tail(path)
    assert list(tail.read()) == []
    write_log(path, 2)
    assert len(list(tail.read())) == 2
    path.unlink()
    kind, _, message, _ = seen(lambda: list(tail.read())) or pytest.fail("it was read")
    assert (kind, "the log was removed" in message) == (Kind.BLOCKED, True)
    os.mkfifo(path)
    kind, _, message, _ = seen(lambda: list(Tail(path).read())) or pytest.fail("it was read")
    assert (kind, message) == (Kind.INPUT, "the log is not a regular file")
