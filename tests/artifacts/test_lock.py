"""One coordinator at a time: of many that start together exactly one runs, and a dead one never blocks the next."""

import os
import select
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from santiago.app.loading import working
from santiago.artifacts.lock import Lock, holder, last_sign
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.engine import Sign
from santiago.contract.reasons import Reason
from santiago.util.clock import moment
from tests.util.each import each

SINCE = "2026-01-02T03:04:05Z"
HOST = socket.gethostname().encode()


def test_of_forty_that_start_at_once_exactly_one_wins_and_all_others_name_it(tmp_path: Path) -> None:
    # Processes, not interpreters: forked after the imports, so that they really start at once.
    go_out, go_in = os.pipe()
    said_out, said_in = os.pipe()
    children = []
    for _ in range(40):
        child = os.fork()
        if child == 0:
            os.close(go_in)
            os.read(go_out, 1)
            try:
                Lock(tmp_path, since=SINCE).acquire()
                line = f"won {os.getpid()}\n"
            except SantiagoError as error:
                line = f"{error.message}\n"
            os.write(said_in, line.encode())
            signal.pause()
            os._exit(0)
        children.append(child)
    os.close(go_in)
    with os.fdopen(said_out) as said:
        lines = [said.readline() for _ in children]
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(go_out)
    os.close(said_in)
    winners = [line.split()[1] for line in lines if line.startswith("won")]
    assert len(winners) == 1
    assert (
        sum(f"in use by process {winners[0]} on " in line and f"since {moment(SINCE)}" in line for line in lines) == 39
    )


def test_a_held_lock_is_refused_as_something_that_passes_and_a_killed_holder_blocks_nobody(tmp_path: Path) -> None:
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        Lock(tmp_path, since=SINCE).acquire()
        os.write(into, b"!")
        signal.pause()
        os._exit(0)
    os.close(into)
    assert os.read(out, 1) == b"!"
    os.close(out)
    with pytest.raises(SantiagoError) as caught:
        Lock(tmp_path, since=SINCE).acquire()
    assert (caught.value.kind, caught.value.reason) == (Kind.TRANSIENT, Reason.LOCK_HELD)
    assert f"process {child} on" in (holder(tmp_path) or "")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with Lock(tmp_path, since=SINCE):
        assert f"process {os.getpid()} on" in (holder(tmp_path) or "")
    assert holder(tmp_path) is None


def test_the_next_one_finds_the_last_sign_of_a_holder_that_was_killed_if_it_can_be_read(tmp_path: Path) -> None:
    lock = Lock(tmp_path, since=SINCE)
    lock.acquire()
    assert last_sign(tmp_path) is None
    for sign in (Sign(used_ms=123_456, steps={"attempt/S1/1": 100_000}), Sign(used_ms=7, steps={})):
        lock.beat(sign)
        os.utime(tmp_path / "lock", (0, 0))  # the wall clock has no part in it
        assert last_sign(tmp_path) == sign
        assert str(os.getpid()) in (holder(tmp_path) or "")
    lock.release()
    for content in ("", "[]", '{"used_ms": 1}', '{"used_ms": "x", "steps": {}}', '{"steps": [], "used_ms": 1}'):
        (tmp_path / "lock").write_text(content)
        assert last_sign(tmp_path) is None, content


def test_who_holds_a_lock_is_known_at_any_moment_also_while_signs_of_life_grow(tmp_path: Path) -> None:
    held, done = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        lock = Lock(tmp_path, since=SINCE)
        lock.acquire()
        os.write(held[1], b"!")
        for number in range(4_000):
            lock.beat(Sign(used_ms=number, steps={f"attempt/S{at}/1": at for at in range(number % 1_000)}))
        os.write(done[1], b"!")
        signal.pause()
    os.read(held[0], 1)
    seen = []
    while not select.select([done[0]], [], [], 0)[0]:
        seen.append(working(tmp_path))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert seen
    assert all(who and f"process {child} on" in who for who in seen)


def test_a_program_that_was_started_under_the_lock_does_not_keep_it(tmp_path: Path) -> None:
    lock = Lock(tmp_path, since=SINCE)
    lock.acquire()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False) as child:
        lock.release()
        assert holder(tmp_path) is None
        with Lock(tmp_path, since=SINCE):
            assert child.poll() is None, "it is still there"
        child.kill()


def test_a_lock_file_that_was_made_again_guards_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    real = fcntl.flock
    replaced: list[bool] = []

    def flock(handle: int, how: int) -> None:
        if not replaced:
            replaced.append(True)
            (tmp_path / "lock").unlink()
            (tmp_path / "lock").write_bytes(b"")
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with Lock(tmp_path, since=SINCE):
        assert holder(tmp_path) is not None


def test_the_lock_file_stays_and_what_stands_in_it_is_only_for_people(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(b'{"pid": "\x1b[2J"}')
    with Lock(tmp_path, since=SINCE):
        assert b'"since": "2026-01-02T03:04:05Z"' in (tmp_path / "lock").read_bytes()
    assert (tmp_path / "lock").read_bytes() == b""


def test_a_link_or_a_pipe_in_the_lock_s_place_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SantiagoError, match="ELOOP"):
        Lock(tmp_path, since=SINCE).acquire()
    assert not (tmp_path / "elsewhere").exists()
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(SantiagoError, match="not a regular file") as caught:
        Lock(tmp_path, since=SINCE).acquire()
    assert (caught.value.kind, holder(tmp_path)) == (Kind.INPUT, None)


@each("content", [b"[" * 1000, b'{"pid": 1e999, "host": "%b"}' % HOST, b'{"pid": %d, "host": "%b"}' % (10**30, HOST)])
def test_a_held_lock_is_refused_whatever_its_file_was_made_to_say(tmp_path: Path, content: bytes) -> None:
    with Lock(tmp_path, since=SINCE):
        (tmp_path / "lock").write_bytes(content)
        with pytest.raises(SantiagoError, match="in use by another santiago"):
            Lock(tmp_path, since=SINCE).acquire()
