"""Takes in TSV files: a project whose tickets are in them, and later what other programs changed in the board's files."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any, get_args

from santiago.artifacts.file_errors import refused
from santiago.artifacts.files import read_bytes, write_whole
from santiago.board import rules, tsv
from santiago.board.rules import Move
from santiago.contract.board import (
    CLAIMED_FROM,
    FIELDS,
    LEASE,
    LEASE_MINUTES,
    QUEUES,
    USUAL_PHASE,
    UTC,
    BoardEvent,
    Card,
    Phase,
    Queue,
    Status,
    evolve,
    phase_with,
    place_in,
)
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.reasons import ErrorClass, Reason
from santiago.contract.record import record
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.board.board_handle import BoardHandle
    from santiago.board.board_place import Place
    from santiago.board.board_store import Reading, Writing

_BUDGET = 3
_TEXTS = ("title", "worker", "source", "note", "next_action", "evidence_links")
_MOST_LISTED = 50
"""How many rows a refusal lists."""
_NOT_UTF8 = pattern("[\ud800-\udfff]")
"""The characters that stand for bytes that are not UTF-8."""
_FIXED = ("title", "source", "retry_budget")
"""Fields that no move changes."""


@record
class Row:
    """One row of one file, and what it was read as."""

    file: str
    line: int
    id: str
    card: Card | None = None
    phase: Phase = "planned"
    """The phase as the row has it. That of the card agrees with the row's status."""
    event: dict[str, str] | None = None
    """The values of a row of the retry history."""
    fault: str = ""
    """Why the row cannot be imported; empty where it can."""

    def told(self) -> str:
        return f"{self.file}:{self.line} {self.id or '(no id)'} {self.fault or 'imported'}"


@record
class Report:
    """Everything that the files contain."""

    rows: tuple[Row, ...]
    digests: dict[str, str]
    """SHA-256 of each file that was read."""
    contents: dict[str, bytes]

    @property
    def faults(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.fault)


def read(place: Place) -> Report:
    """Read all files of a project, and check each row. Nothing is changed."""
    top = place.queues.parent
    archive = [f"archive/{path.name}" for path in tsv.archives(place.archive)]
    names = [name for name in (*tsv.QUEUE_FILES, *archive, tsv.HISTORY) if (top / name).exists()]
    for name in names:
        if not is_inside(top / name, place.project):
            raise refused(top / name, "it is a link that leads out of the project", "Put the file itself there.")
    contents = {name: read_bytes(top / name, tsv.LARGEST) for name in names}
    rows: list[Row] = []
    seen: dict[str, str] = {}
    for name, content in contents.items():
        for row in _rows(name, content):
            if row.card is not None and row.id in seen:
                row = Row(file=name, line=row.line, id=row.id, fault=f"is there twice: also in {seen[row.id]}")
            elif row.card is not None:
                seen[row.id] = f"{name}:{row.line}"
            rows.append(row)
    digests = {name: sha256(content).hexdigest() for name, content in contents.items()}
    return Report(rows=tuple(rows), digests=digests, contents=contents)


def take_in(opened: BoardHandle, report: Report, actor: str, *, force: bool = False) -> tuple[str, ...]:
    """Import the good rows in one transaction, and return a line for each row.

    Where a row is bad, nothing is imported, unless `force` is set.
    """
    refuse(report, force=force)
    lines = tuple(row.told() for row in report.rows)
    with opened.store.writing() as at:
        if at.counts():
            hint = "`santiago queue import --from-tsv` takes in what another program changed in the files."
            raise SantiagoError(
                Kind.INPUT, "the board already has tickets; a project can be imported only once", hint=hint
            )
        for name in dict.fromkeys(row.file for row in report.faults):
            path = opened.projections.path(name)  # its bad rows are left out when it is written again
            write_whole(path.with_name(f"{path.name}.before-import"), report.contents[name])
        ends = opened.store.ticks() + LEASE_MINUTES * 60_000
        for row in report.rows:
            _take(at, row, ends, actor)
        for name, digest in report.digests.items():
            at.set_file(name, digest, digest)
        at.set_meta("begun", at.now)
        at.touched.update(QUEUES)
    return lines


