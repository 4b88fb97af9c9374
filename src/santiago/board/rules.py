"""The rules of the board: pure functions from a card and a wish to the change that follows, or to a refusal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from santiago.board.triage import label
from santiago.contract.board import (
    CLAIMED_FROM,
    MOVES,
    NOTHING,
    PHASES,
    TICKET_ID,
    TODO,
    BoardEvent,
    Card,
    Phase,
    Queue,
    Status,
    place_in,
    ticket_status,
)
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.reasons import ErrorClass
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.errors import SantiagoError

LONGEST = 20_000
"""The most characters that one value may have."""
_CONTROL = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and the characters that stand for bytes that are no text."""
MOST_ATTEMPTS = 10_000
_NO_CHECKS = frozenset({"", ":", "true"})
_PHASE: dict[Queue, Phase] = {
    "planner-inbox": "planned", "scientist-todo": "ready", "developer-todo": "ready",
    "planner-review": "evidence_collected", "blocked": "running", "done": "done",
}  # fmt: skip
_FIRST: dict[Queue, tuple[Phase, ...]] = {
    "planner-inbox": ("planned", "ready"), "scientist-todo": ("planned", "ready"), "developer-todo": ("planned", "ready"),
    "planner-review": ("evidence_collected", "verified"), "blocked": get_args(Phase)[:-1], "done": (),
}  # fmt: skip
NO_ACTION = "TBD"
ASKS_PLANNER = "The planner decides: replan with a larger budget, bypass it, or stop."


@record
class Change:
    """An event, the fields of a card that it changes, and other facts about it."""

    event: BoardEvent
    changes: dict[str, Any]
    about: dict[str, Any]


@record
class Move:
    """A move that somebody wishes. The rules set the fields that are None."""

    to: Queue
    phase: Phase | None = None
    evidence: str | None = None
    keeps: tuple[str, ...] | None = None
    """The links that stay beside new evidence; None for all that there are."""
    note: str | None = None
    next_action: str | None = None
    error_class: ErrorClass | None = None
    worker: str | None = None
    source: str | None = None


# New tickets


def refuse_text(name: str, value: str) -> None:
    """Raise where a value cannot be stored as it is."""
    if _CONTROL.search(value):
        raise bad_usage(f"{name} holds a control character", "Tabs and line ends are kept; remove the others.")
    if len(value) > LONGEST:
        raise bad_usage(f"{name} has {len(value):,} characters, and {LONGEST:,} are the most", "Put it into a file.")


def refuse_checks(checks: Sequence[str]) -> None:
    """Raise where a command cannot be stored, or can never fail."""
    for check in checks:
        refuse_text("a check", check)
        if check.strip() in _NO_CHECKS:
            raise bad_usage(
                f"`{check.strip()}` checks nothing", "Name a command that fails as long as the work is not done."
            )


def refuse_name(name: str) -> None:
    if not re.fullmatch(TICKET_ID, name) or name in (".", ".."):
        raise bad_usage(
            f"{name[:60]!r} is not a valid ticket id", "Use letters, digits and `. _ - @ + :`, at most 120."
        )


def added(card: Card, *, waits: bool) -> Change:
    """Return the change that puts a new ticket onto the board."""
    refuse_name(card.id)
    for name in ("title", "source", "note", "next_action", "worker", "evidence_links"):
        refuse_text(name, getattr(card, name))
    if not card.title.strip():
        raise bad_usage("a ticket needs a title", "Say in a few words what is wanted: --title.")
    refuse_begun(card.queue, card.status, card.phase, card.lease)
    if not 1 <= card.retry_budget <= MOST_ATTEMPTS:
        raise bad_usage(
            f"a ticket has at least one attempt, and at most {MOST_ATTEMPTS:,}", "Say it with --retry-budget."
        )
    if card.attempt_count > card.retry_budget:
        message = (
            f"{count(card.attempt_count, 'attempt is', 'attempts are')} more than the budget of {card.retry_budget}"
        )
        raise bad_usage(message, "Raise --retry-budget, or lower --attempt-count.")
    refuse_checks(card.checks)
    fields = {name: getattr(card, name) for name in Card.__annotations__ if name not in ("id", "updated_at", "arrival")}
    if waits:
        fields |= {"error_class": "dependency_blocked"}
    return Change(event=BoardEvent.TICKET_ADDED, changes=fields, about={})


