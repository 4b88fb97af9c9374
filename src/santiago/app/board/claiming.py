"""Claims, handovers and acceptances that a person makes with a command."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.app.board.evidence import keep_attested
from santiago.app.board.freeing import free_ready
from santiago.app.board.reviewing import accept as accept_reviewed
from santiago.app.board.reviewing import all_missing
from santiago.app.board.settings import planners_of
from santiago.app.board.working import Means
from santiago.app.loading import load
from santiago.board import gate
from santiago.board.board import found
from santiago.board.refusals import bad_input
from santiago.board.rules import Move, evidence_after, split_links
from santiago.contract.errors import Kind, SantiagoError
from santiago.workspace.ancestry import resolve

if TYPE_CHECKING:
    from santiago.app.board.routing import Consents
    from santiago.board.board import Claim
    from santiago.board.opening import Opened
    from santiago.contract.board import Card, Queue


def claim(opened: Opened, queue: Queue, worker: str, actor: str, *, name: str | None, minutes: int) -> Claim:
    """Claim a ticket, and record the commit that its work begins on."""
    free_ready(opened)
    head = resolve(opened.place.project, "HEAD") or ""
    return opened.board.claim(queue, worker, actor, name=name, minutes=minutes, head=head)


def hand_over(
    opened: Opened, name: str, source: Queue | None, wish: Move, actor: str, *,
    lease: str | None = None, worker: str | None = None,
) -> Card:  # fmt: skip
    """Move a ticket as a person says. Its evidence is looked at, and replaces what people named before.

    What santiago itself recorded for the ticket stays beside it.
    """
    place = opened.place
    with opened.store.reading() as at:
        card = found(at, name)
    wish = _replacing(opened, card, wish)
    refuse_lost(opened, name, wish.evidence or (card.evidence_links if wish.to == "planner-review" else ""))
    head = (resolve(place.project, "HEAD") or "") if wish.to == "planner-review" else ""
    return opened.board.move(name, source, wish, actor, lease=lease, worker=worker, head=head)


def refuse_lost(opened: Opened, name: str, links: str) -> None:
    """Raise if evidence leads nowhere. Who hands it over knows what was meant; a planner who looks later does not."""
    if lost := gate.unusable(opened.place, split_links(links)):
        hint = "Name files of the project with --evidence; they replace those that were named before."
        raise bad_input(f"the evidence of {name} cannot be taken: {'; '.join(lost)}", hint)


def _replacing(opened: Opened, card: Card, wish: Move) -> Move:
    """Return the wish with the links that stay beside new evidence: files that santiago made and that are still there."""
    if not split_links(wish.evidence or ""):
        return wish
    place, links = opened.place, split_links(card.evidence_links)
    own = [link for link in links if link.startswith(f"{place.named(place.root)}/")]
    return replace(wish, keeps=tuple(link for link in own if not gate.unusable(place, [link])))


def refuse_other_than_planner(opened: Opened, actor: str, *, in_person: bool) -> str:
    planners = planners_of(opened.place.project, in_person=in_person)
    if actor not in planners:
        hint = gate.who_decides(planners)
        raise SantiagoError(Kind.BLOCKED, f"{actor} is not a planner, and only a planner decides", hint=hint)
    return actor


def accept(
    opened: Opened, name: str, source: Queue | None, links: str | None, actor: str, consents: Consents, *, in_person: bool
) -> Card:  # fmt: skip
    """Take a ticket through the done gate. If anything is missing, list all of it and leave the ticket where it is."""
    with opened.store.reading() as at:
        card = at.card(name)
    if card is None or (source is not None and card.queue != source) or card.queue != "planner-review":
        return opened.board.move(name, source, Move(to="done"), actor)  # the move refuses this, and says why
    means = Means(opened=opened, consents=consents)
    if card.run and card.story:
        card = keep_attested(opened, card, load(means.out_dir(card)))
    wish = _replacing(opened, card, Move(to="planner-review", evidence=links))
    handed = replace(card, evidence_links=evidence_after(card, wish))
    if lacking := all_missing(means, handed, actor, in_person=in_person):
        raise gate.refusal(card, lacking)
    if links:
        card = opened.board.move(name, source, wish, actor)
    for now in accept_reviewed(means, [card], actor):
        if now.queue == "done":
            return now
        message = f"the work on {name} is on the branch, but no test shows it: only a person's word makes it done"
        raise SantiagoError(Kind.BLOCKED, message, hint=now.next_action)
    hint = "`santiago loop` archives it when the stories before it are done."
    raise SantiagoError(
        Kind.BLOCKED, f"{name} is accepted, but other stories must come onto the branch first", hint=hint
    )
