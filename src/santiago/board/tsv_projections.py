"""The board's TSV files. They are written from the store shortly after it changes, never over another program's edits.

The store records which queues are out of date, in the same transaction as the change itself. So the next process that
writes also catches up for a process that was killed, and no two processes write the same change.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from typing import TYPE_CHECKING

from santiago.artifacts.files import write_whole
from santiago.board import tsv
from santiago.board.locking import locked
from santiago.contract.board import FIELDS, QUEUES, BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import first_free
from santiago.contract.reasons import Reason
from santiago.util import regular

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from santiago.board.board_place import Place
    from santiago.board.board_store import Reading, Store

LEAST_S = 1.0
"""A queue's files are written at most once in this many seconds."""
TIMES = 10
"""If a write is slow, the pause after it is this many times as long as the write."""
_LONGEST_TIMES = 1 << 16
_HEAD = 1 << 16


class Projections:
    """The files of one board."""

    def __init__(self, place: Place, store: Store) -> None:
        self._place, self._store = place, store
        self._timer: threading.Timer | None = None
        self._guard = threading.Lock()

    def changed(self, queues: set[str]) -> None:
        """Have the files of changed queues written shortly. The store knows which queues these are."""
        if queues and self._timer is None:
            self._set_timer(LEAST_S)

    def flush(self) -> tuple[str, ...]:
        """Write all files that are out of date. Return a notice for each file that another program changed."""
        with self._guard:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        with self._store.reading() as at:
            behind = at.behind()
        try:
            if behind:
                self._write(self._store, hurry=True)
        except (OSError, SantiagoError) as error:
            told, where = (error.message, error.where) if isinstance(error, SantiagoError) else (str(error), "")
            message = f"the tickets are recorded, but the board's files are out of date: {told}"
            hint = "Free space or mend the folder, then `santiago queue sync`."
            raise SantiagoError(Kind.TRANSIENT, message, where=where, hint=hint, reason=Reason.IO_ERROR) from None
        return tuple(
            f"{name} was changed by another program and was not overwritten; `santiago queue import --from-tsv` imports the changes, "
            "`santiago queue sync --discard-edits` discards them (a copy is kept)"
            for name in self.edited()
        )

    def exact(self, *, discard: bool = False) -> tuple[str, ...]:
        """Write every file again. With `discard`, files that others changed are first kept as copies."""
        notices = [self._set_aside(name) for name in self.edited()] if discard else []
        with self._store.writing() as at:
            at.touched.update(QUEUES)
        return (*notices, *self.flush())

    def edited(self) -> list[str]:
        """Return the files that another program changed since santiago wrote them."""
        there = (*tsv.QUEUE_FILES, tsv.HISTORY, *(f"archive/{path.name}" for path in tsv.archives(self._place.archive)))
        with self._store.reading() as at:
            known = {name: at.file(name) for name in there}
        return [name for name, digests in known.items() if not _is_ours(self.path(name), digests)]

    def path(self, name: str) -> Path:
        return self._place.queues.parent / name

    def _set_aside(self, name: str) -> str:
        path, stamp = self.path(name), datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        aside = first_free(f"{path.name}.edited-{stamp}", lambda name: os.path.lexists(path.with_name(name)))
        path.rename(path.with_name(aside))
        return f"{name} was written again; the version that another program changed is kept in {aside}"

    # When files are written

    def _set_timer(self, seconds: float) -> None:
        with self._guard:
            if self._timer is None:
                self._timer = threading.Timer(seconds, self._catch_up)
                self._timer.daemon = True
                self._timer.start()

    def _catch_up(self) -> None:
        """Write the files that are due. This runs in the timer's own thread."""
        from santiago.board.board_store import Store

        self._timer = None  # a change from here on sets a new timer
        store = Store(self._place.store)
        try:
            wait = self._write(store, hurry=False)
        except (OSError, SantiagoError):
            return  # the flush at the end meets the same error, and reports it
        finally:
            store.close()
        if wait:
            self._set_timer(wait)

    # How files are written

    def _write(self, store: Store, *, hurry: bool) -> float:
        """Write the files of queues that are out of date and due. Return the seconds until the next is due, or 0."""
        with locked(self._place.root / "locks" / "projections.lock") as lock:
            times = _times(lock)
            with store.reading() as at:
                waits = {queue: 0.0 if hurry else _wait(times.get(queue)) for queue in at.behind()}
            for queue in [queue for queue, wait in waits.items() if wait <= 0]:
                began = time.monotonic()
                self._write_queue(store, queue)
                ended = time.monotonic()
                times[queue] = (ended, max(LEAST_S, TIMES * (ended - began)))
            with suppress(OSError):  # without these times the next process only writes too early
                os.ftruncate(lock, 0)
                os.pwrite(lock, json.dumps(times).encode(), 0)
        return min((wait for wait in waits.values() if wait > 0), default=0.0)

    def _write_queue(self, store: Store, queue: str) -> None:
        with store.writing() as at:
            at.begin_files(queue)
        with store.reading() as at:
            contents = _contents(at, queue)
            known = {name: at.file(name) for name in contents}
        ours = [name for name in contents if _is_ours(self.path(name), known[name])]
        digests = {name: (_digest(self.path(name)), sha256(contents[name]).hexdigest()) for name in ours}
        # The digests are recorded first: after a crash a file has one of the two, and is not taken for another program's edit.
        with store.writing() as at:
            for name, (before, written) in digests.items():
                at.set_file(name, before, written)
        for name, (before, written) in digests.items():
            if before != written and _digest(self.path(name)) == before:
                write_whole(self.path(name), contents[name])
        if len(ours) == len(contents):
            with store.writing() as at:
                at.end_files(queue)


