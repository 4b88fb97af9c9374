"""Random use of a board, with the real store: whatever is done, by whomever and however late, its invariants hold."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from santiago.board import clock
from santiago.board.board import Board
from santiago.board.rules import Move
from santiago.board.store import Store
from santiago.contract.board import CLAIMED_FROM, QUEUES, Card, Phase, Queue
from santiago.contract.errors import SantiagoError
from tests.board import cards, table
from tests.board.invariants import wrong

if TYPE_CHECKING:
    from collections.abc import Callable

queues = st.sampled_from(QUEUES)
claimed_queues = st.sampled_from(CLAIMED_FROM)
phases = st.none() | st.sampled_from(get_args(Phase))
workers = st.sampled_from(("anna", "bert"))
numbers = st.integers(0, 9)
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Thousands of durable writes, of which nothing here depends on the disk."""


class AnyUse(RuleBasedStateMachine):
    """Tickets are drawn by number, so that a draw always finds one; each claim keeps its token for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="board-", dir=MEMORY)
        self.now, self.wall = 0, 0
        self.patch = mock.patch.object(clock, "machine_clocks", self.clocks)
        self.patch.start()
        self.store = Store(Path(self.folder.name) / "board.sqlite3")
        self.board = Board(self.store)
        self.names: list[str] = []
        self.claims: list[tuple[str, int, str]] = []
        """Ticket, number and token of every claim so far."""

    def clocks(self) -> tuple[str, int, int]:
        return "boot", self.now, self.wall

    def teardown(self) -> None:
        self.patch.stop()
        self.store.close()
        self.folder.cleanup()

    def card(self, name: str) -> Card:
        with self.store.reading() as at:
            card = at.card(name)
        assert card is not None
        return card

    def everything(self) -> tuple[list[Card], int, list[str]]:
        with self.store.reading() as at:
            return [card for queue in QUEUES for card in at.cards(queue)], at.last(), at.behind()

    def tried(self, act: Callable[..., Any], *words: Any, **options: Any) -> Any:
        """Do something; where it is refused, see that nothing changed, and return the refusal."""
        before = self.everything()
        try:
            return act(*words, **options)
        except SantiagoError as error:
            refusal = error
        assert self.everything() == before
        assert refusal.hint
        return refusal

    # What people and workers do

    @initialize()
    def begin(self) -> None:
        for queue in CLAIMED_FROM:
            self.add(queue, None, [], 2)

    @precondition(lambda self: len(self.names) < 10)
    @rule(queue=queues, phase=phases, waits=st.lists(numbers, max_size=2), budget=st.integers(1, 3))
    def add(self, queue: Queue, phase: Phase | None, waits: list[int], budget: int) -> None:
        name = f"T{len(self.names)}"
        usual = {"phase": phase} if phase else {}
        card = cards.card(name, queue, retry_budget=budget, **usual)
        waits_for = [self.names[number % len(self.names)] for number in waits if self.names]
        if isinstance(self.tried(self.board.add, card, "planner", waits_for), Card):
            self.names.append(name)

    @rule(queue=claimed_queues, worker=workers, number=st.none() | numbers, minutes=st.sampled_from((10, 60)))
    def claim(self, queue: Queue, worker: str, number: int | None, minutes: int) -> None:
        name = None if number is None else self.names[number % len(self.names)]
        with suppress(SantiagoError):
            claim = self.board.claim(queue, worker, worker, name=name, minutes=minutes)
            if claim.card is not None:
                card = claim.card
                assert card.queue == queue
                assert name in (None, card.id)
                self.claims.append((card.id, card.attempt_count, f"{card.lease}#{card.attempt_count}"))

    @precondition(lambda self: self.claims)
    @rule(number=numbers)
    def renew(self, number: int) -> None:
        name, attempt, token = self.claims[-1 - number % len(self.claims)]
        before = self.card(name)
        after = self.tried(self.board.renew, name, token, "anna")
        assert isinstance(after, Card) == (before.held and before.attempt_count == attempt)

    @rule(
        number=numbers,
        to=queues,
        phase=phases,
        evidence=st.sampled_from((None, "proof.log", "n/a")),
        note=st.sampled_from((None, "p1")),
    )
    def move(self, number: int, to: Queue, phase: Phase | None, evidence: str | None, note: str | None) -> None:
        before = self.card(self.names[number % len(self.names)])
        wish = Move(to=to, phase=phase, evidence=evidence, note=note)
        after = self.tried(self.board.move, before.id, before.queue, wish, "planner")
        if isinstance(after, Card):
            assert table.is_way(before.queue, to)
            assert after.phase in table.arrivals(before, to)
        elif "cannot go from" in after.message and " in " in after.message:
            assert all(one in after.hint for one in table.arrivals(before, to))

    @precondition(lambda self: self.claims)
    @rule(number=numbers, to=st.sampled_from(("planner-review", "blocked", None)), short=st.booleans())
    def hand_over(self, number: int, to: Queue | None, short: bool) -> None:
        """A worker hands over or gives back what it once claimed, however long ago."""
        name, attempt, token = self.claims[-1 - number % len(self.claims)]
        before = self.card(name)
        to = to or before.queue
        wish = Move(to=to, phase="ready" if to == before.queue else None, evidence="proof.log", note="why")
        after = self.tried(self.board.move, name, None, wish, "anna", lease=str(attempt) if short else token)
        if attempt != before.attempt_count:
            assert isinstance(after, SantiagoError), "a move of an earlier claim took effect"
            assert (before.holder or before.queue) in after.message
        elif before.held:
            assert isinstance(after, Card), after

    @rule(number=numbers, word=st.sampled_from(("replan", "bypass", "stop")), budget=st.none() | st.integers(1, 5))
    def decide(self, number: int, word: str, budget: int | None) -> None:
        before = self.card(self.names[number % len(self.names)])
        after = self.tried(self.board.decide, before.id, word, "planner", budget=budget)
        assert isinstance(after, SantiagoError) or (before.queue == "blocked" and before.spent)

    @rule(some=st.lists(claimed_queues, max_size=3))
    def reconcile(self, some: list[Queue]) -> None:
        assert all(card.spent for card in self.board.reconcile(some, "planner"))

    @rule(number=numbers, late=st.integers(0, 1))
    def accept(self, number: int, late: int) -> None:
        before = self.card(self.names[number % len(self.names)])
        after = self.tried(self.board.accept, before.id, "planner", before.attempt_count - late, "looked at")
        assert isinstance(after, Card) == (before.queue == "planner-review" and not late)

    # What time does

    @rule(minutes=st.sampled_from((1, 9, 11, 59, 61)))
    def wait(self, minutes: int) -> None:
        self.now += minutes * 60_000
        self.wall += minutes * 60_000

    @rule(minutes=st.sampled_from((-100_000, -61, 61, 100_000)))
    def set_the_clock(self, minutes: int) -> None:
        """board line 75: no lease ends by it, and none lives again."""
        with self.store.writing():
            before = self.store.ticks()
        self.wall += minutes * 60_000
        with self.store.writing():
            assert self.store.ticks() == before

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = Store(self.store.path)
        self.board = Board(self.store)

    @invariant()
    def nothing_is_wrong(self) -> None:
        with self.store.reading() as at:
            assert wrong(at) == []


TestAnyUse = AnyUse.TestCase
TestAnyUse.__doc__ = "board lines 3, 20, 21, 22, 27, 29, 30 and 75"
TestAnyUse.settings = settings(max_examples=60, stateful_step_count=40)
