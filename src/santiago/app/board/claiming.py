"""Claims and acceptances that a person makes with a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.board.evidence import keep_attested
from santiago.app.board.freeing import free_ready
from santiago.app.board.reviewing import accept as accept_reviewed
from santiago.app.board.reviewing import all_missing
from santiago.app.board.settings import planners_of
from santiago.app.board.working import Means
from santiago.app.loading import load
from santiago.board import gate
from santiago.board.rules import Move
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
    if links:
        card = opened.board.move(name, source, Move(to="planner-review", evidence=links), actor)
    means = Means(opened=opened, consents=consents)
    if card.run and card.story:
        card = keep_attested(opened, card, load(means.out_dir(card)))
    if lacking := all_missing(means, card, actor, in_person=in_person):
        raise gate.refusal(card, lacking)
    for now in accept_reviewed(means, [card], actor):
        if now.queue == "done":
            return now
        message = f"the work on {name} is on the branch, but no test shows it: only a person's word makes it done"
        raise SantiagoError(Kind.BLOCKED, message, hint=now.next_action)
    hint = "`santiago loop` archives it when the stories before it are done."
    raise SantiagoError(
        Kind.BLOCKED, f"{name} is accepted, but other stories must come onto the branch first", hint=hint
    )
