"""`santiago queue …`: the tickets of the board, by plain commands in one shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from santiago.cli import opened_board, queue_files, queue_views, queue_work
from santiago.cli.options import actor_option
from santiago.cli.queue_words import (
    CLASS,
    PHASE,
    QUEUE,
    data_of,
    json_option,
    print_data,
    refuse_secrets,
    show,
    wants_rows,
)
from santiago.contract.board import BUDGET, FIELDS, QUEUES, Status

if TYPE_CHECKING:
    from santiago.contract.board import Card


@click.group("queue")
def command() -> None:
    """The board's tickets: add, claim, hand over, decide.

    \b
    santiago queue add "CSV export"
    santiago queue add "CSV export" --source doc:docs/prd.md
    santiago queue claim REQ-1.S1
    santiago queue verify REQ-1.S1 --from HEAD
    santiago queue move REQ-1.S1 --to done
    """


for name, one in (*queue_files.COMMANDS.items(), *queue_work.COMMANDS.items(), *queue_views.COMMANDS.items()):
    command.add_command(one, name)


@command.command("add")
@click.argument("words", nargs=-1, metavar="[TITLE]")
@click.option("--queue", type=QUEUE, default="planner-inbox", show_default=True, help="Where it stands at first.")
@click.option("--id", "name", help="A name that no other ticket has or had; default: the next number.")
@click.option("--title", help="What is wanted, in a few words; the same as TITLE.")
@click.option("--worker", default="planner", show_default=True)
@click.option("--status", type=click.Choice(get_args(Status)), help="Default: that of the queue.")
@click.option("--source", default="manual", show_default=True, help="doc:PATH or plan:ID name what describes it.")
@click.option("--note", default="")
@click.option("--next-action", default="TBD")
@click.option("--lease", default="none", type=click.Choice(("none",)))
@click.option("--evidence", default="none", metavar="LINKS")
@click.option("--phase", type=PHASE)
@click.option("--error-class", type=CLASS, default="none")
@click.option("--attempt-count", type=click.IntRange(0), default=0)
@click.option("--retry-budget", type=int, default=BUDGET, show_default=True)
@click.option("--depends-on", multiple=True, metavar="ID", help="A ticket that must be done first (may be repeated).")
@click.option("--verify", "checks", multiple=True, metavar="CMD", help="A check of this ticket (may be repeated).")
@actor_option
@json_option
def add(
    words: tuple[str, ...], queue: str, name: str | None, title: str | None, worker: str, status: str | None, source: str,
    note: str, next_action: str, lease: str,
    evidence: str, phase: str | None, error_class: str, attempt_count: int, retry_budget: int, depends_on: tuple[str, ...],
    checks: tuple[str, ...], actor: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Put a ticket onto the board: a request in a few words, or work for one of the other queues.

    
    santiago queue add "CSV export"
    santiago queue add "CSV export" --source doc:docs/prd.md
    santiago queue add "Fix the total" --queue developer-todo --verify "pytest -q tests/test_total.py"
    """
    from santiago.app.actor import actor as named
    from santiago.app.board.by_hand import refuse_lost
    from santiago.board import rules

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
    with opened_board.opened() as opened:
        refuse_lost(opened, card.id or card.title, evidence)
        added = opened.board.add(card, named(actor), depends_on)
        return show(added, as_json=as_json, word="ADDED", next_one=_next(added, opened.place.project))


def _document(words: tuple[str, ...], source: str) -> str:
    """Return the document that stands where a title is expected, as its project names it; empty if there is none."""
    from santiago.artifacts.repository import find_root, name_inside, resolved

    root = find_root(Path.cwd()) if len(words) == 1 and source == "manual" and Path(words[0]).suffix else None
    path = resolved(Path(words[0])) if root else None
    return name_inside(path, root) if root and path and path.is_file() and path.is_relative_to(root) else ""


