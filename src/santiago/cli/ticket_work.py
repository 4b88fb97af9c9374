"""Work by tickets: new ones, claims and their leases, moves, verification of one's own work, decisions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from santiago.app.actor import actor as named
from santiago.app.board import by_hand
from santiago.app.board.ticket_context import board_settings
from santiago.app.start.leaks import refuse_secrets as refuse_secrets_in
from santiago.artifacts.files import read_text
from santiago.artifacts.run_locations import find_root, name_inside, resolved
from santiago.board import rules, triage
from santiago.board.tsv import line
from santiago.cli.board_consents import consents
from santiago.cli.board_views import tell
from santiago.cli.opened_board import opened_here, speaks_codes, wants_rows
from santiago.cli.ticket_rows import data_of, row_of
from santiago.cli.view.terminal import say, show_data
from santiago.contract.board import CLAIMED_FROM, Card
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.util.text import flat

if TYPE_CHECKING:
    from santiago.board.board_commands import Claim
    from santiago.board.board_handle import BoardHandle

_TOLD = {
    "ADDED": "{id} is in {queue}: {title}",
    "MOVED": "{id} is in {queue} now",
    "RENEWED": "{id} is held for longer",
    "PASS": "{id} passed its checks and is in {queue}",
    "FAIL": "{id} did not pass its checks and is in {queue}",
    "DONE": "{id} is done, and in the archive",
    "DECIDED": "{id} is in {queue} now",
    "CLOSED": "{id} is closed",
}
"""What became of a ticket, in words."""


def add(
    words: tuple[str, ...], queue: str, name: str | None, title: str | None, worker: str, status: str | None, source: str,
    note: str, next_action: str, lease: str,
    evidence: str, phase: str | None, error_class: str, attempt_count: int, retry_budget: int, depends_on: tuple[str, ...],
    checks: tuple[str, ...], actor: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Put a ticket onto the board."""
    if document := _document(words, source):
        title, source, words = title or _title(Path(words[0])), f"doc:{document}", ()
    title = _wanted(words, title)
    if name is not None:
        rules.refuse_name(name)
    refuse_secrets(title, note, next_action, source, evidence, *checks)
    where: Any = queue
    card = rules.new_card(
        where, name or "", title, status=status, phase=phase,  # type: ignore[arg-type]  # click checked
        worker=worker, source=source, note=note, next_action=next_action, lease=lease, evidence_links=evidence,
        error_class=error_class, attempt_count=attempt_count, retry_budget=retry_budget, checks=checks,
    )  # fmt: skip
    with opened_here() as opened:
        by_hand.refuse_lost(opened, card.id or card.title, evidence)
        added = opened.board.add(card, named(actor), depends_on)
        return show(added, as_json=as_json, word="ADDED", next_one=_next(added, opened.place.project))


def _document(words: tuple[str, ...], source: str) -> str:
    """Return the document that stands where a title is expected, as its project names it; empty if there is none."""
    root = find_root(Path.cwd()) if len(words) == 1 and source == "manual" and Path(words[0]).suffix else None
    path = resolved(Path(words[0])) if root else None
    return name_inside(path, root) if root and path and path.is_file() and path.is_relative_to(root) else ""


def _next(card: Card, project: Path) -> tuple[str, str]:
    """Return what to do after a ticket was added: a request that nothing describes needs a document, or a planning agent."""
    if card.queue == "planner-inbox" and card.source == "manual" and board_settings(project).planner is None:
        name = f"santiago queue move {card.id} --to planner-inbox --source doc:PATH"
        return name, "name a document; or set planner under [board] to an agent that plans it"
    planned = "planned and " if card.queue == "planner-inbox" else ""
    return "santiago loop", f"have it {planned}carried out"


def _wanted(words: tuple[str, ...], title: str | None) -> str:
    """Return the title of a new ticket, wherever it was given."""
    if words and title is not None:
        raise click.UsageError(f"Say what is wanted once: {' '.join(words)!r}, or --title {title!r}.")
    if not words and title is None:
        raise click.UsageError('Say what is wanted, such as `santiago queue add "CSV export"`.')
    return " ".join(words) if title is None else title


def enqueue(document: Path, checks: tuple[str, ...], actor: str | None, *, as_json: bool) -> int:
    """Put a document onto the board as a request of the next free number."""
    with opened_here() as opened:
        name = name_inside(resolved(document), opened.place.project)
        if not (opened.place.project / name).is_file():
            raise SantiagoError(Kind.USAGE, f"there is no document {document} in this project", hint="Check the path.")
        title = _title(opened.place.project / name)
        card = rules.new_card("planner-inbox", "", title, source=f"doc:{name}", next_action="decompose", checks=checks)
        added = opened.board.add(card, named(actor))
        return show(added, as_json=as_json, word="ADDED", next_one=_next(added, opened.place.project))


def _title(document: Path) -> str:
    """Return what a document calls itself, or its name."""
    headings = (one.lstrip("#").strip() for one in read_text(document).splitlines() if one.startswith("# "))
    return next((heading[:200] for heading in headings if heading), f"Carry out {document.name}")


