"""A ticket whose work passed is given what governance asks of its change, so that the done gate can open by itself."""

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
    """Keep its impact result, and run the scenarios that it concerns; where they cannot run, the done gate says what lacks."""
    place = means.opened.place
    if not is_on(place.project) or not base or not head:
        return
    renewal = Renewal(means.opened.board, [card])
    means.opened.store.close()  # commands are started by a fork, and nobody may have the store open then
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
        vouch(means.opened, card.id, ended)


def vouch(opened: Opened, ticket: str, ended: Ended) -> None:
    """Record what was written down of a run of scenarios: the done gate believes nothing else."""
    opened.board.note(
        ticket, BoardEvent.SCENARIOS_RUN, "santiago", about={"digest": ended.digest, "status": ended.status}
    )


def vouched(at: Reading, ticket: str) -> frozenset[str]:
    """Return the digests of the runs that the board knows of."""
    events = at.events(ticket=ticket)
    return frozenset(str(one.about["digest"]) for one in events if one.event is BoardEvent.SCENARIOS_RUN)