def _contents(at: Reading, queue: str) -> dict[str, bytes]:
    """Return the files that show a queue."""
    if queue == "done":
        return {"queues/done.tsv": tsv.content(FIELDS, ()), **_archive(at)}
    files = {f"queues/{queue}.tsv": tsv.content(FIELDS, map(tsv.ticket_row, at.bodies(queue)))}
    if queue == "blocked":
        events = at.events(event=BoardEvent.TICKET_EXHAUSTED)
        files[tsv.HISTORY] = tsv.content(tsv.HISTORY_FIELDS, map(tsv.history_row, events))
    return files


def _archive(at: Reading) -> dict[str, bytes]:
    months: dict[str, list[Iterable[object]]] = {name: [] for name in at.files() if name.startswith("archive/")}
    for body in at.bodies("done"):
        name = f"archive/done-{body['archived_at'][:7]}.tsv"
        months.setdefault(name, []).append(tsv.archive_row(body))
    return {name: tsv.content(tsv.ARCHIVE_FIELDS, rows) for name, rows in months.items()}


def _is_ours(path: Path, known: tuple[str, str] | None) -> bool:
    """Tell whether a file is as santiago wrote it, is missing, or has no row that could be lost."""
    if known is not None:
        return _digest(path) in ("", *known)
    if not os.path.lexists(path):
        return True
    head = regular.content(path, _HEAD, follow=False)
    return head is not None and head.strip().count(b"\n") == 0


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file; empty where there is none, and "unreadable" where it cannot be read."""
    try:
        with regular.opened(path, follow=False) as file:
            return file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        return "unreadable"


def _times(lock: int) -> dict[str, tuple[float, float]]:
    """Return for each queue when its files were last written, by the monotonic clock, and how long to wait after that."""
    with suppress(ValueError, TypeError, AttributeError):
        found = json.loads(os.pread(lock, _LONGEST_TIMES, 0))
        return {str(queue): (float(at), float(pause)) for queue, (at, pause) in found.items()}
    return {}


def _wait(last: tuple[float, float] | None) -> float:
    if last is None:
        return 0.0
    passed = time.monotonic() - last[0]
    return last[1] - passed if passed >= 0 else 0.0  # the last write was before a reboot, which resets the clock
