"""What `santiago` without a command begins with: where you stand in this repository, and what to type next."""

from __future__ import annotations

from pathlib import Path

from santiago.app.finding import runs_here
from santiago.artifacts.run_locations import find_root
from santiago.cli.opened_board import board_here, routed
from santiago.cli.view.terminal import paint, say
from santiago.contract.errors import SantiagoError
from santiago.report.measures import ago
from santiago.report.remedies import listed
from santiago.util.clock import SystemClock
from santiago.util.text import count

NEWEST = 10
"""How many runs are looked at for open questions. `santiago answer` looks at all."""
Told = tuple[list[str], list[tuple[str, str]]]
"""Lines about one subject, and commands that follow from it."""


def say_where() -> None:
    """Print the newest run, the open questions, the planning session and the board; or how to begin."""
    root = find_root(Path.cwd())
    parts = [_runs(), _session(root), _board()] if root else []
    lines = [line for found, _ in parts for line in found]
    commands = [row for _, found in parts for row in found]
    if root is None:
        lines = ["This is not a git repository, and santiago works in one."]
        commands = [("git init", "make one here, or go to one")]
    elif not lines:
        lines, commands = _beginning(root)
    say(paint("Where you stand:", "head", stderr=False))
    for line in lines:
        say(f"  {line}")
    for line in listed(commands):
        say(line)
    say()


def _beginning(root: Path) -> Told:
    run = ("santiago run docs/prd.md", "plan a requirements document and carry it out")
    if (root / "santiago.toml").is_file():
        return ["No run yet in this repository."], [run]
    return ["No run yet in this repository, and it is not set up."], [
        ("santiago init", "find its test command and its agent"),
        run,
    ]


def _runs() -> Told:
    from santiago.report.run_list import row_of  # loads much, so only where there is a run

    try:
        known = runs_here()
    except SantiagoError:
        return [], []
    rows = [row_of(run) for run in known[:NEWEST]]
    shown = next((row for row in rows if row.word == "running"), rows[0])
    shown = shown.on_board() if shown.run_id in routed([shown.run_id]) else shown
    of = f", {shown.document}" if shown.document else ""
    lines = [f"run {shown.run_id}: {shown.state}{of}, {ago(shown.created, SystemClock().utc())}"]
    if len(known) > 1:
        lines.append(f"{count(len(known) - 1, 'other run')}   (`santiago runs` lists them)")
    commands = [("santiago watch", "look at it, answer, stop, go on"), *([shown.next] if shown.next[0] else [])]
    asking = [(row.run_id, name) for row in rows for name in row.questions]
    if asking:
        names = ", ".join(f"{name} of {run}" for run, name in asking[:3]) + (" …" if len(asking) > 3 else "")
        lines.append(f"{count(len(asking), 'question')} for you: {names}")
        commands.insert(0, ("santiago answer", "read and answer the open questions"))
    return lines, commands


def _session(root: Path) -> Told:
    from santiago.report.session_review import sessions_of

    found = sessions_of(root)[:1]
    does = "look at the plan, plan on, make it final"
    return [f"planning session {name}: {word}" for name, word in found], [
        (f"santiago review {name}", does) for name, _ in found
    ]


def _board() -> Told:
    data = board_here(NEWEST)
    if data is None:
        return [], []
    from santiago.report.board_pages import headline, word

    return [f"the board: {word(data)}, {', '.join(headline(data))}"], [
        ("santiago board", "look at its tickets, decide")
    ]