def claim(
    ticket: str | None, queue: str | None, worker: str | None, name: str | None, lease_minutes: int, actor: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Take the first ticket of a queue that may be claimed, or the one that is named; one claim is one attempt."""
    name = _one(ticket, name)
    worker = worker or named(actor)
    with opened_here() as opened:
        queue = queue or _queue_of(opened, name)
        found = by_hand.claim(opened, queue, worker, actor or worker, name=name, minutes=lease_minutes)  # type: ignore[arg-type]
    if not as_json and not wants_rows():
        return _say_claim(found, queue)
    if found.escalated and not as_json:
        click.echo(f"AUTO_ESCALATED_RETRY_EXHAUSTED:{queue}:{len(found.escalated)}")
        click.echo(f"AUTO_ESCALATED_NEXT_ACTION:{found.escalated[0].next_action}")
    if found.card is None:
        word = f"{'NO_RETRY_BUDGET' if found.only_spent else 'NO_PENDING'}:{queue}"
        if as_json:
            show_data({"ticket": None, "why": word})
        else:
            click.echo(word)
        return 0
    card = found.card
    if as_json:
        hint, token = triage.hint(card), f"{card.lease}#{card.attempt_count}"
        show_data({"ticket": data_of(card), "lease": token, "profile": hint.profile, "profile_source": hint.source})
        return 0
    for text in triage.claim_lines(card):
        click.echo(text)
    click.echo(line(row_of(card).values()), nl=False)
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


def renew(name: str, lease: str, lease_minutes: int, actor: str | None, as_json: bool) -> int:
    """Hold a claimed ticket for longer."""
    with opened_here() as opened:
        card = opened.board.renew(name, lease, named(actor), minutes=lease_minutes)
        return show(card, as_json=as_json, word="RENEWED")


def move(
    ticket: str | None, name: str | None, source: str | None, to: str, status: str | None, phase: str | None,
    evidence: str | None, note: str | None, next_action: str | None,
    error_class: str | None, document: str | None, worker: str | None, lease: str | None, present: bool, actor: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Move a ticket; to done only through the done gate, by a planner or by the owner of the repository at a terminal."""
    name = _one(ticket, name)
    if name is None:
        raise click.UsageError("Say which ticket, such as `santiago queue move REQ-1.S1 --to done`.")
    refuse_secrets(note, next_action, evidence, document)
    if status not in (None, rules.default_status(to)):  # type: ignore[arg-type]  # click checked
        raise click.UsageError(f"a ticket in {to} has the status {rules.default_status(to)}, not {status}")  # type: ignore[arg-type]
    wish = rules.Move(
        to=to, phase=phase, evidence=evidence, note=note, next_action=next_action, error_class=error_class, source=document,  # type: ignore[arg-type]
    )  # fmt: skip
    with opened_here() as opened:
        if to == "done":
            card = by_hand.accept(
                opened, name, source, evidence, named(actor), consents(), in_person=present or sys.stdin.isatty(),  # type: ignore[arg-type]
            )  # fmt: skip
            show(card, as_json=as_json, word="DONE")
            if not as_json:
                tell(opened, user_facing=True)
            return 0
        card = by_hand.hand_over(opened, name, source, wish, named(actor), lease=lease, worker=worker)  # type: ignore[arg-type]
        return show(card, as_json=as_json, word="MOVED")


def verify(
    name: str, ref: str, checks: tuple[str, ...], attest: str | None, trust_commands: bool, actor: str | None, as_json: bool
) -> int:  # fmt: skip
    """Run a ticket's checks on a person's work, and hand it over to the review with what they said."""
    refuse_secrets(attest, *checks)
    with opened_here() as opened:
        found = by_hand.verify(opened, name, ref, checks, attest, actor, consents(trusted=trust_commands))
        accept = (f"santiago queue move {name} --to done", "accept it, as the planner") if found.passed else None
        show(found.card, as_json=as_json, word="PASS" if found.passed else "FAIL", next_one=accept)
        if not found.passed and not as_json:
            _explain(found.card)
        return 0 if found.passed else 30


def _explain(card: Card) -> None:
    """Print on standard error why work did not pass, where the details are, and how to go on."""
    again = f"mend it, commit, and try again: `santiago queue claim --queue {card.queue} --worker {card.worker} --id {card.id}`"
    links = rules.split_links(card.evidence_links)
    say(f"{card.id} did not pass: {card.note}", err=True)
    if links:
        say(f"  look: {links[-1]}", err=True)
    say(f"  next: {card.next_action if card.queue == 'blocked' else again}", err=True)


def decide(name: str, word: str, budget: int | None, why: str, actor: str | None, as_json: bool) -> int:
    """Say what becomes of a ticket that has used its attempts; drop closes any ticket that is no longer wanted."""
    refuse_secrets(why)
    with opened_here() as opened:
        who = by_hand.refuse_other_than_planner(opened, named(actor), in_person=sys.stdin.isatty())
        return show(opened.board.decide(name, word, who, budget=budget, why=why), as_json=as_json, word="DECIDED")


def reconcile(queue: str | None, every: bool, quiet: bool, actor: str | None) -> int:
    """Move waiting tickets without an attempt left to blocked."""
    if (queue is None) == (not every):
        raise click.UsageError("name one queue with --queue, or all of them with --all")
    with opened_here() as opened:
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


def show(card: Card, *, as_json: bool, word: str, next_one: tuple[str, str] | None = None) -> int:
    """Print a ticket after a command: what became of it, and for people the next command with what it does."""
    if as_json:
        show_data(data_of(card))
    elif speaks_codes():
        click.echo(f"{word}:{card.id}:{card.queue}")
    else:
        told = _TOLD["CLOSED" if word == "DECIDED" and card.decided else word]
        say(told.format(id=card.id, queue=card.queue, title=flat(card.title)))
        if next_one is not None:
            say(f"next: {next_one[0]}   # {next_one[1]}", err=True)
    return 0


def refuse_secrets(*texts: str | None) -> None:
    """Raise if a text for the board holds a secret of this machine, since it would be stored unchanged and shown to others."""
    refuse_secrets_in("\n".join(filter(None, texts)).encode("utf-8", "replace"), "the ticket")
