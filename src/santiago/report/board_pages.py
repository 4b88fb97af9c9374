"""The board as people read it: a ticket in two lines, on a page of its own, or the whole board line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.contract.board import TODO
from santiago.report.page import Line, Page
from santiago.util.text import count, few, flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.board import Card
    from santiago.report.page import Tone

SIGNAL = "needs_user_confirmation"
"""The protocol's mark in a note that a person must decide. People read what stands behind it."""
Ticket = dict[str, Any]
"""One ticket as `report.board` gives it."""
HOW_TO_FILL = (
    'santiago queue add "CSV export"        # a request in a few words',
    "santiago run docs/prd.md --enqueue     # or a requirements document",
    "santiago loop                          # have it planned and carried out",
)
"""The commands that put work onto a board."""
MOST = 5
"""How many tickets one sentence names."""
TONES: dict[str, Tone] = {"OPEN": "busy", "DONE": "good", "NEEDS YOU": "warn", "STUCK": "bad"}
"""The state of the whole board → its tone."""
_PHASES = {
    "planned": "not begun", "ready": "ready to be claimed", "running": "under way",
    "evidence_collected": "handed over, with evidence", "verified": "its checks passed", "done": "done",
}  # fmt: skip
_TROUBLES = {
    "none": "", "soft_fail": "the last attempt did not pass", "hard_fail": "trying again would not help",
    "dependency_blocked": "it waits for something else",
}  # fmt: skip
_PRIORITIES = {"P0": "highest", "P1": "high", "P2": "", "P3": ""}
_DECIDED = {"bypass": "left out", "superseded": "replaced by other tickets", "stop": "stopped"}


def word(data: dict[str, Any]) -> str:
    """Return the state of the whole board in a word or two."""
    verdict = data["verdict"]
    if verdict["stuck"]:
        return "STUCK"
    if awaited(data):
        return "NEEDS YOU"
    if verdict["status"] == "STOP_DONE":
        return "DONE" if data["archived"] or verdict["decided"] else "EMPTY"
    return "OPEN"


def awaited(data: dict[str, Any]) -> list[str]:
    """Return the tickets that somebody has to decide on, the most urgent first."""
    decisions = sorted(data["decisions"], key=lambda one: one["priority"])
    names = [*(one["id"] for one in decisions), *data["verdict"]["user_confirmation_ids"]]
    if data["verdict"]["stuck"]:
        names += [one["id"] for one in data["queues"]["blocked"] if not one["decided"]]
    return list(dict.fromkeys(names))


def headline(data: dict[str, Any]) -> list[str]:
    """Return what stands behind the word for the whole board, the most important parts first."""
    verdict, parts = data["verdict"], [_sentence(data)]
    parts.append(
        ", ".join(f"{queue} {number}" for queue, number in verdict["counts"].items() if number) or "no open ticket"
    )
    parts.append(f"{data['archived']:,} archived")
    if verdict["decided"]:
        parts.append(f"{sum(verdict['decided'].values())} closed by decision")
    if verdict["bypasses"]:
        parts.append(count(verdict["bypasses"], "bypass", "bypasses"))
    return parts


def _sentence(data: dict[str, Any]) -> str:
    names = awaited(data)
    which = few(names, MOST)
    match word(data):
        case "STUCK" if names:
            return f"nothing goes on until somebody decides on {which}"
        case "NEEDS YOU":
            return f"{count(len(names), 'ticket waits', 'tickets wait')} for a decision: {which}"
        case "DONE":
            return "everything on the board is done"
        case "EMPTY":
            return "nothing is on the board yet"
        case _:
            return str(data["verdict"]["reason"])


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
        parts.append(f"closed: {_DECIDED.get(ticket['decided'], ticket['decided'])}")
    if ticket["waits_for"]:
        parts.append(f"waits for {few(ticket['waits_for'], 3)}")
    if ticket["attempt_count"]:
        parts.append(f"try {ticket['attempt_count']}/{ticket['retry_budget']}")
    if ticket["evidence"]:
        parts.append(count(len(ticket["evidence"]), "result"))
    return " · ".join([*parts, age(ticket["age_minutes"])])


def _held(ticket: Ticket) -> str:
    left = ticket["lease_minutes_left"]
    return f"{flat(ticket['worker'])}, {f'{left} min left' if left else 'lease ended'}"