def new_card(
    queue: Queue, name: str, title: str, *, status: Status | None = None, phase: Phase | None = None, **fields: Any
) -> Card:
    """Return a ticket that is to be added to a queue. Raise where a new one there has another status or phase."""
    phase = phase or _PHASE[queue]
    refuse_begun(queue, status or default_status(queue), phase, fields.get("lease", "none"))
    return Card(
        id=name, title=title, phase=phase, **{"worker": "planner", "updated_at": "", **place_in(queue), **fields}
    )


def refuse_begun(queue: Queue, status: Status, phase: Phase, lease: str) -> None:
    """Raise where no new ticket in a queue has this status, phase and lease."""
    if queue == "done":
        hint = "Add it to planner-inbox; it is done when the planner accepts it."
        raise bad_usage("a ticket cannot be added to done", hint)
    usual = default_status(queue)
    if status != usual:
        raise bad_usage(f"a ticket in {queue} has the status {usual}, not {status}", f"Use --status {usual}.")
    if phase not in _FIRST[queue] or lease.startswith("held:"):
        hint = f"A new ticket there is {' or '.join(_FIRST[queue])}; only a claim makes it running and held."
        raise bad_usage(f"a new ticket in {queue} cannot be {phase} with the lease {lease}", hint)


def default_status(queue: Queue) -> Status:
    return ticket_status("blocked" if queue == "blocked" else _PHASE[queue])


# Moves


def moved(card: Card, wish: Move, now: str) -> Change:
    """Return the change that a move between queues makes to a ticket."""
    _refuse_way(card, wish.to)
    return _moved(card, wish, _phase_after(card, wish), now)


def answered(card: Card, wish: Move, now: str) -> Change:
    """Return the change once a person has said what becomes of unproven work: it is done, or has one more attempt."""
    assert card.is_unproven
    change = _moved(card, wish, "verified" if wish.to == "planner-review" else "ready", now)
    if wish.to in TODO.values():
        change.changes["retry_budget"] = max(card.retry_budget, card.attempt_count + 1)
    return change


def _moved(card: Card, wish: Move, phase: Phase, now: str) -> Change:
    evidence = evidence_after(card, wish)
    if wish.to == "planner-review" and evidence == "none":
        hint = "Name the files that show it with --evidence; `santiago queue verify ID` makes them."
        raise bad_input(f"{card.id} cannot be handed over without evidence", hint)
    if wish.to == "blocked" and not (wish.note or "").strip():
        raise bad_input(f"{card.id} needs a reason why it is blocked", "Give it with --note.")
    for name in ("evidence", "note", "next_action", "source"):
        refuse_text(name, getattr(wish, name) or "")
    stays = wish.to == card.queue
    keeps_lease = stays and phase == "running"
    changes: dict[str, Any] = {
        **place_in(wish.to), "phase": phase, "evidence_links": evidence, "error_class": _class_after(card, wish),
        "lease": card.lease if keeps_lease else (f"released:{now}" if wish.to in ("planner-review", "blocked") else "none"),
        "expires": card.expires if keeps_lease else None,
    }  # fmt: skip
    if card.queue == "blocked" and not stays:
        changes["next_action"] = NO_ACTION  # it said how to unblock the ticket
    given = {"note": wish.note, "next_action": wish.next_action, "worker": wish.worker, "source": wish.source}
    changes |= {name: value for name, value in given.items() if value is not None}
    return Change(event=BoardEvent.TICKET_MOVED, changes=changes, about={"from": card.queue, "phase": card.phase})


