"""The weekly summary of retries: which tickets ran out of attempts, and which of them still wait for a decision."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from santiago.artifacts.files import write_whole
from santiago.board.triage import age_days, label
from santiago.contract.board import BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from santiago.board.board_commands import Board
    from santiago.board.board_place import Place
    from santiago.board.board_store import Reading
    from santiago.contract.board import Card

MOST_WEEKS = 520
OLDEST = 20
"""How many open tickets are listed."""


@record
class Summary:
    """The tickets that ran out of attempts in the last weeks."""

    weeks: int
    week: str
    """The ISO week in which the summary was made: `2026-W47`."""
    events: int
    tickets: int
    by_queue: dict[str, int]
    by_priority: dict[str, int]
    open: tuple[Card, ...]
    """Blocked tickets without an attempt left that nobody decided on, the oldest first."""


def summed(at: Reading, now: str, weeks: int = 1) -> Summary:
    """Return the summary of the last `weeks` weeks."""
    if not 1 <= weeks <= MOST_WEEKS:
        hint = f"Name 1 to {MOST_WEEKS} weeks."
        raise SantiagoError(Kind.USAGE, f"a summary of {weeks} weeks says nothing", where="--weeks", hint=hint)
    since = _earlier(now, weeks)
    spent = [one for one in at.events(event=BoardEvent.TICKET_EXHAUSTED) if one.at >= since]
    known = {name: at.card(name) for name in dict.fromkeys(one.ticket for one in spent)}
    labels = [label(card) if (card := known[one.ticket]) is not None else "unknown" for one in spent]
    waiting = [card for card in at.cards("blocked") if card.spent and not card.decided]
    return Summary(
        weeks=weeks,
        week=iso_week(now),
        events=len(spent),
        tickets=len(known),
        by_queue=_sorted(Counter(str(one.about.get("from", "unknown")) for one in spent)),
        by_priority=_sorted(Counter(labels)),
        open=tuple(sorted(waiting, key=lambda card: (card.updated_at, card.arrival))),
    )


def write(board: Board, place: Place, now: str, actor: str, weeks: int = 1) -> tuple[Summary, Path]:
    """Write the summary into the history folder, and record that it was written."""
    with board.store.reading() as at:
        found = summed(at, now, weeks)
    path = place.history / f"weekly-retry-summary-{found.week}-last{weeks}w.md"
    write_whole(path, markdown(found, now).encode())
    about = {"week": found.week, "weeks": weeks, "file": place.named(path)}
    board.note("", BoardEvent.SUMMARY_WRITTEN, actor, about=about)
    return found, path


def due(at: Reading, now: str) -> bool:
    """Tell whether this ISO week has no summary yet."""
    week = iso_week(now)
    return all(one.about.get("week") != week for one in at.events(event=BoardEvent.SUMMARY_WRITTEN))


def iso_week(now: str) -> str:
    year, week, _ = datetime.fromisoformat(now).isocalendar()
    return f"{year}-W{week:02}"


def _earlier(now: str, weeks: int) -> str:
    return (datetime.fromisoformat(now) - timedelta(weeks=weeks)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def as_data(summary: Summary, now: str) -> dict[str, Any]:
    return {
        "week": summary.week, "window_days": summary.weeks * 7, "retry_budget_exhausted_events": summary.events,
        "affected_ticket_count": summary.tickets, "open_blocked_exhausted_count": len(summary.open),
        "by_queue": summary.by_queue, "by_priority": summary.by_priority,
        "oldest_open": [
            {"id": card.id, "priority": label(card), "age_days": age_days(card.updated_at, now), "title": card.title}
            for card in summary.open[:OLDEST]
        ],
    }  # fmt: skip


def markdown(summary: Summary, now: str) -> str:
    """Return the summary as the text of its file."""
    data = as_data(summary, now)
    figures = [name for name, value in data.items() if isinstance(value, int)]
    lines = [
        f"# Retries of {summary.week}",
        "",
        f"Made at {now}.",
        "",
        *(f"- {name}: {data[name]}" for name in figures),
    ]
    lines += ["", "## By queue", "", *_table("queue", summary.by_queue)]
    lines += ["", "## By priority", "", *_table("priority", summary.by_priority)]
    lines += ["", "## Oldest open tickets without an attempt left", ""]
    rows = [
        f"| {one['priority']} | {one['age_days']} | {_cell(one['id'])} | {_cell(one['title'])} |"
        for one in data["oldest_open"]
    ]
    lines += ["| priority | age in days | ticket | title |", "|---|---|---|---|", *rows] if rows else ["None."]
    return "\n".join([*lines, ""])


def _table(name: str, counts: dict[str, int]) -> list[str]:
    if not counts:
        return ["None."]
    return [f"| {name} | events |", "|---|---|", *(f"| {_cell(key)} | {value} |" for key, value in counts.items())]


def _cell(text: str) -> str:
    """Return a text that fits into one cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
