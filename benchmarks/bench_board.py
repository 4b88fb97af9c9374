"""Claiming a ticket and handing it over beside huey's dequeue and stored result, and how that grows with the board."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.measure import verdict
from huey import SqliteHuey  # type: ignore[import-untyped]

from santiago.board.board_commands import add
from santiago.board.board_handle import laid_out
from santiago.board.board_place import find
from santiago.board.rules import Move, new_card
from santiago.contract.board import Card

if TYPE_CHECKING:
    from collections.abc import Callable

    from proofs.figures import Measured

    from santiago.board.board_handle import BoardHandle

ROUNDS = 25
EACH = 40
"""Tickets of one round."""
DONE = {"evidence": "evidence/proof.log"}
WISH = Move(to="planner-review", evidence="evidence/proof.log")


def run() -> list[Measured]:
    with tempfile.TemporaryDirectory(prefix="bench-board-", dir=Path.cwd()) as folder:
        top = Path(folder).resolve()
        boards = {count: _board(top / str(count), count) for count in (100, 1_000, 100_000)}
        queue, enqueue = _huey(top)
        works: dict[str, Callable[[], None]] = {
            "huey": lambda: _dequeue(queue),
            **{str(count): lambda opened=opened: _claim_and_move(opened) for count, opened in boards.items()},  # type: ignore[misc]
        }
        seconds: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(ROUNDS):
            for name, work in works.items():
                seconds[name].append(_timed(work))
            _refill(boards)
            enqueue(EACH)
        for opened in boards.values():
            opened.close()
    times = {name: median(found) for name, found in seconds.items()}
    for name, found in times.items():
        print(f"  {name:>7}: {1000 * found / EACH:.2f} ms each")
    return [
        verdict("board-claim", times["1000"] / times["huey"], 1.0),
        verdict("board-growth", times["100000"] / times["100"], 1.2),
    ]


def _board(project: Path, count: int) -> BoardHandle:
    (project / ".git").mkdir(parents=True)
    opened = laid_out(find(project, {}))
    with opened.store.writing() as at:
        for number in range(count):
            add(at, _ticket(f"T{number}"), "planner")
    opened.projections.flush()
    return opened


def _ticket(name: str) -> Card:
    return new_card("developer-todo", name, f"Title of {name}", retry_budget=10_000)


def _huey(folder: Path) -> tuple[SqliteHuey, Callable[[int], None]]:
    """Return a queue of huey's with 1,000 tasks in it, and what adds more."""
    queue = SqliteHuey("bench", filename=str(folder / "huey.db"), fsync=True)
    work = queue.task(name="work")(lambda _: DONE)

    def enqueue(count: int) -> None:
        for number in range(count):
            work(f"Title of T{number}")

    enqueue(1_000)
    return queue, enqueue


def _claim_and_move(opened: BoardHandle) -> None:
    for _ in range(EACH):
        card = opened.board.claim("developer-todo", "worker", "worker").card
        assert card is not None
        lease = f"{card.lease}#{card.attempt_count}"
        opened.board.move(card.id, "developer-todo", WISH, "worker", lease=lease)


def _dequeue(queue: SqliteHuey) -> None:
    for _ in range(EACH):
        task = queue.dequeue()
        assert task is not None
        queue.put_result(task.id, DONE)


def _refill(boards: dict[int, BoardHandle]) -> None:
    """Put everything back that a round took."""
    for opened in boards.values():
        with opened.store.reading() as at:
            names = [card.id for card in at.cards("planner-review")]
        for name in names:
            opened.board.move(name, "planner-review", Move(to="developer-todo", phase="ready"), "planner")


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
