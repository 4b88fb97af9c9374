"""The conductor of a planning session, its only writer. It reads letters, has agents asked, and records the results."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from santiago.contract import codec
from santiago.contract.events import Context, Event, EventKind, EventStatus, Fact
from santiago.contract.facts import of_run, spent
from santiago.contract.phases import SessionPhase
from santiago.contract.plan import CONTRACT_VERSION, Plan
from santiago.contract.ports.agent import Drafting, Packet, whole
from santiago.contract.ports.engine import Sign
from santiago.contract.reasons import SHARED, Reason
from santiago.contract.record import lean, record
from santiago.contract.result import Feedback, Session
from santiago.contract.session import apply
from santiago.sessions import draft_check
from santiago.sessions.session_acts import (
    Ask,
    AskPerson,
    Begin,
    Cancel,
    Conclude,
    Finalize,
    heard,
    next_acts,
    wants_end,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from santiago.artifacts.session_files import SessionFiles
    from santiago.contract.answers import Mailbox
    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.agent import AgentBackend
    from santiago.contract.ports.run import Clock, Stop
    from santiago.contract.ports.workspace import Workspace
    from santiago.contract.session import DraftKind, SessionInput, SessionState, TurnState
    from santiago.sessions.draft_check import Ground

_POLL = 0.2
"""Seconds between two looks into the inbox while agents work."""
_WORDS = 300
"""How many characters of an agent's last words the log keeps."""
_STATUS: dict[SessionPhase, Literal["planning", "ready", "cancelled"]] = {
    SessionPhase.DRAFTING: "planning",
    SessionPhase.REVIEW: "ready",
    SessionPhase.FINALIZED: "ready",
    SessionPhase.CANCELLED: "cancelled",
}


