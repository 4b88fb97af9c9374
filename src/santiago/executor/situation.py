"""All that a decision depends on, and what a decision is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from santiago.contract.events import Fact
from santiago.contract.policy import RunInput
from santiago.contract.record import lean, record
from santiago.contract.state import RunState
from santiago.contract.steps import Step
from santiago.executor.agenda import Agenda
from santiago.executor.scope import Scope


@record
class Cancel:
    """Stop a step that builds on voided work. Its attempt is voided too."""

    step: str


Act = Fact | Cancel | Step


@lean(kw_only=True)
class Situation:
    """All that a decision depends on."""

    agenda: Agenda
    """The state and the steps under way, with an index of whom to look at."""
    capacity: int
    """How many more steps may begin."""
    now_ms: int
    """Execution time of the run up to now."""
    utc: str
    """The wall time, which decides when a wait for the service is over."""
    attended: bool = False
    """Whether somebody is there to answer questions. If not, an open question ends the run as blocked."""
    waited_ms: int = 0
    """Time of the current wait in which nothing was under way."""
    unclaimed_ms: int = 0
    """How long all that is under way has been waiting for a worker."""
    judging: int | None = None
    """How many verifications ahead may begin, where they take none of these places."""
    reserved: Mapping[str, int] = field(default_factory=dict)
    """Pool → its part of the capacity, which no story of another pool may take."""
    landed: str | None = None
    """The story whose work an earlier start put on the branch without recording it."""

    @property
    def state(self) -> RunState:
        return self.agenda.state

    @property
    def run_input(self) -> RunInput:
        return self.agenda.run_input

    @property
    def scope(self) -> Scope:
        return self.agenda.scope

    @property
    def flying(self) -> Mapping[str, Step]:
        return self.agenda.flying
