"""Claims and leases: what may be claimed, how a claim changes a ticket, and which moves come from an older claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.board.refusals import bad_input, bad_usage, blocked
from santiago.board.rules import Change
from santiago.board.triage import label
from santiago.contract.board import CLAIMED_FROM, TODO, BoardEvent, Card

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.errors import SantiagoError

ASKS_PLANNER = "The planner decides: replan with a larger budget, bypass it, or stop."


def claim_mark(card: Card) -> int | None:
    """Return 1 for a card that may be claimed, 2 for a waiting card without an attempt left, None for any other."""
    waiting = card.status == "pending" and card.queue in CLAIMED_FROM and not card.decided
    if not waiting or card.error_class == "dependency_blocked":
        return None
    return 2 if card.spent else 1


def claimed(card: Card, worker: str, now: str, expires: int) -> Change:
    changes = {
        "status": "in_progress", "phase": "running", "worker": worker, "lease": f"held:{worker}:{now}", "expires": expires,
        "attempt_count": card.attempt_count + 1, "error_class": "none",
    }  # fmt: skip
    about = {"lost": card.lease} if card.held else {}
    return Change(event=BoardEvent.TICKET_CLAIMED, changes=changes, about=about)


def refuse_worker(worker: str) -> None:
    if not worker.strip() or len(worker) > 100 or not worker.isprintable():
        raise bad_usage(f"{worker[:40]!r} is not a valid name for a worker", "Use letters, digits and `- _ @ .`.")


def refuse_unclaimable(card: Card, waits_for: Sequence[str]) -> None:
    """Raise where a ticket that was asked for by its id cannot be claimed, and say why."""
    if card.queue not in CLAIMED_FROM:
        back = f"`santiago queue move --id {card.id} --from blocked --to {TODO[card.role]}` puts it back"
        hint = back if card.queue == "blocked" else f"Only tickets in {', '.join(CLAIMED_FROM)} can be claimed"
        raise blocked(f"{card.id} is in {card.queue}", f"{hint}.")
    if card.error_class == "dependency_blocked":
        what = ", ".join(waits_for) if waits_for else "earlier work"
        free = f"The board does not know for what; `santiago queue move --id {card.id} --to {card.queue}` frees it."
        raise blocked(f"{card.id} waits for {what}", "It can be claimed when that is done." if waits_for else free)
    if card.status == "in_progress" and card.held:
        back = f"`santiago queue move --id {card.id} --to {card.queue} --phase ready`"
        raise blocked(
            f"{card.id} is held by {card.holder}",
            f"It can be claimed when that lease ends, or after {back} gave it back.",
        )
    if card.status == "in_progress":
        raise blocked(f"{card.id} waits for its stories", "It is a request that was routed; claim one of them.")


def exhausted(card: Card, now: str, event: str) -> Change:
    """Return the change that moves a ticket without an attempt left to blocked, where the planner decides."""
    changes = {
        "queue": "blocked", "status": "blocked", "error_class": "dependency_blocked", "next_action": ASKS_PLANNER,
        "lease": f"released:{now}", "expires": None,
    }  # fmt: skip
    about = {
        "type": event, "from": card.queue, "class": card.error_class, "budget": card.retry_budget,
        "priority": label(card), "note": card.note[:300],
    }  # fmt: skip
    return Change(event=BoardEvent.TICKET_EXHAUSTED, changes=changes, about=about)


def refuse_late(card: Card, lease: str | None, worker: str | None) -> None:
    """Raise where a move comes from an earlier claim than the latest one.

    `lease` is the text of the lease, the number of the claim, or both as `TEXT#NUMBER`. Without it, `worker` must be
    the holder.
    """
    if lease is None:
        if worker is not None and card.held and worker != card.holder:
            raise _stale(card)
        return
    text, _, number = lease.rpartition("#") if "#" in lease else (lease, "", "")
    number = text if text.isdigit() else number
    if number and number != str(card.attempt_count):
        raise _stale(card)
    if not text.isdigit() and (text != card.lease or not card.held):
        raise _stale(card)


def _stale(card: Card) -> SantiagoError:
    who = f"{card.holder} holds it now, by claim {card.attempt_count}" if card.held else f"it is in {card.queue} now"
    return bad_input(
        f"{card.id} is no longer yours: {who}", "Claim it again when it is free; your files are untouched."
    )
