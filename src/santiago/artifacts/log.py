"""The log of a run, `progress.ndjson`, as its one writer has it: append-only, hash-chained, the truth."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.artifacts import unfinished_line
from santiago.artifacts.beneath import write_all
from santiago.artifacts.file_errors import corrupt
from santiago.artifacts.files import sync_folder
from santiago.artifacts.frame import LOG_VERSION, encode
from santiago.artifacts.reader import Reader, open_log
from santiago.contract.events import Context, Event, EventKind
from santiago.contract.result import LogHead
from santiago.util.disk import failed, guarding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from santiago.contract.errors import SantiagoError

LIGHT = frozenset({EventKind.TIME_USED, EventKind.NOTE})
"""Events that nothing depends on. They are synced together with the next event of another kind."""


class Log:
    """The log as its one writer has it open. Whoever opens it holds the lock of the out-dir."""

    def __init__(self, path: Path, handle: int, reader: Reader) -> None:
        self.path = path
        self._handle = handle
        self._inode = os.fstat(handle).st_ino
        self._seq, self._hash, self._run_id, self._size = reader.seq, reader.hash, reader.run_id, reader.end
        self._unsynced = False
        """Whether there are light events that are not synced yet."""
        self._final: SantiagoError | None = None
        """Why nothing more may be written."""
        self.mended = 0
        """Bytes of an unfinished last line that were set aside when it was opened."""

    @classmethod
    def open(
        cls,
        path: Path,
        utc: Callable[[], str],
        *,
        anchor: LogHead | None = None,
        take: Callable[[Event], None] = lambda _: None,
    ) -> Log:
        """Open a log for writing, new or to be continued, and hand every event in it to `take`.

        An unfinished last line is moved to a file beside the log, and recorded. This happens only after all the rest was
        read and found whole.
        """
        with guarding(path):
            handle = _open_or_make(path, may_make=anchor is None)
        try:
            reader = Reader(path, anchor)
            for event in reader:
                take(event)
            log = cls(path, handle, reader)
            log._mend(reader.torn, utc, take)
        except BaseException:
            os.close(handle)
            raise
        return log

    @property
    def head(self) -> LogHead:
        """The last event's number and hash."""
        return LogHead(seq=self._seq, hash=self._hash)

    def append(self, events: Sequence[Event]) -> None:
        """Record events in one write. On return they are on disk, unless all of them are light."""
        if self._final is not None:
            raise self._final
        lines, digest = self._lines(events)
        self._check_untouched()
        try:
            write_all(self._handle, lines)
        except OSError as error:
            self._cut_back()
            raise self._stopped(error, events) from None
        self._check_size(self._size + len(lines))
        self._unsynced = True
        if any(event.event not in LIGHT for event in events):
            self._sync(events)
        self._seq, self._hash, self._run_id = events[-1].seq, digest, events[-1].run_id
        self._size += len(lines)

    def sync(self) -> None:
        """Sync the log, light events included."""
        if self._final is not None:
            raise self._final
        if self._unsynced:
            self._sync()

    def close(self) -> None:
        """Sync and close the file."""
        if self._handle < 0:
            return
        try:
            if self._final is None:
                with guarding(self.path, self._safe()):
                    os.fdatasync(self._handle)
        finally:
            os.close(self._handle)
            self._handle = -1

    def _lines(self, events: Sequence[Event]) -> tuple[bytes, str]:
        """Return the bytes to write; raise ValueError if the events do not continue the log."""
        seq, digest, lines = self._seq, self._hash, []
        for event in events:
            seq += 1
            if event.seq != seq or (self._run_id and event.run_id != self._run_id):
                raise ValueError(f"event {event.seq} of {event.run_id} cannot be line {seq} of the log")
            line, digest = encode(_with_version(event) if seq == 1 else event, digest)
            lines.append(line)
        if not lines:
            raise ValueError("no event to record")
        return b"".join(lines), digest

    def _check_untouched(self) -> None:
        """Raise if somebody else removed, replaced or changed the file since our last write."""
        try:
            info = self.path.lstat()
        except FileNotFoundError:
            raise self._end(corrupt(self.path, "the log was removed while the run was using it")) from None
        except OSError as error:
            raise failed(self.path, error, self._safe()) from None
        if info.st_ino != self._inode:
            raise self._end(corrupt(self.path, "the log was replaced while the run was using it"))
        if info.st_size != self._size:
            raise self._end(corrupt(self.path, f"something else wrote to the log after event {self._seq}"))

    def _check_size(self, expected: int) -> None:
        if os.fstat(self._handle).st_size != expected:
            raise self._end(corrupt(self.path, f"something else wrote to the log after event {self._seq}"))

    def _sync(self, events: Sequence[Event] = ()) -> None:
        try:
            os.fdatasync(self._handle)
        except OSError as error:
            # A second try could succeed without the data being on disk, so this is the end of this log object.
            raise self._end(self._stopped(error, events)) from None
        self._unsynced = False

    def _cut_back(self) -> None:
        """Remove a half-written line. If even that fails, the next start sets it aside."""
        try:
            os.ftruncate(self._handle, self._size)
        except OSError as error:
            self._final = failed(self.path, error, self._safe())

    def _stopped(self, error: OSError, events: Sequence[Event]) -> SantiagoError:
        if not events:
            return failed(self.path, error, self._safe())
        last = events[-1]
        about = f"{last.story_id}'s {last.event}" if last.story_id else last.event
        return failed(self.path, error, f"{self._safe()}, {about} is not recorded")

    def _safe(self) -> str:
        return f"{self._seq} events are safe"

    def _end(self, error: SantiagoError) -> SantiagoError:
        self._final = error
        return error

    def _mend(self, torn: int, utc: Callable[[], str], take: Callable[[Event], None]) -> None:
        """Repair the end of the file, so that the next line can follow."""
        with guarding(self.path, self._safe()):
            found = unfinished_line.mend(self.path, self._handle, self._size, torn)
            if self._size and not found:
                unfinished_line.write_again(self.path, self._size)
        self.mended = found.length if found else 0
        # If the very first line was unfinished, there is no run yet that an event could belong to.
        if found is None or not self._run_id:
            return
        event = Event(
            seq=self._seq + 1,
            timestamp=utc(),
            run_id=self._run_id,
            event=EventKind.LOG_REPAIRED,
            context=Context(offset=self._size, length=found.length, digest=found.digest),
        )
        self.append([event])
        take(event)


def _open_or_make(path: Path, *, may_make: bool) -> int:
    try:
        return open_log(path, os.O_RDWR | os.O_APPEND)
    except FileNotFoundError:
        if not may_make:
            raise corrupt(path, "the log of a run that has a result is missing") from None
    handle = open_log(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        sync_folder(path.parent)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _with_version(event: Event) -> Event:
    from dataclasses import replace

    return replace(event, context={**event.context, "log": LOG_VERSION})
