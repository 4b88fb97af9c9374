"""The board's TSV files: written from the store a moment after it changes, never over what another program changed.

Which queues are behind is a fact of the store, recorded with the change itself. So whoever writes next also brings up to
date what a process left behind that was killed, and nobody writes what another has just written.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from typing import TYPE_CHECKING

from santiago.artifacts.files import write_whole
from santiago.board import tsv
from santiago.board.locking import locked
from santiago.contract.board import FIELDS, QUEUES, BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util import regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from santiago.board.records import Reading
    from santiago.board.root import Place
    from santiago.board.store import Store

LEAST_S = 1.0
"""A queue's files are not written more often than this, nor more often than ten times what the last write took."""
TIMES = 10
_LONGEST_NOTE = 1 << 16
_HEAD = 1 << 16


class Projections:
    """The files of one board."""

    def __init__(self, place: Place, store: Store) -> None:
        self._place, self._store = place, store
        self._timer: threading.Timer | None = None
        self._guard = threading.Lock()

    def changed(self, queues: set[str]) -> None:
        """Have the files of queues written before long; the store knows which they are."""
        if queues and self._timer is None:
            self._arm(LEAST_S)

    def flush(self) -> tuple[str, ...]:
        """Write everything that is behind, and return what is to be said about the files."""
        with self._guard:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        with self._store.reading() as at:
            behind = at.behind()
        if behind:
            with _telling_what_is_safe():
                self._write(self._store, hurry=True)
        return tuple(_told(name) for name in self.edited())

    def exact(self, *, discard: bool = False) -> tuple[str, ...]:
        """Write every file anew; with `discard`, those that others changed are set aside first."""
        notices = [self._set_aside(name) for name in self.edited()] if discard else []
        with self._store.writing() as at:
            at.touched.update(QUEUES)
        return (*notices, *self.flush())

    def edited(self) -> list[str]:
        """Return the files that another program changed since they were written."""
        there = (*tsv.QUEUE_FILES, tsv.HISTORY, *(f"archive/{path.name}" for path in tsv.archives(self._place.archive)))
        with self._store.reading() as at:
            known = {name: at.file(name) for name in there}
        return [name for name, digests in known.items() if not _is_ours(self.path(name), digests)]

    def path(self, name: str) -> Path:
        return self._place.queues.parent / name

    def _set_aside(self, name: str) -> str:
        path, stamp = self.path(name), datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        aside = path.with_name(f"{path.name}.edited-{stamp}")
        number = 1
        while os.path.lexists(aside):
            number += 1
            aside = path.with_name(f"{path.name}.edited-{stamp}-{number}")
        path.rename(aside)
        return f"{name} was written again; the version that another program changed is kept in {aside.name}"

    # When

    def _arm(self, seconds: float) -> None:
        with self._guard:
            if self._timer is None:
                self._timer = threading.Timer(seconds, self._catch_up)
                self._timer.daemon = True
                self._timer.start()

    def _catch_up(self) -> None:
        """Write what is due, in a thread of its own."""
        from santiago.board.store import Store

        self._timer = None  # whatever changes from here on sets another
        store = Store(self._place.store)
        try:
            wait = self._write(store, hurry=False)
        except (OSError, SantiagoError):
            return  # whoever flushes at the end meets it again, and says it
        finally:
            store.close()
        if wait:
            self._arm(wait)

    # What

    def _write(self, store: Store, *, hurry: bool) -> float:
        """Write the files of queues that are behind and due; return in how many seconds the next one is."""
        with locked(self._place.root / "locks" / "projections.lock") as lock:
            times = _times(lock)
            with store.reading() as at:
                waits = {queue: 0.0 if hurry else _wait(times.get(queue)) for queue in at.behind()}
            for queue in [queue for queue, wait in waits.items() if wait <= 0]:
                began = time.monotonic()
                self._write_queue(store, queue)
                ended = time.monotonic()
                times[queue] = (ended, max(LEAST_S, TIMES * (ended - began)))
            with suppress(OSError):  # whoever finds no times writes at once
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
        # They are recorded first: a file that a crash left as it was, or as it was to be, is not another program's.
        with store.writing() as at:
            for name, (before, written) in digests.items():
                at.set_file(name, before, written)
        for name, (before, written) in digests.items():
            if before != written and _digest(self.path(name)) == before:
                write_whole(self.path(name), contents[name])
        if len(ours) == len(contents):
            with store.writing() as at:
                at.end_files(queue)


@contextmanager
def _telling_what_is_safe() -> Iterator[None]:
    try:
        yield
    except (OSError, SantiagoError) as error:
        told, where = (error.message, error.where) if isinstance(error, SantiagoError) else (str(error), "")
        message = f"the tickets are recorded, but the board's files are out of date: {told}"
        hint = "Free space or mend the folder, then `santiago queue sync`."
        raise SantiagoError(Kind.TRANSIENT, message, where=where, hint=hint, reason=Reason.IO_ERROR) from None


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
    """Tell whether a file is as it was written, or holds nothing that could be lost."""
    if known is not None:
        return _digest(path) in ("", *known)
    if not os.path.lexists(path):
        return True
    head = regular.content(path, _HEAD, follow=False)
    return head is not None and head.strip().count(b"\n") == 0


def _digest(path: Path) -> str:
    """Return the digest of a file; empty where there is none, and a word that is none where it cannot be read."""
    try:
        with regular.opened(path, follow=False) as file:
            return file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        return "unreadable"


def _told(name: str) -> str:
    return (
        f"{name} was changed by another program and was not overwritten; `santiago queue import --from-tsv` imports the changes, "
        "`santiago queue sync --discard-edits` discards them (a copy is kept)"
    )


def _times(lock: int) -> dict[str, tuple[float, float]]:
    """Return when each queue's files were written last, by the machine's monotonic clock, and for how long that is enough."""
    with suppress(ValueError, TypeError, AttributeError):
        found = json.loads(os.pread(lock, _LONGEST_NOTE, 0))
        return {str(queue): (float(at), float(rest)) for queue, (at, rest) in found.items()}
    return {}


def _wait(last: tuple[float, float] | None) -> float:
    if last is None:
        return 0.0
    passed = time.monotonic() - last[0]
    return last[1] - passed if passed >= 0 else 0.0  # it was before the machine was started anew
