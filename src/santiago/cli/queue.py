"""`santiago queue …`: the tickets of the board, by plain commands in one shell."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any, get_args

import click

from santiago.cli import opened_board, queue_files, queue_views
from santiago.cli.options import actor_option
from santiago.contract.board import BUDGET, CLAIMED_FROM, FIELDS, LEASE_MINUTES, QUEUES, Phase, Status
from santiago.contract.reasons import ErrorClass

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.board import Card

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_QUEUE = click.Choice(QUEUES)
_PHASE = click.Choice(get_args(Phase))
_CLASS = click.Choice(get_args(ErrorClass))


@click.group("queue")
def command() -> None:
    """The board's tickets: add, claim, hand over, decide.

    \b
    santiago queue add --queue planner-inbox --id REQ-1 --title "CSV export" --source doc:docs/prd.md
    santiago queue claim --queue developer-todo --worker ada
    santiago queue verify REQ-1.S1 --from HEAD
    santiago queue move --id REQ-1.S1 --from planner-review --to done --actor planner
    """


for name, one in (*queue_files.COMMANDS.items(), *queue_views.COMMANDS.items()):
    command.add_command(one, name)


@command.command("add")
@click.option("--queue", required=True, type=_QUEUE, help="Where it stands at first; requests go to planner-inbox.")
@click.option("--id", "name", required=True, help="A name that no other ticket has or had.")
@click.option("--title", required=True, help="What is wanted, in a few words.")
@click.option("--worker", default="planner", show_default=True)
@click.option("--status", type=click.Choice(get_args(Status)), help="Default: that of the queue.")
@click.option("--source", default="manual", show_default=True, help="doc:PATH or plan:ID name what describes it.")
@click.option("--note", default="")
@click.option("--next-action", default="TBD")
@click.option("--lease", default="none", type=click.Choice(("none",)))
@click.option("--evidence", default="none", metavar="LINKS")
@click.option("--phase", type=_PHASE)
@click.option("--error-class", type=_CLASS, default="none")
@click.option("--attempt-count", type=click.IntRange(0), default=0)
@click.option("--retry-budget", type=int, default=BUDGET, show_default=True)
@click.option("--depends-on", multiple=True, metavar="ID", help="A ticket that must be done first (may be repeated).")
@click.option("--verify", "checks", multiple=True, metavar="CMD", help="A check of this ticket (may be repeated).")
@actor_option
@json_option
def add(
    queue: str, name: str, title: str, worker: str, status: str | None, source: str, note: str, next_action: str, lease: str,
    evidence: str, phase: str | None, error_class: str, attempt_count: int, retry_budget: int, depends_on: tuple[str, ...],
    checks: tuple[str, ...], actor: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Put a ticket onto the board."""
    from santiago.app.actor import actor as named
    from santiago.board import rules
    from santiago.contract.board import Card

    where: Any = queue
    card = Card(
        id=name, queue=where, status=status or rules.default_status(where),  # type: ignore[arg-type]  # click checked
        worker=worker, title=title, source=source, updated_at="", note=note, next_action=next_action, lease=lease,
        evidence_links=evidence, phase=phase or rules.default_phase(where),  # type: ignore[arg-type]
        error_class=error_class, attempt_count=attempt_count, retry_budget=retry_budget,  # type: ignore[arg-type]
        checks=checks, role="scientist" if queue == "scientist-todo" else "developer",
    )  # fmt: skip
    with opened_board.opened() as opened:
        return _show(opened.board.add(card, named(actor), depends_on), as_json=as_json, word="ADDED")


@command.command("list")
@click.option("--queue", type=_QUEUE, help="Only this one.")
@json_option
def show(queue: str | None, as_json: bool) -> int:
    """Print the tickets, with all fields."""
    from santiago.board.tsv import line

    with opened_board.opened() as opened:
        names = (queue,) if queue else tuple(one for one in QUEUES if one != "done")
        with opened.store.reading() as at:
            found = {one: at.cards(one) if one != "done" else [] for one in names}
    if as_json:
        _print({one: [_data(card) for card in cards] for one, cards in found.items()})
        return 0
    for one, cards in found.items():
        if queue is None:
            click.echo(f"# {one}")
        click.echo(line(FIELDS) + "".join(line(getattr(card, field) for field in FIELDS) for card in cards), nl=False)
    return 0


