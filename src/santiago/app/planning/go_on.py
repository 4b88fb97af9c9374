"""Going on with a planning session: takes its lock, and connects agents, files and people with its conductor."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.config import run_input_defaults, values_of
from santiago.app.loading import frozen_input
from santiago.app.paths import scratch_of
from santiago.app.planning.planning_sessions import with_drafters
from santiago.app.start import agents, backends
from santiago.app.start.compose import execute
from santiago.app.start.held_run import check_temporary, heard, kill_leftovers, marks, strays_ignored
from santiago.app.start.identity import fresh_run_id
from santiago.app.start.judging import dependency_folders, ground_of, look_around
from santiago.app.start.request import prepare
from santiago.app.start.start_options import StartOptions
from santiago.artifacts import run_locations
from santiago.artifacts.files import read_bytes, write_whole
from santiago.artifacts.inbox import Inbox
from santiago.artifacts.lock import Lock, last_sign
from santiago.artifacts.names import LOG, has_begun
from santiago.artifacts.reader import Reader
from santiago.artifacts.session_files import TASKS, SessionFiles
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Context
from santiago.contract.plan import Plan
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.contract.session import SessionState, apply
from santiago.executor.loop import Urgency
from santiago.process import sandbox
from santiago.process.redact import Redactor, to_hide
from santiago.process.server import ProcessServer
from santiago.sessions.conduct import Asker, Conductor
from santiago.sessions.draft_check import given
from santiago.util.clock import SystemClock
from santiago.util.own_run import refuse_own_word
from santiago.workspace.inspect import find
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.app.start.judging import StartEnvironment
    from santiago.artifacts.session_files import SessionFiles
    from santiago.contract.events import Event, Fact
    from santiago.contract.policy import Agent, RunInput
    from santiago.contract.ports.agent import AgentBackend
    from santiago.contract.session import SessionInput, SessionState
    from santiago.process.sandbox import Sandbox
    from santiago.sessions.session_acts import Finalize
LONGEST = 4000
"""Characters of a person's feedback that the run's first event repeats. The session has all of it."""


def go_on(
    folder: Path,
    actor: str,
    *,
    facts: Sequence[Fact] = (),
    listeners: Sequence[Callable[[Sequence[Event], SessionState], None]] = (),
    consent_unfenced: Callable[[], None] = lambda: None,
) -> SessionState:
    """Go on with a session until it has to wait for a person. `facts` are a person's other decisions, recorded first."""
    refuse_own_word(folder.name)
    with ExitStack() as stack:
        # Before any file of the session is open, since child processes must not inherit a lock.
        server = ProcessServer()
        stack.callback(server.close)
        clock, secrets = SystemClock(), to_hide(dict(os.environ))
        sign = last_sign(folder)
        lock = stack.enter_context(Lock(folder, since=clock.utc()))
        files = stack.enter_context(SessionFiles(folder, Redactor(secrets), clock.utc))
        kill_leftovers(folder)
        state = SessionState()
        files.start(lambda event: apply(state, event))
        given_input, run_input = files.asked(state.input_digest), frozen_input(folder)
        for fact in facts:
            if chosen := fact.context.get("drafters"):
                state.drafters = tuple((label, agent) for label, agent in chosen)
        asked = with_drafters(given_input, state)
        urgency = Urgency()
        work = _Work(folder, asked, run_input, files, state, server, stack, consent_unfenced)
        conductor = Conductor(
            asked=asked,
            run_input=run_input,
            given=given(asked, files.source()),
            state=state,
            store=files,
            clock=clock,
            actor=actor,
            mailbox=Inbox(folder),
            asker=work.asker,
            head=work.head,
            name_run=work.name_run,
            finalize=work.finalize,
            stopped=lambda: urgency.asked,
            lost_ms=max(sign.steps.values(), default=0) if sign else 0,
            beat=lock.beat,
            listeners=list(listeners),
        )
        stack.enter_context(strays_ignored())
        with heard(urgency, []):
            conductor.record(*facts)
            return conductor.run()


