"""Tickets for tests: what is not said about one is ordinary."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from santiago.board import loop_verdict, rules
from santiago.board.loop_verdict import Verdict
from santiago.contract.board import Card, Queue, phase_with, place_in

NOW = "2026-11-17T12:00:00Z"


def card(name: str, queue: Queue = "developer-todo", **fields: Any) -> Card:
    phase = phase_with(fields.pop("status", rules.default_status(queue)), fields.pop("phase", "ready"))
    usual = {"worker": "planner", "title": f"Title of {name}", "updated_at": NOW, **place_in(queue)}
    return Card(id=name, phase=phase, **{**usual, **fields})


def blocked(name: str, **fields: Any) -> Card:
    return card(name, "blocked", **fields)


def spent(name: str, **fields: Any) -> Card:
    return blocked(name, **{"attempt_count": 3, "error_class": "dependency_blocked", **fields})


def judge(cards: Iterable[Card], backlog: int, open_questions: Sequence[str] = (), *, bypasses: int = 0) -> Verdict:
    """Return the verdict on these tickets, as `verdict_of` returns it for those of a board."""
    live = [card for card in cards if card.queue != "done"]
    blocked = [card for card in live if card.queue == "blocked"]
    moving = sum(card.held or rules.claim_mark(card) is not None for card in live)
    ending = sum(loop_verdict.is_ending(card, (one for one in live if one.request == card.id)) for card in live)
    per_queue = Counter(card.queue for card in live)
    return loop_verdict.judge(per_queue, blocked, moving, backlog, open_questions, ending=ending, bypasses=bypasses)
