"""The board as people read it: a ticket in two lines, on a page of its own, or the whole board line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.report.pages import Line
from santiago.util.text import count, flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.report.pages import Tone

SIGNAL = "needs_user_confirmation"
Ticket = dict[str, Any]
"""One ticket as `report.board` gives it."""


def headline(data: dict[str, Any]) -> list[str]:
    """Return the state of the whole board, the most important parts first."""
    verdict, parts = data["verdict"], [data["verdict"]["reason"]]
    parts.append(
        ", ".join(f"{queue} {number}" for queue, number in verdict["counts"].items() if number) or "no open ticket"
    )
    parts.append(f"{data['archived']:,} archived")
    if verdict["decided"]:
        parts.append(f"{sum(verdict['decided'].values())} closed by decision")
    if verdict["bypasses"]:
        parts.append(count(verdict["bypasses"], "bypass", "bypasses"))
    return parts


def age(minutes: int) -> str:
    """Return an age: `5 min`, `7 h`, `12 days`."""
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 2 * 1440 else f"{minutes // 1440} days"


def tone_of(ticket: Ticket, *, asking: bool) -> Tone:
    if ticket["decided"]:
        return "dim"
    if asking:
        return "warn"
    if ticket["queue"] == "blocked":
        return "bad"
    if ticket["lease_minutes_left"] is not None:
        return "busy"
    return "dim" if ticket["waits_for"] else ""


def standing(ticket: Ticket) -> str:
    """Return the state of a ticket: who holds it, what it waits for, its tries, its evidence, its age."""
    parts = [_held(ticket)] if ticket["lease_minutes_left"] is not None else []
    if ticket["decided"]:
        parts.append(f"closed: {ticket['decided']}")
    if ticket["waits_for"]:
        parts.append(f"waits for {_some(ticket['waits_for'])}")
    if ticket["attempt_count"]:
        parts.append(f"try {ticket['attempt_count']}/{ticket['retry_budget']}")
    if ticket["evidence"]:
        parts.append(count(len(ticket["evidence"]), "result"))
    return " · ".join([*parts, age(ticket["age_minutes"])])


def _held(ticket: Ticket) -> str:
    left = ticket["lease_minutes_left"]
    return f"{flat(ticket['worker'])}, {f'{left} min left' if left else 'lease ended'}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def ticket_page(ticket: Ticket, *, asking: bool, questions: Sequence[str] = ()) -> list[Line]:
    """Return all of one ticket."""
    lines = [
        Line(f"{ticket['id']}  {flat(ticket['title'])}", "head"),
        Line(standing(ticket), tone_of(ticket, asking=asking)),
    ]
    if asking:
        lines.append(Line("A person has to decide before it goes on.", "warn"))
    lines += [Line(f"? {flat(one)}", "warn") for one in questions]
    shown = ("note", "next_action", "phase", "error_class", "priority", "source", "request", "run", "story")
    lines += [Line(f"{name.replace('_', ' ')}: {flat(str(ticket[name]))}") for name in shown if ticket[name]]
    lines += [Line(f"evidence: {flat(one)}", "good") for one in ticket["evidence"]]
    return lines


def stuck(ticket: Ticket) -> list[str]:
    """Return why a ticket does not go on by itself, and what helps; empty if it does, or if it was closed."""
    name, note = ticket["id"], flat(ticket["note"])
    if ticket["lease"].startswith("held:"):
        return [f"{name} is held by {flat(ticket['worker'])}"]
    if ticket["decided"] or (ticket["queue"] != "blocked" and SIGNAL not in note):
        return []
    if ticket["queue"] == "blocked" and ticket["spent"]:
        more = ticket["attempt_count"] + 1
        how = f"`santiago queue decide {name} replan --budget {more} --actor planner`, or bypass, or stop"
    else:
        how = flat(ticket["next_action"])
    return [f"{name}: {note.removeprefix(f'{SIGNAL}: ')}", f"  next: {how.removeprefix(f'{SIGNAL}: ')}"]


def listing(data: dict[str, Any]) -> list[str]:
    """Return the whole board as lines."""
    asking = data["verdict"]["user_confirmation_ids"]
    lines = [", ".join([data["verdict"]["status"], *headline(data)])]
    for queue, tickets in data["queues"].items():
        lines.append(f"{queue}: {count(data['counts'][queue], 'ticket')}")
        for ticket in tickets:
            told = ", a person has to decide" if ticket["id"] in asking else ""
            lines.append(f"  {ticket['id']}, {flat(ticket['title'])}, {standing(ticket).replace(' · ', ', ')}{told}")
            if ticket["lease_minutes_left"] is None:
                lines += [f"    {line}" for line in stuck(ticket)]
        if len(tickets) < data["counts"][queue]:
            lines.append(
                f"  and {data['counts'][queue] - len(tickets):,} more; `santiago queue list --queue {queue}` shows all"
            )
    return lines