@command.command("stats")
@json_option
def stats(as_json: bool) -> int:
    """Print how many tickets stand in each queue, and how many are archived."""
    with opened_board.opened() as opened:
        with opened.store.reading() as at:
            counts = at.counts()
        root = opened.place.named(opened.place.root)
    if as_json:
        _print(
            {
                "root": root,
                "queues": {one: counts.get(one, 0) for one in QUEUES if one != "done"},
                "archived": counts.get("done", 0),
            }
        )
        return 0
    click.echo(f"# {root}")
    for one in QUEUES:
        click.echo(f"{one}\t{counts.get(one, 0) if one != 'done' else 0}")
    click.echo(f"archived\t{counts.get('done', 0)}")
    return 0


@command.command("claim")
@click.option("--queue", required=True, type=click.Choice(CLAIMED_FROM))
@click.option("--worker", required=True, help="Who works on it.")
@click.option("--id", "name", help="This ticket, instead of the first.")
@click.option("--lease-minutes", type=click.IntRange(1, 100_000), default=LEASE_MINUTES, show_default=True)
@actor_option
@json_option
def claim(queue: str, worker: str, name: str | None, lease_minutes: int, actor: str | None, as_json: bool) -> int:
    """Take the first ticket of a queue that may be claimed; one claim is one attempt."""
    from santiago.app.board.claiming import claim as take
    from santiago.board import profiles

    with opened_board.opened() as opened:
        found = take(opened, queue, worker, actor or worker, name=name, minutes=lease_minutes)  # type: ignore[arg-type]
    if found.escalated and not as_json:
        click.echo(f"AUTO_ESCALATED_RETRY_EXHAUSTED:{queue}:{len(found.escalated)}")
        click.echo(f"AUTO_ESCALATED_NEXT_ACTION:{found.escalated[0].next_action}")
    if found.card is None:
        word = f"{'NO_RETRY_BUDGET' if found.only_spent else 'NO_PENDING'}:{queue}"
        if as_json:
            _print({"ticket": None, "why": word})
        else:
            click.echo(word)
        return 0
    card = found.card
    if as_json:
        hint, token = profiles.hint(card), f"{card.lease}#{card.attempt_count}"
        _print({"ticket": _data(card), "lease": token, "profile": hint.profile, "profile_source": hint.source})
        return 0
    for line in profiles.claim_lines(card):
        click.echo(line)
    _row(card)
    return 0


@command.command("renew")
@click.argument("name", metavar="ID")
@click.option("--lease", required=True, help="The lease, as the claim printed it.")
@click.option("--lease-minutes", type=click.IntRange(1, 100_000), default=LEASE_MINUTES, show_default=True)
@actor_option
@json_option
def renew(name: str, lease: str, lease_minutes: int, actor: str | None, as_json: bool) -> int:
    """Hold a claimed ticket for longer."""
    from santiago.app.actor import actor as named

    with opened_board.opened() as opened:
        return _show(
            opened.board.renew(name, lease, named(actor), minutes=lease_minutes), as_json=as_json, word="RENEWED"
        )


