"""The commands of the board. Each is one transaction. `rules` says what is allowed; the store holds the result."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from santiago.board import rules
from santiago.board.rules import Change
from santiago.contract.board import CLAIMED_FROM, LEASE_MINUTES, BoardEvent, Card, Queue
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import record
from santiago.util.own_run import refuse_own_word

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from santiago.board.board_store import Reading, Store, Writing
    from santiago.board.rules import Move

EXHAUSTED_AT_CLAIM = "retry_budget_exhausted_auto_claim"
EXHAUSTED_BY_HAND = "retry_budget_exhausted_manual_reconcile"
_MINUTE_MS = 60_000
_WORKERS = frozenset({"developer", "scientist", "worker", "santiago", "loop"})
_AGENT = "-agent"


@record
class Claim:
    """The result of a claim. `card` is None where no ticket could be claimed."""

    card: Card | None
    escalated: tuple[Card, ...] = ()
    """Tickets that this claim moved to blocked, because they have no attempt left."""

    @property
    def only_spent(self) -> bool:
        """Whether no ticket was claimed, and at least one had no attempt left."""
        return self.card is None and bool(self.escalated)


class Board:
    """The board of one project. After each commit, `changed` is called with the queues that the command touched."""

    def __init__(self, store: Store, changed: Callable[[set[str]], None] = lambda _: None) -> None:
        self.store = store
        self._changed = changed

    # Tickets

    def add(self, card: Card, actor: str, waits_for: Sequence[str] = ()) -> Card:
        """Put a new ticket onto the board. An id is never used twice, even after its ticket was archived.

        A ticket with an empty id gets one.
        """
        with self.transaction() as at:
            return add(at, card, actor, waits_for)

    def claim(
        self,
        queue: Queue,
        worker: str,
        actor: str,
        *,
        name: str | None = None,
        request: str = "",
        minutes: int = LEASE_MINUTES,
        head: str = "",
    ) -> Claim:
        """Claim the ticket called `name`, or else the first one in the queue that may be claimed.

        With `request`, only the tickets of that request are considered.
        """
        rules.refuse_worker(worker)
        if queue not in CLAIMED_FROM:
            raise SantiagoError(
                Kind.USAGE,
                f"tickets in {queue} cannot be claimed",
                hint=f"Claim from one of {', '.join(CLAIMED_FROM)}.",
            )
        with self.transaction() as at:
            ticks = self.store.ticks()
            release_expired(at, ticks)
            escalated = escalate(at, queue, actor, EXHAUSTED_AT_CLAIM)
            card = at.first(queue, 1, request) if name is None else _named(at, name, queue)
            if card is None:
                return Claim(card=None, escalated=tuple(escalated))
            change = rules.claimed(card, worker, _lease_time(at, card), ticks + minutes * _MINUTE_MS)
            change.about.update({"head": head} if head else {})
            return Claim(card=at.change(card, change, actor), escalated=tuple(escalated))

    def renew(self, name: str, lease: str, actor: str, *, minutes: int = LEASE_MINUTES) -> Card:
        """Prolong a lease. A lease that ended can be renewed as long as nobody else has claimed the ticket."""
        with self.transaction() as at:
            card = found(at, name)
            if not card.held:
                raise SantiagoError(Kind.INPUT, f"nobody holds {name}", hint="Claim it first: `santiago queue claim`.")
            rules.refuse_late(card, lease, None)
            expires = self.store.ticks() + minutes * _MINUTE_MS
            change = rules.Change(event=BoardEvent.LEASE_RENEWED, changes={"expires": expires}, about={})
            return at.change(card, change, actor)

    def move(
        self,
        name: str,
        source: Queue | None,
        wish: Move,
        actor: str,
        *,
        lease: str | None = None,
        worker: str | None = None,
        frees: bool = False,
        head: str = "",
    ) -> Card:
        """Move a ticket between queues. Only `accept` moves a ticket to done.

        `head` is the commit that its work ends on, where somebody hands it over. With `frees`, the tickets that wait
        for it go on: its work is on the branch, and only a person's word is missing.
        """
        with self.transaction() as at:
            card = found(at, name)
            if source is not None and card.queue != source:
                message = f"{name} is in {card.queue}, not in {source}"
                raise SantiagoError(Kind.INPUT, message, hint=f"Use --from {card.queue}.")
            rules.refuse_late(card, lease, worker)
            change = _still_waiting(at, card, rules.moved(card, wish, at.now))
            change.about.update({"head": head} if head else {})
            card = at.change(card, change, actor)
            if frees:
                free(at, card, actor)
            return card

    def take_answer(self, name: str, wish: Move, actor: str) -> Card:
        """Move a ticket with unproven work to where a person's answer sends it; leave it if it was moved meanwhile."""
        with self.transaction() as at:
            card = found(at, name)
            return at.change(card, rules.answered(card, wish, at.now), actor) if card.is_unproven else card

    def decide(self, name: str, word: str, actor: str, *, budget: int | None = None, why: str = "") -> Card:
        """Apply the planner's decision. A bypass frees the tickets that waited for this one; other closings close them."""
        with self.transaction() as at:
            card = found(at, name)
            card = at.change(card, _still_waiting(at, card, rules.decided(card, word, budget, why)), actor)
            if word == "bypass":
                free(at, card, actor)
            elif card.decided:
                close_dependents(at, card, actor)
            close_request(at, card, actor)
            return card

    def free(self, name: str, actor: str) -> None:
        """Let a ticket go on that only had to wait for its turn."""
        with self.transaction() as at:
            at.end_follows(name)
            card = at.card(name)
            if card is not None and not at.waits_for(name):
                _free(at, card, actor)

    def reconcile(self, queues: Sequence[Queue], actor: str) -> list[Card]:
        """Move every waiting ticket without an attempt left to blocked."""
        with self.transaction() as at:
            release_expired(at, self.store.ticks())
            return [card for queue in queues for card in escalate(at, queue, actor, EXHAUSTED_BY_HAND)]

    def accept(self, name: str, actor: str, seen: int, why: str) -> Card:
        """Archive a ticket that passed the done gate.

        `seen` is the attempt that the gate looked at. If the ticket has another attempt by now, it is refused: the gate
        did not see that work.
        """
        with self.transaction() as at:
            card = found(at, name)
            if card.queue != "planner-review" or card.attempt_count != seen:
                message = f"{name} was changed meanwhile: it is in {card.queue} now"
                raise SantiagoError(Kind.TRANSIENT, message, hint="Run the same command again.")
            for change in rules.archived(at.now, actor, why):
                card = at.change(card, change, actor)
            free(at, card, actor)
            close_request(at, card, actor)
            return card

    def note(self, name: str, event: BoardEvent, actor: str, *, attempt: int = 0, about: dict[str, Any]) -> None:
        """Record an event that changes no ticket."""
        with self.transaction() as at:
            at.record(name, event, actor, attempt=attempt, about=about)

    @contextmanager
    def transaction(self) -> Iterator[Writing]:
        """Open one transaction. Once it is committed, `changed` is called with the queues that it touched."""
        with self.store.writing() as at:
            yield at
        self._changed(at.touched)


