"""What the work on tickets needs: the open board, its settings, and how to ask a person."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.app.actor import own_name
from santiago.app.config import load
from santiago.app.loading import load as load_run
from santiago.app.start.start_options import StartOptions
from santiago.artifacts import run_locations
from santiago.contract.errors import SantiagoError
from santiago.contract.record import record
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from santiago.app.start.request import Request
    from santiago.board.board_commands import Board
    from santiago.board.board_handle import BoardHandle
    from santiago.contract.board import Card, Role
    from santiago.contract.plan import Plan
    from santiago.contract.state import RunState

PLANNER = "planner"
EVERY_MS = 10 * 60_000


@record
class BoardSettings:
    developer: str | None
    """The agent for developers' tickets; None for the agent of the run input."""
    scientist: str | None
    planner: str | None
    """The agent that plans a request without a document."""
    planners: tuple[str, ...]
    """Actors who may accept work."""
    single_entry: bool
    exhausted_limit: int
    language: str | None

    def agent_of(self, role: Role) -> str | None:
        return self.scientist if role == "scientist" else self.developer


def board_settings(project: Path) -> BoardSettings:
    found = {name.partition(".")[2]: one.value for name, one in load(project).items() if name.startswith("board.")}
    return BoardSettings(**{**found, "planners": tuple(found["planners"])})


def planners_of(project: Path, *, in_person: bool) -> tuple[str, ...]:
    """Return who may accept work and decide: the planners of the settings, and the owner of the repository in person.

    `in_person` means that somebody sits at the terminal. An agent of a run never is, whoever owns the repository.
    """
    named = board_settings(project).planners
    is_owner = in_person and not os.environ.get("SANTIAGO_RUN") and project.stat().st_uid == os.geteuid()
    return (*named, own_name()) if is_owner else named


@record
class Consents:
    """How to ask a person for consent, and how to tell them something."""

    commands: Callable[[list[str]], None]
    """Asks whether commands of a document may run; raises where they may not."""
    units: Callable[[Plan], None]
    """Asks whether the units of a proposal are meant; raises where they are not."""
    unfenced: Callable[[], None]
    """Asks whether agents may run without a sandbox; raises where they may not."""
    tell: Callable[[str], None]


def run_state(opened: BoardHandle, run: str) -> RunState | None:
    """Return the state of a run; None where it cannot be read, of which whoever works on the run is told."""
    with suppress(SantiagoError):
        return load_run(opened.place.project / run_locations.RUNS / run).state
    return None


@record
class TicketContext:
    """What the functions that work on tickets need: the open board, how to ask a person, and options."""

    opened: BoardHandle
    consents: Consents
    options: StartOptions = StartOptions(jobs=1)
    """Of each start: how many tickets side by side, and where they are carried out."""
    agent: str | None = None
    """The agent for developers' tickets that the command line names; it goes before the settings."""
    follow: Callable[[Request], None] = lambda _: None
    """Called with each start before it begins, so that a screen can follow it."""
    patience_s: float = 0.0
    """How many seconds to wait while another process works on the run."""

    def out_dir(self, card: Card) -> Path:
        return self.opened.place.project / run_locations.RUNS / card.run

    def agent_of(self, role: Role) -> str | None:
        """Return the agent for tickets of a role, where one is named."""
        own = self.agent if role == "developer" else None
        return own or board_settings(self.opened.place.project).agent_of(role)


class Renewal:
    """Renews the leases of tickets that are worked on, from time to time."""

    def __init__(self, board: Board, cards: Sequence[Card]) -> None:
        self._board, self._cards = board, [card for card in cards if card.held]
        self._clock = SystemClock()
        self._last = self._clock.monotonic_ms()

    def beat(self) -> None:
        """Renew the leases if it is time. The caller does this while work goes on, whether or not it makes progress."""
        now = self._clock.monotonic_ms()
        if now - self._last < EVERY_MS:
            return
        self._last = now
        for card in self._cards:
            with suppress(SantiagoError):  # where a lease was lost, the next move is refused and says so
                self._board.renew(card.id, f"{card.lease}#{card.attempt_count}", card.worker)
