"""Work by tickets: claims and their leases, moves, verification of one's own work, decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click

from santiago.cli import opened_board, queue_views
from santiago.cli.options import actor_option
from santiago.cli.queue_words import (
    CLASS,
    PHASE,
    QUEUE,
    data_of,
    in_person,
    json_option,
    print_data,
    refuse_secrets,
    show,
    show_row,
    wants_rows,
)
from santiago.contract.board import CLAIMED_FROM, LEASE_MINUTES, Status
from santiago.contract.counting import count

if TYPE_CHECKING:
    from santiago.board.board_commands import Claim
    from santiago.board.board_handle import BoardHandle
    from santiago.contract.board import Card


@click.command("claim")
@click.argument("ticket", metavar="[ID]", required=False)
@click.option("--queue", type=click.Choice(CLAIMED_FROM), help="Default: that of the ticket, else developer-todo.")
@click.option("--worker", help="Who works on it; default: your name.")
@click.option("--id", "name", metavar="ID", help="This ticket, instead of the first; the same as ID.")
@click.option("--lease-minutes", type=click.IntRange(1, 100_000), default=LEASE_MINUTES, show_default=True)
@actor_option
@json_option
def claim(
    ticket: str | None, queue: str | None, worker: str | None, name: str | None, lease_minutes: int, actor: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Take the first ticket of a queue that may be claimed, or the one that is named; one claim is one attempt."""
    from santiago.app.actor import actor as named
    from santiago.app.board.by_hand import claim as take
    from santiago.board import triage

    name = _one(ticket, name)
    worker = worker or named(actor)
    with opened_board.opened() as opened:
        queue = queue or _queue_of(opened, name)
        found = take(opened, queue, worker, actor or worker, name=name, minutes=lease_minutes)  # type: ignore[arg-type]
    if not as_json and not wants_rows():
        return _say_claim(found, queue)
    if found.escalated and not as_json:
        click.echo(f"AUTO_ESCALATED_RETRY_EXHAUSTED:{queue}:{len(found.escalated)}")
        click.echo(f"AUTO_ESCALATED_NEXT_ACTION:{found.escalated[0].next_action}")
    if found.card is None:
        word = f"{'NO_RETRY_BUDGET' if found.only_spent else 'NO_PENDING'}:{queue}"
        if as_json:
            print_data({"ticket": None, "why": word})
        else:
            click.echo(word)
        return 0
    card = found.card
    if as_json:
        hint, token = triage.hint(card), f"{card.lease}#{card.attempt_count}"
        print_data({"ticket": data_of(card), "lease": token, "profile": hint.profile, "profile_source": hint.source})
        return 0
    for line in triage.claim_lines(card):
        click.echo(line)
    show_row(card)
    return 0


def _one(ticket: str | None, name: str | None) -> str | None:
    """Return the ticket that is meant, by its place or by --id."""
    if ticket is not None and name is not None and ticket != name:
        raise click.UsageError(f"Name one ticket: {ticket}, or --id {name}.")
    return ticket if name is None else name


def _queue_of(opened: BoardHandle, name: str | None) -> str:
    """Return the queue that a ticket is claimed from, where nobody says it."""
    with opened.store.reading() as at:
        card = at.card(name) if name is not None else None
    return card.queue if card is not None and card.queue in CLAIMED_FROM else "developer-todo"


def _say_claim(found: Claim, queue: str) -> int:
    """Print a claim in words: what is yours now, and how it goes on."""
    from santiago.cli.view.terminal import say
    from santiago.util.text import flat

    for gone in found.escalated:
        say(f"{gone.id} has no attempt left; it is in blocked, and the planner decides")
    if (card := found.card) is None:
        say(f"no ticket in {queue} can be claimed now")
        return 0
    say(f"{card.id} is yours: {flat(card.title)}  (attempt {card.attempt_count} of {card.retry_budget})")
    say(f"  its lease, for `queue renew` and `queue move`: {card.lease}#{card.attempt_count}")
    for check in card.checks:
        say(f"  check: {check}")
    say(f"next: santiago queue verify {card.id}   # once the work is committed")
    return 0


