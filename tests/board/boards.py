"""A board for tests, in a folder of its own, with the commands that look at it."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from santiago.board.board import Board
from santiago.board.root import Place
from santiago.board.store import Store
from santiago.cli import opened_board

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from santiago.contract.board import Card, Queue


class Opened:
    """What a command gets of a board."""

    def __init__(self, project: Path) -> None:
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        self.place = Place(project=project, root=project / ".santiago" / ".runtime")
        self.place.store.parent.mkdir(parents=True)
        self.store = Store(self.place.store)
        self.board = Board(self.store)
        self.synchronised = 0

    def add(self, *cards: Card, waits_for: Sequence[str] = ()) -> None:
        for card in cards:
            self.board.add(card, "planner", waits_for)

    def keep(self, *cards: Card) -> None:
        """Put tickets where no rule would let them come in one step."""
        with self.store.writing() as at:
            for card in cards:
                at.keep(card)

    def exhaust(self, name: str, queue: Queue = "developer-todo") -> None:
        """Have a ticket fail until no attempt is left."""
        from santiago.board.rules import Move

        while (
            claim := self.board.claim(queue, "worker", "worker", name=name)
        ).card is not None and not claim.card.spent:
            self.board.move(name, queue, Move(to=queue, phase="ready"), "worker")
        self.board.move(name, queue, Move(to=queue, phase="ready"), "worker")
        self.board.reconcile([queue], "planner")


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    found = Opened(tmp_path.resolve())

    @contextmanager
    def stand_in() -> Iterator[Opened]:
        yield found

    def synchronise(_: Any) -> tuple[str, ...]:
        found.synchronised += 1
        return ()

    monkeypatch.setattr(opened_board, "opened", stand_in)
    monkeypatch.setattr(opened_board, "synchronise", synchronise)
    monkeypatch.chdir(found.place.project)
    yield found
    found.store.close()