def found(at: Reading, name: str) -> Card:
    """Return a ticket that is to be changed; raise where there is none with this id."""
    card = at.card(name)
    if card is None:
        raise SantiagoError(Kind.INPUT, f"there is no ticket {name}", hint="`santiago queue list` shows all.")
    refuse_own_word(card.run)
    return card


def add(at: Writing, card: Card, actor: str, waits_for: Sequence[str] = (), follows: Sequence[str] = ()) -> Card:
    """Put a ticket onto the board within a transaction. It waits for those of `waits_for` that are not done.

    It must not overtake those of `follows`, but it needs nothing of theirs: if one is closed, it goes on.
    """
    open_ones, before = _open_ones(at, waits_for), _open_ones(at, follows)
    if not card.id:
        card = replace(card, id=free_id(at, "REQ" if card.queue == "planner-inbox" else "T"))
    change = rules.added(card, waits=bool(open_ones or before))
    if at.knows(card.id):
        there = "there is" if at.card(card.id) is not None else "there was"
        raise SantiagoError(Kind.INPUT, f"{there} a ticket {card.id} already", hint="Choose another id.")
    for name in open_ones:
        at.add_wait(card.id, name)
    for name in before:
        at.add_wait(card.id, name, table="follows")
    return at.change(None, change, actor, name=card.id)


def free_id(at: Writing, prefix: str) -> str:
    """Return an id that no ticket has or had: the prefix and the next number. The board remembers how far it counted."""
    number = int(at.meta(f"last {prefix}") or 0) + 1
    while at.knows(f"{prefix}-{number}"):
        number += 1
    at.set_meta(f"last {prefix}", str(number))
    return f"{prefix}-{number}"


def _open_ones(at: Reading, names: Sequence[str]) -> list[str]:
    others = [found(at, name) for name in names]
    return [other.id for other in others if other.queue != "done" and other.decided != "bypass"]


def escalate(at: Writing, queue: Queue, actor: str, event: str) -> list[Card]:
    """Move waiting tickets without an attempt left to blocked."""
    gone = []
    while (card := at.first(queue, 2)) is not None:
        gone.append(at.change(card, rules.exhausted(card, at.now, event), actor))
    return gone


