"""The loop over the board: it routes requests, works on tickets and reviews them, until there is a reason to stop."""

from __future__ import annotations

import time
from dataclasses import field
from typing import TYPE_CHECKING

from santiago.app.board import backlog, settling
from santiago.app.board.asking_tickets import asking_tickets
from santiago.app.board.planner_review import TEST_CONTRACT, review_all, take_answers
from santiago.app.board.routing import route
from santiago.app.board.settling import SIGNAL
from santiago.app.board.ticket_context import PLANNER, TicketContext, board_settings
from santiago.app.board.working import free_ready, leave_out, set_aside, settle, take_up_answers, work_on
from santiago.app.loading import load, working
from santiago.artifacts import run_locations
from santiago.board import weekly
from santiago.board.board_telling import verdict_of
from santiago.board.governance import truth_validation
from santiago.board.loop_verdict import ACTIONABLE, accumulated
from santiago.board.rules import Move, claim_mark
from santiago.contract.board import TODO, BoardEvent
from santiago.contract.counting import count
from santiago.contract.outcomes import Proof
from santiago.contract.reasons import Reason
from santiago.contract.record import lean, record
from santiago.util.clock import SystemClock
from santiago.util.text import flat
from santiago.workspace.ancestry import is_ancestor, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from santiago.board.board_handle import BoardHandle
    from santiago.contract.board import Card, Role

ROLES: tuple[Role, ...] = ("scientist", "developer")
"""Scientists come first, since what they find out may change what is developed."""
LOOP = "@loop"
"""The end of every loop's worker name. A loop may take over the claims of a loop that died."""
PAUSE_S = 1.0


@record
class Said:
    """One thing that a loop tells while it works: a line for programs, and the same in words for people."""

    code: str
    word: str = ""
    """One word for what happened; empty if it is nothing that people need to know."""
    text: str = ""


@record
class Ended:
    """How a loop ended."""

    status: str
    reason: Reason | None
    """None where everything is done."""
    cycles: int
    no_progress: int
    done: tuple[str, ...]
    ids: tuple[str, ...] = ()
    """The tickets that the reason is about."""


