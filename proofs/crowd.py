"""Workers on one board, each a process of its own that can be killed at any moment, and what they say they were given."""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.board import board_clock
from santiago.board.board_handle import open_board
from santiago.board.rules import Move
from santiago.contract.board import TODO, Card, Queue
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.board.board_commands import Board

FASTER = 60
"""The board's clock runs so many times faster than the machine's: a lease of a minute ends after a second."""
_machine_clocks = board_clock.machine_clocks


def hurry() -> None:
    """Have leases end soon, for everybody in this process and those that it starts."""

    def clocks() -> tuple[str, int, int]:
        boot, monotonic, wall = _machine_clocks()
        return boot, monotonic * FASTER, wall * FASTER

    board_clock.machine_clocks = clocks


class Crowd:
    """Processes that work on the board of a project until they are killed; each writes down what it was given."""

    def __init__(self, project: Path, size: int, draw: random.Random) -> None:
        self._project, self._draw = project, draw
        self.notes = project / "notes"
        self.notes.mkdir()
        self.born = self.killed = 0
        self._alive: list[int] = []
        for _ in range(size):
            self._bear()

    def kill_one(self) -> None:
        """Kill whomever it hits, and put somebody new in their place."""
        self._kill(self._draw.choice(self._alive))
        self._bear()

    def end(self) -> None:
        for process in list(self._alive):
            self._kill(process)

    def said(self) -> list[list[str]]:
        """Return what the workers wrote down: whole lines, as a kill may cut the last one."""
        texts = [path.read_text(encoding="utf-8") for path in sorted(self.notes.iterdir())]
        return [line.split("\t") for text in texts for line in text.split("\n")[:-1]]

    def _bear(self) -> None:
        self.born += 1
        seed, notes = self._draw.randrange(2**60), self.notes / f"{self.born:06}"
        process = os.fork()
        if not process:
            work(self._project, f"worker-{self.born}", seed, notes)
        self._alive.append(process)

    def _kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        self._alive.remove(process)
        self.killed += 1


def work(project: Path, name: str, seed: int, notes: Path) -> None:
    """Do what workers and planners do, at random and for ever; the process ends here."""
    note = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        with open_board(project, {}) as opened:
            worker = Worker(opened.board, name, random.Random(seed), note)
            while True:
                worker.step()
    except BaseException:
        os.write(note, f"error\t{traceback.format_exc()!r}\n".encode())
    finally:
        os._exit(1)


class Worker:
    """One of them, with the claims that it remembers, also those that it has lost long ago."""

    def __init__(self, board: Board, name: str, draw: random.Random, note: int) -> None:
        self._board, self._name, self._draw, self._note = board, name, draw, note
        self._claims: list[Card] = []

    def step(self) -> None:
        own = 1 if self._claims else 0
        act = self._draw.choices((self.claim, self.review, self.renew, self.move), (4, 3, own, 4 * own))[0]
        try:
            act()
        except SantiagoError as refusal:
            if refusal.reason is Reason.IO_ERROR or refusal.kind not in (Kind.INPUT, Kind.BLOCKED, Kind.TRANSIENT):
                raise

    def say(self, what: str, card: Card) -> None:
        os.write(self._note, f"{what}\t{card.id}\t{card.attempt_count}\t{self._name}\n".encode())

    def claim(self) -> None:
        found = self._board.claim(self._draw.choice(list(TODO.values())), self._name, self._name, minutes=1)
        if found.card is not None:
            self.say("claimed", found.card)
            self._claims = [*self._claims[-9:], found.card]

    def mine(self) -> Card:
        """Return one of its claims, the last one mostly; whoever dawdles finds that it is another's now."""
        if self._draw.random() < 0.03:
            time.sleep(2 * self._draw.random())
        return self._claims[-1] if self._draw.random() < 0.8 else self._draw.choice(self._claims)

    def renew(self) -> None:
        card = self.mine()
        self.say("renewed", self._board.renew(card.id, _token(card), self._name, minutes=1))

    def move(self) -> None:
        """Hand over, give back, or put aside what it claimed."""
        card = self.mine()
        to: Queue = self._draw.choices(("planner-review", card.queue, "blocked"), (6, 3, 1))[0]
        wish = Move(to=to, phase="ready" if to == card.queue else None, evidence="proof.log", note="why")
        self._board.move(card.id, None, wish, self._name, lease=_token(card))
        self.say("moved", card)

    def review(self) -> None:
        """Accept work, send it back, take up what was put aside, or decide on what has no attempt left."""
        queue = self._draw.choice(("planner-review", "blocked"))
        with self._board.store.reading() as at:
            cards = at.some(queue, 20)
        if not cards:
            return
        card = self._draw.choice(cards)
        todo = self._draw.choice(list(TODO.values()))
        if queue == "blocked":
            with suppress(SantiagoError):
                self._board.decide(card.id, "replan", self._name, budget=card.retry_budget + 3)
            self._board.move(card.id, None, Move(to=todo, phase="ready"), self._name)
        elif self._draw.random() < 0.1:
            self._board.accept(card.id, self._name, card.attempt_count, "looked at")
            self.say("accepted", card)
        else:
            self._board.move(card.id, "planner-review", Move(to=todo, phase="ready"), self._name)


def _token(card: Card) -> str:
    return f"{card.lease}#{card.attempt_count}"
