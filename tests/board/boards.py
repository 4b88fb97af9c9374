"""A board for tests, in a repository of its own."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from santiago.board.board_handle import open_board
from santiago.board.rules import Move
from santiago.contract.board import Card, Queue


class Desk:
    def __init__(self, project: Path) -> None:
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        self.opened = open_board(project, {})
        self.place, self.store, self.board = self.opened.place, self.opened.store, self.opened.board

    def add(self, *cards: Card) -> None:
        for card in cards:
            self.board.add(card, "planner")

    def keep(self, *cards: Card) -> None:
        """Put tickets where no rule would let them come in one step."""
        with self.store.writing() as at:
            for card in cards:
                at.keep(card)
            at.set_meta("begun", at.now)

    def exhaust(self, name: str, queue: Queue = "developer-todo") -> None:
        spent = False
        while not spent:
            claimed = self.board.claim(queue, "worker", "worker", name=name).card
            assert claimed
            spent = claimed.spent
            self.board.move(name, queue, Move(to=queue, phase="ready"), "worker")
        self.board.reconcile([queue], "planner")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    found = Desk(tmp_path.resolve())
    monkeypatch.chdir(found.place.project)
    monkeypatch.setenv("SIGEE_ALLOW_DIRECT_ENTRY", "0")  # whoever sets a variable of the protocol reads its codes
    with found.opened:
        yield found
