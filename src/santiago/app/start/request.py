"""What one start of a run was asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from santiago.contract.events import Context
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


@dataclass(slots=True, kw_only=True)
class Request:
    """What one start of a run was asked to do."""

    out_dir: Path
    run_input: RunInput
    plan: Plan
    repo: Path | None = None
    """Where the repository is now, where that is another place than when the run began."""
    jobs: int = 1
    """Stories side by side, as they are wished for."""
    scope: Scope = field(default_factory=Scope)
    grants: Grants = field(default_factory=Grants)
    consent: Callable[[list[str]], None] = lambda _: None
    """Asks whether commands of the document may run; raises where not."""
    consent_unfenced: Callable[[], None] = lambda: None
    """Asks whether an agent may run without any sandbox; raises where not."""
    policy: Policy | None = None
    """The policy of this start where flags changed it; the frozen one stays as it is."""
    agent: Agent | None = None
    """The agent of this start where flags name another than the frozen one."""
    skips: list[tuple[str, str]] = field(default_factory=list)
    """(story, why) to leave out; the start then only records."""
    own_work: tuple[str, str] | None = None
    """(story, ref): a person's own commit, to be judged as an attempt."""
    accepts: tuple[str, str] | None = None
    """(story, why): a person takes the work of its latest attempt as it is."""
    only_creates: bool = False
    """The start only records that the run is there, and that its commands were approved with its plan."""
    begins_on: str | None = None
    """The commit that a new run begins on; the repository's HEAD where none is named."""
    planned: Context = field(default_factory=Context)
    """What the run's first event says of the planning session or the run that it was made from."""
    settings: dict[str, Any] | None = None
    """What files and variables said when a new run was made, without the command line."""
    note: str = ""
    """What the log is to say first: that another agent takes over."""
    actor: str = "user"
    """Who starts it, as the log names them."""
    attended: bool = False
    """Somebody answers questions while it runs; otherwise an open one ends the run as blocked."""
    opened: Callable[[RunState], None] = lambda _: None
    """Hears where the run stands when its work begins."""
    listeners: list[Callable[[Sequence[Event], RunState], None]] = field(default_factory=list)
    announce: Callable[[RunHeader], None] = lambda _: None
    check_begun: Callable[[str, int, int, str], None] = lambda *_: None
    """Hears of each check that begins: its folder, which of how many, the command."""
    signals: list[int] = field(default_factory=list)
    """The signals that came while it ran, in order."""

    @property
    def run_id(self) -> str:
        if self.run_input.run_id is None:
            raise ValueError("a run is started under an id")
        return self.run_input.run_id

    @property
    def starts_agents(self) -> bool:
        """Whether an attempt of an agent may follow; a person's own work, or a word of theirs, needs none."""
        return not (self.own_work or self.accepts or self.skips or self.scope.is_empty)

    @property
    def at_once(self) -> int:
        """Stories that may run side by side: one where a person has a word in each."""
        return 1 if self.effective.policy.stepwise else self.jobs

    def handed_on(self, agent: Agent, note: str) -> Request:
        """Return the same for the agent that takes over; what a person asked for once is done, and agreed to."""
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
