"""The board: tickets with their phases, the queues and moves that follow from these, and the closed list of what can happen to them."""

from __future__ import annotations

from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Any, Literal, get_args

from santiago.contract.reasons import ErrorClass
from santiago.contract.record import AtLeast, Matching, record

Queue = Literal["planner-inbox", "scientist-todo", "developer-todo", "planner-review", "blocked", "done"]
QUEUES: tuple[Queue, ...] = get_args(Queue)
CLAIMED_FROM: tuple[Queue, ...] = ("planner-inbox", "scientist-todo", "developer-todo")
"""Queues whose tickets somebody claims, works on and hands over."""
Status = Literal["pending", "in_progress", "review", "done", "blocked"]
ATTESTED = "verification-results-attested.tsv"
"""The evidence of a ticket that a person accepted on their word, in place of a verdict."""
Phase = Literal["planned", "ready", "running", "evidence_collected", "verified", "done"]

UTC = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
LEASE = rf"(none|held:[^\x00-\x1f\x7f]{{1,100}}:{UTC}|released:{UTC})"
TICKET_ID = r"[A-Za-z0-9_][A-Za-z0-9_.@+:-]{0,119}"
"""The pattern of a ticket's id. The id also names the folder of the ticket's evidence."""
BUDGET = 3
"""How many claims a ticket may have, unless its own budget says otherwise."""
LEASE_MINUTES = 60

PLANNERS = ("planner", "tech-planner", "planner-agent", "tech-planner-agent", "planner-reviewer")
"""Actors who may accept work, where the settings name no others."""
NOTHING = frozenset({"", "-", "none", "n/a", "na", "tbd", "todo"})
"""Texts that people write where they have no evidence."""

MOVES: dict[Queue, tuple[Queue, ...]] = {
    "planner-inbox": ("planner-inbox", "scientist-todo", "developer-todo", "planner-review", "blocked"),
    "scientist-todo": ("scientist-todo", "planner-review", "blocked", "planner-inbox", "developer-todo"),
    "developer-todo": ("developer-todo", "planner-review", "blocked", "planner-inbox", "scientist-todo"),
    "planner-review": ("planner-review", "done", "scientist-todo", "developer-todo", "blocked", "planner-inbox"),
    "blocked": ("blocked", "planner-inbox", "scientist-todo", "developer-todo"),
    "done": (),
}
"""From each queue to the queues that a ticket may move to. It moves to its own queue when it is given back or added to."""

PHASES: dict[Phase, tuple[Phase, ...]] = {
    "planned": ("planned", "ready"),
    "ready": ("ready", "planned"),
    "running": ("running", "evidence_collected", "ready"),
    "evidence_collected": ("evidence_collected", "verified", "ready"),
    "verified": ("verified", "done", "ready"),
    "done": (),
}
"""From each phase to those that a move may name. `running` is entered by a claim only, and `planned` in the inbox only."""


class BoardEvent(StrEnum):
    BOARD_MADE = "board_made"
    TICKET_ADDED = "ticket_added"
    TICKET_IMPORTED = "ticket_imported"
    TICKET_CLAIMED = "ticket_claimed"
    """One claim is one attempt."""
    LEASE_RENEWED = "lease_renewed"
    TICKET_MOVED = "ticket_moved"
    TICKET_ROUTED = "ticket_routed"
    """A request became a run, and its stories tickets."""
    TICKET_FREED = "ticket_freed"
    """The last dependency of the ticket is done."""
    TICKET_EXHAUSTED = "ticket_exhausted"
    TICKET_DECIDED = "ticket_decided"
    EVIDENCE_RECORDED = "evidence_recorded"
    """Santiago ran a ticket's checks; the event holds the digest of the record. Only this opens the done gate."""
    SCENARIOS_RUN = "scenarios_run"
    """Santiago ran scenarios for a ticket; the event holds the digest of the record."""
    TICKET_VERIFIED = "ticket_verified"
    """The done gate found everything in order."""
    TICKET_DONE = "ticket_done"
    """The ticket was accepted, and archived by the same event."""
    TRUTH_SYNCHRONISED = "truth_synchronised"
    ENTRY_BYPASSED = "entry_bypassed"
    CLOCK_JUMPED = "clock_jumped"
    SUMMARY_WRITTEN = "summary_written"
    ARCHIVE_CLEARED = "archive_cleared"


@record
class Ticket:
    """One piece of work on the board; the field order is that of its TSV."""

    id: Annotated[str, Matching(TICKET_ID)]
    status: Status
    worker: str
    title: str
    source: str
    updated_at: Annotated[str, Matching(UTC)]
    note: str
    next_action: str
    lease: Annotated[str, Matching(LEASE)]
    evidence_links: str
    phase: Phase
    error_class: ErrorClass
    attempt_count: Annotated[int, AtLeast(0)]
    retry_budget: Annotated[int, AtLeast(1)]


FIELDS = tuple(Ticket.__annotations__)

