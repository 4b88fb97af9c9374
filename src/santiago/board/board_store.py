"""The board's store: one SQLite file. The events in it are the truth; the cards beside them follow from the events.

Every command is one immediate transaction. Whatever dies in between, a ticket is either where it was or where it was to
go.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from santiago.board import board_clock
from santiago.board.board_clock import utc
from santiago.board.locking import locked
from santiago.board.rules import claim_mark
from santiago.contract.board import ATTESTED, BoardEvent, Card, TicketEvent, evolve, fields_of, ticket_status
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from santiago.board.rules import Change

VERSION = 3
"""Raised when a table changes. A board of an earlier version is brought up to it when it is opened."""
WAIT_S = 30.0
"""How long a command waits for another one's transaction."""
_IS_RARE = (
    "event NOT IN ('ticket_added', 'ticket_claimed', 'ticket_moved', 'lease_renewed', 'ticket_verified', 'ticket_done')"
)
"""A query for a rare event must contain exactly this text, or SQLite does not use the index of rare events."""
_NAMES = tuple(Card.__annotations__)
_NUMBERS = frozenset({"attempt_count", "retry_budget", "arrival", "expires", "blocked", "for_planner"})
_COLUMNS = [f"{name} {'INTEGER' if name in _NUMBERS else 'TEXT'}" for name in _NAMES]
_SELECT = f"SELECT {', '.join(_NAMES)} FROM cards"  # noqa: S608  # our own column names
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY, at TEXT NOT NULL, event TEXT NOT NULL, ticket TEXT NOT NULL, actor TEXT NOT NULL,
  attempt INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS events_of ON events (ticket, seq);
