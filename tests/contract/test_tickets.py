"""The schema of a ticket refuses what is none; its fields are a closed contract with other programs."""

import json
from typing import Any

import pytest

from santiago.contract import codec
from santiago.contract.board import FIELDS, Ticket
from santiago.contract.errors import SantiagoError
from tests.util.each import each

GOOD: dict[str, Any] = {
    "id": "REQ-1.S1", "status": "in_progress", "worker": "ada", "title": "Say hello", "source": "plan:x",
    "updated_at": "2026-11-17T08:00:00Z", "note": "", "next_action": "TBD", "lease": "held:ada:2026-11-17T08:00:00Z",
    "evidence_links": "none", "phase": "running", "error_class": "none", "attempt_count": 1, "retry_budget": 3,
}  # fmt: skip


def read(data: dict[str, Any]) -> Ticket:
    return codec.decode(Ticket, json.dumps(data).encode(), "ticket")


def test_a_ticket_has_fourteen_fields_in_their_order() -> None:
    """Board lines 6 and 19."""
    assert tuple(GOOD) == FIELDS
    assert read(GOOD).lease == "held:ada:2026-11-17T08:00:00Z"


@each(
    ("field", "value"),
    [
        ("phase", "blocked"), ("phase", ""), ("lease", "held:ada"), ("lease", "held::2026-11-17T08:00:00Z"), ("lease", "mine"),
        ("lease", "released:yesterday"), ("attempt_count", -1), ("retry_budget", 0), ("error_class", "fatal"),
        ("status", "open"), ("updated_at", "2026-11-17"), ("id", ""), ("id", "../x"),
    ],
)  # fmt: skip
def test_a_ticket_with_a_value_outside_its_list_is_refused(field: str, value: object) -> None:
    """Board line 6: phase, lease, counts and class are closed."""
    with pytest.raises(SantiagoError, match=field):
        read({**GOOD, field: value})
