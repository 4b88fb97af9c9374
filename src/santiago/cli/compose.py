"""The composition root of a run: puts the adapters together around the core, and holds no rule of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from santiago import __version__
from santiago.artifacts import registry
from santiago.artifacts.attempts import FileAttempts
from santiago.artifacts.inbox import Inbox
from santiago.artifacts.inbox import Request as Letter
from santiago.artifacts.lock import Lock
from santiago.artifacts.projections import Projector
from santiago.artifacts.store import PLAN, FileStore
from santiago.cli import agents
from santiago.cli.leaks import refuse_secrets
from santiago.cli.leftovers import kill_leftovers, marks
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Event, EventKind, Fact
from santiago.contract.fold import Fold
from santiago.contract.phases import ENDED, RunPhase, StoryPhase
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState, initial
from santiago.desk.outside import Heard, understood
from santiago.engine.threads import ThreadsEngine
from santiago.executor.judging import Bench, commands_of
from santiago.executor.loop import Coordinator
from santiago.executor.perform import StepPerformer
from santiago.executor.recover import interruptions
from santiago.executor.reopen import Grants, reopening, reopening_one
from santiago.executor.result import result
from santiago.executor.schedule import followed
from santiago.executor.situation import Scope
from santiago.process import environment, sandbox
from santiago.process.redact import Redactor, to_hide
from santiago.process.server import ProcessServer
from santiago.util.clock import SystemClock
from santiago.verification.commands import CommandVerifier
from santiago.verification.port import Checks
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from santiago.contract.plan import Plan
    from santiago.contract.policy import Agent, Policy, RunInput
    from santiago.contract.ports import AgentBackend


@dataclass(slots=True, kw_only=True)
class Request:
    """What one start of a run was asked to do."""

    out_dir: Path
    run_input: RunInput
    plan: Plan
    jobs: int = 1
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
    listeners: list[Callable[[Sequence[Event], RunState], None]] = field(default_factory=list)
    announce: Callable[[RunHeader], None] = lambda _: None
    check_begun: Callable[[str, int, int, str], None] = lambda *_: None
    """Hears of each check that begins: its folder, which of how many, the command."""


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What a person should see before anything runs."""

    run_id: str
    out_dir: Path
    stories: int
    chunks: int
    agent: str
    sandbox: str
    jobs: int
    resumed: bool
    notices: tuple[str, ...]


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
        self.secrets = to_hide(self.source)
        self.plan, self.frozen_input = request.plan, request.run_input
        self.run_input = replace(
            request.run_input,
            policy=request.policy or request.run_input.policy,
            agent=request.agent or request.run_input.agent,
        )
        self.repo = Path(self.run_input.repo_path)
        self.run_id = self.run_input.run_id or request.out_dir.name
        self.inbox = Inbox(request.out_dir)
        self.letters: list[Letter] = []

    def run(self) -> RunState:
        store = self.store = FileStore(self.request.out_dir, Redactor(self.secrets), self.clock.utc)
        notices = store.preflight()
        self.stack.enter_context(Lock(self.request.out_dir, since=self.clock.utc()))
        self.stack.callback(store.close)
        begun_before = store.get(PLAN) is not None
        if begun_before:
            kill_leftovers(self.request.out_dir)
        self.workspace = GitWorkspace(self.repo, self.run_id, _scratch(self.repo), marks(self.request.out_dir))
        facts = self.facts = self.workspace.inspect()
        if begun_before:
            self.workspace.unlock()
        digests = self._freeze()
        self.fold = Fold(initial(self.plan, followed(self.plan, optimistic=self.frozen_input.policy.optimistic)))
        self.projector = Projector(self.plan, store.get, lambda path, content: store.put(path, content, sync=False))
        store.start(self._replay)
        fresh = self.fold.state.seq == 0  # also where the very first line was torn
        self._refuse_before_starting()
        self.fence = sandbox.detect(self.run_input.policy.sandbox, self.source)
        if (
            self.fence.kind == "none"
            and self.run_input.policy.sandbox == "auto"
            and self.run_input.agent.mode != "scripted"
        ):
            self.request.consent_unfenced()
        if facts.dirty:
            notices.append("there are uncommitted changes; the run works on the last commit and does not see them")
        registry.register(Path(facts.common), self.run_id, self.request.out_dir, self.clock.utc())
        if self.fold.state.phase in ENDED:
            self._finish(self.fold.state)  # a crash may have come before the result was written
        if self.fold.state.phase is RunPhase.SUCCESS:
            self.workspace.tidy()
            return self.fold.state
        self.going_on = self._approvals()
        if self.request.own_work and not fresh:
            self.going_on += reopening_one(self.fold.state, self.request.own_work[0], self.workspace.head())
        elif not fresh and not self.request.skips:
            self.going_on += reopening(self.fold.state, self.request.grants, self.workspace.head())
        coordinator = self._coordinator(self._agent())
        self._announce(notices + store.notices, resumed=not fresh)
        recovered = self._recover(coordinator)
        if begun_before:
            self.workspace.tidy()
        if fresh:
            self._create(coordinator, digests, facts.head)
        coordinator.record(self._opening())
        if self.request.skips:
            self._skip(coordinator)
            return self.fold.state
        coordinator.recovered = recovered | self._own_work(coordinator)
        with _signals(coordinator), self.workspace.working():
            state = coordinator.run()
        self._finish(state)
        return state

    def _freeze(self) -> tuple[str, str]:
        if not self.store.has_log():
            refuse_secrets(codec.canonical(self.frozen_input), "run-input.json")
            refuse_secrets(codec.canonical(self.plan), "plan.json")
        return self.store.freeze(self.frozen_input, self.plan)

    def _replay(self, event: Event) -> None:
        self.fold.apply(event)
        self.projector.take(event)

    def _refuse_before_starting(self) -> None:
        """A run that could never be green is refused before the first attempt."""
        bare = [story.id for story in self.plan.stories if not commands_of(story, self.run_input)]
        if bare:
            raise SantiagoError(
                Kind.INPUT,
                f"nothing checks {', '.join(bare[:8])}{' …' if len(bare) > 8 else ''}: no story can be done without a check",
                hint="Run `santiago init`, or put a test command into verification.story_commands.",
                reason=Reason.NOTHING_VERIFIED,
            )

    def _agent(self) -> AgentBackend:
        """Return the agent of this start; where none is named, the first that can work here."""
        if self.run_input.agent.mode == "scripted":
            self.agent_name = "scripted"
            return agents.playing(self.run_input)
        profile = agents.profile_of(self.run_input.agent, self.source)
        agents.refuse_early(profile, self.run_input, self.source)
        self.agent_name = Path(profile.start.argv[0]).name if profile.name == "command" else profile.name
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
        verifier = CommandVerifier(
            self.server,
            self.fence,
            environment.for_checks(
                self.source,
                self.run_input.workspace.env,
                {"SANTIAGO_RUN": self.run_id, **marks(self.request.out_dir)},
            ),
            scratch=self.workspace.folders.temporary,
            secrets=self.secrets,
            hidden=(str(self.request.out_dir),),
            begun=self.request.check_begun,
        )
        bench = Bench(
            plan=self.plan,
            run_input=self.run_input,
            workspace=self.workspace,
            verifier=Checks(verifier),
            provide=self._provide,
        )
        self.attempts = FileAttempts(self.store)
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
            plan=self.plan,
            run_input=self.run_input,
            fold=self.fold,
            store=self.store,
            engine=engine,
            performer=performer,
            clock=self.clock,
            scope=self.request.scope,
            outside=self,
            listeners=[self._project, *self.request.listeners],
        )

    def _provide(self, folder: str) -> None:
        """Copy the ignored files that a checkout needs, where the repository has them and the commit has not."""
        for name in self.run_input.workspace.copy:
            source, target = self.repo / name, Path(folder) / name
            # A link that an agent left here could lead santiago to write anywhere.
            inside = target.parent.resolve().is_relative_to(Path(folder).resolve())
            if source.is_file() and not os.path.lexists(target) and target.parent.is_dir() and inside:
                shutil.copyfile(source, target)

    def _project(self, events: Sequence[Event], state: RunState) -> None:
        for event in events:
            self.projector.take(event)
        if any(event.event in _PROJECTED for event in events):
            self.projector.write(state)

    def hear(self, state: RunState) -> Heard:
        """Read the inbox; called by the coordinator."""
        self.letters = self.inbox.collect()
        return understood(self.letters, state)

    def done(self) -> None:
        if self.letters:
            self.inbox.put_away(self.letters)
            self.letters = []

    def _announce(self, notices: list[str], *, resumed: bool) -> None:
        self.request.announce(
            RunHeader(
                self.run_id, self.request.out_dir, len(self.plan.stories), len(self.plan.chunks), self.agent_name, self.fence.name,
                self.request.jobs, resumed, tuple(notices),
            )
        )  # fmt: skip

    def _create(self, coordinator: Coordinator, digests: tuple[str, str], head: str) -> None:
        """Write the first event: everything that the run rests on, by digest."""
        self.fold.state.run_id = self.run_id
        begun = self.workspace.begin(head)
        context = {
            "input_digest": digests[0],
            "plan_digest": digests[1],
            "head": begun,
            "branch": f"santiago/{self.run_id}",
        }
        coordinator.record([Fact(event=EventKind.RUN_CREATED, phase=RunPhase.CREATED, context=context)])  # type: ignore[arg-type]

    def _recover(self, coordinator: Coordinator) -> frozenset[str]:
        """End what a crash left running: keep its work, record it; what had ended waits for its verdict."""
        state = self.fold.state
        if not state.running:
            return frozenset()
        ended = frozenset(
            name
            for name in state.running
            if self.attempts.ended(name, state.stories[name].attempts)
            and self.workspace.kept(name, state.stories[name].attempts) is not None
        )
        commits = {
            name: self.workspace.restore(name, state.stories[name].attempts, base=state.stories[name].base)
            for name in state.running - ended
        }
        endings = {name: self.attempts.ending(name, state.stories[name].attempts) for name in commits}
        used = {name: ending.usage for name, ending in endings.items() if ending is not None}
        coordinator.record(interruptions(state, commits, ended, used))
        return ended

    def _opening(self) -> list[Fact]:
        state = self.fold.state
        context = {
            "epoch": state.epoch + 1, "pid": os.getpid(), "host": socket.gethostname(), "version": __version__,
            "agent": self.agent_name, "sandbox": self.fence.name, "jobs": self.request.jobs,
        }  # fmt: skip
        started = Fact(event=EventKind.RUN_STARTED, context=context)  # type: ignore[arg-type]
        return [started, *self.going_on]

    def _approvals(self) -> list[Fact]:
        """Ask about commands of the document that nobody has approved yet; approved means their digest is in the log."""
        commands = dict.fromkeys([*(c for story in self.plan.stories for c in story.verify), *self.plan.run_verify])
        digests = {command: sha256(command.encode()).hexdigest() for command in commands}
        unknown = [command for command, digest in digests.items() if digest not in self.fold.state.approved]
        if not unknown:
            return []
        self.request.consent(unknown)
        told = [digests[command] for command in unknown]
        return [  # a line of the log has room for some ten thousand
            Fact(event=EventKind.COMMANDS_APPROVED, actor="user", context={"digests": told[at : at + 5000]})
            for at in range(0, len(told), 5000)
        ]

    def _skip(self, coordinator: Coordinator) -> None:
        for name, why in self.request.skips:
            story = self.fold.state.stories[name]
            fact = Fact(
                event=EventKind.STORY_SKIPPED, story=name, chunk=story.chunk, actor="user", context={"text": why}
            )
            coordinator.record([fact])
        if self.fold.state.phase is RunPhase.EXECUTING:
            coordinator.record([Fact(event=EventKind.RUN_PAUSED, phase=RunPhase.PAUSED)])
        self.projector.write(self.fold.state)

    def _own_work(self, coordinator: Coordinator) -> frozenset[str]:
        """Record a person's commit as an attempt whose agent has ended; the loop then judges it like any other."""
        if self.request.own_work is None:
            return frozenset()
        name, ref = self.request.own_work
        story = self.fold.state.stories[name]
        if story.phase is not StoryPhase.READY:
            hint = "`santiago explain STORY` says what it waits for."
            raise SantiagoError(Kind.INPUT, f"{name} is {story.phase}, so its work cannot be judged now", hint=hint)
        number = story.attempts + 1
        commit = self.workspace.take_over(name, number, ref, f"{name}: a person's own work\n")
        if commit is None:
            raise SantiagoError(Kind.USAGE, f"{ref} is no commit of this repository", hint="Name a branch or a commit.")
        context = {"step": f"attempt/{name}/{number}", "base": self.workspace.base_of(commit)}
        begun = Fact(
            event=EventKind.ATTEMPT_STARTED, story=name, chunk=story.chunk, phase=StoryPhase.RUNNING, attempt=number,
            actor="user", context=context,  # type: ignore[arg-type]
        )  # fmt: skip
        coordinator.record([begun])
        return frozenset({name})

    def _finish(self, state: RunState) -> None:
        self.projector.write(state)
        if state.phase in ENDED:
            head = self.store.head
            self.store.put_result(result(self.plan, state, (head.seq, head.hash)))


_PROJECTED = frozenset(
    {EventKind.CHUNK_STARTED, EventKind.CHUNK_ENDED, EventKind.STORY_DONE, EventKind.RUN_PAUSED, EventKind.RUN_ENDED}
)


def _scratch(repo: Path) -> Path:
    """Return the folder for checkouts: outside the repository, so that no tool takes them for a part of it."""
    from santiago.cli.scratch import scratch_of

    return scratch_of(repo)


@contextmanager
def _signals(coordinator: Coordinator) -> Iterator[None]:
    """The first signal asks for a stop at the next boundary, the second for one at once."""

    def handle(number: int, frame: object) -> None:
        coordinator.urgency.at_once = coordinator.urgency.asked
        coordinator.urgency.asked = True

    old = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
