"""The board's store: one SQLite file, its events as the truth, and the cards that they fold to beside them.

Every command is one immediate transaction, so a ticket is where it was or where it goes, whatever dies in between.
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

VERSION = 1
WAIT_S = 30.0
"""How long a command waits for another one's transaction."""


class Store:
    """The file, opened when it is first asked."""

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
        """Open the one transaction of a command; it ends with the block, and nothing of it stays where that raises."""
        if clock.is_off(self._anchor):
            with self._transaction() as at:
                anchor = clock.settled(at)
            self._anchor = anchor
        return self._transaction()

    def ticks(self) -> int:
        """Return the board's time; only within a transaction."""
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
                if connection.in_transaction:  # a full disk ends some by itself
                    connection.execute("ROLLBACK")
                raise

    def changes(self) -> int:
        """Return a number that is another one after others changed the board; to ask for it reads no ticket."""
        with self._guarded() as connection:
            return int(connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close the file; the next question opens it again. No process may be forked while it is open."""
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
            raise _trouble(self.path, error) from None

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")
        made_by = connection.execute("PRAGMA user_version").fetchone()[0]
        if made_by == 0:
            self._make(connection)
        elif made_by != VERSION:
            connection.close()
            raise _other_version(self.path)
        return connection

    def _make(self, connection: sqlite3.Connection) -> None:
        """Lay the store out, one process at a time: SQLite never waits for another one that sets the journal's mode."""
        with locked(self.path.with_suffix(".lock")):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")


def _commit(connection: sqlite3.Connection) -> None:
    """From here on what a command did holds."""
    connection.execute("COMMIT")


def _trouble(path: Path, error: sqlite3.Error) -> SantiagoError:
    """Return a store's trouble in words: what can be repeated, and what is damage."""
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
