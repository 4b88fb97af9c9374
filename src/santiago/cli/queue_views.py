"""Views of the board: blocked tickets by urgency, retries by week, whether the loop goes on, and what comes next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from santiago.cli import opened_board
from santiago.cli.queue_words import speaks_codes, wants_rows
from santiago.cli.view.terminal import say
from santiago.contract.reasons import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.board.board_handle import BoardHandle
    from santiago.board.loop_verdict import Verdict
    from santiago.contract.board import Card

MOST = 20
"""How many tickets of a queue are looked at for people."""
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_user = click.option(
    "--user-facing", is_flag=True, help="Print a text for users instead: no command, path, queue or id."
)


@click.command("triage-blocked")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Print no more tickets than this.")
@_json
def triage_blocked(limit: int, as_json: bool) -> None:
    """List blocked tickets, the most urgent and then the oldest first, as TSV."""
    from santiago.board import board_clock, triage

    with opened_board.opened() as opened, opened.store.reading() as at:
        cards = {card.id: card for card in at.cards("blocked")}
        rows = triage.triage(cards.values(), board_clock.utc())[:limit]
    if as_json:
        _print(triage.as_data(rows))
    elif wants_rows():
        say(triage.as_tsv(rows), verbatim=True)
    else:
        _say_triage([cards[row.id] for row in rows])


def _say_triage(cards: Sequence[Card]) -> None:
    """Print blocked tickets in words, in this order."""
    from santiago.contract.board import fields_of
    from santiago.report.board_pages import stuck

    for card in cards:
        for line in stuck({**fields_of(card), "queue": card.queue, "spent": card.spent}) or [
            f"{card.id} was closed: {card.decided}"
        ]:
            say(line)
    if not cards:
        say("no ticket is blocked")


@click.command("weekly-retry-summary")
@click.option("--weeks", type=int, default=1, show_default=True, help="Sum up the last so many weeks.")
@click.option("--actor", metavar="NAME", help="Who acts, for the log; default $SANTIAGO_ACTOR or $USER.")
@_json
def weekly_retry_summary(weeks: int, actor: str | None, as_json: bool) -> None:
    """Sum up which tickets ran out of attempts, and write it into the board's history."""
    from santiago.app.actor import actor as acting
    from santiago.board import board_clock, weekly

    now = board_clock.utc()
    with opened_board.opened() as opened:
        summary, path = weekly.write(opened.board, opened.place, now, acting(actor), weeks)
        name = opened.place.named(path)
    if as_json:
        _print({**weekly.as_data(summary, now), "file": name})
    else:
        say(f"WEEKLY_SUMMARY_FILE:{name}" if wants_rows() else f"written to {name}", verbatim=True)


@click.command("loop-status")
@_user
@_json
def loop_status(user_facing: bool, as_json: bool) -> int:
    """Say where the board stands: work is left, everything is done, or a person has to decide (exit 10)."""
    verdict = _tell(user_facing=user_facing, as_json=as_json, with_next=False)
    return ExitCode.BLOCKED if verdict.status == "STOP_USER_CONFIRMATION" else ExitCode.OK


@click.command("next-prompt")
@_user
@_json
def next_prompt(user_facing: bool, as_json: bool) -> None:
    """Say what comes next, with a prompt that can be handed on."""
    _tell(user_facing=user_facing, as_json=as_json, with_next=True)


def _tell(*, user_facing: bool, as_json: bool, with_next: bool) -> Verdict:
    with opened_board.opened() as opened:
        return tell(opened, user_facing=user_facing, as_json=as_json, with_next=with_next)


def tell(opened: BoardHandle, *, user_facing: bool, as_json: bool = False, with_next: bool = False) -> Verdict:
    """Print where the loop stands, after plans with open boxes were taken onto the board."""
    from santiago.app.board.asking_tickets import asking_tickets
    from santiago.app.board.ticket_context import board_settings
    from santiago.board import board_telling, loop_verdict
    from santiago.board import next_prompt as prompts

    backlog, project = opened_board.synchronise(opened), opened.place.project
    language = board_settings(project).language or ""
    with opened.store.reading() as at:
        told = board_telling.tell(at, project, backlog, asking_tickets(at, project), language)
    for warning in told.warnings:
        opened_board.warn(warning)
    if as_json:
        data = {**loop_verdict.as_data(told.verdict), **({"next": prompts.as_data(told.target)} if with_next else {})}
        data["lines"] = [*prompts.loop_lines(told.verdict), *(prompts.prompt_lines(told.target) if with_next else ())]
        _print({**data, "text": told.text} if user_facing else data)
    elif user_facing:
        text, fence, prompt = told.text.partition("```")
        say(text.rstrip())
        say(f"\n{fence}{prompt}", verbatim=True)  # to be copied as it is
    elif speaks_codes():
        lines = [*prompts.prompt_lines(told.target), told.prompt] if with_next else []
        say("\n".join([*prompts.loop_lines(told.verdict), *lines]), verbatim=True)
    else:
        _say_words(opened, backlog)
        if with_next:
            say(f"what comes next: {told.target.reason}")
            say(f"\n{told.prompt}", verbatim=True)
    return told.verdict


def _say_words(opened: BoardHandle, backlog: int) -> None:
    """Print where the board stands, and what each ticket needs that waits for somebody."""
    from santiago.board.board_clock import utc
    from santiago.report.board import whole_board
    from santiago.report.board_pages import awaited, empty_page, headline, stuck, word

    data = whole_board(opened, backlog, utc(), MOST)
    say(f"{word(data)}: {', '.join(headline(data))}")
    waiting = awaited(data)
    tickets = [one for queue in data["queues"].values() for one in queue if one["id"] in waiting]
    for line in (*(line for one in tickets for line in stuck(one)), *(line.text for line in empty_page(data))):
        say(line)


def _print(data: Any) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


COMMANDS: dict[str, click.Command] = {
    one.name: one for one in (triage_blocked, weekly_retry_summary, loop_status, next_prompt) if one.name
}
"""What the group `queue` takes in."""