CREATE INDEX IF NOT EXISTS rare_events ON events (event, seq) WHERE {_IS_RARE};
CREATE TABLE IF NOT EXISTS cards ({", ".join(_COLUMNS)}, queue TEXT, mark INTEGER, PRIMARY KEY (id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS to_claim ON cards (queue, mark, arrival) WHERE mark IS NOT NULL;
CREATE INDEX IF NOT EXISTS leases ON cards (expires) WHERE expires IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_queue ON cards (queue, arrival);
CREATE INDEX IF NOT EXISTS by_source ON cards (source);
CREATE INDEX IF NOT EXISTS by_request ON cards (request) WHERE request <> '';
CREATE TABLE IF NOT EXISTS waits (ticket TEXT NOT NULL, on_ticket TEXT NOT NULL, PRIMARY KEY (ticket, on_ticket)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS waited_for ON waits (on_ticket);
CREATE TABLE IF NOT EXISTS follows (ticket TEXT NOT NULL, on_ticket TEXT NOT NULL, PRIMARY KEY (ticket, on_ticket)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS followed ON follows (on_ticket);
CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, before TEXT NOT NULL, written TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS behind (queue TEXT PRIMARY KEY, writing INTEGER NOT NULL) WITHOUT ROWID;
"""
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Store:
    """The store of one board. The file is opened when it is first used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._anchor: board_clock.Anchor | None = None

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
        if board_clock.needs_anchor(self._anchor):
            with self._transaction() as at:
                anchor = _current_anchor(at)
            self._anchor = anchor
        return self._transaction()

    def ticks(self) -> int:
        """Return the board's time. This works only after `writing` was called."""
        assert self._anchor is not None
        return board_clock.ticks_of(self._anchor)

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
        made_by = _version_of(connection)
        if made_by < VERSION:
            self._make(connection)
        elif made_by > VERSION:
            hint = "Nothing was changed. Use the santiago that wrote it, or a newer one."
            message = "another version of santiago wrote this board"
            raise SantiagoError(Kind.BLOCKED, message, where=str(self.path), hint=hint)

    def _make(self, connection: sqlite3.Connection) -> None:
        """Create the tables, one process at a time: SQLite refuses at once where two processes set the journal mode."""
        with locked(self.path.with_suffix(".lock")):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            if _version_of(connection) < VERSION:
                _bring_up(connection)
            connection.execute("COMMIT")


def _version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _bring_up(connection: sqlite3.Connection) -> None:
    """Create the tables that are missing. Cards of an earlier version are computed anew from their events."""
    there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'cards'").fetchone()
    names = connection.execute("SELECT id FROM cards").fetchall() if there else []
    for statement in f"DROP TABLE IF EXISTS cards; {SCHEMA} PRAGMA user_version = {VERSION}".split(";"):
        connection.execute(statement)
    at = Writing(connection)
    for (name,) in names:
        card: Card | None = None
        for event in at.events(ticket=name):
            card = evolve(card, event) if event.changes else card
        assert card is not None
        at.keep(card)
    at.note_behind()


def _current_anchor(at: Writing) -> board_clock.Anchor:
    """Return the anchor for this boot. Store a new one where it is needed, and record a jump of the wall clock."""
    boot, monotonic, wall = board_clock.machine_clocks()
    text = at.meta("clock")
    old = board_clock.Anchor(**json.loads(text)) if text else None
    if not board_clock.needs_anchor(old):
        assert old is not None
        return old
    if old is None:
        ticks = 0
    elif old.boot == boot and monotonic >= old.monotonic:
        ticks = old.ticks + monotonic - old.monotonic
        seconds = ((wall - old.wall) - (monotonic - old.monotonic)) // 1000
        at.record("", BoardEvent.CLOCK_JUMPED, "santiago", about={"seconds": seconds})
    else:
        # Only the wall clock knows how long the machine was off. If it went back, that time counts as zero.
        ticks = old.ticks + max(0, wall - old.wall)
    new = {"boot": boot, "monotonic": monotonic, "wall": wall, "ticks": ticks}
    at.set_meta("clock", json.dumps(new))
    return board_clock.Anchor(boot=boot, monotonic=monotonic, wall=wall, ticks=ticks)


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
        message, reason, kind = f"the board could not be written: {text}", Reason.IO_ERROR, Kind.TRANSIENT
    else:
        hint = (
            "Nothing was changed. Restore the file from a copy; or move it away, and `santiago queue import` imports what "
            "the queue files say, without the history."
        )
        message, reason, kind = f"the board is damaged: {text}", Reason.ARTIFACT_CORRUPT, Kind.BLOCKED
    return SantiagoError(kind, message, where=str(path), hint=hint, reason=reason)


class Reading:
    """Reads the board. Everything that it returns is of one moment."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def card(self, name: str) -> Card | None:
        return next(iter(self._cards("id = ?", name)), None)

    def knows(self, name: str) -> bool:
        """Tell whether an id was ever used, even if its ticket is no longer on the board."""
        return self._execute("SELECT 1 FROM events WHERE ticket = ? LIMIT 1", (name,)).fetchone() is not None

    def cards(self, queue: str) -> list[Card]:
        """Return the tickets of a queue, in order of arrival."""
        return self._cards("queue = ? ORDER BY arrival", queue)

    def bodies(self, queue: str) -> Iterator[dict[str, Any]]:
        """Yield the tickets of a queue as plain data. This is much faster than making cards."""
        for row in self._execute(f"{_SELECT} WHERE queue = ? ORDER BY arrival", (queue,)):
            body = dict(zip(_NAMES, row, strict=True))
            yield {**body, "status": ticket_status("blocked" if body["blocked"] else body["phase"])}

    def some(self, queue: str, most: int, *, latest: bool = False) -> list[Card]:
        """Return the first few tickets of a queue; with `latest`, the last few, the latest first."""
        return self._cards(f"queue = ? ORDER BY arrival {'DESC' if latest else 'ASC'} LIMIT ?", queue, most)

    def of_request(self, request: str) -> list[Card]:
        return self._cards("request = ? ORDER BY arrival", request)

    def of_source(self, source: str) -> list[Card]:
        return self._cards("source = ? ORDER BY arrival", source)

    def of_run(self, run: str) -> list[Card]:
        """Return the tickets of a run, without archived ones."""
        return self._cards("run = ? AND queue <> 'done' ORDER BY arrival", run)

    def dependents(self, ticket: str) -> list[str]:
        """Return the tickets that depend on this one."""
        return self._names("SELECT ticket FROM waits WHERE on_ticket = ? ORDER BY ticket", ticket)

    def counts(self) -> dict[str, int]:
        return dict(self._execute("SELECT queue, count(*) FROM cards GROUP BY queue").fetchall())

    def attested(self) -> int:
        """Return how many finished tickets a person accepted on their word."""
        links = f"%{ATTESTED}%"
        return len(self._names("SELECT id FROM cards WHERE queue = 'done' AND evidence_links LIKE ?", links))

    def moving(self) -> int:
        """Return how many tickets somebody holds or could claim."""
        marked = "SELECT count(*) FROM cards WHERE mark IS NOT NULL"
        held = "SELECT count(*) FROM cards WHERE expires IS NOT NULL"
        return int(self._execute(f"SELECT ({marked}) + ({held})").fetchone()[0])  # our own text

    def waits_for(self, ticket: str) -> list[str]:
        """Return the tickets that this one depends on or must not overtake."""
        both = "SELECT on_ticket FROM waits WHERE ticket = ? UNION SELECT on_ticket FROM follows WHERE ticket = ?"
        return self._names(f"{both} ORDER BY on_ticket", ticket, ticket)

    def following(self) -> list[str]:
        """Return the tickets that must not overtake another one."""
        return self._names("SELECT DISTINCT ticket FROM follows ORDER BY ticket")

    def events(
        self, *, ticket: str | None = None, event: BoardEvent | None = None, since: int = 0
    ) -> Iterator[TicketEvent]:
        """Yield events, oldest first: of one ticket, of one kind, or all."""
        where, values = ["seq > ?"], [since]
        filters: list[tuple[str, Any]] = [("ticket", ticket), ("event", event)]
        for column, value in filters:
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        if event is not None and f"'{event.value}'" not in _IS_RARE:
            where.append(_IS_RARE)
        rows = self._execute(f"SELECT * FROM events WHERE {' AND '.join(where)} ORDER BY seq", values)  # noqa: S608  # our own column names
        for seq, at, kind, name, actor, attempt, body in rows:
            yield TicketEvent(
                seq=seq, at=at, event=BoardEvent(kind), ticket=name, actor=actor, attempt=attempt, **json.loads(body)
            )

    def last_lease(self, ticket: str) -> str:
        """Return the latest lease by which a ticket was ever held; empty where it never was."""
        rows = self._execute("SELECT body FROM events WHERE ticket = ? ORDER BY seq DESC", (ticket,))
        leases = (json.loads(body)["changes"].get("lease", "") for (body,) in rows)
        return next((lease for lease in leases if lease.startswith("held:")), "")

    def last(self) -> int:
        """Return the number of the last event."""
        return int(self._execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])

    def meta(self, name: str) -> str | None:
        found = self._execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return found[0] if found else None

    def file(self, name: str) -> tuple[str, str] | None:
        """Return the digests of a file before and after its last write."""
        found = self._execute("SELECT before, written FROM files WHERE name = ?", (name,)).fetchone()
        return (found[0], found[1]) if found else None

    def files(self) -> list[str]:
        """Return the names of all files that were written so far."""
        return self._names("SELECT name FROM files ORDER BY name")

    def behind(self) -> list[str]:
        """Return the queues that changed since their files were written."""
        return self._names("SELECT queue FROM behind ORDER BY queue")

    def _cards(self, where: str, *values: object) -> list[Card]:
        return [_card(row) for row in self._execute(f"{_SELECT} WHERE {where}", values)]

    def _names(self, query: str, *values: object) -> list[str]:
        return [name for (name,) in self._execute(query, values)]


class Writing(Reading):
    """One transaction. Either all of its changes are stored, or none."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.now = utc()
        self.touched: set[str] = set()
        """Queues whose files are now out of date."""

    def record(
        self, ticket: str, event: BoardEvent, actor: str, *,
        attempt: int = 0, changes: dict[str, Any] | None = None, about: dict[str, Any] | None = None,
    ) -> TicketEvent:  # fmt: skip
        changes, about = changes or {}, about or {}
        made = self._execute(
            "INSERT INTO events (at, event, ticket, actor, attempt, body) VALUES (?, ?, ?, ?, ?, ?)",
            (self.now, event.value, ticket, actor, attempt, _json({"changes": changes, "about": about})),
        )
        seq = made.lastrowid
        assert seq is not None
        return TicketEvent(
            seq=seq, at=self.now, event=event, ticket=ticket, actor=actor, attempt=attempt, changes=changes, about=about
        )

    def change(self, card: Card | None, change: Change, actor: str, *, name: str = "") -> Card:
        """Record an event of a ticket, and store the card that follows from it."""
        attempt = int(change.changes.get("attempt_count", card.attempt_count if card else 0))
        happened = self.record(
            name or (card.id if card else ""), change.event, actor, attempt=attempt, changes=change.changes,
            about=change.about,
        )  # fmt: skip
        new = evolve(card, happened)
        if card is None:
            self._execute("INSERT OR IGNORE INTO meta VALUES ('begun', ?)", (self.now,))
            self.keep(new)
        else:
            self._replace(card, new)
        return new

    def keep(self, card: Card) -> None:
        self.touched.add(card.queue)
        row = _row(card)
        places = ", ".join("?" * len(row))
        self._execute(f"INSERT OR REPLACE INTO cards ({', '.join(row)}) VALUES ({places})", tuple(row.values()))  # noqa: S608  # our own column names

    def _replace(self, old: Card, new: Card) -> None:
        """Store a changed card. Only columns that differ are named, since SQLite rewrites every index that is named."""
        before, after = _row(old), _row(new)
        self.touched.update((before["queue"], after["queue"]))
        changed = {name: value for name, value in after.items() if value != before[name]}
        if changed:
            words = ", ".join([f"{name} = ?" for name in changed])
            self._execute(f"UPDATE cards SET {words} WHERE id = ?", (*changed.values(), new.id))  # noqa: S608  # our own column names

    def drop(self, card: Card) -> None:
        """Take an archived ticket off the board; its events stay."""
        self.touched.add(card.queue)
        self._execute("DELETE FROM cards WHERE id = ?", (card.id,))

    def first(self, queue: str, mark: int, request: str = "") -> Card | None:
        """Return the first ticket of a queue with this claim mark; with `request`, only of that request."""
        more, values = ("AND request = ?", (queue, mark, request)) if request else ("", (queue, mark))
        return next(iter(self._cards(f"queue = ? AND mark = ? {more} ORDER BY arrival LIMIT 1", *values)), None)

    def expired(self, ticks: int) -> list[Card]:
        return self._cards("expires <= ? ORDER BY arrival", ticks)

    def add_wait(self, ticket: str, on_ticket: str, *, table: Literal["waits", "follows"] = "waits") -> None:
        self._execute(f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", (ticket, on_ticket))  # noqa: S608  # our own names

    def end_follows(self, ticket: str) -> None:
        self._execute("DELETE FROM follows WHERE ticket = ?", (ticket,))

    def end_waits_for(self, on_ticket: str) -> list[str]:
        """Remove every wait for a ticket. Return the tickets that now wait for nothing."""
        rows = self._execute("DELETE FROM waits WHERE on_ticket = ? RETURNING ticket", (on_ticket,)).fetchall()
        rows += self._execute("DELETE FROM follows WHERE on_ticket = ? RETURNING ticket", (on_ticket,)).fetchall()
        return [name for (name,) in dict.fromkeys(rows) if not self.waits_for(name)]

    def set_meta(self, name: str, value: str) -> None:
        self._execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def set_file(self, name: str, before: str, written: str) -> None:
        self._execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", (name, before, written))

    def note_behind(self) -> None:
        """Record which files have to be written. If this process dies first, the next one writes them."""
        if self.touched:
            rows = ", ".join(["(?, 0)"] * len(self.touched))
            only_new = "ON CONFLICT (queue) DO UPDATE SET writing = 0 WHERE writing"
            self._execute(f"INSERT INTO behind VALUES {rows} {only_new}", tuple(self.touched))  # noqa: S608  # placeholders only

    def begin_files(self, queue: str) -> None:
        """Record that a queue's files are being written from the store's present content."""
        self._execute("INSERT OR REPLACE INTO behind VALUES (?, 1)", (queue,))

    def end_files(self, queue: str) -> None:
        """Record that a queue's files are written. A queue that changed again meanwhile stays out of date."""
        self._execute("DELETE FROM behind WHERE queue = ? AND writing", (queue,))


def _card(row: Sequence[Any]) -> Card:
    data = dict(zip(_NAMES, row, strict=True))
    data["checks"] = tuple(json.loads(data["checks"])) if data["checks"] else ()
    data["blocked"], data["for_planner"] = bool(data["blocked"]), bool(data["for_planner"])
    return Card(**data)


def _row(card: Card) -> dict[str, Any]:
    """Return a card as a row of the table. Its queue and claim mark are what rows are searched by, and are not read."""
    checks = _json(card.checks) if card.checks else ""
    return {**fields_of(card), "checks": checks, "queue": card.queue, "mark": claim_mark(card)}
