"""The composition root of a run: puts the adapters together around the core, and holds no rule of its own."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from santiago import __version__
from santiago.artifacts import registry
from santiago.artifacts.attempts import FileAttempts
from santiago.artifacts.lock import Lock, last_sign
from santiago.artifacts.projections import Projector
from santiago.artifacts.store import PLAN, FileStore
from santiago.cli.start import agents, opening, provide, signals
from santiago.cli.start.leaks import refuse_secrets
from santiago.cli.start.leftovers import kill_leftovers, marks
from santiago.cli.start.letters import Letters
from santiago.cli.start.prospects import Checkout, foresee
from santiago.cli.start.scratch import scratch_of
from santiago.cli.view.header import RunHeader
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Event, EventKind, Fact
from santiago.contract.fold import Fold
from santiago.contract.phases import ENDED, RunPhase
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState, initial
from santiago.engine.threads import ThreadsEngine
from santiago.executor.judging import Bench
from santiago.executor.loop import Coordinator
from santiago.executor.perform import StepPerformer
from santiago.executor.reopen import reopening, reopening_one
from santiago.executor.result import result
from santiago.executor.schedule import followed
from santiago.executor.trials import Trials
from santiago.process import environment, sandbox
from santiago.process.redact import Redactor, to_hide
from santiago.process.server import ProcessServer
from santiago.util.clock import SystemClock
from santiago.verification.commands import CommandRunner
from santiago.verification.port import Checks
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.cli.start.request import Request
    from santiago.contract.ports.agent import AgentBackend
    from santiago.contract.ports.workspace import RepositoryFacts


def execute(request: Request) -> RunState:
    """Carry a plan out, or go on where it was left; return where the run stands."""
    with ExitStack() as stack:
        # First of all, and before any file of the run is open: its children must not inherit a lock.
        server = ProcessServer()
        stack.callback(_close, server, request.out_dir)
        return _Start(request, server, stack).run()


def _close(server: ProcessServer, out_dir: Path) -> None:
    if not server.close():
        kill_leftovers(out_dir)  # an agent without a sandbox killed what would have killed its children


class _Start:
    """One start of a run."""

    def __init__(self, request: Request, server: ProcessServer, stack: ExitStack) -> None:
        self.request = request
        self.server = server
        self.stack = stack
        self.clock = SystemClock()
        self.source = dict(os.environ)
        self.plan, self.frozen_input = request.plan, request.run_input
        self.run_input = replace(
            request.run_input,
            policy=request.policy or request.run_input.policy,
            agent=request.agent or request.run_input.agent,
        )
        self.repo = Path(self.run_input.repo_path)
        self.provided = provide.present(self.repo, self.run_input.workspace.copy)
        self.secrets = (
            *to_hide(self.source),
            *agents.credentials(self.run_input.agent, self.source),
            *provide.secrets(self.repo, self.provided),
        )
        self.run_id = self.run_input.run_id or request.out_dir.name

    def run(self) -> RunState:
        begun_before = self._take_hold()
        digests = self._freeze()
        self._replay_log()
        fresh = self.fold.state.seq == 0  # also where the very first line was torn
        self.checkout = Checkout(self.run_input, self.workspace)
        self.notices += foresee(self.run_input, self.fold.state, self.request, self.checkout)
        self._fence_in()
        if self.fold.state.phase in ENDED:
            self._finish(self.fold.state)  # a crash may have come before the result was written
        if self.fold.state.phase is RunPhase.SUCCESS:
            self.workspace.tidy()
            return self.fold.state
        going_on = self._going_on(fresh=fresh)
        coordinator = self._coordinator(self._agent())
        opening.refuse_cut(self.fold.state, self.attempts, self.workspace)
        self.notices += opening.put_back(self.fold.state, self.workspace)
        self._open_log()
        self._announce(resumed=not fresh)
        coordinator.recovered, ends = opening.recovered(
            self.plan, self.fold.state, self.attempts, self.workspace, self.alive_ms, self.run_input.limits.attempt_ms
        )
        coordinator.record(ends)
        if begun_before:
            self.workspace.tidy()
        if fresh:
            self._create(coordinator, digests)
        coordinator.record([self._started(), *going_on])
        if not self.request.skips:
            return self._work(coordinator)
        coordinator.record(opening.skipping(self.fold.state, self.request.skips))
        self.projector.write(self.fold.state)
        return self.fold.state

    def _take_hold(self) -> bool:
        """Become the only one who works on the run; tell whether somebody did before, whose leftovers are gone now."""
        out_dir = self.request.out_dir
        self.store = FileStore(out_dir, Redactor(self.secrets), self.clock.utc)
        self.notices = self.store.preflight()
        self.alive_ms = last_sign(out_dir)
        self.lock = self.stack.enter_context(Lock(out_dir, since=self.clock.utc()))
        self.stack.callback(self.store.close)
        begun_before = self.store.get(PLAN) is not None
        if begun_before:
            kill_leftovers(out_dir)
        self.workspace = GitWorkspace(self.repo, self.run_id, scratch_of(self.repo), marks(out_dir), self.provided)
        self.facts = self._inspect(begun_before=begun_before)
        # The out-dir may be a copy, and refs and checkouts are the run's own.
        self.stack.enter_context(registry.held(Path(self.facts.common), self.run_id, out_dir, since=self.clock.utc()))
        if begun_before:
            self.workspace.unlock()
        if self.facts.dirty:
            self.notices.append("there are uncommitted changes; the run works on the last commit and does not see them")
        return begun_before

    def _inspect(self, *, begun_before: bool) -> RepositoryFacts:
        try:
            return self.workspace.inspect()
        except SantiagoError as error:
            if begun_before and error.reason is Reason.INVALID_INPUT:  # no advice on how to begin
                error.hint = "The run began in a repository that stood here: put it back, then `santiago resume`."
            raise

    def _replay_log(self) -> None:
        store = self.store
        self.began = self.clock.utc()
        self.fold = Fold(initial(self.plan, followed(self.plan, optimistic=self.frozen_input.policy.optimistic)))
        self.projector = Projector(self.plan, store.get, lambda path, content: store.put(path, content, sync=False))
        self.log_is_open = store.has_log()
        if self.log_is_open:
            store.start(self._replay)
            registry.register(Path(self.facts.common), self.run_id, self.request.out_dir, self.began)

    def _open_log(self) -> None:
        """Begin a run's log once nothing can refuse it any more: a start that is refused leaves no run behind."""
        if not self.log_is_open:
            self.store.start()
            registry.register(Path(self.facts.common), self.run_id, self.request.out_dir, self.began)

    def _fence_in(self) -> None:
        policy = self.run_input.policy.sandbox
        self.fence = sandbox.detect(policy, self.source)
        if self.fence.kind == "none" and policy == "auto" and self.run_input.agent.mode != "scripted":
            self.request.consent_unfenced()

    def _going_on(self, *, fresh: bool) -> list[Fact]:
        """Return what a person's start adds: approvals, grants, stories that may go on."""
        state, request = self.fold.state, self.request
        facts = opening.approvals(self.plan, state, request.consent)
        if request.own_work:
            opening.refuse_own_work(state, self.workspace, *request.own_work)
            return facts + reopening_one(state, request.own_work[0], self.workspace.head())
        if not fresh and not request.skips:
            return facts + reopening(state, self.run_input.limits, request.grants, self.workspace.head())
        return facts

    def _work(self, coordinator: Coordinator) -> RunState:
        if self.request.own_work is not None:
            coordinator.record([opening.own_work(self.fold.state, self.workspace, *self.request.own_work)])
            coordinator.recovered |= {self.request.own_work[0]}
        with signals.heard(coordinator.urgency, self.request.signals), self.workspace.working():
            state = coordinator.run()
        self._finish(state)
        return state

    def _freeze(self) -> tuple[str, str]:
        if not self.store.has_log():
            refuse_secrets(codec.canonical(self.frozen_input), "run-input.json")
            refuse_secrets(codec.canonical(self.plan), "plan.json")
        return self.store.freeze(self.frozen_input, self.plan)

    def _replay(self, event: Event) -> None:
        if event.event is EventKind.RUN_CREATED:
            self.began = event.timestamp
        self.fold.apply(event)
        self.projector.take(event)

    def _agent(self) -> AgentBackend:
        """Return the agent of this start; where none is named, the first that can work here."""
        if self.run_input.agent.mode == "scripted":
            self.agent_name = "scripted"
            return agents.playing(self.run_input)
        profile = agents.profile_of(self.run_input.agent, self.source)
        self.notices += agents.passed_over(self.run_input.agent)
        agents.refuse_early(profile, self.run_input, self.source, self.checkout.lacks)
        self.agent_name = agents.name_of(profile)
        fence = partial(
            agents.fenced,
            profile=profile,
            sandbox=self.fence,
            source=self.source,
            hidden=(str(self.request.out_dir),),
            common=self.facts.common,
        )
        scratch = self.workspace.folders.temporary
        return agents.backend(profile, self.run_input, self.server, self.source, fence, self.secrets, scratch)

    def _coordinator(self, agent: AgentBackend) -> Coordinator:
        plan_folder = self.request.out_dir / "tasks"
        runner = CommandRunner(
            server=self.server,
            sandbox=self.fence,
            environment=environment.for_checks(
                self.source,
                self.run_input.workspace.env,
                {"SANTIAGO_RUN": self.run_id, **marks(self.request.out_dir)},
            ),
            scratch=self.workspace.folders.temporary,
            secrets=self.secrets,
            hidden=(str(self.request.out_dir),),
        )
        self.attempts = FileAttempts(self.store)
        trials = Trials(
            run_input=self.run_input,
            workspace=self.workspace,
            verifier=Checks(runner, self.request.check_begun),
            provide=partial(provide.copy_into, self.repo, self.provided),
            prompt_path=self.attempts.prompt_path,
        )
        bench = Bench(plan=self.plan, run_input=self.run_input, trials=trials)
        performer = StepPerformer(
            plan=self.plan,
            run_input=self.run_input,
            workspace=self.workspace,
            agent=agent,
            bench=bench,
            files=self.attempts,
            clock=self.clock,
            plan_folder=str(plan_folder),
            stories={story.id: story for story in self.plan.stories},
        )
        engine = ThreadsEngine(self.request.jobs)
        self.stack.callback(engine.close)
        return Coordinator(
            run_id=self.run_id,
            plan=self.plan,
            run_input=self.run_input,
            fold=self.fold,
            store=self.store,
            engine=engine,
            performer=performer,
            clock=self.clock,
            scope=self.request.scope,
            outside=Letters(self.request.out_dir),
            beat=self.lock.beat,
            listeners=[self._project, *self.request.listeners],
        )

    def _project(self, events: Sequence[Event], state: RunState) -> None:
        for event in events:
            self.projector.take(event)
        if any(event.event in _PROJECTED for event in events):
            self.projector.write(state)

    def _announce(self, *, resumed: bool) -> None:
        self.request.announce(
            RunHeader(
                self.run_id, self.request.out_dir, len(self.plan.stories), len(self.plan.chunks), self.agent_name, self.fence.name,
                self.request.jobs, resumed, (*self.notices, *self.store.notices),
            )
        )  # fmt: skip

    def _create(self, coordinator: Coordinator, digests: tuple[str, str]) -> None:
        """Write the first event: everything that the run rests on, by digest."""
        begun = self.workspace.begin(self.facts.head)
        context = {
            "input_digest": digests[0],
            "plan_digest": digests[1],
            "head": begun,
            "branch": f"santiago/{self.run_id}",
        }
        coordinator.record([Fact(event=EventKind.RUN_CREATED, phase=RunPhase.CREATED, context=context)])  # type: ignore[arg-type]

    def _started(self) -> Fact:
        context = {
            "epoch": self.fold.state.epoch + 1, "pid": os.getpid(), "host": socket.gethostname(), "version": __version__,
            "agent": self.agent_name, "sandbox": self.fence.name, "jobs": self.request.jobs,
        }  # fmt: skip
        return Fact(event=EventKind.RUN_STARTED, context=context)  # type: ignore[arg-type]

    def _finish(self, state: RunState) -> None:
        self.projector.write(state)
        if state.phase in ENDED:
            head = self.store.head
            self.store.put_result(result(self.plan, state, (head.seq, head.hash)))


_PROJECTED = frozenset(
    {EventKind.CHUNK_STARTED, EventKind.CHUNK_ENDED, EventKind.STORY_DONE, EventKind.RUN_PAUSED, EventKind.RUN_ENDED}
)
