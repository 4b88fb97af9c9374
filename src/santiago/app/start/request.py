"""What one start of a run was asked to do."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from santiago.app.start.units import refuse
from santiago.contract.events import Context
from santiago.contract.record import lean
from santiago.executor.reopen import Grants
from santiago.executor.situation import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from santiago.app.start.header import RunHeader
    from santiago.contract.events import Event
    from santiago.contract.plan import Plan
    from santiago.contract.policy import Agent, Policy, RunInput
    from santiago.contract.state import RunState


def _unconfirmed(plan: Plan) -> None:
    raise refuse(plan, plan.source.path)


@lean(kw_only=True)
class Request:
    """What one start of a run was asked to do."""

    out_dir: Path
    run_input: RunInput
    plan: Plan
    repo: Path | None = None
    """Where the repository is now, if it was moved since the run began."""
    jobs: int = 1
    """How many stories a person wants to run at the same time."""
    scope: Scope = field(default_factory=Scope)
    grants: Grants = field(default_factory=Grants)
    consent: Callable[[list[str]], None] = lambda _: None
    """Asks whether commands of the document may run; raises if not."""
    consent_ticks: Callable[[int], bool] = lambda _: False
    """Asks whether the document's word is taken for ticked boxes that no check shows; raises if nobody can say."""
    confirm_units: Callable[[Plan], None] = _unconfirmed
    """Asks whether the units of a proposal are meant; raises if not."""
    consent_unfenced: Callable[[], None] = lambda: None
    """Asks whether an agent may run without any sandbox; raises if not."""
    policy: Policy | None = None
    """The policy of this start, if flags changed it. The frozen policy stays unchanged."""
    agent: Agent | None = None
    """The agent of this start, if flags name another than the frozen one."""
    skips: list[tuple[str, str]] = field(default_factory=list)
    """(story, why) to leave out. The start then only records this."""
    own_work: tuple[str, str] | None = None
    """(story, ref): a person's own commit, to be judged as an attempt."""
    why: str = ""
    """Why a person takes their own work even if no test shows it."""
    accepts: tuple[tuple[str, ...], str] | None = None
    """(stories, why): a person accepts the work of their latest attempts."""
    only_creates: bool = False
    """Whether the start only records that the run exists, and which of its commands are approved."""
    approves: bool = True
    """Whether commands of the document are asked about and recorded as approved. If not, a later start asks."""
    begins_on: str | None = None
    """The commit that a new run begins on; the repository's HEAD if none is named."""
    planned: Context = field(default_factory=Context)
    """Details for the run's first event: the planning session or the earlier run that it was made from."""
    settings: dict[str, Any] | None = None
    """The settings from files and variables when a new run was made, without the command line."""
    note: str = ""
    """A note to record first: that another agent takes over."""
    actor: str = "user"
    """The name, for the log, of who starts it."""
    attended: bool = False
    """Whether somebody answers questions while it runs. If not, an open question ends the run as blocked."""
    opened: Callable[[RunState], None] = lambda _: None
    """Called with the run's state when its work begins."""
    listeners: list[Callable[[Sequence[Event], RunState], None]] = field(default_factory=list)
    beat: Callable[[], None] = lambda: None
    """Hears several times a second that the start is at work, also while it waits and nothing is recorded."""
    announce: Callable[[RunHeader], None] = lambda _: None
    check_begun: Callable[[str, int, int, str], None] = lambda *_: None
    """Called when a check begins, with the name of its trial, its number, the number of checks, and the command."""
    signals: list[int] = field(default_factory=list)
    """The signals that came while it ran, in order."""

    @property
    def run_id(self) -> str:
        if self.run_input.run_id is None:
            raise ValueError("a run is started under an id")
        return self.run_input.run_id

    @property
    def starts_agents(self) -> bool:
        """Whether an agent may be started. Recording a person's work or decision needs none."""
        return not (self.own_work or self.accepts or self.skips or self.scope.is_empty)

    @property
    def at_once(self) -> int:
        """How many stories may run at the same time: one if a person decides on each."""
        return 1 if self.effective.policy.stepwise else self.jobs

    def handed_on(self, agent: Agent, note: str) -> Request:
        """Return the request for the agent that takes over. What a person asked for once is already done, and consents are given."""
        return replace(
            self,
            agent=agent,
            note=note,
            grants=Grants(actor=self.grants.actor),
            own_work=None,
            accepts=None,
            consent_unfenced=lambda: None,
        )

    @property
    def effective(self) -> RunInput:
        """The run input with the policy, the agent and the place of this start."""
        frozen = self.run_input
        return replace(
            frozen,
            repo_path=str(self.repo or frozen.repo_path),
            policy=self.policy or frozen.policy,
            agent=self.agent or frozen.agent,
        )
