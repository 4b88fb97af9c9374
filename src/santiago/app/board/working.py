"""Works on the claimed tickets of one run in one start of that run, then moves each by its verdict."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.app.board import governed, settling, ticket_evidence
from santiago.app.board.routing import set_consents
from santiago.app.board.ticket_context import PLANNER, Renewal, run_state
from santiago.app.loading import frozen, load, working
from santiago.app.start.agents import named
from santiago.app.start.compose import execute
from santiago.app.start.request import prepare
from santiago.artifacts.inbox import Inbox
from santiago.artifacts.lock import Lock
from santiago.board.board_commands import found
from santiago.board.rules import Move
from santiago.contract.board import TODO
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import Reason
from santiago.executor.reopen import Grants
from santiago.executor.scope import Scope
from santiago.util.clock import SystemClock
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from santiago.app.board.ticket_context import TicketContext
    from santiago.app.start.request import Request
    from santiago.board.board_handle import BoardHandle
    from santiago.board.board_place import Place
    from santiago.contract.board import Card, Role
    from santiago.contract.state import RunState

_POLL_S = 0.2


class StoppedError(KeyboardInterrupt):
    """Somebody stopped the work, by a signal or with `santiago stop`. Claimed tickets are continued later."""

    def __init__(self, signals: Sequence[int]) -> None:
        super().__init__()
        self.signals = tuple(signals)


def work_on(context: TicketContext, cards: Sequence[Card]) -> list[Card]:
    """Make one attempt for each of these claimed tickets, and return them where they went.

    All belong to one run and one role.
    """
    try:
        start(context, cards[0], {card.story: card.attempt_count for card in cards}, role=cards[0].role, renewed=cards)
    except SantiagoError as error:
        if error.kind is Kind.TRANSIENT:
            give_back(context, cards, error.message)
            raise
        return [_blocked(context, card, error) for card in cards]
    return [settle_after_start(context, card) for card in cards]


def settle_after_start(context: TicketContext, card: Card) -> Card:
    """Move a ticket to where it belongs after a start of its run, also if that ended before the attempt began."""
    if (now := _moved_by_others(context, card)) is not None:
        return now
    moved = settle(context, card)
    if moved.status != "in_progress":
        return moved
    run = load(context.out_dir(card))
    wish = settling.after_end(card, run.state, run.history.end)
    return _moved(context, card, wish) if wish else moved


def start(
    context: TicketContext, of: Card, claims: dict[str, int], *, role: Role = "developer", renewed: Sequence[Card] = (),
    own_work: tuple[str, str] | None = None, skips: list[tuple[str, str]] | None = None,
) -> RunState:  # fmt: skip
    """Continue a run. Only claimed stories begin; work that waits for its integration goes onto the branch."""
    request = _request(context, of, claims, role, own_work, skips)
    context.follow(request)
    request.beat = Renewal(context.opened.board, renewed).beat
    until = time.monotonic() + context.patience_s
    while time.monotonic() < until and working(context.out_dir(of)) is not None:
        time.sleep(_POLL_S)  # a person who verifies their own work is soon done
    context.opened.store.close()  # the start forks, and the store must be closed then
    state = execute(request)
    if request.signals or state.stop_requested:
        raise StoppedError(request.signals)
    return state


def _request(
    context: TicketContext, of: Card, claims: dict[str, int], role: Role, own_work: tuple[str, str] | None,
    skips: list[tuple[str, str]] | None,
) -> Request:  # fmt: skip
    out_dir = context.out_dir(of)
    plan, run_input = frozen(out_dir)
    agent = context.agent_of(role)
    other = named(run_input.agent, agent, None, None) if agent else run_input.agent
    raised = max([0, *(card.retry_budget - run_input.limits.story_max_attempts for card in _children(context, of))])
    request = prepare(
        out_dir, run_input, plan, replace(context.options, actor=PLANNER),
        base=out_dir, grants=_grants(out_dir, raised), own_work=own_work, skips=skips,
        agent=other if replace(other, fallback=run_input.agent.fallback) != run_input.agent else None,
    )  # fmt: skip
    waiting = [card for card in _children(context, of) if card.queue == "blocked" and not card.is_unproven]
    blocked = frozenset(card.story for card in waiting if not card.decided)
    request.scope = Scope(claims=claims, blocked=blocked)
    set_consents(request, context.consents)
    return request


def _children(context: TicketContext, of: Card) -> list[Card]:
    with context.opened.store.reading() as at:
        return at.of_request(of.request or of.id)


def _grants(out_dir: Path, raised: int) -> Grants:
    """Return the attempts by which a ticket's larger budget exceeds what its story may use so far."""
    already = max(
        (more for name, more in load(out_dir).state.raised.items() if name.startswith("story_max_attempts")), default=0
    )
    return Grants(attempts=max(0, raised - already), actor=PLANNER)