def _refuse_way(card: Card, to: Queue) -> None:
    allowed = MOVES[card.queue]
    if to == "done" and card.queue != "planner-review":
        raise blocked(
            f"{card.id} is in {card.queue}, and a ticket gets to done only through the planner's review",
            "Move it to planner-review with its evidence first.",
        )
    if to == "done":
        raise blocked(
            f"{card.id} can get to done only through the done gate", "`santiago queue move --to done` goes through it."
        )
    if to not in allowed:
        raise bad_input(
            f"{card.id} cannot go from {card.queue} to {to}", f"It may go to {', '.join(allowed) or 'no other'}."
        )
    if card.decided:
        raise bad_input(f"{card.id} was closed: {card.decided}", "Add a new ticket if it is still wanted.")
    if card.is_unproven and to != "blocked":
        raise blocked(f"{card.id} waits for a person's word on its work", word_on(card))
    if card.queue == "blocked" and card.spent and to != "blocked":
        message = f"{card.id} has used its {card.retry_budget} attempts"
        raise blocked(message, f"`santiago queue decide {card.id} replan --budget N`, or bypass, or stop.")


def word_on(card: Card) -> str:
    """Return how a person says what becomes of unproven work."""
    accept = f"`santiago accept {card.run} {card.story} --why WHY` takes it on your word"
    return f"{accept}; `santiago answer {card.run}` lists what else you can say."


def _phase_after(card: Card, wish: Move) -> Phase:
    allowed = allowed_phases(card, wish.to)
    usual = card.phase if wish.to in ("blocked", card.queue) and card.phase in allowed else _PHASE[wish.to]
    if wish.to == "planner-review" and card.phase == "verified":
        usual = "verified"
    phase = wish.phase or usual
    if phase not in allowed:
        told = (
            f"Allowed here: {', '.join(allowed)}." if allowed else "Claim it first: only claimed work is handed over."
        )
        raise bad_input(f"{card.id} cannot go from {card.phase} to {phase} in {wish.to}", told)
    return phase


def allowed_phases(card: Card, to: Queue) -> tuple[Phase, ...]:
    """Return the phases in which a ticket may arrive in a queue."""
    next_ones = PHASES[card.phase]
    if to == "planner-inbox":
        return ("planned", "ready")
    if card.queue == "blocked" and to != "blocked":
        return ("ready",)
    if to == "blocked":
        kept = dict.fromkeys((card.phase, *next_ones))
        return tuple(phase for phase in kept if phase != "done" and (phase != "planned" or phase == card.phase))
    if to == "planner-review":
        return tuple(phase for phase in next_ones if phase in ("evidence_collected", "verified"))
    own = card.phase == "running" and to == card.queue and card.held
    return tuple(phase for phase in dict.fromkeys(next_ones) if phase == "ready" or (phase == "running" and own))


def evidence_after(card: Card, wish: Move) -> str:
    """Return the links that a ticket has after a move, each once."""
    links = [one for one in split_links(card.evidence_links) if wish.keeps is None or one in wish.keeps]
    links += split_links(wish.evidence or "")
    return joined(links)


def joined(links: Sequence[str]) -> str:
    """Return links as a ticket has them, each once."""
    return ",".join(dict.fromkeys(links)) or "none"


def split_links(text: str) -> list[str]:
    """Return the links in a text. Commas, semicolons and bars separate them."""
    found = [one.strip() for one in re.split(r"[,;|]", text)]
    return [one for one in found if one.lower() not in NOTHING]


def _class_after(card: Card, wish: Move) -> ErrorClass:
    if wish.error_class is not None:
        return wish.error_class
    if wish.to == "blocked":
        return card.error_class if card.error_class != "none" else "soft_fail"
    return "soft_fail" if card.queue == "planner-review" and wish.to in TODO.values() else "none"