def refuse(report: Report, *, force: bool) -> None:
    """Raise where there is nothing to import, or where a row is bad and `force` is not set."""
    if not report.rows:
        hint = "`santiago queue init` begins a new board."
        raise SantiagoError(Kind.INPUT, "there are no tickets in files here", hint=hint, reason=Reason.INVALID_INPUT)
    if report.faults and not force:
        told = [row.told() for row in report.faults[:_MOST_LISTED]]
        told += [f"and {len(report.faults) - _MOST_LISTED} more"] if len(report.faults) > _MOST_LISTED else []
        message = f"{len(report.faults)} of {count(len(report.rows), 'row')} cannot be imported, so none was:"
        message = "\n  ".join([message, *told])
        hint = "Mend those lines, or leave them out: `santiago queue import --force-rows`."
        raise SantiagoError(Kind.INPUT, message, hint=hint, reason=Reason.INVALID_INPUT)


def _take(at: Writing, row: Row, ends: int, actor: str) -> None:
    about: dict[str, Any] = {"file": row.file, "line": row.line}
    if row.fault:
        return
    if row.event is not None:
        at.record(row.id, BoardEvent.TICKET_EXHAUSTED, row.event["actor"], attempt=_count(row.event, "attempt_count", 0), about={
            **about, "at": row.event["ts_utc"], "type": row.event["event_type"], "from": row.event["from_queue"],
            "to_class": row.event["error_class"], "budget": _count(row.event, "retry_budget", _BUDGET),
            "priority": row.event["priority"], "note": row.event["note"],
        })  # fmt: skip
        return
    card = row.card
    assert card is not None
    changes = {name: getattr(card, name) for name in Card.__annotations__ if name not in ("id", "arrival")}
    if card.status == "in_progress":
        changes["expires"] = ends  # the worker may be gone, so the lease must end
    at.change(None, rules.Change(event=BoardEvent.TICKET_IMPORTED, changes=changes, about=about), actor, name=card.id)


def _rows(name: str, content: bytes) -> Iterator[Row]:
    table = tsv.table(content.decode("utf-8-sig", "surrogateescape"))
    fields = (
        tsv.HISTORY_FIELDS if name == tsv.HISTORY else tsv.ARCHIVE_FIELDS if name.startswith("archive/") else FIELDS
    )
    unknown = [one for one in table.fields if one not in fields]
    if unknown or len(set(table.fields)) != len(table.fields) or (table.fields and "id" not in table.fields):
        named = ", ".join(unknown)[:80].encode("utf-8", "replace").decode()
        fault = f"is not the header of such a file: {named or 'columns are missing or doubled'}"
        yield Row(file=name, line=1, id="", fault=fault)
        return
    for line, values in table.rows:
        if _NOT_UTF8.search("".join(values.values())):
            yield Row(file=name, line=line, id="", fault="is not UTF-8")
        else:
            yield _row(name, line, {**dict.fromkeys(fields, ""), **values})


def _row(name: str, line: int, values: dict[str, str]) -> Row:
    try:
        if name == tsv.HISTORY:
            _time(values, "ts_utc")
            _count(values, "attempt_count", 0)
            _count(values, "retry_budget", _BUDGET)
            return Row(file=name, line=line, id=values["id"], event=values)
        card = card_of(tsv.QUEUE_FILES.get(name, "done"), values)
    except SantiagoError as error:
        return Row(file=name, line=line, id=values["id"], fault=error.message)
    return Row(
        file=name, line=line, id=values["id"], card=card, phase=_word(Phase, values["phase"] or card.phase, "phase")
    )