@lean()
class Loop:
    """One loop. All that it needs to know is on the board, so after a kill it is simply started again."""

    context: TicketContext
    max_cycles: int = 30
    no_progress_limit: int = 2
    say: Callable[[Said], None] = lambda _: None
    done: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    """Tickets whose work came onto a branch and that wait for a person's word."""
    idle: int = 0
    """Cycles in a row in which no work came onto a branch."""
    broken: list[str] = field(default_factory=list)
    """Tickets that the loop stops for, because their test contract is broken."""
    notices: tuple[str, ...] = ()
    """Plans that could not become requests."""

    @property
    def opened(self) -> BoardHandle:
        return self.context.opened

    def run(self) -> Ended:
        for cycle in range(1, self.max_cycles + 1):
            self._say(f"CYCLE:{cycle}", "cycle" if cycle > 1 else "", str(cycle))
            before = len(self.done) + len(self.unproven)
            self._cycle()
            self.idle = 0 if len(self.done) + len(self.unproven) > before else self.idle + 1
            if (ended := self._ended(cycle)) is not None:
                return ended
        return self._end("STOP_MAX_CYCLES", Reason.MAX_CYCLES, self.max_cycles)

    def _cycle(self) -> None:
        """Work on everything that can be claimed. Finished work may free more tickets, so go on until none is left."""
        self.notices = backlog.synchronise(self.opened)
        for notice in self.notices:
            self.say(Said(code=f"note: {notice}", word="note", text=notice))
        self._adopt()
        self._review()
        while self._promote() or self._execute():
            self._review()
        self._summarise()

    # The parts of a cycle

    def _adopt(self) -> None:
        """Take over the claims of a loop that died. The log of the run says how far the work came."""
        for card in self.opened.cards(*TODO.values()):
            if (
                card.status == "in_progress"
                and card.worker.endswith(LOOP)
                and card.run
                and working(self.context.out_dir(card)) is None
            ):
                moved = settle(self.context, card)
                if moved.status == "in_progress":  # its attempt is still to be made
                    held = self.opened.board.renew(moved.id, str(moved.attempt_count), moved.worker)
                    self._report(work_on(self.context, [held]))

    def _promote(self) -> bool:
        """Route the first request that waits, but only once no ticket can be claimed: it builds on the requests before."""
        waiting = [card for card in self.opened.cards("planner-inbox") if card.status == "pending"]
        if not waiting or any(claim_mark(card) == 1 for card in self.opened.cards(*TODO.values())):
            return False
        card = waiting[0]
        if card.run and card.story:
            # It was replanned with a larger budget.
            self.opened.board.move(card.id, "planner-inbox", Move(to=TODO[card.role], note="replanned"), PLANNER)
            return True
        if (blocked := self._synchronise_truth(card)) is not None:
            self._say(f"BLOCKED:{blocked.id}:product-truth", "blocked", _why(blocked))
            return True
        routed = route(self.opened, card, self.context.consents, self.context.agent)
        if routed.queue == "blocked":
            asks = SIGNAL in routed.note
            code = f"BLOCKED:{routed.id}:{'user-confirmation' if asks else 'no-plan'}"
            self._say(code, "asks" if asks else "blocked", _why(routed))
        else:
            with self.opened.store.reading() as at:
                parts = count(len(at.of_request(routed.id)), "ticket")
            self._say(f"ROUTED:{routed.id}:{routed.run}", "planned", f"{_named(routed)}  ({parts})")
        return True

    def _synchronise_truth(self, card: Card) -> Card | None:
        """Check the product truth before a request is split into stories. If it has faults, block the request."""
        project = self.opened.place.project
        if not truth_validation.is_on(project):
            return None
        if faults := truth_validation.validate(project, strict=True):
            first = faults[0]
            self.broken += [card.id] if any(TEST_CONTRACT in one.message for one in faults) else []
            note = f"the product truth does not hold: {first.where}: {first.message}"
            wish = Move(
                to="blocked",
                note=settling.shortened(note),
                next_action=settling.shortened(first.remedy),
                error_class="hard_fail",
            )
            return self.opened.board.move(card.id, card.queue, wish, PLANNER)
        about = {"revision": truth_validation.revision(project)}
        self.opened.board.note(card.id, BoardEvent.TRUTH_SYNCHRONISED, PLANNER, about=about)
        return None

    def _execute(self) -> bool:
        """Claim all tickets of one request that one role may claim, and make one attempt for each."""
        for role in ROLES:
            if (card := self._claim(role)) is None:
                continue
            claimed = [card]
            while card.request and (more := self._claim(role, card.request)) is not None:
                claimed.append(more)
            self._report(self._work_on(claimed))
            return True
        return False

    def _claim(self, role: Role, request: str = "") -> Card | None:
        agent = self.context.agent_of(role)
        found = self.opened.board.claim(TODO[role], f"{agent or role}{LOOP}", PLANNER, request=request)
        for card in found.escalated:
            self._say(f"EXHAUSTED:{card.id}", "blocked", f"{_named(card)}: all of its attempts are used")
        return found.card

    def _work_on(self, claimed: Sequence[Card]) -> list[Card]:
        card = claimed[0]
        if card.role == "scientist" and board_settings(self.opened.place.project).scientist is None:
            note = f"{SIGNAL}: no agent is set for scientists"
            wish = Move(
                to="blocked",
                note=note,
                next_action="Set scientist under [board], or claim it yourself.",
                error_class="dependency_blocked",
            )
            return [self.opened.board.move(one.id, one.queue, wish, PLANNER) for one in claimed]
        if not card.run:
            routed = route(self.opened, card, self.context.consents, self.context.agent)
            if routed.queue == "blocked":
                return [routed]
            claimed = [routed]
        return work_on(self.context, claimed)

    def _report(self, cards: Sequence[Card]) -> None:
        for card in cards:
            passed, plan = card.queue == "planner-review", card.source.removeprefix("plan:")
            if passed:
                self._say(f"EXECUTE_PASS:{card.id}:{plan}", "review", _named(card))
            else:  # an attempt that is only tried again was told already, by its run
                self._say(f"EXECUTE_FAIL:{card.id}:{plan}", "blocked" if card.queue == "blocked" else "", _why(card))

    def _review(self) -> None:
        self._unblock()
        found = review_all(self.context)
        with self.opened.store.reading() as at:
            cards = {name: at.card(name) for name in (*found.done, *found.sent_back, *found.unproven)}
        for name in found.done:
            self._say(f"REVIEW_PASS:{name}", "accepted", _named(cards[name]))
        for name in found.sent_back:
            self._say(f"REVIEW_REQUEUE:{name}", "back", _why(cards[name]))
        for name in found.unproven:
            self._say(
                f"BLOCKED:{name}:unproven", "asks", f"{_named(cards[name])}: no test shows it; your word is needed"
            )
        self.done += found.done
        self.unproven += found.unproven
        self.broken += found.broken_contract
        free_ready(self.opened)

    def _unblock(self) -> None:
        """Leave stories out that the planner closed, and put tickets back whose question a person has answered."""
        parked = [card for card in self.opened.cards("blocked", "planner-review") if card.run and card.story]
        take_up_answers(self.context, [card for card in parked if SIGNAL in card.note])
        take_answers(self.context)
        blocked = [card for card in parked if card.queue == "blocked" and not card.is_unproven]
        leave_out(self.context, [card for card in blocked if card.decided])
        set_aside(self.context, [card for card in blocked if not card.decided])
        for card in blocked:
            if SIGNAL in card.note and not card.decided and not card.spent:
                wish = settling.after_answer(card, load(self.context.out_dir(card)).state)
                if wish is not None:
                    self.opened.board.move(card.id, "blocked", wish, PLANNER)

    def _summarise(self) -> None:
        with self.opened.store.reading() as at:
            due = weekly.due(at, now := f"{SystemClock().utc()[:19]}Z")
        if due:
            weekly.write(self.opened.board, self.opened.place, now, PLANNER)

    def _say(self, code: str, word: str, text: str) -> None:
        self.say(Said(code=f"AUTOLOOP_{code}", word=word, text=text))

    # How it ends

    def _ended(self, cycle: int) -> Ended | None:
        cards = self.opened.cards(*ACTIONABLE)
        with self.opened.store.reading() as at:
            verdict = verdict_of(at, len(self.notices), asking_tickets(at, self.opened.place.project))
        limit = board_settings(self.opened.place.project).exhausted_limit
        if broken := [name for name in dict.fromkeys(self.broken) if name not in self.done]:
            return self._end("STOP_TEST_CONTRACT", Reason.TEST_CONTRACT_BROKEN, cycle, tuple(broken))
        if gone := accumulated(cards, limit):
            return self._end("STOP_EXHAUSTED", Reason.EXHAUSTION_ACCUMULATED, cycle, tuple(gone))
        if verdict.status == "STOP_DONE":
            return self._end("STOP_DONE", None, cycle)
        if verdict.status == "STOP_USER_CONFIRMATION":
            ids = tuple(verdict.user_confirmation_ids)
            return self._end("STOP_USER_CONFIRMATION", Reason.NEEDS_USER_CONFIRMATION, cycle, ids)
        if self.idle >= self.no_progress_limit:
            return self._end(
                "STOP_NO_PROGRESS", Reason.NO_PROGRESS, cycle, tuple(card.id for card in cards if not card.decided)[:20]
            )
        return None

    def _end(self, status: str, reason: Reason | None, cycles: int, ids: tuple[str, ...] = ()) -> Ended:
        return Ended(status=status, reason=reason, cycles=cycles, no_progress=self.idle, done=tuple(self.done), ids=ids)