@lean()
class _Work:
    """What a session needs of the outside: agents to ask, and what an approval makes."""

    folder: Path
    asked: SessionInput
    run_input: RunInput
    files: SessionFiles
    state: SessionState
    server: ProcessServer
    stack: ExitStack
    consent: Callable[[], None]
    made: Asker | None = None

    def head(self) -> str:
        return find(Path(self.run_input.repo_path)).head

    def asker(self) -> Asker:
        if self.made is None:
            self.made = self._asker()
        return self.made

    def _asker(self) -> Asker:
        check_temporary()
        around = look_around(self.run_input)
        own = [value for one in self.asked.drafters for value in agents.credentials(one.agent, around.source)]
        around = replace(around, secrets=(*around.secrets, *own))
        fence = sandbox.detect(self.run_input.policy.sandbox, around.source)
        is_real = any(one.agent.mode != "scripted" for one in self.asked.drafters)
        if fence.kind == "none" and self.run_input.policy.sandbox == "auto" and is_real:
            self.consent()
        workspace = GitWorkspace(
            around.repo,
            self.asked.session_id,
            scratch_of(around.repo),
            marks(self.folder),
            around.provided,
            fence.stores,
        )
        workspace.inspect()
        workspace.unlock()
        workspace.tidy()
        self.stack.enter_context(workspace.working())
        return Asker(
            session_id=self.asked.session_id,
            agents={one.label: self._backend(one.agent, around, fence, workspace) for one in self.asked.drafters},
            workspace=workspace,
            files=self.files,
            plan_folder=str(self.folder / TASKS),
        )

    def _backend(self, agent: Agent, around: StartEnvironment, fence: Sandbox, workspace: GitWorkspace) -> AgentBackend:
        limits = self.run_input.limits
        limits = replace(
            limits, run_max_tokens=limits.planning_max_tokens, run_max_cost_usd=limits.planning_max_cost_usd
        )
        run_input = replace(self.run_input, agent=agent, limits=limits)
        if agent.mode == "scripted":
            return agents.playing(run_input)
        profile = agents.profile_of(agent, around.source)
        agents.refuse_early(profile, run_input, around.source, lambda _: False)
        hidden = (str(self.folder), str(workspace.folders.top.parent))
        fenced = partial(backends.fenced, profile=profile, sandbox=fence, source=around.source, hidden=hidden)
        dependencies = dependency_folders(workspace, run_input, around.source)
        ground = ground_of(fence, workspace, dependencies, around, (), ())
        scratch = workspace.folders.temporary
        return backends.backend(profile, run_input, self.server, around.source, fenced, around.secrets, scratch, ground)

    def name_run(self) -> str:
        """Return the id of the future run, which is recorded before the run is made; empty for a document."""
        return "" if self.asked.artifact == "document" else fresh_run_id(Path(self.run_input.repo_path))

    def finalize(self, act: Finalize) -> None:
        """Carry out an approval. If it is repeated after a crash, it finds what was made before."""
        turn = self.state.turn_of(act.revision)
        assert turn is not None
        content = self.files.revision(act.revision, self.asked.artifact, turn.digest)
        if self.asked.artifact == "plan":
            self._create_run(codec.decode(Plan, content, f"revision {act.revision}"), act, turn.digest)
            return
        path = Path(self.run_input.repo_path, self.asked.output)
        if not path.exists() or read_bytes(path, codec.MAX_BYTES) != content:
            write_whole(path, content)

    def _create_run(self, plan: Plan, act: Finalize, digest: str) -> None:
        root = Path(self.run_input.repo_path)
        out_dir = root / run_locations.RUNS / self.state.run
        if has_begun(out_dir):  # a crash came before the session recorded it; files of the run may be missing
            first = next(iter(Reader(out_dir / LOG))).context
            if first.get("session") != self.asked.session_id or first.get("digest") != digest:
                message = f"the run {self.state.run} exists, but does not belong to this session"
                raise SantiagoError(Kind.BLOCKED, message, where=str(out_dir), reason=Reason.ARTIFACT_CORRUPT)
        run_input = replace(self.run_input, run_id=self.state.run)
        request = prepare(out_dir, run_input, plan, StartOptions(actor=act.actor), base=root, compiled=True)
        request.planned, request.only_creates = self._planned(act.revision, digest), True
        request.settings = values_of(run_input_defaults(root))
        request.confirm_units = lambda _: None  # the person who finalizes has reviewed the whole plan
        request.approves = False  # the start asks about its commands, since an agent wrote them
        execute(request)

    def _planned(self, revision: int, digest: str) -> Context:
        turns = self.state.turns
        said = [[str(one.began), one.mode, one.text[:LONGEST], one.actor, one.at] for one in turns if one.text]
        return Context(
            session=self.asked.session_id, revision=revision, digest=digest, round=len(turns), mode=turns[-1].mode,
            feedback=said,
        )  # fmt: skip
