"""Tickets for tests: what is not said about one is ordinary."""

from __future__ import annotations

from typing import Any

from santiago.board import rules
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