def _named(card: Card | None) -> str:
    return f"{card.id} {flat(card.title)}" if card else ""


def _why(card: Card | None) -> str:
    """Return a ticket with what its note says."""
    return f"{_named(card)}: {flat(card.note).removeprefix(f'{SIGNAL}: ')}" if card else ""


def accepted(opened: BoardHandle, names: Iterable[str]) -> list[Card]:
    """Return those of these tickets that have a run."""
    with opened.store.reading() as at:
        return [card for name in names if (card := at.card(name)) is not None and card.run]


def unmerged(opened: BoardHandle, cards: Sequence[Card]) -> list[str]:
    """Return the branches of finished requests that are not merged yet, without those that another one contains."""
    project = opened.place.project
    names = dict.fromkeys(f"santiago/{card.run}" for card in cards if not card.request)
    heads = {name: head for name in names if (head := resolve(project, f"refs/heads/{name}")) is not None}

    def is_in(name: str, other: str) -> bool:
        return is_ancestor(project, heads[name], other)

    left = [name for name in heads if not is_in(name, "HEAD")]
    return [name for name in left if not any(is_in(name, heads[other]) for other in left if other != name)]


def unproven(opened: BoardHandle, cards: Sequence[Card]) -> list[str]:
    """Return the tickets of which no test fails without their work."""
    folder, names = opened.place.project / run_locations.RUNS, {card.run for card in cards}
    stories = {name: load(folder / name).state.stories for name in names}
    work = [(card.id, stories[card.run][card.story]) for card in cards if card.story]
    return [name for name, story in work if story.proof is Proof.REGRESSION and not story.is_kept]


def wait_for_change(opened: BoardHandle, minutes: int) -> bool:
    """Return whether anything happened on the board within these minutes."""
    opened.projections.flush()
    with opened.store.reading() as at:
        seen = at.last()
    until = time.monotonic() + minutes * 60
    while time.monotonic() < until:
        time.sleep(PAUSE_S)
        with opened.store.reading() as at:
            if at.last() != seen:
                return True
    return False