def release_expired(at: Writing, ticks: int) -> None:
    """Put tickets whose lease ended back into their queue. The lost attempt still counts."""
    for card in at.expired(ticks):
        about = {"lost": card.lease, "from": card.queue}
        changes = {"phase": "ready", "lease": "none", "expires": None, "error_class": "soft_fail"}
        at.change(card, rules.Change(event=BoardEvent.TICKET_MOVED, changes=changes, about=about), "santiago")


def free(at: Writing, card: Card, actor: str) -> None:
    """Free the tickets that waited for this ticket and for no other."""
    for name in at.end_waits_for(card.id):
        if (other := at.card(name)) is not None:
            _free(at, other, actor)


def _free(at: Writing, card: Card, actor: str) -> None:
    if card.error_class == "dependency_blocked" and card.status == "pending":
        at.change(card, rules.FREED, actor)


def close_dependents(at: Writing, card: Card, actor: str) -> None:
    """Close every open ticket that waits for a closed one or is part of it, and then those that wait for these."""
    closed = [card]
    while closed:
        gone = closed.pop()
        others = (*map(at.card, at.dependents(gone.id)), *at.of_request(gone.id))
        left = [other for other in others if other is not None and not other.decided and other.queue != "done"]
        closed += [at.change(other, rules.closed_with(gone), actor) for other in left]


def close_request(at: Writing, card: Card, actor: str) -> None:
    """Close a request if none of its stories is open and one was stopped, since it cannot become done."""
    request = at.card(card.request) if card.request else None
    children = at.of_request(card.request) if request is not None else []
    stopped = [one for one in children if one.decided in ("stop", "superseded")]
    if request is not None and stopped and all(one.queue == "done" or one.decided for one in children):
        at.change(request, rules.closed_with(stopped[0]), actor)


def _lease_time(at: Writing, card: Card) -> str:
    """Return the time that a new lease contains. It is later than in any earlier lease of the ticket, so each is unique."""
    last = at.last_lease(card.id)[-len(at.now) :] if card.attempt_count else ""
    if last < at.now:
        return at.now
    return (datetime.fromisoformat(last) + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _still_waiting(at: Writing, card: Card, change: rules.Change) -> rules.Change:
    """Return the change, and mark the ticket as waiting if it moves to a queue of work before its dependencies are done."""
    if "for_planner" in change.changes and at.waits_for(card.id):
        change.changes["error_class"] = "dependency_blocked"
    return change


def _named(at: Writing, name: str, queue: Queue) -> Card:
    card = found(at, name)
    if card.queue != queue and card.queue in CLAIMED_FROM:
        raise SantiagoError(Kind.INPUT, f"{name} is in {card.queue}, not in {queue}", hint="Claim it from there.")
    rules.refuse_unclaimable(card, at.waits_for(name))
    return card


def months(at: Reading) -> dict[str, int]:
    """Return how many tickets each month's archive holds."""
    found = Counter(card.archived_at[:7] for card in at.cards("done") if card.archived_at)
    return dict(sorted(found.items()))


def flush(at: Writing, actor: str) -> int:
    """Archive the tickets that an imported board left in its done queue. Return how many there were."""
    left = [card for card in at.cards("done") if not card.archived_at]
    for card in left:
        changes = {"archived_at": at.now, "archived_by": actor}
        at.change(card, Change(event=BoardEvent.TICKET_DONE, changes=changes, about={"why": "flushed"}), actor)
    return len(left)


def refuse_worker(at: Reading, actor: str, agents: Collection[str] = ()) -> None:
    """Raise where an agent, or a person who works on a ticket, wants to empty the archive."""
    name = actor.strip().lower()
    is_agent = name in _WORKERS or name in agents or name.startswith("tech-") or name.endswith(_AGENT)
    held = [card.id for queue in ("planner-inbox", "scientist-todo", "developer-todo") for card in at.cards(queue)
            if card.held and name in (card.holder.lower(), card.worker.lower())]  # fmt: skip
    if is_agent or held:
        why = f"works on {held[0]}" if held else "is a worker"
        hint = "A person does this, under a name of their own: --actor NAME."
        raise SantiagoError(Kind.BLOCKED, f"{actor} {why}, and only a person empties the archive", hint=hint)


def clear(at: Writing, actor: str) -> dict[str, int]:
    """Take every archived ticket off the board, and record that. The events stay. Return the count per month."""
    held = months(at)
    for card in at.cards("done"):
        if card.archived_at:
            at.drop(card)
    if held:
        at.record("", BoardEvent.ARCHIVE_CLEARED, actor, about={"months": held, "tickets": sum(held.values())})
    return held
