"""A person's own work on a ticket: judged like any other, recorded as its evidence, and handed over to the review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app import requests
from santiago.app.board import evidence
from santiago.app.board.routing import route
from santiago.app.board.settling import open_question
from santiago.app.board.working import Means, settled, start
from santiago.app.loading import load
from santiago.board.board import found
from santiago.board.rules import Change
from santiago.contract.answers import JUDGED
from santiago.contract.board import TODO, BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import RunPhase
from santiago.contract.record import record
from santiago.workspace.ancestry import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.app.board.routing import Consents
    from santiago.board.opening import Opened
    from santiago.contract.board import Card


@record
class Verified:
    card: Card
    passed: bool


def verify(
    opened: Opened, name: str, ref: str, checks: Sequence[str], attest: str | None, actor: str, consents: Consents
) -> Verified:
    """Judge the work in a commit as the ticket's attempt; what it rests on is the commit at its claim."""
    means = Means(opened=opened, consents=consents)
    card = _claimed(opened, name, checks, attested=attest is not None)
    if attest is not None:
        return _attested(means, card, attest, actor)
    if resolve(opened.place.project, ref) is None:
        raise SantiagoError(
            Kind.USAGE, f"there is no commit {ref[:100]!r} here", hint="Commit the work, then name it with --from."
        )
    if not card.run:
        card = route(opened, card, consents, begins_on=_began_on(opened, card))
        if card.queue == "blocked":
            raise SantiagoError(Kind.BLOCKED, f"{card.id}: {card.note}", hint=card.next_action)
    if load(means.out_dir(card)).state.phase is RunPhase.CREATED:
        start(means, card, {})  # its checks run on the base first, and its chunk begins
    start(means, card, {}, role=card.role, own_work=(card.story, ref))
    moved = settled(means, card)
    return Verified(card=moved, passed=moved.queue == "planner-review")


def _claimed(opened: Opened, name: str, checks: Sequence[str], *, attested: bool) -> Card:
    with opened.board.transaction() as at:
        card = found(at, name)
        handed_over = card.queue == "planner-review" and attested
        if not handed_over and (card.queue not in TODO.values() or card.status != "in_progress"):
            hint = f"`santiago queue claim --queue {TODO[card.role]} --worker NAME --id {name}` first."
            raise SantiagoError(Kind.INPUT, f"{name} stands in {card.queue} and nobody has claimed it", hint=hint)
        if not checks:
            return card
        if card.run:
            raise SantiagoError(Kind.INPUT, f"{name} has the checks of its run", hint="Leave --check out.")
        changes = {"checks": list(dict.fromkeys((*card.checks, *checks)))}
        return at.change(
            card, Change(event=BoardEvent.TICKET_MOVED, changes=changes, about={"why": "a check was added"}), "planner"
        )


def _began_on(opened: Opened, card: Card) -> str | None:
    """Return the commit that was checked out when the ticket was claimed."""
    with opened.store.reading() as at:
        claims = [one for one in at.events(ticket=card.id) if one.event is BoardEvent.TICKET_CLAIMED]
    return str(claims[0].about.get("head", "")) or None if claims else None


def _attested(means: Means, card: Card, why: str, actor: str) -> Verified:
    """Take a person's word on work that no check can judge: it is recorded in the run, with their name."""
    run = load(means.out_dir(card)) if card.run else None
    asked = open_question(run.state, run.state.stories[card.story]) if run else None
    if run is None or asked is None or asked.kind not in JUDGED:
        hint = "`santiago queue verify ID` has its checks judge it."
        raise SantiagoError(Kind.INPUT, f"{card.id} has no work that waits for a person's word", hint=hint)
    requests.answer(run, asked.id, "accept", actor, text=why)
    start(means, card, {})
    note = f"attested by {actor}: {why}"[:300]
    return Verified(card=evidence.keep_attested(means.opened, card, load(means.out_dir(card)), note), passed=True)
