"""The board's store: one SQLite file. The events in it are the truth; the cards beside them follow from the events.

Every command is one immediate transaction. Whatever dies in between, a ticket is either where it was or where it was to
go.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from santiago.board import clock
from santiago.board.locking import locked
from santiago.board.records import SCHEMA, Reading, Writing
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

VERSION = 2
"""Raised when a table is added. A board of an earlier version gets what it lacks when it is opened."""
WAIT_S = 30.0
"""How long a command waits for another one's transaction."""


class Store:
    """The store of one board. The file is opened when it is first used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._anchor: clock.Anchor | None = None

    def exists(self) -> bool:
        return self.path.is_file()

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        with self._guarded() as connection:
            connection.execute("BEGIN")
            try:
                yield Reading(connection)
            finally:
                connection.execute("ROLLBACK")

    def writing(self) -> AbstractContextManager[Writing]:
        """Open a command's one transaction. It is committed at the end of the block, and undone where the block raises."""
        if clock.needs_anchor(self._anchor):
            with self._transaction() as at:
                anchor = clock.current_anchor(at)
            self._anchor = anchor
        return self._transaction()

    def ticks(self) -> int:
        """Return the board's time. This works only after `writing` was called."""
        assert self._anchor is not None
        return clock.ticks_of(self._anchor)

    @contextmanager
    def _transaction(self) -> Iterator[Writing]:
        with self._guarded() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                at = Writing(connection)
                yield at
                at.note_behind()
                _commit(connection)
            except BaseException:
                if connection.in_transaction:  # on a full disk SQLite itself ends some transactions
                    connection.execute("ROLLBACK")
                raise

    def changes(self) -> int:
        """Return a number that changes when another connection changes the board. No ticket is read for it."""
        with self._guarded() as connection:
            return int(connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close the file. The next use opens it again. It must be closed whenever a process is forked."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        try:
            if self._connection is None:
                self._connection = self._open()
            yield self._connection
        except sqlite3.Error as error:
            raise _store_error(self.path, error) from None

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = FULL")
        made_by = connection.execute("PRAGMA user_version").fetchone()[0]
        if made_by < VERSION:
            self._make(connection)
        elif made_by > VERSION:
            raise _other_version(self.path)

    def _make(self, connection: sqlite3.Connection) -> None:
        """Create the tables, one process at a time: SQLite refuses at once where two processes set the journal mode."""
        with locked(self.path.with_suffix(".lock")):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")


def _commit(connection: sqlite3.Connection) -> None:
    """Commit. From here on the command has happened."""
    connection.execute("COMMIT")


def _store_error(path: Path, error: sqlite3.Error) -> SantiagoError:
    """Return the error for a failed SQLite call. It says either to repeat the command, or that the file is damaged."""
    text = str(error)
    if isinstance(error, sqlite3.OperationalError):
        full = "full" in text or "I/O" in text or "readonly" in text or "unable to open" in text
        hint = (
            "Free space or mend the folder, then run the same command again." if full else "Run the same command again."
        )
        return SantiagoError(
            Kind.TRANSIENT,
            f"the board could not be written: {text}",
            where=str(path),
            hint=hint,
            reason=Reason.IO_ERROR,
        )
    hint = (
        "Nothing was changed. Restore the file from a copy; or move it away, and `santiago queue import` imports what the "
        "queue files say, without the history."
    )
    return SantiagoError(
        Kind.BLOCKED, f"the board is damaged: {text}", where=str(path), hint=hint, reason=Reason.ARTIFACT_CORRUPT
    )


def _other_version(path: Path) -> SantiagoError:
    hint = "Nothing was changed. Use the santiago that wrote it, or a newer one."
    return SantiagoError(Kind.BLOCKED, "another version of santiago wrote this board", where=str(path), hint=hint)