@click.command("renew")
@click.argument("name", metavar="ID")
@click.option("--lease", required=True, help="The lease, as the claim printed it.")
@click.option("--lease-minutes", type=click.IntRange(1, 100_000), default=LEASE_MINUTES, show_default=True)
@actor_option
@json_option
def renew(name: str, lease: str, lease_minutes: int, actor: str | None, as_json: bool) -> int:
    """Hold a claimed ticket for longer."""
    from santiago.app.actor import actor as named

    with opened_board.opened() as opened:
        return show(
            opened.board.renew(name, lease, named(actor), minutes=lease_minutes), as_json=as_json, word="RENEWED"
        )


@click.command("move")
@click.argument("ticket", metavar="[ID]", required=False)
@click.option("--id", "name", metavar="ID", help="The ticket; the same as ID.")
@click.option("--from", "source", type=QUEUE, help="Where it stands; refused where it stands elsewhere.")
@click.option("--to", required=True, type=QUEUE)
@click.option("--status", type=click.Choice(get_args(Status)), help="That of the queue; only for scripts that say it.")
@click.option("--phase", type=PHASE)
@click.option(
    "--evidence",
    metavar="LINKS",
    help="Files of the project, with `,` `;` or `|` between them; they replace what was named before.",
)
@click.option("--note")
@click.option("--next-action")
@click.option("--error-class", type=CLASS)
@click.option("--source", "document", help="doc:PATH or plan:ID, for a request.")
@click.option("--worker", help="Who hands it over; refused where another holds it.")
@click.option("--lease", help="The lease, as the claim printed it; refused where somebody claimed it since.")
@click.option("--in-person", "present", is_flag=True, hidden=True, help="Said by a screen that a person sits at.")
@actor_option
@json_option
def move(
    ticket: str | None, name: str | None, source: str | None, to: str, status: str | None, phase: str | None,
    evidence: str | None, note: str | None, next_action: str | None,
    error_class: str | None, document: str | None, worker: str | None, lease: str | None, present: bool, actor: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Move a ticket; to done only through the done gate, by a planner or by the owner of the repository at a terminal."""
    from santiago.app.actor import actor as named
    from santiago.app.board import by_hand
    from santiago.board import rules
    from santiago.board.rules import Move

    name = _one(ticket, name)
    if name is None:
        raise click.UsageError("Say which ticket, such as `santiago queue move REQ-1.S1 --to done`.")
    refuse_secrets(note, next_action, evidence, document)
    if status not in (None, rules.default_status(to)):  # type: ignore[arg-type]  # click checked
        raise click.UsageError(f"a ticket in {to} has the status {rules.default_status(to)}, not {status}")  # type: ignore[arg-type]
    wish = Move(
        to=to, phase=phase, evidence=evidence, note=note, next_action=next_action, error_class=error_class, source=document,  # type: ignore[arg-type]
    )  # fmt: skip
    with opened_board.opened() as opened:
        if to == "done":
            card = by_hand.accept(
                opened, name, source, evidence, named(actor), _consents(), in_person=present or in_person(),  # type: ignore[arg-type]
            )  # fmt: skip
            show(card, as_json=as_json, word="DONE")
            if not as_json:
                queue_views.tell(opened, user_facing=True)
            return 0
        card = by_hand.hand_over(opened, name, source, wish, named(actor), lease=lease, worker=worker)  # type: ignore[arg-type]
        return show(card, as_json=as_json, word="MOVED")


@click.command("verify")
@click.argument("name", metavar="ID")
@click.option("--from", "ref", default="HEAD", show_default=True, help="The commit that holds the work.")
@click.option(
    "--check", "checks", multiple=True, metavar="CMD", help="A check that the planner adds (may be repeated)."
)
@click.option("--attest", metavar="WHY", help="A person's own word on work that no check can judge.")
@click.option("--trust-commands", is_flag=True, help="Run checks that come from a document without asking.")
@actor_option
@json_option
def verify(
    name: str,
    ref: str,
    checks: tuple[str, ...],
    attest: str | None,
    trust_commands: bool,
    actor: str | None,
    as_json: bool,
) -> int:
    """Run a ticket's checks on a person's work, and hand it over to the review with what they said."""
    from santiago.app.board.by_hand import verify as judged

    refuse_secrets(attest, *checks)
    with opened_board.opened() as opened:
        found = judged(opened, name, ref, checks, attest, actor, _consents(trusted=trust_commands))
        accept = (f"santiago queue move {name} --to done", "accept it, as the planner") if found.passed else None
        show(found.card, as_json=as_json, word="PASS" if found.passed else "FAIL", next_one=accept)
        if not found.passed and not as_json:
            _explain(found.card)
        return 0 if found.passed else 30


def _explain(card: Card) -> None:
    """Print on standard error why work did not pass, where the details are, and how to go on."""
    from santiago.board.rules import split_links
    from santiago.cli.view.terminal import say

    again = f"mend it, commit, and try again: `santiago queue claim --queue {card.queue} --worker {card.worker} --id {card.id}`"
    links = split_links(card.evidence_links)
    say(f"{card.id} did not pass: {card.note}", err=True)
    if links:
        say(f"  look: {links[-1]}", err=True)
    say(f"  next: {card.next_action if card.queue == 'blocked' else again}", err=True)


@click.command("decide")
@click.argument("name", metavar="ID")
@click.argument("word", type=click.Choice(("replan", "bypass", "stop", "drop")))
@click.option(
    "--budget",
    type=click.IntRange(1),
    help="With replan: so many attempts in all; without, it is closed as superseded.",
)
@click.option("--why", default="")
@actor_option
@json_option
def decide(name: str, word: str, budget: int | None, why: str, actor: str | None, as_json: bool) -> int:
    """Say what becomes of a ticket that has used its attempts; drop closes any ticket that is no longer wanted."""
    from santiago.app.actor import actor as named
    from santiago.app.board.by_hand import refuse_other_than_planner

    refuse_secrets(why)
    with opened_board.opened() as opened:
        who = refuse_other_than_planner(opened, named(actor), in_person=in_person())
        return show(opened.board.decide(name, word, who, budget=budget, why=why), as_json=as_json, word="DECIDED")


@click.command("reconcile-exhausted")
@click.option("--queue", type=click.Choice(CLAIMED_FROM))
@click.option("--all", "every", is_flag=True, help="All queues that tickets are claimed from.")
@click.option("--quiet", is_flag=True, help="Only the total.")
@actor_option
def reconcile(queue: str | None, every: bool, quiet: bool, actor: str | None) -> int:
    """Move waiting tickets without an attempt left to blocked."""
    from santiago.app.actor import actor as named

    if (queue is None) == (not every):
        raise click.UsageError("name one queue with --queue, or all of them with --all")
    with opened_board.opened() as opened:
        gone = {one: opened.board.reconcile((one,), named(actor)) for one in CLAIMED_FROM if every or one == queue}
    total = sum(map(len, gone.values()))
    if not wants_rows():
        click.echo(f"{count(total, 'ticket')} without an attempt left went to blocked")
        return 0
    for one, cards in gone.items():
        if not quiet:
            click.echo(f"RECONCILED_QUEUE:{one}:{len(cards)}")
    click.echo(f"RECONCILED_TOTAL:{total}")
    return 0


def _consents(*, trusted: bool = False) -> Any:
    from santiago.cli.board_consents import consents

    return consents(trusted=trusted)


COMMANDS: dict[str, click.Command] = {
    one.name: one for one in (claim, renew, move, verify, decide, reconcile) if one.name
}
"""What the group `queue` takes in."""
