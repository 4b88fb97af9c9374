"""Collects what governance asks of a ticket whose work passed, so that the done gate can let it through by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app import governing
from santiago.app.board.renewing import Renewal
from santiago.board.governance.truth import is_on
from santiago.contract.board import BoardEvent
from santiago.contract.errors import Kind, SantiagoError

if TYPE_CHECKING:
    from santiago.app.board.working import Means
    from santiago.board.governance.summary import Ended
    from santiago.board.opening import Opened
    from santiago.board.records import Reading
    from santiago.contract.board import Card
    from santiago.contract.policy import RunInput


def collect(means: Means, card: Card, base: str | None, head: str | None, run_input: RunInput) -> None:
    """Write the ticket's impact result, and run the scenarios that its change concerns.

    Where they cannot run, the ticket goes on without them, and the done gate says what is missing.
    """
    place = means.opened.place
    if not is_on(place.project) or not base or not head:
        return
    renewal = Renewal(means.opened.board, [card])
    means.opened.store.close()  # commands are started by a fork, and the store must be closed then
    try:
        ended = governing.collect(
            place, card.id, base, head, run_input, means.consents.commands, lambda _: renewal.beat()
        )
    except SantiagoError as error:
        if error.kind is Kind.TRANSIENT:
            raise
        means.consents.tell(f"{card.id}: its scenarios were not run: {error.message}")
        return
    if ended is not None:
        record_scenarios(means.opened, card.id, ended)


def record_scenarios(opened: Opened, ticket: str, ended: Ended) -> None:
    """Record the digest of a run of scenarios. The done gate accepts only runs that are recorded."""
    opened.board.note(
        ticket, BoardEvent.SCENARIOS_RUN, "santiago", about={"digest": ended.digest, "status": ended.status}
    )


def recorded_scenarios(at: Reading, ticket: str) -> frozenset[str]:
    """Return the digests of the scenario runs that the board recorded for a ticket."""
    events = at.events(ticket=ticket)
    return frozenset(str(one.about["digest"]) for one in events if one.event is BoardEvent.SCENARIOS_RUN)
