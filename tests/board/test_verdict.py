"""Board lines 45, 46, 48 and 49: whether the loop goes on, and who has to decide."""

import pytest

from santiago.board.board_telling import verdict_of
from santiago.board.loop_verdict import ACTIONABLE, accumulated, is_for_user
from santiago.contract.board import Card
from tests.board.boards import Desk, desk
from tests.board.cards import blocked, card, judge, spent

__all__ = ["desk"]

SIGNALS = (
    "needs_user_confirmation", "external_decision_required", "user_decision_required", "requires user confirmation",
    "User  Confirmation\nrequired", "note: needs_user_confirmation.", "(user_decision_required)",
)  # fmt: skip
ROUTED = card("R", "planner-inbox", status="in_progress")
"""A request that became tickets, and waits for them."""
STUCK: list[tuple[list[Card], bool]] = [
    ([blocked("T1"), spent("T2"), spent("T3", decided="stop")], True),
    ([ROUTED, blocked("T1", request="R"), card("T2", request="R", error_class="dependency_blocked")], True),
    ([ROUTED, spent("T1", request="R", decided="stop")], True),
    ([ROUTED, spent("T1", request="R", decided="bypass")], False),
    ([ROUTED], False),
    ([blocked("T1"), card("T2")], False),
    ([blocked("T1"), card("T2", attempt_count=3)], False),
    ([blocked("T1"), card("T2", status="in_progress", lease="held:ann:2026-11-17T12:00:00Z", expires=9)], False),
    ([blocked("T1"), card("T2", "planner-review")], False),
]


def test_an_empty_board_is_done_and_a_plan_with_open_boxes_or_a_ticket_to_judge_is_not() -> None:
    """Board lines 45 and 49: also with archived tickets; what a person has to judge does not move."""
    verdict = judge([], 0)
    assert (verdict.status, verdict.actionable) == ("STOP_DONE", 0)
    assert judge([card("T1", "done")], 0).status == "STOP_DONE"
    assert judge([], 1).status == "CONTINUE"
    assert not judge([blocked("T1")], 1).stuck
    assert judge([blocked("T1"), card("T2", "planner-review")], 0, ["T2"]).moving == 0


@pytest.mark.parametrize("queue", ACTIONABLE)
def test_one_ticket_in_any_queue_is_not_done(queue: str) -> None:
    """Board line 45."""
    verdict = judge([card("T1", queue)], 0)  # type: ignore[arg-type]  # each of the queues
    assert verdict.status == "CONTINUE"
    assert {name: number for name, number in verdict.counts.items() if number} == {queue: 1}


@pytest.mark.parametrize("field", ["note", "next_action"])
@pytest.mark.parametrize("text", SIGNALS)
def test_a_signal_of_a_blocked_ticket_stops_for_the_user(field: str, text: str) -> None:
    """Board line 46: also where other work waits; the ids are listed."""
    verdict = judge([card("T1"), blocked("T2", **{field: text}), blocked("T3")], 0)
    assert (verdict.status, verdict.user_confirmation_ids) == ("STOP_USER_CONFIRMATION", ("T2",))
    assert verdict.actionable == 2


@pytest.mark.parametrize(
    "text",
    ["xneeds_user_confirmation", "needs_user_confirmations", "needs_user_confirmation_later", "pre-user_decision_required",
     "user_decision_required-not", "user confirmation requirements", "needs user_confirmation", ""],
)  # fmt: skip
def test_a_signal_inside_a_longer_word_is_none(text: str) -> None:
    """Board line 46."""
    assert judge([blocked("T1", note=text)], 0).status == "CONTINUE"


def test_a_signal_counts_only_on_a_blocked_ticket_beside_its_title_and_so_does_an_open_question() -> None:
    """Board line 46."""
    word = "needs_user_confirmation"
    assert judge([blocked("T1", title=word), card("T2", note=word, next_action=word)], 0).status == "CONTINUE"
    assert not is_for_user(card("T2", note=word))
    verdict = judge([blocked("T1"), card("T2")], 0, ["T1"])
    assert (verdict.status, verdict.user_confirmation_ids) == ("STOP_USER_CONFIRMATION", ("T1",))
    assert verdict.blocked_for_user == 1


def test_what_was_decided_is_counted_and_keeps_nobody_at_work() -> None:
    """Board lines 28 and 45."""
    cards = [
        spent("T1", decided="stop", note="needs_user_confirmation"),
        spent("T2", decided="bypass"),
        spent("T3", decided="stop"),
    ]
    verdict = judge(cards, 0, bypasses=4)
    assert verdict.status == "STOP_DONE"
    assert verdict.decided == {"stop": 2, "bypass": 1}
    assert (verdict.counts["blocked"], verdict.bypasses) == (0, 4)


def test_three_exhausted_tickets_pile_up_or_one_of_the_highest_priority_that_nobody_decided() -> None:
    """Board line 48."""
    two = [spent("T1"), spent("T2"), blocked("T3", attempt_count=2), card("T4", attempt_count=3)]
    assert accumulated(two, 3) == ()
    assert accumulated([*two, spent("T5")], 3) == ("T1", "T2", "T5")
    assert accumulated(two, 2) == ("T1", "T2")
    assert accumulated([spent("T1", title="[p0] Sign in")], 3) == ("T1",)
    assert accumulated([spent("T1"), blocked("T2", title="p0")], 3) == ()
    assert accumulated([spent(f"T{number}", decided="stop", note="p0") for number in range(5)], 3) == ()


@pytest.mark.parametrize(("cards", "stuck"), STUCK)
def test_where_nothing_can_be_worked_on_no_work_is_announced(cards: list[Card], stuck: bool, desk: Desk) -> None:
    """Board lines 45 and 49: neither does a request that waits for them; no need to read every ticket for it."""
    verdict = judge(cards, 0)
    assert (verdict.status, verdict.stuck) == ("CONTINUE", stuck)
    assert ("tickets are left to work on" in verdict.reason) is not stuck
    desk.keep(*cards)
    with desk.store.reading() as at:
        assert verdict_of(at, 0) == verdict