@command.command("move")
@click.option("--id", "name", required=True)
@click.option("--from", "source", type=_QUEUE, help="Where it stands; refused where it stands elsewhere.")
@click.option("--to", required=True, type=_QUEUE)
@click.option("--status", type=click.Choice(get_args(Status)), help="That of the queue; only for scripts that say it.")
@click.option("--phase", type=_PHASE)
@click.option("--evidence", metavar="LINKS", help="Files of the project, with `,` `;` or `|` between them.")
@click.option("--note")
@click.option("--next-action")
@click.option("--error-class", type=_CLASS)
@click.option("--source", "document", help="doc:PATH or plan:ID, for a request.")
@click.option("--worker", help="Who hands it over; refused where another holds it.")
@click.option("--lease", help="The lease, as the claim printed it; refused where somebody claimed it since.")
@actor_option
@json_option
def move(
    name: str, source: str | None, to: str, status: str | None, phase: str | None, evidence: str | None, note: str | None, next_action: str | None,
    error_class: str | None, document: str | None, worker: str | None, lease: str | None, actor: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Move a ticket; to done only through the done gate, by a planner."""
    from santiago.app.actor import actor as named
    from santiago.app.board import claiming
    from santiago.board import rules
    from santiago.board.rules import Move

    if status not in (None, rules.default_status(to)):  # type: ignore[arg-type]  # click checked
        raise click.UsageError(f"a ticket in {to} has the status {rules.default_status(to)}, not {status}")  # type: ignore[arg-type]
    wish = Move(
        to=to, phase=phase, evidence=evidence, note=note, next_action=next_action, error_class=error_class, source=document,  # type: ignore[arg-type]
    )  # fmt: skip
    with opened_board.opened() as opened:
        if to == "done":
            card = claiming.accept(opened, name, source, evidence, named(actor), _consents())  # type: ignore[arg-type]  # click checked
            _show(card, as_json=as_json, word="DONE")
            if not as_json:
                queue_views.tell(opened, user_facing=True)
            return 0
        card = opened.board.move(name, source, wish, named(actor), lease=lease, worker=worker)  # type: ignore[arg-type]
        return _show(card, as_json=as_json, word="MOVED")


@command.command("verify")
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
    from santiago.app.actor import actor as named
    from santiago.app.board.verifying import verify as judged

    with opened_board.opened() as opened:
        found = judged(opened, name, ref, checks, attest, named(actor), _consents(trusted=trust_commands))
        _show(found.card, as_json=as_json, word="PASS" if found.passed else "FAIL")
        return 0 if found.passed else 30


@command.command("decide")
@click.argument("name", metavar="ID")
@click.argument("word", type=click.Choice(("replan", "bypass", "stop")))
@click.option(
    "--budget",
    type=click.IntRange(1),
    help="With replan: so many attempts in all; without, it is closed as superseded.",
)
@click.option("--why", default="")
@actor_option
@json_option
def decide(name: str, word: str, budget: int | None, why: str, actor: str | None, as_json: bool) -> int:
    """Say what becomes of a ticket that has used its attempts."""
    from santiago.app.actor import actor as named
    from santiago.app.board.claiming import refuse_other_than_planner

    with opened_board.opened() as opened:
        who = refuse_other_than_planner(opened, named(actor))
        return _show(opened.board.decide(name, word, who, budget=budget, why=why), as_json=as_json, word="DECIDED")


@command.command("reconcile-exhausted")
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
    for one, cards in gone.items():
        if not quiet:
            click.echo(f"RECONCILED_QUEUE:{one}:{len(cards)}")
    click.echo(f"RECONCILED_TOTAL:{sum(map(len, gone.values()))}")
    return 0


@command.command("guard")
@click.option(
    "--worker", required=True, type=click.Choice(("developer", "scientist", "tech-developer", "tech-scientist"))
)
@click.option("--plan", help="The plan that the work belongs to, by its id.")
@actor_option
def guard(worker: str, plan: str | None, actor: str | None) -> int:
    """Tell other programs whether a planner has routed work for a worker: exit 0, or 2 where not."""
    import os
    from pathlib import Path

    from santiago.app.actor import actor as named
    from santiago.app.board.entry import guard as ask

    word = ask(os.environ, Path.cwd(), worker, plan, named(actor))
    click.echo(word)
    return 2 if word == "ENTRY_GUARD_BLOCKED" else 0


def enqueue(document: Path, checks: tuple[str, ...], actor: str | None, *, as_json: bool) -> int:
    """Put a document onto the board as a request of the next free number."""
    from santiago.app.actor import actor as named
    from santiago.artifacts.repository import name_inside, resolved
    from santiago.contract.board import Card
    from santiago.contract.errors import Kind, SantiagoError

    with opened_board.opened() as opened:
        name = name_inside(resolved(document), opened.place.project)
        if not (opened.place.project / name).is_file():
            raise SantiagoError(Kind.USAGE, f"there is no document {document} in this project", hint="Check the path.")
        with opened.store.reading() as at:
            number = next(one for one in itertools.count(1) if at.card(f"REQ-{one}") is None)
        card = Card(
            id=f"REQ-{number}", queue="planner-inbox", status="pending", worker="planner", title=_title(opened.place.project / name),
            source=f"doc:{name}", updated_at="", phase="planned", next_action="decompose", checks=checks,
        )  # fmt: skip
        return _show(opened.board.add(card, named(actor)), as_json=as_json, word="ADDED")


def _title(document: Path) -> str:
    """Return what a document calls itself, or its name."""
    from santiago.artifacts.files import read_text

    headings = (line.lstrip("#").strip() for line in read_text(document).splitlines() if line.startswith("# "))
    return next((heading[:200] for heading in headings if heading), f"Carry out {document.name}")


def _consents(*, trusted: bool = False) -> Any:
    from santiago.cli.board_consents import consents

    return consents(trusted=trusted)


def _data(card: Card) -> dict[str, Any]:
    more = {"queue": card.queue, "request": card.request, "run": card.run, "story": card.story, "decided": card.decided}
    return {**{one: getattr(card, one) for one in FIELDS}, **{one: value for one, value in more.items() if value}}


def _show(card: Card, *, as_json: bool, word: str) -> int:
    if as_json:
        _print(_data(card))
    else:
        click.echo(f"{word}:{card.id}:{card.queue}")
    return 0


def _row(card: Card) -> None:
    from santiago.board.tsv import line

    click.echo(line(getattr(card, one) for one in FIELDS), nl=False)


def _print(data: object) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))
