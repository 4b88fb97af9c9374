"""The tables of the board's store: reading them as of one moment, and changing them in one transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from santiago.board.claims import claim_mark
from santiago.board.clock import utc
from santiago.contract.board import BoardEvent, Card, Happening, evolve, evolved, fields_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from santiago.board.rules import Change

_IS_RARE = (
    "event NOT IN ('ticket_added', 'ticket_claimed', 'ticket_moved', 'lease_renewed', 'ticket_verified', 'ticket_done')"
)
"""A query for a rare event must contain exactly this text, or SQLite does not use the index of rare events."""
_NAMES = tuple(Card.__annotations__)
_NUMBERS = frozenset({"attempt_count", "retry_budget", "arrival", "expires"})
_COLUMNS = [f"{name} {'INTEGER' if name in _NUMBERS else 'TEXT'}" for name in _NAMES]
_SELECT = f"SELECT {', '.join(_NAMES)} FROM cards"  # noqa: S608  # our own column names
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY, at TEXT NOT NULL, event TEXT NOT NULL, ticket TEXT NOT NULL, actor TEXT NOT NULL,
  attempt INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS events_of ON events (ticket, seq);
CREATE INDEX IF NOT EXISTS rare_events ON events (event, seq) WHERE {_IS_RARE};
CREATE TABLE IF NOT EXISTS cards ({", ".join(_COLUMNS)}, mark INTEGER, PRIMARY KEY (id)) WITHOUT ROWID;
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


class Reading:
    """Reads the board. Everything that it returns is of one moment."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def card(self, name: str) -> Card | None:
        found = self._execute(f"{_SELECT} WHERE id = ?", (name,)).fetchone()
        return _card(found) if found else None

    def knows(self, name: str) -> bool:
        """Tell whether an id was ever used, even if its ticket is no longer on the board."""
        return self._execute("SELECT 1 FROM events WHERE ticket = ? LIMIT 1", (name,)).fetchone() is not None

    def cards(self, queue: str) -> list[Card]:
        """Return the tickets of a queue, in order of arrival."""
        rows = self._execute(f"{_SELECT} WHERE queue = ? ORDER BY arrival", (queue,))
        return [_card(row) for row in rows]

    def bodies(self, queue: str) -> Iterator[dict[str, Any]]:
        """Yield the tickets of a queue as plain data. This is much faster than making cards."""
        rows = self._execute(f"{_SELECT} WHERE queue = ? ORDER BY arrival", (queue,))
        return (dict(zip(_NAMES, row, strict=True)) for row in rows)

    def some(self, queue: str, most: int, *, latest: bool = False) -> list[Card]:
        """Return the first few tickets of a queue; with `latest`, the last few, the latest first."""
        order = "DESC" if latest else "ASC"
        rows = self._execute(
            f"{_SELECT} WHERE queue = ? ORDER BY arrival {order} LIMIT ?", (queue, most)
        )  # our own keyword
        return [_card(row) for row in rows]

    def of_request(self, request: str) -> list[Card]:
        rows = self._execute(f"{_SELECT} WHERE request = ? ORDER BY arrival", (request,))
        return [_card(row) for row in rows]

    def of_source(self, source: str) -> list[Card]:
        rows = self._execute(f"{_SELECT} WHERE source = ? ORDER BY arrival", (source,))
        return [_card(row) for row in rows]

    def of_run(self, run: str) -> list[Card]:
        """Return the tickets of a run, without archived ones."""
        rows = self._execute(f"{_SELECT} WHERE run = ? AND queue <> 'done' ORDER BY arrival", (run,))
        return [_card(row) for row in rows]

    def dependents(self, ticket: str) -> list[str]:
        """Return the tickets that depend on this one."""
        rows = self._execute("SELECT ticket FROM waits WHERE on_ticket = ? ORDER BY ticket", (ticket,))
        return [row[0] for row in rows]

    def counts(self) -> dict[str, int]:
        return dict(self._execute("SELECT queue, count(*) FROM cards GROUP BY queue").fetchall())

    def moving(self) -> int:
        """Return how many tickets somebody holds or could claim."""
        marked = "SELECT count(*) FROM cards WHERE mark IS NOT NULL"
        held = "SELECT count(*) FROM cards WHERE expires IS NOT NULL"
        return int(self._execute(f"SELECT ({marked}) + ({held})").fetchone()[0])  # our own text

    def waits_for(self, ticket: str) -> list[str]:
        """Return the tickets that this one depends on or must not overtake."""
        both = "SELECT on_ticket FROM waits WHERE ticket = ? UNION SELECT on_ticket FROM follows WHERE ticket = ?"
        rows = self._execute(f"{both} ORDER BY on_ticket", (ticket, ticket))
        return [row[0] for row in rows]

    def following(self) -> list[str]:
        """Return the tickets that must not overtake another one."""
        return [name for (name,) in self._execute("SELECT DISTINCT ticket FROM follows ORDER BY ticket")]

    def events(
        self, *, ticket: str | None = None, event: BoardEvent | None = None, since: int = 0
    ) -> Iterator[Happening]:
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
            yield Happening(
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
        return [row[0] for row in self._execute("SELECT name FROM files ORDER BY name")]

    def behind(self) -> list[str]:
        """Return the queues that changed since their files were written."""
        return [row[0] for row in self._execute("SELECT queue FROM behind ORDER BY queue")]


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
    ) -> Happening:  # fmt: skip
        changes, about = changes or {}, about or {}
        made = self._execute(
            "INSERT INTO events (at, event, ticket, actor, attempt, body) VALUES (?, ?, ?, ?, ?, ?)",
            (self.now, event.value, ticket, actor, attempt, _json({"changes": changes, "about": about})),
        )
        seq = made.lastrowid
        assert seq is not None
        return Happening(
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
            self._replace(card, new, evolved(card, happened))
        return new

    def keep(self, card: Card) -> None:
        self.touched.add(card.queue)
        row = _row(card)
        places = ", ".join("?" * len(row))
        self._execute(f"INSERT OR REPLACE INTO cards ({', '.join(row)}) VALUES ({places})", tuple(row.values()))  # noqa: S608  # our own column names

    def _replace(self, old: Card, new: Card, values: dict[str, Any]) -> None:
        """Store a changed card. Only columns that differ are named, since SQLite rewrites every index that is named."""
        self.touched.update((old.queue, new.queue))
        changed = {name: value for name, value in values.items() if value != getattr(old, name)}
        if "checks" in changed:
            changed["checks"] = _checks(new)
        if (mark := claim_mark(new)) != claim_mark(old):
            changed["mark"] = mark
        if changed:
            words = ", ".join([f"{name} = ?" for name in changed])
            self._execute(f"UPDATE cards SET {words} WHERE id = ?", (*changed.values(), new.id))  # noqa: S608  # our own column names

    def drop(self, card: Card) -> None:
        """Take an archived ticket off the board; its events stay."""
        self.touched.add(card.queue)
        self._execute("DELETE FROM cards WHERE id = ?", (card.id,))

    def first(self, queue: str, mark: int, request: str = "") -> Card | None:
        """Return the first ticket of a queue with this claim mark; with `request`, only of that request."""
        where, values = ("AND request = ?", (queue, mark, request)) if request else ("", (queue, mark))
        rows = self._execute(f"{_SELECT} WHERE queue = ? AND mark = ? {where} ORDER BY arrival LIMIT 1", values)
        found = rows.fetchone()
        return _card(found) if found else None

    def expired(self, ticks: int) -> list[Card]:
        rows = self._execute(f"{_SELECT} WHERE expires <= ? ORDER BY arrival", (ticks,))
        return [_card(row) for row in rows]

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
    return Card(**data)


def _row(card: Card) -> dict[str, Any]:
    """Return a card as a row of the table, with its claim mark."""
    return {**fields_of(card), "checks": _checks(card), "mark": claim_mark(card)}


def _checks(card: Card) -> str:
    return _json(card.checks) if card.checks else ""
