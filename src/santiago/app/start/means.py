"""With what the steps of a run are carried out on this machine. A start uses it, and so does a worker, which opens no log."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from santiago import __version__
from santiago.app.start import agents, backends
from santiago.app.start.held_run import marks
from santiago.app.start.leaks import SecretsInWork
from santiago.artifacts.attempts import FileAttempts
from santiago.artifacts.details import FileDetails
from santiago.contract.errors import SantiagoError
from santiago.contract.record import lean
from santiago.executor.perform import StepPerformer
from santiago.workspace.dependencies import installed

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.start.judging import JudgeParts
    from santiago.artifacts.store import FileStore
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.agent import AgentBackend
    from santiago.contract.ports.judge import Judge
    from santiago.contract.ports.run import Clock
    from santiago.process.place import Ground


@lean(kw_only=True)
class Means:
    """The parts, put together for one out-dir."""

    plan: Plan
    run_input: RunInput
    store: FileStore
    """The files of the out-dir."""
    parts: JudgeParts
    """Agents use them as well."""
    ground: Ground
    clock: Clock
    lacks: Callable[[str], bool]
    """Tells whether a file will be missing in a checkout."""
    needs_agent: bool = True
    """Whether agents will be started, so that one must be able to."""
    notices: list[str] = field(default_factory=list)
    """Messages on the agents, for people."""

    def agents(self) -> tuple[AgentBackend, AgentBackend, str]:
        """Return the agent, the one that writes tests first, and the agent's name."""
        agent, name = self._agent(self.run_input)
        other = agents.for_tests(self.run_input)
        writer = self._agent(replace(self.run_input, agent=other)) if other else (agent, name)
        if self.run_input.policy.tests_first:
            self.notices.append(f"the tests of each story are written first, by {writer[1]}")
        return agent, writer[0], name

    def _agent(self, run_input: RunInput) -> tuple[AgentBackend, str]:
        """Return an agent and its name; if none is named, the first that can work here."""
        parts, source = self.parts, self.parts.around.source
        if run_input.agent.mode == "scripted":
            return agents.playing(run_input), "scripted"
        try:
            profile = agents.profile_of(run_input.agent, source)
            agents.refuse_early(profile, run_input, source, self.lacks)
        except SantiagoError:
            if self.needs_agent:
                raise
            return agents.NOBODY, "nobody"
        self.notices += agents.passed_over(run_input.agent)
        fenced = partial(backends.fenced, profile=profile, sandbox=parts.fence, source=source, hidden=parts.hidden)
        scratch = parts.workspace.folders.temporary
        agent = backends.backend(
            profile, run_input, parts.server, source, fenced, parts.around.secrets, scratch, self.ground
        )
        return agent, agents.name_of(profile)

    def judge(self) -> Judge:
        """Return the judge of this machine."""
        return self._judging.judge(self.plan, self.run_input, self.ground)

    @property
    def _judging(self) -> JudgeParts:
        return replace(
            self.parts,
            told={"SANTIAGO_RUN": self.run_input.run_id or "", **marks(self.store.path)},
            prompt_path=FileAttempts(self.store).prompt_path,
            examined=self.parts.workspace.folders.examined,
        )

    def performer(
        self,
        agent: AgentBackend,
        tests_agent: AgentBackend,
        judge: Judge,
        mend_plan: Callable[[], list[str]] = list,
    ) -> StepPerformer:
        """Return what carries out each kind of step."""
        return StepPerformer(
            plan=self.plan,
            run_input=self.run_input,
            workspace=self.parts.workspace,
            agent=agent,
            tests_agent=tests_agent,
            judge=judge,
            files=FileAttempts(self.store),
            details=FileDetails(self.store),
            clock=self.clock,
            plan_folder=str(self.store.path / "tasks"),
            stories={story.id: story for story in self.plan.stories},
            leak=SecretsInWork(self.parts.around.secrets, self.parts.workspace),
            mend_plan=mend_plan,
            surroundings=self._surroundings,
        )

    def _surroundings(self) -> str:
        """Describe what verdicts depend on besides trees and commands, as it is now."""
        around = self.parts.around
        read = (
            *(Path(one.source) for one in self.ground.dependencies),
            *(around.repo / name for name in around.provided),
        )
        return repr((__version__, self._judging.surroundings(self.run_input), installed(read)))