def card_of(queue: Queue, values: dict[str, str]) -> Card:
    """Return a row as a card. Columns that old files lack get default values. Raise where a value is not allowed."""
    if "" in values:
        raise bad_row(f"has more columns than its header: {values[''][:40]!r}")
    rules.refuse_name(values["id"])
    for name in _TEXTS:
        rules.refuse_text(name, values[name])
    if not values["title"].strip():
        raise bad_row("has no title")
    status = _word(Status, values["status"], "status")
    if status not in (rules.default_status(queue), "in_progress" if queue in CLAIMED_FROM else ""):
        raise bad_row(f"has the status {status}, which {queue} does not have")
    attempts, budget = _count(values, "attempt_count", 0), _count(values, "retry_budget", _BUDGET)
    if not 1 <= budget <= rules.MOST_ATTEMPTS:
        raise bad_row(f"has the retry_budget {budget}; it must be between 1 and {rules.MOST_ATTEMPTS:,}")
    if attempts > budget:
        raise bad_row(f"has {count(attempts, 'attempt')}, more than its budget of {budget}")
    updated_at = _time(values, "updated_at")
    if not re.fullmatch(LEASE, values["lease"] or "none"):
        raise bad_row(f"has {values['lease'][:60]!r} as its lease, which is not valid")
    usual = "planned" if queue == "planner-inbox" and status == "pending" else USUAL_PHASE[status]
    role = "scientist" if "scientist" in values["worker"] else "developer"
    fields: dict[str, Any] = {**{name: values[name] for name in _TEXTS}, "role": role, **place_in(queue)}
    return Card(
        id=values["id"],
        updated_at=updated_at,
        lease=values["lease"] or "none",
        phase=phase_with(status, _word(Phase, values["phase"] or usual, "phase")),
        error_class=_word(
            ErrorClass, values["error_class"] or ("soft_fail" if status == "blocked" else "none"), "error class"
        ),
        attempt_count=attempts,
        retry_budget=budget,
        **fields,
        archived_at=_time(values, "archived_at" if values.get("archived_at") else "updated_at")
        if queue == "done"
        else "",
        archived_by=values.get("archived_by") or values["worker"] if queue == "done" else "",
    )


def _word(kind: Any, word: str, what: str) -> Any:
    if word not in get_args(kind):
        raise bad_row(f"has the {what} {word[:40]!r}, which is not one of {', '.join(get_args(kind))}")
    return word


def _time(values: dict[str, str], name: str) -> str:
    if not re.fullmatch(UTC, values[name]):
        raise bad_row(f"has {values[name][:40]!r} as {name}, which is not a time")
    return values[name]


def _count(values: dict[str, str], name: str, otherwise: int) -> int:
    """Return a count, or the usual one if old files lack it. Anything else is no count: a guess could grant a new budget."""
    text = values[name].strip()
    if not text:
        return otherwise
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise bad_row(f"has {text[:40]!r} as {name}, which is not a whole number from 0 on")
    return int(text)


def bad_row(message: str) -> SantiagoError:
    """Return the error that says why a row cannot be imported."""
    return SantiagoError(Kind.INPUT, message, hint="")


@record
class Taken:
    """What became of one changed row."""

    file: str
    line: int
    """0 where a row was removed, or the whole file is meant."""
    id: str
    done: str = ""
    refused: str = ""

    def told(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where} {self.id or '(no id)'} {self.done or 'refused: ' + self.refused}"


def from_tsv(opened: BoardHandle, actor: str) -> tuple[Taken, ...]:
    """Apply every change that the rules allow, then write all files again.

    A file with a change that was refused is kept as a copy.
    """
    edited = opened.projections.edited()
    if not edited:
        return ()
    report = read(opened.place)
    found = [_edited_row(opened, row, actor) for row in report.rows if row.file in edited]
    taken = [one for one in found if one is not None]
    taken += _missing(opened, edited, {row.id for row in report.rows})
    if tsv.HISTORY in edited:
        taken.append(Taken(file=tsv.HISTORY, line=0, id="", refused="the history is written by the board alone"))
    kept = {one.file for one in taken if one.refused}
    with opened.store.writing() as at:
        for name in edited:
            if name not in kept and name in report.digests:  # the others are kept as copies
                at.set_file(name, report.digests[name], report.digests[name])
        at.touched.update(QUEUES)
    opened.projections.exact(discard=True)
    return tuple(taken)


