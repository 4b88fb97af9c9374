"""Takes in what another program changed in the board's files. Each change is a move, and the rules of moves apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.board import importing, tsv
from santiago.board.rules import Move
from santiago.contract.board import FIELDS, QUEUES, Card, evolve
from santiago.contract.errors import SantiagoError
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.board.importing import Row
    from santiago.board.opening import Opened
    from santiago.board.records import Reading

_FIXED = ("title", "source", "retry_budget")
"""Fields that no move changes."""


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


def from_tsv(opened: Opened, actor: str) -> tuple[Taken, ...]:
    """Apply every change that the rules allow, then write all files again.

    A file with a change that was refused is kept as a copy.
    """
    edited = opened.projections.edited()
    if not edited:
        return ()
    report = importing.read(opened.place)
    found = [_row(opened, row, actor) for row in report.rows if row.file in edited]
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


def _row(opened: Opened, row: Row, actor: str) -> Taken | None:
    """Apply one row of a changed file; None where it says nothing new."""
    if row.event is not None:
        return None
    if row.card is None:
        return _refused(row, row.fault)
    with opened.store.reading() as at:
        card = at.card(row.id)
        stale = card is not None and card.updated_at > row.card.updated_at
        if card is not None and (_same(card, row.card) or (stale and _looked_like(at, row.card))):
            return None
    if row.card.queue == "done":
        return _refused(row, "a ticket gets to done only through the planner's review")
    if card is not None and stale:
        return _refused(row, f"it has changed on the board since, and is in {card.queue}")
    try:
        done = _apply(opened, card, row.card, actor)
    except SantiagoError as error:
        return _refused(row, error.message)
    return Taken(file=row.file, line=row.line, id=row.id, done=done)


def _apply(opened: Opened, card: Card | None, wanted: Card, actor: str) -> str:
    board = opened.board
    if card is None:
        board.add(wanted, actor)
        return "added"
    for name in _FIXED:
        if _row_values(card)[name] != _row_values(wanted)[name]:
            raise importing.bad_row(f"its {name} was changed, and a move cannot change that")
    # A claim by another program shows in the count. It comes before a handover, but after a move to a queue of work.
    if wanted.status != "in_progress" and wanted.attempt_count > card.attempt_count:
        card = _claim(opened, card, wanted, actor)
    if wanted.status != "in_progress" or wanted.queue != card.queue or wanted.status == card.status:
        card = board.move(card.id, card.queue, _move(card, wanted), actor)
    if wanted.status == "in_progress" and card.status == "pending":
        card = _claim(opened, card, wanted, actor)
    return f"is in {card.queue}, {card.status}"


def _claim(opened: Opened, card: Card, wanted: Card, actor: str) -> Card:
    claim = opened.board.claim(card.queue, wanted.holder or wanted.worker, actor, name=card.id)
    assert claim.card is not None
    return claim.card


def _move(card: Card, wanted: Card) -> Move:
    """Return the move that turns one card into the other, as far as a move can."""
    old, new = _row_values(card), _row_values(wanted)
    text = {name: new[name] for name in ("note", "next_action", "worker") if old[name] != new[name]}
    return Move(
        to=wanted.queue,
        phase=wanted.phase if wanted.phase != card.phase else None,
        evidence=wanted.evidence_links if old["evidence_links"] != new["evidence_links"] else None,
        error_class=wanted.error_class if wanted.error_class != card.error_class else None,
        note=text.get("note", card.note if wanted.queue == "blocked" else None),
        next_action=text.get("next_action"),
        worker=text.get("worker"),
    )


def _missing(opened: Opened, edited: list[str], named: set[str]) -> Iterator[Taken]:
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


def _looked_like(at: Reading, wanted: Card) -> bool:
    """Tell whether the ticket once looked like this. Then nobody edited the row; it is only old."""
    card: Card | None = None
    for event in at.events(ticket=wanted.id):
        if event.changes:
            card = evolve(card, event)
            if _same(card, wanted):
                return True
    return False


def _same(card: Card, other: Card) -> bool:
    return card.queue == other.queue and _row_values(card) == _row_values(other)


def _row_values(card: Card) -> dict[str, str]:
    """Return the values that a card's row shows, by field."""
    return dict(zip(FIELDS, tsv.line(getattr(card, name) for name in FIELDS).rstrip("\n").split("\t"), strict=True))


def _refused(row: Row, why: str) -> Taken:
    return Taken(file=row.file, line=row.line, id=row.id, refused=why)