def settle(context: TicketContext, card: Card) -> Card:
    """Move a ticket to where its run says that it belongs, with its evidence. Leave it while its attempt is to come."""
    run = load(context.out_dir(card))
    story = run.state.stories[card.story]
    wish = settling.after_attempt(card, run.state, ticket_evidence.critique(run, story))
    if wish is None:
        return card
    link = ticket_evidence.keep(context.opened, card, run)
    if wish.to == "planner-review":
        governed.collect_evidence(
            context, card, ticket_evidence.base_of(context.opened, story), story.commit, run.run_input
        )
    return _moved(context, card, replace(wish, evidence=link))


def _moved_by_others(context: TicketContext, card: Card) -> Card | None:
    """Return the ticket as it is now, if somebody moved it during the work: their move counts. Else return None."""
    with context.opened.store.reading() as at:
        now = found(at, card.id)
    return None if (now.lease, now.attempt_count) == (card.lease, card.attempt_count) else now


def _moved(context: TicketContext, card: Card, wish: Move) -> Card:
    lease = f"{card.lease}#{card.attempt_count}"
    return context.opened.board.move(card.id, card.queue, wish, card.worker, lease=lease)


def take_up_answers(context: TicketContext, cards: Sequence[Card]) -> None:
    """Start the runs whose questions people have answered, so that they read the answers."""
    for run_id in dict.fromkeys(card.run for card in cards):
        first = next(card for card in cards if card.run == run_id)
        inbox = Inbox(context.out_dir(first))
        if any(inbox.answered(one.id) for one in load(context.out_dir(first)).state.open_questions()):
            start(context, first, {})


def leave_out(context: TicketContext, cards: Sequence[Card]) -> None:
    """Leave the stories of closed tickets out of their run, so that no other story waits for them."""
    for run_id in dict.fromkeys(card.run for card in cards):
        closed = [card for card in cards if card.run == run_id]
        stories = load(context.out_dir(closed[0])).state.stories
        skips = [
            (card.story, f"{card.decided}, by the planner")
            for card in closed
            # Work that is on the branch stays there.
            if not (one := stories[card.story]).skipped and not one.integrated and one.phase is not StoryPhase.DONE
        ]
        if skips:
            start(context, closed[0], {}, skips=skips)


def set_aside(context: TicketContext, cards: Sequence[Card]) -> None:
    """Start the runs where the story of a blocked ticket is still next, so that other stories no longer wait for it."""
    for run_id in dict.fromkeys(card.run for card in cards):
        mine = [card for card in cards if card.run == run_id]
        state = load(context.out_dir(mine[0])).state
        chunk = state.next_chunk()
        stories = [state.stories[card.story] for card in mine]
        if any(one.its_turn and not one.aside and chunk and one.chunk == chunk.label for one in stories):
            start(context, mine[0], {})


def give_back(context: TicketContext, cards: Sequence[Card], why: str) -> None:
    for card in cards:
        if _moved_by_others(context, card) is not None:
            continue
        wish = Move(to=TODO[card.role], phase="ready", note=settling.shortened(why), error_class="soft_fail")
        context.opened.board.move(card.id, card.queue, wish, PLANNER, lease=str(card.attempt_count))


def _blocked(context: TicketContext, card: Card, error: SantiagoError) -> Card:
    """Block a ticket whose run could not start, until a person mends the cause."""
    if (now := _moved_by_others(context, card)) is not None:
        return now
    wish = settling.hindered(error, card, TODO[card.role], asks=error.kind is Kind.BLOCKED)
    return context.opened.board.move(card.id, card.queue, wish, PLANNER, lease=str(card.attempt_count))


def free_ready(opened: BoardHandle) -> None:
    """Free each waiting ticket whose story need not wait in its run: those before it are done, blocked or left out."""
    with opened.store.reading() as at:
        waiting = [card for name in at.following() if (card := at.card(name)) is not None and card.run]
    for run in dict.fromkeys(card.run for card in waiting):
        if (state := run_state(opened, run)) is None:
            continue
        for card in waiting:
            if card.run == run and card.queue in TODO.values() and state.stories[card.story].its_turn:
                opened.board.free(card.id, "planner")


@contextmanager
def only_loop(place: Place) -> Iterator[None]:
    """Hold the board's loop lock during the block; raise where another loop holds it."""
    folder = place.root / "locks"
    with guarding(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lock = Lock(folder, since=SystemClock().utc(), name="loop.lock")
    try:
        lock.acquire()
    except SantiagoError as error:
        if error.reason is not Reason.LOCK_HELD:
            raise
        message = f"another loop works on this board: {error.message.removeprefix('it is in use by ')}"
        hint = "It will also work on tickets that are added now. Wait for it, or stop it with Ctrl-C in its terminal."
        raise SantiagoError(Kind.TRANSIENT, message, hint=hint, reason=Reason.LOCK_HELD) from None
    try:
        yield
    finally:
        lock.release()