def decided(card: Card, word: str, budget: int | None, why: str) -> Change:
    """Return the change that the planner's decision makes.

    It must be about a ticket that has no attempt left, or that is no longer wanted.
    """
    refuse_text("why", why)
    about = {"why": why, "word": word}
    if card.queue == "done" or card.decided:
        standing = f"closed: {card.decided}" if card.decided else "done"
        raise bad_input(
            f"{card.id} is {standing}; there is nothing to decide", "Add a new ticket for what is still wanted."
        )
    if word == "drop":
        return Change(event=BoardEvent.TICKET_DECIDED, changes=_closed(why or "no longer wanted"), about=about)
    closes = f"`santiago queue decide {card.id} drop` closes it"
    if card.queue != "blocked":
        raise bad_input(
            f"{card.id} is in {card.queue}; there is nothing to decide",
            f"Only blocked tickets need a decision; {closes}.",
        )
    if card.is_unproven:
        raise bad_input(f"{card.id} waits for a person's word on its work", f"{word_on(card)} {closes}.")
    if not card.spent:
        back = f"`santiago queue move --id {card.id} --from blocked --to {TODO[card.role]}` puts it back"
        raise bad_input(
            f"{card.id} has used {card.attempt_count} of {card.retry_budget} attempts", f"{back}; {closes}."
        )
    if word == "replan" and budget is not None:
        if not card.attempt_count < budget <= MOST_ATTEMPTS:
            raise bad_input(
                f"a budget of {budget} is too small: {card.attempt_count} attempts are used", "Name a larger one."
            )
        changes: dict[str, Any] = {
            **place_in("planner-inbox"), "phase": "planned", "retry_budget": budget, "error_class": "none", "lease": "none",
            "next_action": NO_ACTION,
        }  # fmt: skip
        return Change(event=BoardEvent.TICKET_DECIDED, changes=changes, about=about)
    closed = "superseded" if word == "replan" else word
    return Change(event=BoardEvent.TICKET_DECIDED, changes={"decided": closed, "next_action": NO_ACTION}, about=about)


def closed_with(card: Card) -> Change:
    """Return the change that closes a ticket because another one was closed, which it depends on or belongs to."""
    changes = _closed(f"{card.id} was closed: {card.decided}")
    return Change(event=BoardEvent.TICKET_DECIDED, changes=changes, about={"because": card.id})


def _closed(note: str) -> dict[str, Any]:
    """Return the fields that close a ticket in any queue. If a worker holds it, their next move is refused."""
    return {
        "blocked": True, "decided": "stop", "note": note, "next_action": NO_ACTION, "lease": "none", "expires": None,
    }  # fmt: skip


FREED = Change(event=BoardEvent.TICKET_FREED, changes={"error_class": "none", "phase": "ready"}, about={})
"""The change to a ticket when nothing is left that it waits for."""


def archived(now: str, actor: str, why: str) -> tuple[Change, Change]:
    """Return the two changes of an acceptance: verified, then done and archived."""
    verified = Change(event=BoardEvent.TICKET_VERIFIED, changes={"phase": "verified"}, about={"why": why})
    done = Change(
        event=BoardEvent.TICKET_DONE,
        changes={
            "phase": "done", "lease": f"released:{now}", "error_class": "none", "archived_at": now, "archived_by": actor,
        },
        about={},
    )  # fmt: skip
    return verified, done


def claim_mark(card: Card) -> int | None:
    """Return 1 for a card that may be claimed, 2 for a waiting card without an attempt left, None for any other."""
    if card.status != "pending" or card.decided or card.error_class == "dependency_blocked":
        return None
    return 2 if card.spent else 1


def claimed(card: Card, worker: str, now: str, expires: int) -> Change:
    changes = {
        "phase": "running", "worker": worker, "lease": f"held:{worker}:{now}", "expires": expires,
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
        "blocked": True, "error_class": "dependency_blocked", "next_action": ASKS_PLANNER, "lease": f"released:{now}",
        "expires": None,
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


def bad_usage(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.USAGE, message, hint=hint)


def bad_input(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.INPUT, message, hint=hint)


def blocked(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.BLOCKED, message, hint=hint)
