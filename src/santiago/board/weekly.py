"""The weekly summary of retries: which tickets ran out of attempts, and which of them still wait for a decision."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from santiago.artifacts.files import write_whole
from santiago.board.triage import age_days, label
from santiago.contract.board import BoardEvent
from santiago.contract.errors import Kind, SantiagoError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from santiago.board.board_commands import Board
    from santiago.board.board_place import Place
    from santiago.board.board_store import Reading

MOST_WEEKS = 520
OLDEST = 20
"""How many open tickets are listed."""


def summed(at: Reading, now: str, weeks: int = 1) -> dict[str, Any]:
    """Return what ran out of attempts in the last `weeks` weeks, and what still waits for a decision, the oldest first."""
    if not 1 <= weeks <= MOST_WEEKS:
        hint = f"Name 1 to {MOST_WEEKS} weeks."
        raise SantiagoError(Kind.USAGE, f"a summary of {weeks} weeks says nothing", where="--weeks", hint=hint)
    since = (datetime.fromisoformat(now) - timedelta(weeks=weeks)).strftime("%Y-%m-%dT%H:%M:%SZ")
    spent = [one for one in at.events(event=BoardEvent.TICKET_EXHAUSTED) if one.at >= since]
    known = {name: at.card(name) for name in dict.fromkeys(one.ticket for one in spent)}
    labels = [label(card) if (card := known[one.ticket]) is not None else "unknown" for one in spent]
    waiting = [card for card in at.cards("blocked") if card.spent and not card.decided]
    waiting.sort(key=lambda card: (card.updated_at, card.arrival))
    return {
        "week": iso_week(now), "window_days": weeks * 7, "retry_budget_exhausted_events": len(spent),
        "affected_ticket_count": len(known), "open_blocked_exhausted_count": len(waiting),
        "by_queue": _counted(str(one.about.get("from", "unknown")) for one in spent), "by_priority": _counted(labels),
        "oldest_open": [
            {"id": card.id, "priority": label(card), "age_days": age_days(card.updated_at, now), "title": card.title}
            for card in waiting[:OLDEST]
        ],
    }  # fmt: skip


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def write(board: Board, place: Place, now: str, actor: str, weeks: int = 1) -> tuple[dict[str, Any], Path]:
    """Write the summary into the history folder, and record that it was written."""
    with board.store.reading() as at:
        found = summed(at, now, weeks)
    path = place.history / f"weekly-retry-summary-{found['week']}-last{weeks}w.md"
    write_whole(path, markdown(found, now).encode())
    about = {"week": found["week"], "weeks": weeks, "file": place.named(path)}
    board.note("", BoardEvent.SUMMARY_WRITTEN, actor, about=about)
    return found, path


def due(at: Reading, now: str) -> bool:
    """Tell whether this ISO week has no summary yet."""
    week = iso_week(now)
    return all(one.about.get("week") != week for one in at.events(event=BoardEvent.SUMMARY_WRITTEN))


def iso_week(now: str) -> str:
    year, week, _ = datetime.fromisoformat(now).isocalendar()
    return f"{year}-W{week:02}"


def markdown(data: dict[str, Any], now: str) -> str:
    """Return the summary as the text of its file."""
    figures = [name for name, value in data.items() if isinstance(value, int)]
    lines = [
        f"# Retries of {data['week']}",
        "",
        f"Made at {now}.",
        "",
        *(f"- {name}: {data[name]}" for name in figures),
    ]
    lines += ["", "## By queue", "", *_table("queue", data["by_queue"])]
    lines += ["", "## By priority", "", *_table("priority", data["by_priority"])]
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
