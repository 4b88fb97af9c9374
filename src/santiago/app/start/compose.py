"""The composition root of a run: puts the adapters together around the core, and holds no rule of its own."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago import __version__
from santiago.app.start import agents, kept, start_events
from santiago.app.start.agents import first_able, follower, next_one
from santiago.app.start.held_run import (
    RunLog,
    check_temporary,
    freeze,
    heard,
    kill_leftovers,
    strays_ignored,
    take_hold,
)
from santiago.app.start.judging import JudgeParts, ground_of, look_around
from santiago.app.start.means import Means
from santiago.app.start.preflight import Checkout, foresee
from santiago.app.start.request import RunHeader
from santiago.artifacts.attempts import FileAttempts
from santiago.artifacts.details import FileDetails
from santiago.artifacts.inbox import Inbox
from santiago.artifacts.names import SETTINGS
from santiago.contract.checks import all_commands_of
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_run
from santiago.contract.phases import ENDED, RunPhase
from santiago.engine.threads import ThreadsEngine
from santiago.executor.loop import Coordinator
from santiago.executor.reopen import hints, reopening, reopening_some
from santiago.process import sandbox
from santiago.process.server import ProcessServer
from santiago.util.clock import SystemClock, WorkClock

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.start.outside import Outside
    from santiago.app.start.request import Request
    from santiago.contract.policy import Agent
    from santiago.contract.ports.engine import Sign
    from santiago.contract.state import RunState


def execute(request: Request) -> RunState:
    """Carry a plan out, or go on where it stopped; return the run's state."""
    with ExitStack() as stack:
        # Before any file of the run is open, since child processes must not inherit a lock.
        server = ProcessServer()
        stack.callback(_close, server, request.out_dir)
        stack.enter_context(strays_ignored())
        state, agent = _turn(request, server)
        while taken_over := next_one(agent, state):
            request = request.handed_on(*taken_over)
            state, agent = _turn(request, server)
        return state


def _turn(request: Request, server: ProcessServer) -> tuple[RunState, Agent]:
    """Carry a plan out with one agent, until the run stops or the agent cannot go on; return the state and the agent."""
    with ExitStack() as stack:
        start = _Start(request, server, stack)
        return start.run(), start.run_input.agent


def _close(server: ProcessServer, out_dir: Path) -> None:
    if not server.close():
        kill_leftovers(out_dir)  # an agent without a sandbox may have killed the supervisor of its children


