"""What must hold of a board at any moment, whatever was done to it."""

from santiago.board.board_store import Reading
from santiago.contract.board import CLAIMED_FROM, QUEUES, BoardEvent, Card, evolve
from tests.board import table


def wrong(at: Reading) -> list[str]:
    found: dict[str, Card] = {}
    said = []
    for queue in QUEUES:
        for card in at.cards(queue):
            if card.id in found or card.queue != queue:
                said.append(f"{card.id} stands in {queue}, and in {card.queue}")
            found[card.id] = card
            said += [f"{card.id}: {what}" for what in wrong_with(card)]
            if card.status == "pending" and at.waits_for(card.id) and card.error_class != "dependency_blocked":
                said.append(f"{card.id} may be claimed and waits for {at.waits_for(card.id)}")
    return said + wrong_history(at, found)


def wrong_with(card: Card) -> list[str]:
    said = []
    if card.phase not in table.STANDS[card.queue].get(card.status, ()):
        said.append(f"{card.queue}, {card.status} and {card.phase} do not agree")
    if card.attempt_count > card.retry_budget:
        said.append(f"{card.attempt_count} attempts of {card.retry_budget}")
    if not card.held == (card.status == "in_progress") == (card.expires is not None):
        said.append(f"{card.status} with the lease {card.lease} until {card.expires}")
    if card.held and (card.queue not in CLAIMED_FROM or card.worker != card.holder):
        said.append(f"held by {card.holder} in {card.queue} for {card.worker}")
    if card.decided and card.queue != "blocked":
        said.append(f"decided {card.decided} and in {card.queue}")
    if (card.queue == "done") != bool(card.archived_at):
        said.append(f"in {card.queue}, archived {card.archived_at!r}")
    return said


def wrong_history(at: Reading, cards: dict[str, Card]) -> list[str]:
    """Fold the events anew: they give exactly the cards, and every claim is one attempt, by one holder at a time."""
    folded: dict[str, Card] = {}
    said = []
    for event in at.events():
        if not event.ticket:
            continue
        before = folded.get(event.ticket)
        card = folded[event.ticket] = evolve(before, event)
        if event.event is BoardEvent.TICKET_CLAIMED:
            assert before is not None
            if before.held or card.attempt_count != before.attempt_count + 1 or event.attempt != card.attempt_count:
                said.append(
                    f"{card.id}: claim {event.attempt} by {event.actor} after {before.attempt_count}, {before.lease}"
                )
        elif before is not None and card.attempt_count != before.attempt_count:
            said.append(f"{card.id}: {event.event} counts an attempt")
        if (
            before is not None
            and before.attempt_count != event.attempt
            and event.event is not BoardEvent.TICKET_CLAIMED
        ):
            said.append(f"{card.id}: {event.event} of claim {event.attempt} during claim {before.attempt_count}")
    if folded != cards:
        differ = [name for name in folded.keys() | cards.keys() if folded.get(name) != cards.get(name)]
        said.append(f"events and cards differ: {differ[:5]}")
    return said