def _edited_row(opened: BoardHandle, row: Row, actor: str) -> Taken | None:
    """Apply one row of a changed file; None where it says nothing new."""
    if row.event is not None:
        return None
    if row.card is None:
        return _refused(row, row.fault)
    with opened.store.reading() as at:
        card = at.card(row.id)
        stale = card is not None and card.updated_at > row.card.updated_at
        if card is not None and (_same(card, row) or (stale and _looked_like(at, row))):
            return None
    if row.card.queue == "done":
        return _refused(row, "a ticket gets to done only through the planner's review")
    if card is not None and stale:
        return _refused(row, f"it has changed on the board since, and is in {card.queue}")
    try:
        done = _apply(opened, card, row, row.card, actor)
    except SantiagoError as error:
        return _refused(row, error.message)
    return Taken(file=row.file, line=row.line, id=row.id, done=done)


def _apply(opened: BoardHandle, card: Card | None, row: Row, wanted: Card, actor: str) -> str:
    board = opened.board
    if card is None:
        rules.refuse_begun(wanted.queue, wanted.status, row.phase, wanted.lease)
        board.add(wanted, actor)
        return "added"
    for name in _FIXED:
        if _row_values(card)[name] != _row_values(wanted)[name]:
            raise bad_row(f"its {name} was changed, and a move cannot change that")
    # A claim by another program shows in the count. It comes before a handover, but after a move to a queue of work.
    if wanted.status != "in_progress" and wanted.attempt_count > card.attempt_count:
        card = _claim(opened, card, wanted, actor)
    if wanted.status != "in_progress" or wanted.queue != card.queue or wanted.status == card.status:
        card = board.move(card.id, card.queue, _move(card, row, wanted), actor)
    if wanted.status == "in_progress" and card.status == "pending":
        card = _claim(opened, card, wanted, actor)
    return f"is in {card.queue}, {card.status}"


def _claim(opened: BoardHandle, card: Card, wanted: Card, actor: str) -> Card:
    claim = opened.board.claim(card.queue, wanted.holder or wanted.worker, actor, name=card.id)
    assert claim.card is not None
    return claim.card


def _move(card: Card, row: Row, wanted: Card) -> Move:
    """Return the move that turns one card into the other, as far as a move can."""
    old, new = _row_values(card), _row_values(wanted)
    text = {name: new[name] for name in ("note", "next_action", "worker") if old[name] != new[name]}
    return Move(
        to=wanted.queue,
        phase=row.phase if row.phase != card.phase else None,
        evidence=wanted.evidence_links if old["evidence_links"] != new["evidence_links"] else None,
        error_class=wanted.error_class if wanted.error_class != card.error_class else None,
        note=text.get("note", card.note if wanted.queue == "blocked" else None),
        next_action=text.get("next_action"),
        worker=text.get("worker"),
    )


def _missing(opened: BoardHandle, edited: list[str], named: set[str]) -> Iterator[Taken]:
    """Yield tickets whose rows were removed.

    Queues whose files are out of date are skipped: their rows may only not have been written yet.
    """
    with opened.store.reading() as at:
        behind = at.behind()
        for name, queue in tsv.QUEUE_FILES.items():
            if name in edited and queue not in behind:
                for card in at.cards(queue):
                    if card.id not in named:
                        why = "its row was removed, and a ticket leaves the board only through done"
                        yield Taken(file=name, line=0, id=card.id, refused=why)


def _looked_like(at: Reading, row: Row) -> bool:
    """Tell whether the ticket once looked like this. Then nobody edited the row; it is only old."""
    card: Card | None = None
    for event in at.events(ticket=row.id):
        if event.changes:
            card = evolve(card, event)
            if _same(card, row):
                return True
    return False


def _same(card: Card, row: Row) -> bool:
    assert row.card is not None
    return card.queue == row.card.queue and _row_values(card) == {**_row_values(row.card), "phase": row.phase}


def _row_values(card: Card) -> dict[str, str]:
    """Return the values that a card's row shows, by field."""
    return dict(zip(FIELDS, tsv.line(getattr(card, name) for name in FIELDS).rstrip("\n").split("\t"), strict=True))


def _refused(row: Row, why: str) -> Taken:
    return Taken(file=row.file, line=row.line, id=row.id, refused=why)