@lean(kw_only=True)
class Conductor:
    """Carries one session on, in the process that holds its lock."""

    asked: SessionInput
    run_input: RunInput
    given: Plan | None
    """The document that it began with, as the compiler reads it."""
    state: SessionState
    store: SessionFiles
    clock: Clock
    actor: str
    mailbox: Mailbox
    asker: Callable[[], Asker]
    """Makes the asker, when the first agent is asked. Often a person only answers, and none is needed."""
    head: Callable[[], str]
    """Returns the commit that agents read."""
    name_run: Callable[[], str]
    finalize: Callable[[Finalize], None]
    """Makes the run of an approved revision, or writes the document. If repeated, it finds what was made."""
    stopped: Callable[[], bool]
    """Whether a signal asked it to end."""
    lost_ms: int = 0
    """How long the agents had worked that a crash interrupted, by the last sign of life."""
    beat: Callable[[Sign], None] = lambda _: None
    listeners: list[Callable[[Sequence[Event], SessionState], None]] = field(default_factory=list)

    def run(self) -> SessionState:
        """Go on until the session waits for a person, is over, or is stopped."""
        self._take_up()
        while not self.stopped():
            self._hear()
            acts = next_acts(self.state, self.asked, self.run_input.limits)
            if not acts:
                break
            asks = [act for act in acts if isinstance(act, Ask)]
            if asks:
                self._ask(asks)
            for act in acts:
                self._obey(act)
        return self.state

    def record(self, *facts: Fact) -> None:
        """Append facts to the log, and apply them to the state."""
        events = [
            Event(
                seq=seq, timestamp=self.clock.utc(), run_id=self.asked.session_id, event=fact.event, phase=fact.phase,
                attempt=fact.attempt, status=fact.status, actor=fact.actor, context=fact.context,
            )
            for seq, fact in enumerate(facts, self.state.seq + 1)
        ]  # fmt: skip
        if not events:
            return
        self.store.append(events)
        for event in events:
            apply(self.state, self.store.redacted(event))
        self.store.show(codec.canonical(shown(self.state)))
        if any(event.event is EventKind.TURN_ENDED for event in events):
            self._show_plan()
        for listener in self.listeners:
            listener(events, self.state)

    def _show_plan(self) -> None:
        """Write the latest revision of a plan for other programs."""
        if self.state.revision and self.asked.artifact == "plan":
            self.store.show_plan(self._latest())

    def _take_up(self) -> None:
        """Record the end of agents that a crash interrupted, and write what it kept from being written."""
        self._show_plan()
        if (turn := self.state.turn) is not None:
            for one in [draft for draft in turn.drafts.values() if not draft.status]:
                context = Context(reason=Reason.INTERRUPTED, ms=self.lost_ms)
                self.record(_ended(turn.number, one.kind, one.agent, "failed", context))

    def _hear(self) -> None:
        letters = self.mailbox.collect()
        if letters:
            found = heard(letters, self.state, self.run_input.limits, self.name_run)
            self.record(*found.facts)
            self.mailbox.put_away(letters, found.void)

    def _obey(self, act: object) -> None:
        match act:
            case Begin():
                context = Context(mode=act.mode, agents=list(act.agents), text=act.text, base=self.head())
                self.record(
                    Fact(
                        event=EventKind.TURN_STARTED, phase=SessionPhase.DRAFTING, attempt=len(self.state.turns) + 1,
                        actor=act.actor or self.actor, context={**context, "revision": self.state.revision},
                    )
                )  # fmt: skip
            case Conclude():
                self._conclude(act)
            case AskPerson(revision=revision):
                self.record(self._question("plan", f"Is revision {revision} the plan?", revision=revision))
            case Finalize():
                self.finalize(act)
                digest = self._digest_of(act.revision)
                self.record(
                    of_run(
                        EventKind.SESSION_FINALIZED, SessionPhase.FINALIZED, actor=act.actor,
                        revision=act.revision, digest=digest, run=self.state.run, path=self.asked.output,
                    )
                )  # fmt: skip
            case Cancel(actor=actor):
                self.record(of_run(EventKind.SESSION_CANCELLED, SessionPhase.CANCELLED, actor=actor))

    def _question(self, kind: str, text: str, *, revision: int = 0) -> Fact:
        rounds = sum(one.kind == kind for one in self.state.questions.values()) + 1
        name = f"{kind}-{rounds}"
        return of_run(EventKind.QUESTION_ASKED, question=name, kind=kind, text=text, round=rounds, revision=revision)

    # Asking agents

    def _ask(self, asks: Sequence[Ask]) -> None:
        """Ask agents in parallel. Each result is recorded when it comes."""
        turn = self.state.turn
        assert turn is not None
        self._lay_out(turn, merging=asks[0].kind == "merge")
        requests = [self._request(turn, ask, place) for place, ask in enumerate(asks, 1)]
        asked = ((one, Context(agent=one.agent, kind=one.kind, round=one.start)) for one in requests)
        self.record(*(Fact(event=EventKind.DRAFT_STARTED, attempt=one.turn, context=context) for one, context in asked))
        asker, ground, began = self.asker(), self._ground(), self.clock.monotonic_ms()
        ends = _Ends(self.stopped)
        with ThreadPoolExecutor(len(requests)) as pool:
            waiting = {pool.submit(asker.ask, one, ground, ends): one for one in requests}
            while waiting:
                ends.wanted = ends.wanted or any(map(wants_end, self.mailbox.collect()))
                ready, _ = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED)
                for future in ready:
                    del waiting[future]
                    self._record_result(future.result())
                passed = self.clock.monotonic_ms() - began
                self.beat(Sign(used_ms=self.state.used_ms, steps={one.id: passed for one in waiting.values()}))

    def _request(self, turn: TurnState, ask: Ask, place: int) -> DraftRequest:
        earlier = sum(draft.starts for one in self.state.turns for draft in one.drafts.values())
        draft = turn.drafts.get((ask.kind, ask.agent))
        left = int(self.run_input.limits.planning_timeout_minutes) - self.state.used_ms
        return DraftRequest(
            turn=turn.number,
            kind=ask.kind,
            agent=ask.agent,
            start=(draft.starts if draft else 0) + 1,
            number=earlier + place,
            base=turn.base,
            drafting=self._drafting(turn, merging=ask.kind == "merge"),
            findings=ask.findings,
            notes=self.state.notes,
            timeout_ms=max(1000, min(self.run_input.limits.attempt_ms, left)),
        )

    def _drafting(self, turn: TurnState, *, merging: bool) -> Drafting:
        plain, ending = self.asked.artifact == "plan", ".json" if self.asked.artifact == "plan" else ".md"
        drafts = [name for name in turn.agents if ("draft", name) in turn.drafts and merging]
        good = [name for name in drafts if turn.drafts["draft", name].status == "ok"]
        there = self.state.revision or (plain and self.given is not None)
        return Drafting(
            artifact=self.asked.artifact,
            task=self.asked.task,
            document=_document(self.asked) if self.store.source() else "",
            plan=f"plan{ending}" if there else "",
            feedback=turn.text,
            drafts=tuple(f"drafts/{name}{ending}" for name in good),
            size=self.asked.size,
            commands=self.run_input.verification.story_commands,
        )

    def _lay_out(self, turn: TurnState, *, merging: bool) -> None:
        """Write the files that the agents read. Drafts of others are among them only for merging."""
        drafting = self._drafting(turn, merging=merging)
        if drafting.document:
            self.store.lay_out(drafting.document, self.store.source().encode())
        if drafting.plan:
            self.store.lay_out(drafting.plan, self._latest())
        ending = ".json" if self.asked.artifact == "plan" else ".md"
        for name in (one.label for one in self.asked.drafters):
            path = f"drafts/{name}{ending}"
            if path in drafting.drafts:
                digest = turn.drafts["draft", name].digest
                text = self.store.draft(turn.number, name, "draft", self.asked.artifact, digest)
                self.store.lay_out(path, text.encode())
            else:
                self.store.clear_away(path)

    def _latest(self) -> bytes:
        """Return the latest revision, or what the session began with."""
        if self.state.revision:
            return self.store.revision(self.state.revision, self.asked.artifact, self._digest_of(self.state.revision))
        return codec.canonical(self.given)

    def _record_result(self, result: DraftResult) -> None:
        request, ending = result.request, result.ending
        facts = []
        if ending.question:
            facts.append(self._question("agent", ending.question))
        context = spent(ending.usage)
        context |= Context(ms=ending.ms, digest=result.digest, findings=list(result.findings))
        if result.reason is not None:
            context |= Context(reason=result.reason, message=self._words(result))
        facts.append(_ended(request.turn, request.kind, request.agent, "failed" if result.reason else "ok", context))
        self.record(*facts)

    def _words(self, result: DraftResult) -> str:
        """Return what an agent said last, and what helps if its program, account or service is the cause."""
        words = result.ending.message.strip()[-_WORDS:]
        if result.reason not in SHARED or not result.ending.remedy:
            return words
        help_ = result.ending.remedy.replace("santiago resume", f"santiago review {self.asked.session_id} --take-up")
        return f"{words.rstrip('.')}. {help_}" if words else help_

    # Concluding a turn

    def _conclude(self, act: Conclude) -> None:
        turn, revision = self.state.turn, self.state.revision
        assert turn is not None
        if act.draft is None:
            phase = SessionPhase.REVIEW if revision else SessionPhase.CANCELLED
            reason = act.reason or Reason.PLAN_GENERATION_FAILED
            self.record(of_run(EventKind.TURN_ENDED, phase, "failed", reason=reason, message=act.message))
            return
        draft, number = act.draft, revision + 1
        text = self.store.draft(turn.number, draft.agent, draft.kind, self.asked.artifact, draft.digest)
        taken = draft_check.looked_through(text, self._ground((number, draft.agent, turn)))
        assert taken.plan is not None, "a draft that was taken once is taken again"
        content = codec.canonical(taken.plan) if self.asked.artifact == "plan" else taken.text.encode()
        digest = self.store.keep_revision(number, self.asked.artifact, content)
        ended = EventKind.TURN_ENDED
        self.record(of_run(ended, SessionPhase.REVIEW, "ok", revision=number, digest=digest, agent=draft.agent))

    def _ground(self, new: tuple[int, str, TurnState] | None = None) -> draft_check.Ground:
        decided = [
            (one.revision, _by(one, one.merged_by), one.actor, one.text) for one in self.state.turns if one.revision
        ]
        if new is not None:
            number, agent, turn = new
            decided.append((number, _by(turn, agent), turn.actor, turn.text))
        before = self._latest() if self.state.revision and self.asked.artifact == "plan" else None
        return draft_check.Ground(
            asked=self.asked,
            source=self.store.source() if self.asked.document else "",
            given=self.given,
            before=codec.decode(Plan, before, "the revision before") if before else None,
            history=draft_check.told(decided),
        )

    def _digest_of(self, revision: int) -> str:
        turn = self.state.turn_of(revision)
        return turn.digest if turn else ""


