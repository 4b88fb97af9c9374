"""The board as data, for programs and screens: every queue with its tickets, the verdict, and what has to be decided."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from santiago.app.board.asking_tickets import asking_tickets
from santiago.board import board_clock
from santiago.board.board_telling import verdict_of
from santiago.board.loop_verdict import ACTIONABLE, is_for_user
from santiago.board.loop_verdict import as_data as verdict_data
from santiago.board.rules import split_links
from santiago.board.triage import age_days, label
from santiago.contract.board import FIELDS
from santiago.contract.moments import ms_of

if TYPE_CHECKING:
    from santiago.board.board_handle import BoardHandle
    from santiago.board.board_store import Reading
    from santiago.board.loop_verdict import Verdict
    from santiago.contract.board import Card

_MINUTE_MS = 60_000


def whole_board(opened: BoardHandle, backlog: int, now: str, most: int | None = None) -> dict[str, Any]:
    """Read a board, and return it as data; `backlog` is the number of plans that could not become tickets."""
    with opened.store.reading() as at:
        verdict = verdict_of(at, backlog, asking_tickets(at, opened.place.project))
        return board_data(at, verdict, now, most)


def board_data(at: Reading, verdict: Verdict, now: str, most: int | None = None) -> dict[str, Any]:
    """Return the whole board; with `most`, only so many tickets of each queue."""
    ticks, counts = ticks_of(at), at.counts()
    cards = {queue: at.cards(queue) if most is None else at.some(queue, most) for queue in ACTIONABLE}
    return {
        "queues": {queue: [ticket_data(at, card, now, ticks) for card in found] for queue, found in cards.items()},
        "counts": {queue: counts.get(queue, 0) for queue in ACTIONABLE},
        "archived": counts.get("done", 0),
        "verdict": verdict_data(verdict),
        "decisions": [
            {
                "id": card.id,
                "title": card.title,
                "by": "user" if is_for_user(card) else "planner",
                "priority": label(card),
            }
            for card in at.cards("blocked")
            if needs_decision(card, verdict)
        ],
    }


def needs_decision(card: Card, verdict: Verdict) -> bool:
    """Tell whether somebody has to decide before a blocked ticket can go on."""
    return card.queue == "blocked" and not card.decided and (card.spent or card.id in verdict.user_confirmation_ids)


def ticket_data(at: Reading, card: Card, now: str, ticks: int) -> dict[str, Any]:
    """Return one ticket: its fields, and what they mean at this moment."""
    return {
        **{name: getattr(card, name) for name in FIELDS},
        "queue": card.queue, "role": card.role, "request": card.request, "run": card.run, "story": card.story,
        "decided": card.decided, "spent": card.spent, "unproven": card.is_unproven, "priority": label(card),
        "age_days": age_days(card.updated_at, now), "age_minutes": age_minutes(card, now),
        "lease_minutes_left": lease_minutes(card, ticks), "waits_for": at.waits_for(card.id),
        "evidence": split_links(card.evidence_links),
    }  # fmt: skip


def age_minutes(card: Card, now: str) -> int:
    return max(0, ms_of(now) - ms_of(card.updated_at)) // _MINUTE_MS


def lease_minutes(card: Card, ticks: int) -> int | None:
    """Return how long a ticket's lease still lasts, by the board's clock; None if nobody holds it, 0 if the lease ended."""
    return None if card.expires is None else max(0, -((ticks - card.expires) // _MINUTE_MS))


def ticks_of(at: Reading) -> int:
    """Return the board's time without advancing its clock."""
    text = at.meta("clock")
    if text is None:
        return 0
    anchor, (boot, monotonic, wall) = board_clock.Anchor(**json.loads(text)), board_clock.machine_clocks()
    passed = monotonic - anchor.monotonic if boot == anchor.boot else wall - anchor.wall
    return anchor.ticks + max(0, passed)