class _Start:
    """One start of a run that this process holds, with one agent."""

    def __init__(self, request: Request, server: ProcessServer, stack: ExitStack) -> None:
        self.request, self.server, self.stack = request, server, stack
        self.clock, wanted = WorkClock(SystemClock(), server.worked), request.effective
        check_temporary()  # needed to find out which sandbox works
        around, hidden = look_around(wanted), request.terms.secrets if request.terms else ()
        self.around = replace(around, secrets=(*around.secrets, *hidden))
        self.fence = sandbox.detect(wanted.policy.sandbox, self.around.source)
        self.hold = take_hold(request, self.around, self.fence, self.clock, stack)
        self.digests = freeze(self.hold.store, request)
        """Those of the frozen run input and plan."""
        self.checkout = Checkout(wanted, self.hold.workspace, self.hold.dependencies, request.begins_on)
        self.run_input, self.passed_over = first_able(wanted, self.around.source, self.checkout.lacks)
        """The run input with the policy and the agent of this start; messages on agents that cannot begin."""
        self.means = self._means()
        self.log = RunLog(request, self.hold, self.clock.utc())
        self.attempts = FileAttempts(self.hold.store)

    def run(self) -> RunState:
        """Go on where the log ends."""
        hold, log, request = self.hold, self.log, self.request
        notices = [*hold.notices, *foresee(self.run_input, log.state, request, self.checkout)]
        self._consent_unfenced()
        if log.state.phase in ENDED:
            log.finish(log.state)  # a crash may have come before the result was written
        if request.own_work:
            start_events.refuse_own_work(log.state, hold.workspace, *request.own_work)
        for name in request.accepts[0] if request.accepts else ():
            start_events.refuse_accepting(log.state, name)
        if log.state.phase is RunPhase.SUCCESS:
            hold.workspace.tidy()
            return log.state
        going_on = self._going_on()
        outside = self._outside()
        coordinator, name = self._coordinator(outside, notices)
        start_events.refuse_left_out(log.state, request.engine, self.attempts)
        start_events.refuse_cut(log.state, self.attempts, hold.workspace)
        notices += start_events.put_back(log.state, hold.workspace)
        if outside is not None:
            outside.courier.lead(self.epoch)
        log.open()
        self._announce(name, notices)
        if hold.begun_before:
            start_events.forget_broken(hold.workspace, coordinator.record)
        attached = coordinator.attach()
        coordinator.recovered, ends = start_events.recovered(
            request.plan, log.state, self.attempts, hold.workspace, hold.sign, self.run_input.limits.attempt_ms,
            attached, coordinator.record,
        )  # fmt: skip
        coordinator.landed = hold.workspace.landed(log.state.head)
        coordinator.record(ends)
        if hold.begun_before:
            hold.workspace.tidy()
        if log.fresh:
            created, commit = self._created(), hold.workspace.head() or request.begins_on or "HEAD"
            done = kept.facts(log.state, kept.kept(request.plan, self.around.repo, commit), self.around.repo)
            coordinator.record([created, *done, *(going_on if request.only_creates else [])])
        if request.only_creates:
            log.project(log.state)
            return log.state
        switch = [of_run(EventKind.NOTE, message=text) for text in (request.note, *self.passed_over) if text]
        coordinator.record([self._started(name), *switch, *going_on])
        if not request.skips:
            return self._work(coordinator)
        coordinator.record(start_events.skipping(log.state, request.skips, request.actor))
        log.project(log.state)
        return log.state

    def _consent_unfenced(self) -> None:
        policy = self.run_input.policy.sandbox
        working = (self.run_input.agent, agents.for_tests(self.run_input)) if self.request.starts_agents else ()
        if self.fence.kind == "none" and policy == "auto" and any(one and one.mode != "scripted" for one in working):
            self.request.consent_unfenced()

    def _means(self) -> Means:
        request, workspace = self.request, self.hold.workspace
        commands = () if request.skips else all_commands_of(request.plan, self.run_input)
        setup = self.run_input.workspace.setup
        return Means(
            plan=request.plan,
            run_input=self.run_input,
            store=self.hold.store,
            parts=JudgeParts(
                server=self.server, fence=self.fence, around=self.around, workspace=workspace,
                hidden=(str(request.out_dir), str(workspace.folders.top.parent)), begun=request.check_begun, jobs=request.at_once,
            ),
            ground=ground_of(self.fence, workspace, self.hold.dependencies, self.around, setup, commands),
            clock=self.clock,
            lacks=self.checkout.lacks,
            needs_agent=request.starts_agents and request.terms is None,
        )  # fmt: skip

    def _going_on(self) -> list[Fact]:
        """Return the facts that this start adds: approvals, grants, reopened stories."""
        state, request, workspace = self.log.state, self.request, self.hold.workspace
        facts = []
        if not request.skips:  # skipping a story starts nothing
            facts += start_events.confirmations(request.plan, state, request.confirm_units, request.actor)
        if request.approves and not request.skips:
            facts += start_events.approvals(request.plan, self.run_input, state, request.consent, request.actor)
        if self.log.fresh and not request.only_creates:
            ticked = kept.ticked(request.plan, self.run_input, self.around.repo, request.begins_on or "HEAD")
            facts += start_events.trusting(ticked, request.consent_ticks, request.actor)
        mine = (request.own_work[0],) if request.own_work else request.accepts[0] if request.accepts else ()
        if mine:
            return facts + reopening_some(state, mine, workspace.head(), request.actor)
        if not self.log.fresh and not request.skips:
            claimed = request.scope.claims
            return facts + reopening(state, self.run_input.limits, request.grants, workspace.head(), claimed)
        return facts + (hints(state, request.grants) if self.log.fresh else [])

    def _work(self, coordinator: Coordinator) -> RunState:
        workspace, own_work = self.hold.workspace, self.request.own_work
        if own_work is not None:
            begun = start_events.own_work(self.log.state, workspace, *own_work, self.request.actor, self.request.why)
            coordinator.record([begun])
            start_events.keep_changes(self.log.state, self.attempts, workspace, own_work[0], begun.context["commit"])
            coordinator.recovered |= {own_work[0]}
        if self.request.accepts is not None:
            coordinator.record(start_events.accepting(self.log.state, *self.request.accepts, self.request.actor))
        if not self.log.fresh:
            self.log.project(self.log.state)  # the files that agents read may have been changed since
        self.request.opened(self.log.state)
        with heard(coordinator.urgency, self.request.signals), workspace.working():
            state = coordinator.run()
        self.log.finish(state)
        return state

    @property
    def epoch(self) -> int:
        """The number of this start."""
        return self.log.state.epoch + 1

    def _outside(self) -> Outside | None:
        """Connect to the engine and the remote, if attempts go out to workers."""
        if (terms := self.request.terms) is None:
            return None
        from santiago.app.start.outside import Outside, sent  # with all that only many machines need

        run_input = sent(self.run_input, self.around, self.checkout, self.hold.dependencies)
        outside = Outside(terms, run_input, self.hold.store, self.hold.workspace)
        self.stack.callback(outside.queue.close)
        return outside

    def _coordinator(self, outside: Outside | None, notices: list[str]) -> tuple[Coordinator, str]:
        """Return the coordinator, and the name of the agent that works."""
        request, means = self.request, self.means
        judge = means.judge()
        if outside is None:
            agent, writer, name = means.agents()
        else:
            (agent, writer, name), judge = outside.agents(), outside.judge(judge, lambda: self.log.state)
        notices += means.notices
        performer = means.performer(agent, writer, judge, self.log.mend_plan)
        here = ThreadsEngine(request.at_once, performer)
        engine = outside.engine(here, performer) if outside else here
        self.stack.callback(engine.close)
        coordinator = Coordinator(
            run_id=request.run_id,
            plan=request.plan,
            run_input=self.run_input,
            fold=self.log.fold,
            store=self.hold.store,
            engine=engine,
            clock=self.clock,
            scope=request.scope,
            actor=request.actor,
            attended=request.attended,
            mailbox=Inbox(request.out_dir),
            intact=FileDetails(self.hold.store).check,
            beat=self._beat,
            listeners=[self.log.take, *request.listeners],
        )
        return coordinator, name

    def _beat(self, sign: Sign) -> None:
        self.hold.lock.beat(sign)
        self.request.beat()

    def _announce(self, agent: str, notices: list[str]) -> None:
        request, plan = self.request, self.request.plan
        request.announce(
            RunHeader(
                request.run_id, request.out_dir, len(plan.stories), len(plan.chunks), agent, self.fence.name,
                request.at_once, not self.log.fresh, (*notices, *self.hold.store.notices),
                follower(self.run_input.agent), request.engine,
            )
        )  # fmt: skip

    def _created(self) -> Fact:
        """Make the run's branch, and return the first fact."""
        fact = of_run(
            EventKind.RUN_CREATED, RunPhase.CREATED, input_digest=self.digests[0], plan_digest=self.digests[1],
            settings_digest=self.hold.store.digest(SETTINGS) or "",
            head=self.hold.workspace.begin(self.request.begins_on or self.hold.found.head), branch=f"santiago/{self.request.run_id}",
        )  # fmt: skip
        return replace(fact, context={**fact.context, **self.request.planned})

    def _started(self, agent: str) -> Fact:
        return of_run(
            EventKind.RUN_STARTED,
            epoch=self.epoch, pid=os.getpid(), host=os.uname().nodename, version=__version__,
            agent=agent, sandbox=self.fence.name, jobs=self.request.at_once, engine=self.request.engine,
            engine_options=self.request.terms.options if self.request.terms else "",
        )  # fmt: skip
