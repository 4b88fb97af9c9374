"""Collects what governance asks of a ticket whose work passed, so that the done gate can let it through by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app import governing
from santiago.app.board.evidence import began_on
from santiago.app.board.renewing import Renewal
from santiago.board.governance.truth import is_on
from santiago.board.rules import Change, joined, split_links
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
        record_scenarios(means.opened, card.id, ended, base)


def record_scenarios(opened: Opened, ticket: str, ended: Ended, base: str = "") -> bool:
    """Record a run of scenarios as evidence of its ticket, and return whether it may open the done gate.

    `base` is the commit that the work began on, where the caller knows it.
    """
    place, data = opened.place, ended.summary
    assert ended.file is not None
    link, passed = place.named(ended.file), ended.status == "PASS" and data["clean"]
    with opened.store.reading() as at:
        card = at.card(ticket)
    if card is not None and not card.story:
        base = base or began_on(opened, card)
    about = {
        "digest": ended.digest, "status": ended.status, "path": link, "commit": data["commit"] or "", "base": base,
        "passed": passed, "folder": data["evidence_dir"],
    }  # fmt: skip
    with opened.board.transaction() as at:
        card = at.card(ticket)
        if card is None or card.queue == "done" or not passed:
            at.record(
                ticket, BoardEvent.SCENARIOS_RUN, "santiago", attempt=card.attempt_count if card else 0, about=about
            )
            return False
        links = joined([*split_links(card.evidence_links), link])
        at.change(
            card, Change(event=BoardEvent.SCENARIOS_RUN, changes={"evidence_links": links}, about=about), "santiago"
        )
    return True


def recorded_scenarios(at: Reading, ticket: str) -> frozenset[str]:
    """Return the digests of the scenario runs that the board recorded for a ticket."""
    events = at.events(ticket=ticket)
    return frozenset(str(one.about["digest"]) for one in events if one.event is BoardEvent.SCENARIOS_RUN)
