"""What people do with tickets themselves: they claim, hand over, have their own work verified, and accept."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.app import requests
from santiago.app.actor import actor as named
from santiago.app.board import ticket_evidence
from santiago.app.board.planner_review import accept as accept_reviewed
from santiago.app.board.planner_review import all_missing, take_answers
from santiago.app.board.routing import routed
from santiago.app.board.settling import JUDGED, open_question
from santiago.app.board.ticket_context import TicketContext, planners_of
from santiago.app.board.ticket_evidence import keep_attested
from santiago.app.board.working import free_ready, settle_after_start, start
from santiago.app.loading import load
from santiago.board import done_gate
from santiago.board.board_commands import found
from santiago.board.rules import Change, Move, bad_input, evidence_after, refuse_checks, refuse_late, split_links
from santiago.contract.board import TODO, BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.util.text import first, flat
from santiago.workspace.ancestry import adds_nothing, resolve, same_tree
from santiago.workspace.inspect import uncommitted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from santiago.app.board.ticket_context import Consents
    from santiago.board.board_commands import Claim
    from santiago.board.board_handle import BoardHandle
    from santiago.contract.board import Card, Queue
LONGEST = 2000
"""The most characters of the message."""


def claim(opened: BoardHandle, queue: Queue, worker: str, actor: str, *, name: str | None, minutes: int) -> Claim:
    """Claim a ticket, and record the commit that its work begins on."""
    free_ready(opened)
    head = resolve(opened.place.project, "HEAD") or ""
    return opened.board.claim(queue, worker, actor, name=name, minutes=minutes, head=head)


def hand_over(
    opened: BoardHandle, name: str, source: Queue | None, wish: Move, actor: str, *,
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


def refuse_lost(opened: BoardHandle, name: str, links: str) -> None:
    """Raise if evidence leads nowhere. Who hands it over knows what was meant; a planner who looks later does not."""
    if lost := done_gate.unusable(opened.place, split_links(links)):
        hint = "Name files of the project with --evidence; they replace those that were named before."
        raise bad_input(f"the evidence of {name} cannot be taken: {'; '.join(lost)}", hint)


def _replacing(opened: BoardHandle, card: Card, wish: Move) -> Move:
    """Return the wish with the links that stay beside new evidence: files that santiago made and that are still there."""
    if not split_links(wish.evidence or ""):
        return wish
    place, links = opened.place, split_links(card.evidence_links)
    own = [link for link in links if link.startswith(f"{place.named(place.root)}/")]
    return replace(wish, keeps=tuple(link for link in own if not done_gate.unusable(place, [link])))


def refuse_other_than_planner(opened: BoardHandle, actor: str, *, in_person: bool) -> str:
    planners = planners_of(opened.place.project, in_person=in_person)
    if actor not in planners:
        hint = done_gate.who_decides(planners)
        raise SantiagoError(Kind.BLOCKED, f"{actor} is not a planner, and only a planner decides", hint=hint)
    return actor


def accept(
    opened: BoardHandle, name: str, source: Queue | None, links: str | None, actor: str, consents: Consents, *, in_person: bool
) -> Card:  # fmt: skip
    """Take a ticket through the done gate. If anything is missing, list all of it and leave the ticket where it is."""
    card = opened.card(name)
    if card is None or (source is not None and card.queue != source) or card.queue != "planner-review":
        return opened.board.move(name, source, Move(to="done"), actor)  # the move refuses this, and says why
    context = TicketContext(opened=opened, consents=consents)
    if card.run and card.story:
        card = keep_attested(opened, card, load(context.out_dir(card)))
    wish = _replacing(opened, card, Move(to="planner-review", evidence=links))
    handed = replace(card, evidence_links=evidence_after(card, wish))
    if lacking := all_missing(context, handed, actor, in_person=in_person):
        raise done_gate.refusal(card, lacking)
    if links:
        card = opened.board.move(name, source, wish, actor)
    for now in accept_reviewed(context, [card], actor):
        if now.queue == "done":
            return now
        message = f"the work on {name} is on the branch, but no test shows it: only a person's word makes it done"
        raise SantiagoError(Kind.BLOCKED, message, hint=now.next_action)
    hint = "`santiago loop` archives it when the stories before it are done."
    raise SantiagoError(
        Kind.BLOCKED, f"{name} is accepted, but other stories must come onto the branch first", hint=hint
    )


@record
class Verified:
    card: Card
    passed: bool


def verify(
    opened: BoardHandle,
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
    context = TicketContext(opened=opened, consents=consents)
    card = _claimed(opened, name, checks, worker, attested=attest is not None)
    if attest is not None:
        return _attested(context, card, attest, named(worker))
    if (commit := resolve(opened.place.project, ref)) is None:
        raise SantiagoError(
            Kind.USAGE, f"there is no commit {ref[:100]!r} here", hint="Commit the work, then name it with --from."
        )
    _refuse_unchanged(context, card, commit)
    if not card.story:
        card = _routed(opened, card, consents)
    if load(context.out_dir(card)).state.phase is RunPhase.CREATED:
        start(context, card, {})  # this runs the checks on the base, and begins the chunk
    start(context, card, {}, role=card.role, own_work=(card.story, ref), renewed=[card])
    moved = settle_after_start(context, card)
    if moved.status == "in_progress":  # its note is about an earlier attempt, so it explains nothing
        hint = f"`santiago status {card.run}` says why. The ticket is still yours: `santiago queue verify {card.id}` again."
        raise SantiagoError(Kind.TRANSIENT, f"no verdict on {card.id} was reached", hint=hint)
    return Verified(card=moved, passed=moved.queue == "planner-review")


def _claimed(opened: BoardHandle, name: str, checks: Sequence[str], worker: str | None, *, attested: bool) -> Card:
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


def _refuse_unchanged(context: TicketContext, card: Card, commit: str) -> None:
    """Raise if the commit holds nothing new, since judging it would only use up the attempt."""
    project = context.opened.place.project
    run = load(context.out_dir(card)) if card.story else None
    head = run.state.head if run else _began_on(context.opened, card)
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


def _routed(opened: BoardHandle, card: Card, consents: Consents) -> Card:
    """Make the run of a ticket that was added to a worker's queue by hand. If that fails, the person keeps the ticket."""
    try:
        return routed(opened, card, consents, begins_on=_began_on(opened, card))
    except SantiagoError as error:
        if error.reason is Reason.NOTHING_VERIFIED:
            error.message = f"{card.id} has no check, and work without a check is never done"
            error.hint = f"Name one: `santiago queue verify {card.id} --check CMD`."
        raise


