"""Random use of a board, with the real store: whatever is done, by whomever and however late, its invariants hold."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from santiago.board import board_clock
from santiago.board.board_commands import Board
from santiago.board.board_store import Store
from santiago.board.rules import Move
from santiago.contract.board import CLAIMED_FROM, QUEUES, Card, Phase, Queue
from santiago.contract.errors import SantiagoError
from tests.board import cards, table
from tests.board.invariants import wrong

queues = st.sampled_from(QUEUES)
claimed_queues = st.sampled_from(CLAIMED_FROM)
phases = st.none() | st.sampled_from(get_args(Phase))
workers = st.sampled_from(("anna", "bert"))
numbers = st.integers(0, 5)
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Thousands of durable writes, of which nothing here depends on the disk."""


class AnyUse(RuleBasedStateMachine):
    """Tickets are drawn by number, so that a draw always finds one; each claim keeps its token for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="board-", dir=MEMORY)
        self.now, self.wall = 0, 0
        self.patch = mock.patch.object(board_clock, "machine_clocks", self.clocks)
        self.patch.start()
        self.store = Store(Path(self.folder.name) / "board.sqlite3")
        self.board = Board(self.store)
        self.names: list[str] = []
        self.claims: list[tuple[str, int, str]] = []
        """Ticket, number and token of every claim so far."""
        self.arrived: dict[str, tuple[int, str]] = {}
        """When each ticket came into the queue where it stands."""

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

    @precondition(lambda self: len(self.names) < 6)
    @rule(queue=queues, phase=phases, waits=st.lists(numbers, max_size=2), budget=st.integers(1, 3))
    def add(self, queue: Queue, phase: Phase | None, waits: list[int], budget: int) -> None:
        name = f"T{len(self.names)}"
        usual = {"phase": phase} if phase else {}
        card = cards.card(name, queue, retry_budget=budget, **usual)
        waits_for = [self.names[number % len(self.names)] for number in waits if self.names]
        if isinstance(self.tried(self.board.add, card, "planner", waits_for), Card):
            self.names.append(name)

    def claimable(self) -> list[Card]:
        """Return what a claim may take by the rules, in order of arrival: what waits, or was left by who died."""
        with self.store.writing() as at:
            ticks = self.store.ticks()
            every = [card for queue in CLAIMED_FROM for card in at.cards(queue) if not at.waits_for(card.id)]
        free = [card for card in every if not card.held or (card.expires or 0) <= ticks]
        return sorted((card for card in free if not card.spent), key=lambda card: self.arrived[card.id])

    def claimed(self, card: Card | None, wanted: list[Card], worker: str) -> None:
        assert (card.id if card else None) == (wanted[0].id if wanted else None)
        if card is not None:
            assert (card.attempt_count, card.holder) == (wanted[0].attempt_count + 1, worker)
            self.claims.append((card.id, card.attempt_count, f"{card.lease}#{card.attempt_count}"))

    @rule(queue=claimed_queues, worker=workers)
    def claim_first(self, queue: Queue, worker: str) -> None:
        wanted = [card for card in self.claimable() if card.queue == queue]
        self.claimed(self.board.claim(queue, worker, worker, minutes=10).card, wanted, worker)

    @rule(number=numbers, worker=workers)
    def claim_by_id(self, number: int, worker: str) -> None:
        card = self.card(self.names[number % len(self.names)])
        wanted = [one for one in self.claimable() if one.id == card.id]
        claim = self.tried(self.board.claim, card.queue, worker, worker, name=card.id)
        self.claimed(None if isinstance(claim, SantiagoError) else claim.card, wanted, worker)

    @rule(number=numbers, worker=workers)
    def fail_until_it_is_good(self, number: int, worker: str) -> None:
        for _ in range(2):
            self.claim_by_id(number, worker)
            self.hand_over(0, None, short=False)
        self.claim_by_id(number, worker)
        self.hand_over(0, "planner-review", short=True)

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

    @rule(number=numbers, to=st.sampled_from(("planner-review", "blocked", None)), short=st.booleans())
    def hand_over(self, number: int, to: Queue | None, short: bool) -> None:
        """A worker hands over or gives back what it once claimed, however long ago."""
        if not self.claims:
            return
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

    @rule(
        number=numbers, word=st.sampled_from(("replan", "bypass", "stop", "drop")), budget=st.none() | st.integers(1, 5)
    )
    def decide(self, number: int, word: str, budget: int | None) -> None:
        before = self.card(self.names[number % len(self.names)])
        after = self.tried(self.board.decide, before.id, word, "planner", budget=budget)
        if word == "drop":
            assert isinstance(after, Card) == (before.queue != "done" and not before.decided)
        else:
            assert isinstance(after, SantiagoError) or (before.queue == "blocked" and before.spent)

    @rule(some=st.lists(claimed_queues, max_size=3))
    def reconcile(self, some: list[Queue]) -> None:
        assert all(card.spent for card in self.board.reconcile(some, "planner"))

    @rule(number=numbers, late=st.integers(0, 1))
    def accept(self, number: int, late: int) -> None:
        with self.store.reading() as at:
            reviewed = [card.id for card in at.cards("planner-review")]
        before = self.card((reviewed or self.names)[number % len(reviewed or self.names)])
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
            for card in [card for queue in QUEUES for card in at.cards(queue)]:
                if self.arrived.get(card.id, (0, ""))[1] != card.queue:
                    self.arrived[card.id] = (at.last(), card.queue)


TestAnyUse = AnyUse.TestCase
TestAnyUse.__doc__ = "board lines 3, 20, 21, 22, 27, 29, 30 and 75"
TestAnyUse.settings = settings(max_examples=60, stateful_step_count=40)
