"""Many processes on one board, killed all the time: each ticket in one place, no claim twice, no attempt counted twice."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.board.invariants import wrong

from proofs.crowd import Crowd, hurry
from proofs.telling import outcome
from santiago.board import tsv
from santiago.board.board_commands import add
from santiago.board.board_handle import laid_out
from santiago.board.board_place import find
from santiago.board.board_store import Store
from santiago.board.rules import new_card
from santiago.contract.board import QUEUES, TODO, BoardEvent, ticket_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proofs.figures import Measured
    from santiago.board.board_store import Reading

LOOKS = 4
"""How often the whole board is looked at meanwhile."""
_GIVEN = ("claimed", "moved", "accepted")
"""What can be said of one claim only once."""


def run(arguments: list[str]) -> list[Measured]:
    parser = argparse.ArgumentParser(prog="python -m proofs board")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--tickets", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    hurry()
    with tempfile.TemporaryDirectory(prefix="board-") as folder:
        project = Path(folder).resolve()
        _fill(project, chosen.tickets)
        crowd = Crowd(project, chosen.processes, random.Random(chosen.seed))
        violations = _disturb(project, crowd, 60 * chosen.minutes)
        violations += [*_looked_at(project, chosen.tickets), *_said_wrongly(project, crowd), *_files_wrong(project)]
        return [outcome("board", _figures(project, crowd), violations, reached=crowd.killed > 0)]


def _fill(project: Path, count: int) -> None:
    (project / ".git").mkdir()
    with laid_out(find(project, {})) as opened, opened.store.writing() as at:
        for number in range(count):
            queue = list(TODO.values())[number % 2]
            budget = 3 if number % 4 == 0 else 10_000
            card = new_card(queue, f"T{number}", f"Title of {number}", retry_budget=budget)
            add(at, card, "planner", [f"T{number - 1}"] if number % 10 == 9 else [])


def _disturb(project: Path, crowd: Crowd, seconds: float) -> list[str]:
    """Kill workers until the time is over, and look at the board now and then."""
    draw, began, looks, found = random.Random(crowd.born), time.monotonic(), 1, list[str]()
    while (passed := time.monotonic() - began) < seconds and not found:
        time.sleep(draw.uniform(0.05, 0.4))
        crowd.kill_one()
        if passed > looks * seconds / (LOOKS + 1):
            looks += 1
            found = _looked_at(project)
            print(f"  {passed:5.0f} s  {crowd.killed} kills, {len(found)} violations", file=sys.stderr)
    crowd.end()
    return found


@contextmanager
def _reading(project: Path) -> Iterator[Reading]:
    """Look at the store, and close it: no worker may be born while it is open."""
    store = Store(find(project, {}).store)
    try:
        with store.reading() as at:
            yield at
    finally:
        store.close()


def _looked_at(project: Path, count: int | None = None) -> list[str]:
    with _reading(project) as at:
        there = sum(at.counts().values())
        lost = [f"{there} tickets of {count}"] if count not in (None, there) else []
        return lost + wrong(at)


def _said_wrongly(project: Path, crowd: Crowd) -> list[str]:
    """Hold what the workers were told against each other and against what is recorded."""
    said = crowd.said()
    wrongly = [f"a worker ended: {words[1]}" for words in said if words[0] == "error"]
    given = Counter((what, ticket, attempt) for what, ticket, attempt, _ in (one for one in said if one[0] in _GIVEN))
    wrongly += [
        f"{what} {count} times: {ticket}, claim {attempt}"
        for (what, ticket, attempt), count in given.items()
        if count > 1
    ]
    with _reading(project) as at:
        kinds = {"claimed": BoardEvent.TICKET_CLAIMED, "moved": BoardEvent.TICKET_MOVED, "accepted": BoardEvent.TICKET_DONE,
                 "renewed": BoardEvent.LEASE_RENEWED}  # fmt: skip
        recorded = {(event.event, event.ticket, str(event.attempt), event.actor) for event in at.events()}
    lost = [words for words in said if words[0] in kinds and (kinds[words[0]], *words[1:]) not in recorded]
    return wrongly + [f"said and not recorded: {words}" for words in lost]


def _files_wrong(project: Path) -> list[str]:
    """Bring the files up to date, and compare them with the store, ticket by ticket and in order."""
    place = find(project, {})
    with laid_out(place) as opened:
        told = list(opened.projections.exact())
        with opened.store.reading() as at:
            queues = {queue: [ticket_of(card) for card in at.cards(queue)] for queue in QUEUES}
            spent = sum(1 for _ in at.events(event=BoardEvent.TICKET_EXHAUSTED))
    done = queues.pop("done")
    rows = {queue: _rows(place.queues / f"{queue}.tsv") for queue in queues}
    archived = [row for path in tsv.archives(place.archive) for row in _rows(path)]
    history = _rows(place.history / Path(tsv.HISTORY).name)
    wanted = {queue: [_shown(card) for card in cards] for queue, cards in queues.items()}
    told += [f"{queue}.tsv has other rows than the store" for queue in queues if wanted[queue] != rows[queue]]
    shown = {row["id"]: {name: row[name] for name in row if not name.startswith("archived_")} for row in archived}
    if shown != {card.id: _shown(card) for card in done} or len(archived) != len(done):
        told.append("the archive has other rows than the store")
    return told + ([f"{len(history)} rows of history for {spent} events"] if len(history) != spent else [])


def _rows(path: Path) -> list[dict[str, str]]:
    return [row for _, row in tsv.table(path.read_text(encoding="utf-8")).rows]


def _shown(ticket: object) -> dict[str, str]:
    return {name: str(getattr(ticket, name)) for name in ticket.__annotations__}


def _figures(project: Path, crowd: Crowd) -> str:
    with _reading(project) as at:
        events = Counter(event.event for event in at.events())
        expired = sum(1 for event in at.events(event=BoardEvent.TICKET_MOVED) if "lost" in event.about)
    names = {"claims": BoardEvent.TICKET_CLAIMED, "renewals": BoardEvent.LEASE_RENEWED, "moves": BoardEvent.TICKET_MOVED,
             "escalations": BoardEvent.TICKET_EXHAUSTED, "acceptances": BoardEvent.TICKET_DONE}  # fmt: skip
    told = [f"{events[kind]:,} {word}" for word, kind in names.items()]
    return ", ".join([f"{crowd.killed:,} kills", *told, f"{expired:,} leases ended"])