class _Ends:
    """A `Stop` for agents: any request to stop means at once, since an unfinished draft is worth nothing."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        self.stopped, self.wanted = stopped, False

    def soon(self) -> bool:
        return self.wanted or self.stopped()

    def now(self) -> bool:
        return self.soon()


def _ended(turn: int, kind: str, agent: str, status: EventStatus, context: Context) -> Fact:
    told = Context(**{**context, "kind": kind, "agent": agent})
    return Fact(event=EventKind.DRAFT_ENDED, attempt=turn, status=status, context=told)


def _by(turn: TurnState, agent: str) -> str:
    """Return who drafted a revision, in words. Agents that brought nothing usable have no part in it."""
    drafted = [name for name in turn.agents if (one := turn.drafts.get(("draft", name))) and one.status == "ok"]
    return f"{', '.join(drafted)} (merged by {agent})" if len(drafted) > 1 else agent


def _document(asked: SessionInput) -> str:
    """Return the name under which agents find the document."""
    ending = asked.document.rpartition(".")[2]
    return f"document.{ending}" if "." in asked.document and ending.isalnum() else "document.md"


@record
class DraftRequest:
    """What one agent is asked to do, as data."""

    turn: int
    kind: DraftKind
    agent: str
    start: int
    """How often it was asked in this turn, this time included."""
    number: int
    """How often any agent was asked in this session, this time included."""
    base: str
    drafting: Drafting
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    timeout_ms: int

    @property
    def id(self) -> str:
        return f"{self.kind}/{self.turn}/{self.agent}"


@record
class DraftResult:
    """What the agent brought back."""

    request: DraftRequest
    ending: AgentEnding
    digest: str = ""
    """Digest of its draft, even if the draft cannot be used."""
    findings: tuple[str, ...] = ()
    reason: Reason | None = None


@record
class Asker:
    """Asks agents."""

    session_id: str
    agents: Mapping[str, AgentBackend]
    workspace: Workspace
    files: SessionFiles
    plan_folder: str

    def ask(self, request: DraftRequest, ground: Ground, stop: Stop) -> DraftResult:
        """Have an agent write a draft, and check it."""
        folder = self.workspace.checkout(request.base, f"{request.kind}-{request.turn}-{request.agent}")
        try:
            touched = self.workspace.watched(folder)
            ending = self._asked(request, folder, stop)
            changed = touched()
        finally:
            self.workspace.discard(folder)
        return self._looked_at(request, ground, ending, changed)

    def _asked(self, request: DraftRequest, folder: str, stop: Stop) -> AgentEnding:
        agent = self.agents[request.agent]
        prompt_file, log = self.files.paths_of(request.turn, request.agent, request.kind, request.start)
        packet = Packet(
            run_id=self.session_id,
            story=whole("the whole plan"),
            attempt=request.number,
            criteria=(),
            commands=(),
            chunk_titles=(),
            critiques=(),
            notes=request.notes,
            folder=folder,
            plan_folder=self.plan_folder,
            log=log,
            prompt_file=prompt_file,
            timeout_ms=request.timeout_ms,
            findings=request.findings,
            drafting=request.drafting,
        )
        self.files.keep_prompt(request.turn, request.agent, request.kind, request.start, agent.render(packet))
        return agent.attempt(packet, stop)

    def _looked_at(
        self, request: DraftRequest, ground: Ground, ending: AgentEnding, changed: tuple[str, ...]
    ) -> DraftResult:
        if ending.question or ending.reason is not None:
            reason = Reason.AGENT_ASKED if ending.question else ending.reason
            return DraftResult(request=request, ending=ending, reason=reason)
        draft = draft_check.looked_through(ending.detail, ground)
        digest = ""
        if ending.detail:
            digest = self.files.keep_draft(
                request.turn, request.agent, request.kind, ground.asked.artifact, ending.detail
            )
        thrown = (
            (f"files were changed in the checkout, and are thrown away: {', '.join(changed[:5])}",) if changed else ()
        )
        wrong = (*draft.findings, *thrown) if draft.plan is None else ()
        reason = Reason.PLAN_GENERATION_FAILED if draft.plan is None else None
        return DraftResult(request=request, ending=ending, digest=digest, findings=wrong, reason=reason)


def shown(state: SessionState) -> Session:
    """Return the fields about planning. The fields about execution belong to the run."""
    last = state.turns[-1] if state.turns else None
    return Session(
        contract_version=CONTRACT_VERSION,
        plan_revision=state.revision,
        planning_iteration_count=len(state.turns),
        planning_feedback_history=tuple(
            Feedback(revision=turn.began, mode=turn.mode, text=turn.text, actor=turn.actor, at=turn.at)
            for turn in state.turns
            if turn.text
        ),
        last_planning_mode=last.mode if last else None,
        execution_mode="chunked_by_planner_v1",
        current_chunk=None,
        completed_chunks=(),
        chunk_history=(),
        resumable_state=None,
        status=_STATUS[state.phase],
    )
