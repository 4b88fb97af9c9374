"""Verifies a person's own work on a ticket: it is judged like any other, recorded as evidence, and goes to review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app import requests
from santiago.app.actor import actor as named
from santiago.app.board import evidence
from santiago.app.board.reviewing import take_answers
from santiago.app.board.routing import routed
from santiago.app.board.settling import JUDGED, open_question
from santiago.app.board.working import Means, settle_after_start, start
from santiago.app.loading import load
from santiago.board.board import found
from santiago.board.claims import refuse_late
from santiago.board.rules import Change, refuse_checks
from santiago.contract.board import TODO, BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.workspace.ancestry import adds_nothing, resolve, same_tree
from santiago.workspace.inspect import uncommitted

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
    opened: Opened,
    name: str,
    ref: str,
    checks: Sequence[str],
    attest: str | None,
    worker: str | None,
    consents: Consents,
) -> Verified:
    """Verify the work in a commit as the ticket's attempt. Its base is the commit at the time of the claim.

    If `worker` is given, they are refused while another holds the ticket.
    """
    means = Means(opened=opened, consents=consents)
    card = _claimed(opened, name, checks, worker, attested=attest is not None)
    if attest is not None:
        return _attested(means, card, attest, named(worker))
    if (commit := resolve(opened.place.project, ref)) is None:
        raise SantiagoError(
            Kind.USAGE, f"there is no commit {ref[:100]!r} here", hint="Commit the work, then name it with --from."
        )
    _refuse_unchanged(means, card, commit)
    if not card.story:
        card = _routed(opened, card, consents)
    if load(means.out_dir(card)).state.phase is RunPhase.CREATED:
        start(means, card, {})  # this runs the checks on the base, and begins the chunk
    start(means, card, {}, role=card.role, own_work=(card.story, ref), renewed=[card])
    moved = settle_after_start(means, card)
    if moved.status == "in_progress":  # its note is about an earlier attempt, so it explains nothing
        hint = f"`santiago status {card.run}` says why. The ticket is still yours: `santiago queue verify {card.id}` again."
        raise SantiagoError(Kind.TRANSIENT, f"no verdict on {card.id} was reached", hint=hint)
    return Verified(card=moved, passed=moved.queue == "planner-review")


def _claimed(opened: Opened, name: str, checks: Sequence[str], worker: str | None, *, attested: bool) -> Card:
    with opened.board.transaction() as at:
        card = found(at, name)
        handed_over = attested and (card.queue == "planner-review" or card.is_unproven)
        if not handed_over and (card.queue not in TODO.values() or card.status != "in_progress"):
            todo = TODO[card.role]
            back = (
                f"`santiago queue move --id {name} --from blocked --to {todo}`, then "
                if card.queue == "blocked"
                else ""
            )
            hint = f"{back}`santiago queue claim --queue {todo} --worker NAME --id {name}` first."
            raise SantiagoError(Kind.INPUT, f"{name} is in {card.queue} and nobody has claimed it", hint=hint)
        refuse_late(card, None, worker)
        if not checks:
            return card
        refuse_checks(checks)
        if card.story:
            raise SantiagoError(Kind.INPUT, f"{name} has the checks of its run", hint="Leave --check out.")
        changes = {"checks": list(dict.fromkeys((*card.checks, *checks)))}
        return at.change(
            card, Change(event=BoardEvent.TICKET_MOVED, changes=changes, about={"why": "a check was added"}), "planner"
        )


def _refuse_unchanged(means: Means, card: Card, commit: str) -> None:
    """Raise if the commit holds nothing new, since judging it would only use up the attempt."""
    project = means.opened.place.project
    run = load(means.out_dir(card)) if card.story else None
    head = run.state.head if run else _began_on(means.opened, card)
    judged = run.history.of(card.story)[-1:] if run else []
    if head and adds_nothing(project, commit, head):
        message = f"{commit[:12]} has no work on {card.id}: it holds nothing that was not there at the claim"
    elif judged and judged[0].status == "failed" and same_tree(project, commit, judged[0].commit):
        message = f"{commit[:12]} holds the same work that did not pass as attempt {judged[0].number}"
    else:
        return
    if path := uncommitted(project):
        message = f"your changes are not committed, such as {path}"
    hint = f"Commit what you changed, then `santiago queue verify {card.id}` again. No attempt was used."
    raise SantiagoError(Kind.INPUT, message, hint=hint)


def _routed(opened: Opened, card: Card, consents: Consents) -> Card:
    """Make the run of a ticket that was added to a worker's queue by hand. If that fails, the person keeps the ticket."""
    try:
        return routed(opened, card, consents, begins_on=_began_on(opened, card))
    except SantiagoError as error:
        if error.reason is Reason.NOTHING_VERIFIED:
            error.message = f"{card.id} has no check, and work without a check is never done"
            error.hint = f"Name one: `santiago queue verify {card.id} --check CMD`."
        raise


def _began_on(opened: Opened, card: Card) -> str | None:
    """Return the commit that was checked out when the ticket was claimed; the present one where it was not recorded."""
    return evidence.began_on(opened, card) or resolve(opened.place.project, "HEAD")


def _attested(means: Means, card: Card, why: str, actor: str) -> Verified:
    """Accept work that no check can judge, on a person's word. The run records it with their name."""
    run = load(means.out_dir(card)) if card.run else None
    asked = open_question(run.state, run.state.stories[card.story]) if run else None
    if run is None or asked is None or asked.kind not in (*JUDGED, "unproven"):
        hint = "`santiago queue verify ID` runs its checks."
        raise SantiagoError(Kind.INPUT, f"{card.id} has no work that a person must judge", hint=hint)
    requests.answer(run, asked.id, "accept", actor, text=why)
    start(means, card, {})
    card = next((one for one in take_answers(means) if one.id == card.id), card)
    note = f"attested by {actor}: {why}"[:300]
    return Verified(card=evidence.keep_attested(means.opened, card, load(means.out_dir(card)), note), passed=True)