def _next(card: Card, project: Path) -> tuple[str, str]:
    """Return what to do after a ticket was added: a request that nothing describes needs a document, or a planning agent."""
    from santiago.app.board.ticket_context import board_settings

    if card.queue == "planner-inbox" and card.source == "manual" and board_settings(project).planner is None:
        name = f"santiago queue move {card.id} --to planner-inbox --source doc:PATH"
        return name, "name a document; or set planner under [board] to an agent that plans it"
    return (
        "santiago loop",
        "have it planned and carried out" if card.queue == "planner-inbox" else "have it carried out",
    )


def _wanted(words: tuple[str, ...], title: str | None) -> str:
    """Return the title of a new ticket, wherever it was given."""
    if words and title is not None:
        raise click.UsageError(f"Say what is wanted once: {' '.join(words)!r}, or --title {title!r}.")
    if not words and title is None:
        raise click.UsageError('Say what is wanted, such as `santiago queue add "CSV export"`.')
    return " ".join(words) if title is None else title


@command.command("list")
@click.option("--queue", type=QUEUE, help="Only this one.")
@json_option
def list_all(queue: str | None, as_json: bool) -> int:
    """Print the tickets, with all fields."""
    from santiago.board.tsv import line

    if not as_json and not wants_rows():
        return _list_for_people(queue)
    with opened_board.opened() as opened:
        names = (queue,) if queue else tuple(one for one in QUEUES if one != "done")
        with opened.store.reading() as at:
            found = {one: at.cards(one) if one != "done" else [] for one in names}
    if as_json:
        print_data({one: [data_of(card) for card in cards] for one, cards in found.items()})
        return 0
    for one, cards in found.items():
        if queue is None:
            click.echo(f"# {one}")
        click.echo(line(FIELDS) + "".join(line(getattr(card, field) for field in FIELDS) for card in cards), nl=False)
    return 0


def _list_for_people(queue: str | None) -> int:
    """Print the tickets as `santiago board --plain` does, or those of one queue."""
    from santiago.board.board_clock import utc
    from santiago.cli.view.terminal import say
    from santiago.report.board import whole_board
    from santiago.report.board_pages import listing

    with opened_board.opened() as opened:
        data = whole_board(opened, opened_board.synchronise(opened), utc())
    if queue:
        data["queues"] = {one: tickets for one, tickets in data["queues"].items() if one == queue}
    for text in listing(data):
        say(text)
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
        print_data(
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


@command.command("guard")
@click.option(
    "--worker", required=True, type=click.Choice(("developer", "scientist", "tech-developer", "tech-scientist"))
)
@click.option("--plan", help="The plan that the work belongs to, by its id.")
@actor_option
def guard(worker: str, plan: str | None, actor: str | None) -> int:
    """Tell other programs whether a planner has routed work for a worker: exit 0, or 2 where not."""
    import os

    from santiago.app.actor import actor as named
    from santiago.app.board.single_entry import guard as ask

    word = ask(os.environ, Path.cwd(), worker, plan, named(actor))
    click.echo(word)
    return 2 if word == "ENTRY_GUARD_BLOCKED" else 0


def enqueue(document: Path, checks: tuple[str, ...], actor: str | None, *, as_json: bool) -> int:
    """Put a document onto the board as a request of the next free number."""
    from santiago.app.actor import actor as named
    from santiago.artifacts.repository import name_inside, resolved
    from santiago.board import rules
    from santiago.contract.errors import Kind, SantiagoError

    with opened_board.opened() as opened:
        name = name_inside(resolved(document), opened.place.project)
        if not (opened.place.project / name).is_file():
            raise SantiagoError(Kind.USAGE, f"there is no document {document} in this project", hint="Check the path.")
        title = _title(opened.place.project / name)
        card = rules.new_card("planner-inbox", "", title, source=f"doc:{name}", next_action="decompose", checks=checks)
        added = opened.board.add(card, named(actor))
        return show(added, as_json=as_json, word="ADDED", next_one=_next(added, opened.place.project))


def _title(document: Path) -> str:
    """Return what a document calls itself, or its name."""
    from santiago.artifacts.files import read_text

    headings = (line.lstrip("#").strip() for line in read_text(document).splitlines() if line.startswith("# "))
    return next((heading[:200] for heading in headings if heading), f"Carry out {document.name}")