def ticket_page(ticket: Ticket, *, asking: bool, questions: Sequence[str] = ()) -> list[Line]:
    """Return all of one ticket."""
    lines = [
        Line(f"{ticket['id']}  {flat(ticket['title'])}", "head"),
        Line(standing(ticket), tone_of(ticket, asking=asking)),
    ]
    if asking:
        lines.append(Line("A person has to decide before it goes on.", "warn"))
    lines += [Line(f"? {flat(one)}", "warn") for one in questions]
    lines += [Line(f"{name}: {text}") for name, text in _facts(ticket).items() if text]
    lines += [Line(f"evidence: {flat(one)}", "good") for one in ticket["evidence"]]
    return lines


def evidence_lines(ticket: Ticket) -> list[Line]:
    """Return what whoever accepts a ticket looks at."""
    return [Line(f"evidence: {flat(one)}") for one in ticket["evidence"]] or [Line("It has no evidence.", "warn")]


def whereabouts(card: Card) -> str:
    """Return where a ticket is after a word of a person."""
    return f"{card.id} is closed: {card.decided}" if card.decided else f"{card.id} is in {card.queue} now"


def empty_page(data: dict[str, Any]) -> list[Line]:
    """Return what a board without open tickets says: how to fill it. Empty if there is a ticket."""
    if word(data) not in ("EMPTY", "DONE"):
        return []
    done = f"Everything is done; {count(data['archived'], 'ticket')} in the archive. To put more onto the board:"
    first = "The board is empty. To put work onto it:" if word(data) == "EMPTY" else done
    return [Line(first, "head"), *(Line(f"  {one}") for one in HOW_TO_FILL)]


def _facts(ticket: Ticket) -> dict[str, str]:
    """Return what else there is to know about a ticket, in words: name → text, empty where there is nothing to say."""
    kind, _, name = ticket["source"].partition(":")
    story = (
        f", story {ticket['story']}   (`santiago show {ticket['run']} {ticket['story']}`)" if ticket["story"] else ""
    )
    return {
        "note": for_people(ticket["note"]),
        "next": _advice(ticket),
        "state": _state(ticket),
        "priority": _PRIORITIES[ticket["priority"]],
        "from": flat(name) if kind in ("doc", "plan") else "",
        "part of": flat(ticket["request"]),
        "run": f"{flat(ticket['run'])}{story}" if ticket["run"] else "",
    }


def _state(ticket: Ticket) -> str:
    """Return how far the work on a ticket is, and what troubles it."""
    if ticket["spent"] and ticket["queue"] == "blocked":
        return "all of its attempts are used"
    phase = "" if ticket["queue"] == "blocked" else _PHASES[ticket["phase"]]
    return "; ".join(filter(None, (phase, "" if ticket["waits_for"] else _TROUBLES[ticket["error_class"]])))


def for_people(text: str) -> str:
    """Return a note or an advice without the marks that only programs read."""
    bare = flat(text).replace(f"{SIGNAL}: ", "").strip()
    return "" if bare in ("TBD", SIGNAL) else bare


def stuck(ticket: Ticket) -> list[str]:
    """Return why a ticket does not go on by itself, and what helps; empty if it does, or if it was closed."""
    name, note = ticket["id"], flat(ticket["note"])
    if ticket["lease"].startswith("held:"):
        return [f"{name} is held by {flat(ticket['worker'])}"]
    if ticket["decided"] or (ticket["queue"] != "blocked" and SIGNAL not in note):
        return []
    return [f"{name}: {for_people(note) or 'it waits for a decision'}", f"  next: {_advice(ticket)}"]


def _advice(ticket: Ticket) -> str:
    """Return what helps a ticket that does not go on by itself; of others, what its next action says."""
    if ticket["queue"] != "blocked" or ticket["decided"]:
        return for_people(ticket["next_action"])
    if ticket["spent"]:
        return (
            f"`santiago queue decide {ticket['id']} replan --budget {ticket['attempt_count'] + 1}`, or bypass, or stop"
        )
    back = f"`santiago queue move {ticket['id']} --to {TODO[ticket['role']]}` puts it back"
    return for_people(ticket["next_action"]) or back


def board_page(data: dict[str, Any]) -> Page:
    """Return the whole board as a page."""
    return Page(lambda _: map(Line, _listing(data)), lambda: data)


def _listing(data: dict[str, Any]) -> list[str]:
    asking = data["verdict"]["user_confirmation_ids"]
    lines = [", ".join([word(data), *headline(data)]), *(line.text for line in empty_page(data))]
    for queue, tickets in data["queues"].items():
        if not data["counts"][queue]:
            continue
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