Role = Literal["developer", "scientist"]
TODO: dict[Role, Queue] = {"developer": "developer-todo", "scientist": "scientist-todo"}
_OF_PHASE: dict[str, tuple[Status, Queue | None]] = {
    "planned": ("pending", None),
    "ready": ("pending", None),
    "proposed": ("review", "planner-review"),
    "running": ("in_progress", None),
    "evidence_collected": ("review", "planner-review"),
    "verified": ("review", "planner-review"),
    "done": ("done", "done"),
    "failed": ("blocked", "blocked"),
    "blocked": ("blocked", "blocked"),
}
"""Phase of a story → the status and the queue of its ticket; None stands for the queue of whoever works on it next."""
USUAL_PHASE: dict[Status, Phase] = {
    "pending": "ready", "in_progress": "running", "review": "evidence_collected", "blocked": "running", "done": "done",
}  # fmt: skip
Decision = Literal["", "replan", "bypass", "stop", "superseded"]


def ticket_status(phase: str) -> Status:
    """Return the status of a ticket whose story is in this phase."""
    return _OF_PHASE[phase][0]


def queue_of(phase: str, role: Role, *, for_planner: bool = False) -> Queue:
    """Return the queue of a ticket whose story is in this phase. A ticket for the planner is in the inbox until its review."""
    return _OF_PHASE[phase][1] or ("planner-inbox" if for_planner else TODO[role])


def place_in(queue: Queue) -> dict[str, Any]:
    """Return the fields by which a ticket is in a queue, beside a phase that the queue has."""
    place: dict[str, Any] = {"blocked": queue == "blocked"}
    if queue in CLAIMED_FROM:
        place["for_planner"] = queue == "planner-inbox"
    if queue in TODO.values():
        place["role"] = "scientist" if queue == "scientist-todo" else "developer"
    return place


def phase_with(status: Status, phase: Phase) -> Phase:
    """Return the phase of a ticket that another program gave this status, and a phase that may not agree with it."""
    agrees = phase != "done" if status == "blocked" else ticket_status(phase) == status
    return phase if agrees else USUAL_PHASE[status]


@record
class Card:
    """A ticket with its place on the board and what it points at."""

    id: str
    worker: str
    title: str
    source: str = "manual"
    updated_at: str
    note: str = ""
    next_action: str = "TBD"
    lease: str = "none"
    evidence_links: str = "none"
    phase: Phase
    """The phase that it is in, or was blocked from."""
    blocked: bool = False
    for_planner: bool = False
    """Whether the planner works on it next: to plan it, or to see its stories through."""
    error_class: ErrorClass = "none"
    attempt_count: int = 0
    retry_budget: int = BUDGET
    arrival: int = 0
    """Its place in the order of arrival."""
    expires: int | None = None
    """When its lease ends, by the board's own clock; None where nobody holds it."""
    role: Role = "developer"
    """Who works on the ticket, where it is not for the planner."""
    request: str = ""
    """The request that it is a part of."""
    run: str = ""
    story: str = ""
    checks: tuple[str, ...] = ()
    """Checks of the ticket, where it belongs to no story that names any."""
    decided: Decision = ""
    archived_at: str = ""
    archived_by: str = ""

    @property
    def queue(self) -> Queue:
        return queue_of("blocked" if self.blocked else self.phase, self.role, for_planner=self.for_planner)

    @property
    def status(self) -> Status:
        return ticket_status("blocked" if self.blocked else self.phase)

    @property
    def spent(self) -> bool:
        """Whether the ticket needs another claim and has none left."""
        return self.attempt_count >= self.retry_budget and not self.is_unproven

    @property
    def is_unproven(self) -> bool:
        """Whether its work is on the branch of its run, and only a person's word is missing. Nothing failed then."""
        waits = self.blocked and self.phase == "verified" and not self.decided
        return waits and self.error_class == "none" and bool(self.story)

    @property
    def held(self) -> bool:
        return self.lease.startswith("held:")

    @property
    def holder(self) -> str:
        """Who holds it; empty where nobody does."""
        return self.lease.removeprefix("held:")[:-21] if self.held else ""


@record
class TicketEvent:
    """One event of the board, as it is kept."""

    seq: int
    at: str
    event: BoardEvent
    ticket: str
    actor: str
    attempt: int
    """The claim that it belongs to; 0 where it belongs to none."""
    changes: dict[str, object]
    """The fields of the card that change, with their new values."""
    about: dict[str, object]
    """What else is worth knowing: why, what from, which digest."""


_NAMES = tuple(Card.__annotations__)
_values = attrgetter(*_NAMES)


def fields_of(card: Card) -> dict[str, Any]:
    """Return a card as plain data."""
    return dict(zip(_NAMES, _values(card), strict=True))


def evolve(card: Card | None, event: TicketEvent) -> Card:
    """Return the card after an event. Cards change nowhere else. One that enters a queue stands behind all that came before."""
    changes = _changes_of(event)
    if "checks" in changes:
        changes["checks"] = tuple(changes["checks"])
    values = changes if card is None else fields_of(card) | changes
    new = Card(**values)
    return new if card is not None and new.queue == card.queue else Card(**values | {"arrival": event.seq})


def _changes_of(event: TicketEvent) -> dict[str, Any]:
    """Return the fields that an event sets. Earlier versions recorded queue and status, which now follow from other fields."""
    changes: dict[str, Any] = {"updated_at": event.at, "id": event.ticket, **event.changes}
    queue, status = changes.pop("queue", None), changes.pop("status", None)
    if queue is not None:
        changes |= place_in(queue)
    if status is not None and "phase" in changes:
        changes["phase"] = phase_with(status, changes["phase"])
    return changes


def ticket_of(card: Card) -> Ticket:
    return Ticket(**{name: getattr(card, name) for name in FIELDS})