def _began_on(opened: BoardHandle, card: Card) -> str | None:
    """Return the commit that was checked out when the ticket was claimed; the present one where it was not recorded."""
    return ticket_evidence.began_on(opened, card) or resolve(opened.place.project, "HEAD")


def _attested(context: TicketContext, card: Card, why: str, actor: str) -> Verified:
    """Accept work that no check can judge, on a person's word. The run records it with their name."""
    run = load(context.out_dir(card)) if card.run else None
    asked = open_question(run.state, run.state.stories[card.story]) if run else None
    if run is None or asked is None or asked.kind not in (*JUDGED, "unproven"):
        hint = "`santiago queue verify ID` runs its checks."
        raise SantiagoError(Kind.INPUT, f"{card.id} has no work that a person must judge", hint=hint)
    requests.answer(run, asked.id, "accept", actor, text=why)
    start(context, card, {})
    card = next((one for one in take_answers(context) if one.id == card.id), card)
    note = f"attested by {actor}: {why}"[:300]
    return Verified(
        card=ticket_evidence.keep_attested(context.opened, card, load(context.out_dir(card)), note), passed=True
    )


def accepted(project: Path, ticket: str, actor: str) -> tuple[bool, str]:
    """Take a ticket through the done gate. Return whether it is done, and a message."""
    moved = ("queue", "move", "--id", ticket, "--from", "planner-review", "--to", "done")
    return _said(project, ticket, (*moved, "--in-person", "--actor", actor))


def attested(project: Path, ticket: str, run: str, story: str, why: str, actor: str) -> tuple[bool, str]:
    """Take a ticket with unproven work as done, on a person's word. Return whether it is done, and a message."""
    done, said = _said(project, ticket, ("accept", run, story, "--why", why, "--actor", actor))
    # Other stories of the run may be unproven too, which the exit code tells.
    return (True, f"{ticket} is done, and in the archive") if f"{ticket} is done" in said else (done, said)


def _said(project: Path, ticket: str, words: Sequence[str]) -> tuple[bool, str]:
    command = [sys.executable, "-m", "santiago", *words]
    done = subprocess.run(  # noqa: S603  # our own arguments, and no shell
        command, cwd=project, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode == 0:
        return True, f"{ticket} is done, and in the archive"
    return False, first(flat(done.stderr).removeprefix("error: "), LONGEST)
