"""Board lines 9, 25, 26 and 65: how urgent a ticket is, what is stuck, and who should take it."""

from typing import Any

import pytest

from santiago.board.triage import as_tsv, claim_lines, hint, label, triage
from tests.board.cards import NOW, blocked, card, spent

PRIORITIES: list[tuple[dict[str, Any], str]] = [
    ({"title": "[P0] Sign in"}, "P0"),
    ({"note": "this is p2"}, "P2"),
    ({"next_action": "p1: look"}, "P1"),
    ({"title": "p3", "error_class": "hard_fail"}, "P3"),
    ({"title": "p3", "note": "now p1"}, "P1"),
    ({"error_class": "hard_fail"}, "P1"),
    ({"attempt_count": 3}, "P1"),
    ({"error_class": "dependency_blocked"}, "P2"),
    ({"error_class": "soft_fail"}, "P2"),
    ({}, "P3"),
    ({"title": "Play an mp3 over p2p, on port p0x and p4"}, "P3"),
    ({"title": "top-p0 and p0-p1 sampling"}, "P3"),
]


@pytest.mark.parametrize(("fields", "expected"), PRIORITIES, ids=str)
def test_priority_by_tag_else_by_class(fields: dict[str, Any], expected: str) -> None:
    """Board line 25."""
    assert label(blocked("T1", **fields)) == expected


def test_triage_is_by_priority_then_the_oldest_first_as_tsv_and_as_data() -> None:
    """Board line 65: decided tickets and those elsewhere need no look; tabs and line ends of a value do not break its row."""
    cards = [
        blocked("T1", updated_at="2026-11-16T12:00:01Z"),
        blocked("T2", updated_at="2026-11-10T12:00:00Z"),
        spent("T3", updated_at="2026-11-17T11:00:00Z"),
        spent("T4", updated_at="2026-11-18T11:00:00Z", note="p0"),
        spent("T5", decided="stop"),
        card("T6"),
    ]
    rows = triage(cards, NOW)
    found = [(row["id"], row["priority"], row["age_days"]) for row in rows]
    assert found == [("T4", "P0", 0), ("T3", "P1", 0), ("T2", "P3", 7), ("T1", "P3", 0)]
    rows = triage([blocked("T1", title="one\ttwo\nthree", next_action="wait")], NOW)
    assert as_tsv(rows).split("\n") == [
        "priority\tage_days\tid\terror_class\tattempt_count\tretry_budget\tupdated_at\ttitle\tnext_action",
        f"P3\t0\tT1\tnone\t0\t3\t{NOW}\tone two three\twait",
    ]
    assert rows[0]["title"] == "one\ttwo\nthree"
    assert as_tsv([]) == "NO_BLOCKED_TICKETS"


@pytest.mark.parametrize(
    ("next_action", "note", "expected"),
    [
        ("profile=refactoring-specialist", "profile=api", ("refactoring-specialist", "next_action")),
        ("build it", "Profile: UI, please", ("frontend-ui", "note")),
        ("[profile=data_engineering]", "", ("data-engineering", "next_action")),
        ("profile=astronaut", "profile=devops", ("infra-automation", "note")),
        ("profile=astronaut", "", ("generalist", "default")),
        ("my-profile=api", "profiles=api", ("generalist", "default")),
        ("TBD", "", ("generalist", "default")),
    ],
)
def test_a_ticket_names_the_profile_that_it_wants(next_action: str, note: str, expected: tuple[str, str]) -> None:
    """Board line 26."""
    found = hint(card("T1", next_action=next_action, note=note))
    assert (found.profile, found.source) == expected


def test_a_claim_hints_at_a_profile_for_developers_only() -> None:
    """Board line 26."""
    wish = "profile=backend"
    assert claim_lines(card("T1", next_action=wish)) == (
        "CLAIM_PROFILE_HINT:backend-api",
        "CLAIM_PROFILE_SOURCE:next_action",
    )
    assert claim_lines(card("T1", "scientist-todo", next_action=wish)) == ()
