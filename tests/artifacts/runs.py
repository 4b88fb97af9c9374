"""Small logs and stores to try things on, and an operating system that fails on command."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest

from santiago.artifacts import beneath, files, inbox, log, reader, store, unfinished_line
from santiago.artifacts.log import Log
from santiago.artifacts.store import FileStore
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Context, Event, EventKind, EventStatus
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.process.redact import Redactor

TIME = "2026-01-02T03:04:05.678Z"
MODULES = (beneath, files, inbox, log, reader, unfinished_line, store)
"""Those that call the operating system on behalf of a run's files."""


def utc() -> str:
    return TIME


def event(
    seq: int,
    kind: EventKind = EventKind.ATTEMPT_STARTED,
    story: str | None = None,
    phase: StoryPhase | RunPhase | None = None,
    *,
    status: EventStatus | None = None,
    attempt: int | None = None,
    chunk: str | None = None,
    run_id: str = "run-1",
    **context: Any,
) -> Event:
    return Event(
        seq=seq,
        timestamp=TIME,
        run_id=run_id,
        event=kind,
        story_id=story,
        chunk=chunk,
        phase=phase,
        status=status,
        attempt=attempt,
        context=cast("Context", context),
    )


def events(count: int) -> list[Event]:
    """Return the first events of a run: it is created, and then stories are attempted and done in turn."""
    found = [event(1, EventKind.RUN_CREATED, phase=RunPhase.CREATED, version="0.1.0", log=1)]
    for seq in range(2, count + 1):
        story, kind = f"S{seq // 2}", EventKind.STORY_DONE if seq % 2 else EventKind.ATTEMPT_STARTED
        phase = StoryPhase.DONE if seq % 2 else StoryPhase.RUNNING
        found.append(event(seq, kind, story, phase, attempt=1, commit="c0ffee" * 6, text="größer → 10 €\n\u2028"))
    return found


def write_log(path: Path, count: int) -> bytes:
    """Make a log of so many events, one write each, and return its bytes."""
    made = Log.open(path, utc)
    for one in events(count):
        made.append([one])
    made.close()
    return path.read_bytes()


def file_store(folder: Path, *secrets: str) -> FileStore:
    return FileStore(folder, Redactor(secrets), utc)


def trouble(work: Callable[[], object]) -> SantiagoError | None:
    """Do something and return the error for people that it ended in, if it did."""
    try:
        work()
    except SantiagoError as error:
        return error
    return None


def calls_of(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """Return a list to which the calls of these functions of the system are added as they happen."""
    calls: list[str] = []

    def watch(name: str) -> None:
        real = getattr(os, name)

        def call(*arguments: Any) -> Any:
            calls.append(name)
            return real(*arguments)

        monkeypatch.setattr(os, name, call)

    for name in names:
        watch(name)
    return calls


class FaultyOS:
    """The operating system, with a counter: one call, or all from one on, fail; a write may do half its work first."""

    CALLS = frozenset(
        {"open", "read", "pread", "write", "pwrite", "fsync", "fdatasync", "replace", "rename", "ftruncate", "unlink", "mkdir", "link", "listdir"}
    )  # fmt: skip

    def __init__(self, at: int, number: int, *, forever: bool = False, half: bool = False) -> None:
        self.at, self.number, self.forever, self.half = at, number, forever, half
        self.calls = 0
        self.failed: list[str] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._faulty(name, real) if name in self.CALLS else real

    def _faulty(self, name: str, real: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            if self.calls == self.at or (self.forever and self.calls > self.at > 0):
                if self.half and name == "write" and not self.failed:
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                self.failed.append(name)
                raise OSError(self.number, os.strerror(self.number))
            return real(*arguments, **options)

        return call

    @contextmanager
    def installed(self) -> Iterator[FaultyOS]:
        """Let santiago's file modules, and nobody else, see this system; files left open are closed, as at a death."""
        before = _open_files()
        with ExitStack() as stack:
            for module in MODULES:
                stack.enter_context(patch.object(module, "os", self))
            try:
                yield self
            finally:
                for handle in _open_files() - before:
                    os.close(handle)


def _open_files() -> set[int]:
    found = set()
    for name in (path.name for path in Path("/proc/self/fd").iterdir()):
        try:
            os.fstat(int(name))
        except OSError:
            continue
        found.add(int(name))
    return found


ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR)
