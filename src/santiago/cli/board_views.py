"""Views of the board: its tickets, the blocked ones by urgency, retries by week, whether the loop goes on, what comes next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from santiago.app.actor import actor as named
from santiago.app.board import single_entry
from santiago.app.board.asking_tickets import asking_tickets
from santiago.app.board.ticket_context import board_settings
from santiago.board import board_telling, loop_verdict, triage, weekly
from santiago.board import next_prompt as prompts
from santiago.board.board_clock import utc
from santiago.cli.opened_board import opened_here, speaks_codes, synchronise, wants_rows, warn
from santiago.cli.view.open_screens import has_screen
from santiago.cli.view.terminal import say, show_data, show_lines, show_page
from santiago.contract.board import fields_of
from santiago.contract.reasons import ExitCode
from santiago.report.board_pages import awaited, board_page, empty_page, headline, stuck, word
from santiago.report.whole_board import whole_board

if TYPE_CHECKING:
    from santiago.board.board_handle import BoardHandle
    from santiago.board.loop_verdict import Verdict

MOST = 20
"""How many tickets of a queue are looked at for people."""


def board(plain: bool, actor: str | None, as_json: bool) -> int:
    """Show the board on the whole terminal, or print it once."""
    with opened_here() as opened:
        backlog = synchronise(opened)
        if as_json or plain or not has_screen():
            show_page(board_page(whole_board(opened, backlog, utc())), as_json=as_json)
            return 0
        from santiago.tui.board_screen import show_board  # loaded only where there is a screen

        return show_board(opened, backlog, named(actor), utc)


def show_tickets(queue: str | None) -> int:
    """Print the tickets for people, all or those of one queue."""
    with opened_here() as opened:
        data = whole_board(opened, synchronise(opened), utc())
    if queue:
        data["queues"] = {one: tickets for one, tickets in data["queues"].items() if one == queue}
    show_page(board_page(data))
    return 0


def guard(worker: str, plan: str | None, actor: str | None) -> int:
    """Tell other programs whether a planner has routed work for a worker."""
    told = single_entry.guard(os.environ, Path.cwd(), worker, plan, named(actor))
    click.echo(told)
    return 2 if told == "ENTRY_GUARD_BLOCKED" else 0


def triage_blocked(limit: int, as_json: bool) -> None:
    """List blocked tickets: for people in words, for programs as TSV."""
    with opened_here() as opened, opened.store.reading() as at:
        cards = {card.id: card for card in at.cards("blocked")}
    rows = triage.triage(cards.values(), utc())[:limit]
    if as_json:
        show_data(rows)
    elif wants_rows():
        say(triage.as_tsv(rows), verbatim=True)
    else:
        for card in (cards[row["id"]] for row in rows):
            closed = [f"{card.id} was closed: {card.decided}"]
            for text in stuck({**fields_of(card), "queue": card.queue, "spent": card.spent}) or closed:
                say(text)
        if not cards:
            say("no ticket is blocked")


def weekly_retry_summary(weeks: int, actor: str | None, as_json: bool) -> None:
    """Sum up which tickets ran out of attempts."""
    now = utc()
    with opened_here() as opened:
        summary, path = weekly.write(opened.board, opened.place, now, named(actor), weeks)
        name = opened.place.named(path)
    if as_json:
        show_data({**summary, "file": name})
    else:
        say(f"WEEKLY_SUMMARY_FILE:{name}" if wants_rows() else f"written to {name}", verbatim=True)


def loop_status(user_facing: bool, as_json: bool) -> int:
    """Say whether the loop would go on."""
    with opened_here() as opened:
        verdict = tell(opened, user_facing=user_facing, as_json=as_json)
    return ExitCode.BLOCKED if verdict.status == "STOP_USER_CONFIRMATION" else ExitCode.OK


def next_prompt(user_facing: bool, as_json: bool) -> None:
    """Say what comes next."""
    with opened_here() as opened:
        tell(opened, user_facing=user_facing, as_json=as_json, with_next=True)


def tell(opened: BoardHandle, *, user_facing: bool, as_json: bool = False, with_next: bool = False) -> Verdict:
    """Print where the loop stands, after plans with open boxes were taken onto the board."""
    backlog, project = synchronise(opened), opened.place.project
    language = board_settings(project).language or ""
    with opened.store.reading() as at:
        told = board_telling.tell(at, project, backlog, asking_tickets(at, project), language)
    for warning in told.warnings:
        warn(warning)
    lines = [*prompts.loop_lines(told.verdict), *(prompts.prompt_lines(told.target) if with_next else ())]
    if as_json:
        data = loop_verdict.as_data(told.verdict)
        data |= {"next": prompts.as_data(told.target)} if with_next else {}
        data["lines"] = lines
        show_data({**data, "text": told.text} if user_facing else data)
    elif user_facing:
        text, fence, prompt = told.text.partition("```")
        say(text.rstrip())
        say(f"\n{fence}{prompt}", verbatim=True)  # to be copied as it is
    elif speaks_codes():
        say("\n".join([*lines, told.prompt] if with_next else lines), verbatim=True)
    else:
        data = whole_board(opened, backlog, utc(), MOST)
        say(f"{word(data)}: {', '.join(headline(data))}")
        waiting = awaited(data)
        tickets = [one for queue in data["queues"].values() for one in queue if one["id"] in waiting]
        for text in (text for one in tickets for text in stuck(one)):
            say(text)
        show_lines(empty_page(data))
        if with_next:
            say(f"what comes next: {told.target.reason}")
            say(f"\n{told.prompt}", verbatim=True)
    return told.verdict
