"""Reading a run from its folder, without disturbing a process that works on it."""

from __future__ import annotations

import json
import os
from dataclasses import field, replace
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from santiago.artifacts.file_errors import corrupt, possible
from santiago.artifacts.files import LARGEST, read_bytes
from santiago.artifacts.lock import NAME as LOCK
from santiago.artifacts.lock import SIGNATURE, holder, last_sign, signed_by
from santiago.artifacts.names import DETAILS, INPUT, LOG, PLAN
from santiago.artifacts.reader import Reader
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.event_effects import SHOW, TESTS
from santiago.contract.events import Context, Event, EventKind
from santiago.contract.fold import Fold, undisturbed
from santiago.contract.phases import ENDED, RunPhase
from santiago.contract.plan import Detail, Plan
from santiago.contract.policy import RunInput
from santiago.contract.record import lean
from santiago.contract.state import initial
from santiago.executor.detailed_plan import substep, substep_ids
from santiago.executor.schedule import followed
from santiago.util import regular
from santiago.util.clock import between
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from santiago.contract.plan import Story
    from santiago.contract.state import DetailState, RunState, StoryState


@lean(kw_only=True)
class Run:
    """Everything that read-only commands need of a run."""

    out_dir: Path
    plan: Plan
    run_input: RunInput
    state: RunState
    stories: tuple[Story, ...]
    """All of them in plan order, each followed by its substeps, which are not in the plan."""
    history: History
    begun: bool
    """Whether its log has events. A refused start may have left an empty log."""
    worker: str | None
    """Who works on it now, in words."""
    log_hash: str = ""
    """The hash of its last event, which stands for the whole log before it."""

    @property
    def run_id(self) -> str:
        return self.state.run_id or self.run_input.run_id or self.out_dir.name

    def used_ms(self, now: str) -> int:
        """Return the time used, with what has passed since the log last counted it."""
        history, state = self.history, self.state
        if not self.worker or not history.marked:
            return state.used_ms
        if sign := last_sign(self.out_dir):  # the working process knows best how long it waited
            return max(state.used_ms, sign.used_ms)
        rests = between(history.wait.since, now) if state.wait_until and not state.running else 0
        return state.used_ms + max(0, between(history.marked, now) - history.rested_ms - rests)

    @property
    def resumable(self) -> bool:
        return self.state.phase is not RunPhase.SUCCESS

    @property
    def ahead(self) -> frozenset[str]:
        """The stories that are being verified ahead of their turn now, by the last sign of life."""
        sign = last_sign(self.out_dir) if self.worker and self.state.verified else None
        steps = (name.split("/") for name in sign.steps) if sign else ()
        return frozenset(rest[0] for kind, *rest in steps if kind == "ahead")

    def story(self, name: str) -> Story | None:
        return next((story for story in self.stories if story.id == name), None)

    @property
    def titles(self) -> dict[str, str]:
        return {story.id: story.title for story in self.stories}


def frozen(out_dir: Path) -> tuple[Plan, RunInput]:
    """Return a run's plan and input."""
    plan = codec.decode(Plan, read_bytes(out_dir / PLAN, codec.MAX_BYTES), str(out_dir / PLAN))
    known = {story.id for story in plan.stories}
    named = chain(*(chunk.stories for chunk in plan.chunks), *(story.depends_on for story in plan.stories))
    if unknown := next((name for name in named if name not in known), None):
        raise corrupt(out_dir / PLAN, f"it names {unknown}, but has no such story")
    return plan, frozen_input(out_dir)


def frozen_input(out_dir: Path) -> RunInput:
    return codec.decode(RunInput, read_bytes(out_dir / INPUT, 2**20), str(out_dir / INPUT))


def empty_fold(plan: Plan, run_input: RunInput) -> Fold:
    return Fold(initial(plan, followed(plan, optimistic=run_input.policy.optimistic)))


def load(out_dir: Path) -> Run:
    """Read a run; damage raises with the line."""
    plan, run_input = frozen(out_dir)
    fold, history = empty_fold(plan, run_input), History()
    # Asked before the log is read: if the worker ends meanwhile, the log is complete when it is read.
    worker = working(out_dir)
    log_hash = replay(out_dir, fold, history.take) if (out_dir / LOG).exists() else ""
    state = fold.state
    begun = state.seq > 0
    stories = with_substeps(plan, state, out_dir)
    return Run(
        out_dir=out_dir, plan=plan, run_input=run_input, state=state, stories=stories, history=history, begun=begun, worker=worker, log_hash=log_hash,
    )  # fmt: skip


def replay(out_dir: Path, fold: Fold, take: Callable[[Event], None]) -> str:
    """Fold a whole log, and return its last hash. An impossible event raises too, even if its line is whole."""
    apply, reader = possible(out_dir / LOG, fold.apply), Reader(out_dir / LOG)
    with undisturbed():
        for event in reader:
            apply(event)
            take(event)
    return reader.hash


def working(out_dir: Path) -> str | None:
    """Return who works on a run, in words; None where nobody does.

    The lock itself is tried only if the process that signed it is alive: trying takes the lock for a moment, and a run that
    starts in that moment would be refused.
    """
    try:
        signed = signed_by(regular.content(out_dir / LOCK, SIGNATURE, follow=False) or b"")
        if signed["host"] == os.uname().nodename and not _alive(int(signed["pid"])):
            return None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return holder(out_dir)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


_PROPOSALS = frozenset({EventKind.PROPOSAL_STARTED, EventKind.PROPOSAL_ENDED, EventKind.STORY_PROPOSED})
_TAKING = ("accept", "validate")
"""Answers that take work as it is."""
_ENDS = frozenset({EventKind.ATTEMPT_ENDED, EventKind.ATTEMPT_VOIDED, EventKind.INTEGRATION_FAILED})


@lean()
class AttemptStory:
    """One attempt, as the log tells it."""

    number: int
    started: str
    ended: str = ""
    status: str = "running"
    """ok, failed, voided, stopped, or running."""
    reason: str = ""
    message: str = ""
    commit: str = ""
    base: str = ""
    proof: str = ""
    digest: str = ""
    files: str = ""
    """Digest of the list of its files."""
    agent_ms: int = 0
    verify_ms: int = 0
    tokens: int | None = None
    cost: int | None = None
    """Millionths of a dollar."""
    agent: str = ""
    worker: str = ""
    """The worker of another machine that carried it out."""
    own_work: str = ""
    """The branch or commit of a person's own work; empty for an agent's attempt."""
    pruned: bool = False
    """Its ref was removed since."""
    hint: str = ""
    writes_tests: bool = False
    shows: bool = False
    """It began on kept work, and was asked only for the test that is missing."""

    def end(self, event: Event) -> None:
        context = event.context
        self.ended, self.status = event.timestamp, event.status or "failed"
        self.reason, self.message = context.get("reason", ""), context.get("message", "")
        self.commit, self.proof = context.get("commit") or self.commit, context.get("proof") or self.proof
        self.digest = context.get("digest") or self.digest
        self.files = context.get("files") or self.files
        self.agent_ms += context.get("agent_ms", 0)
        self.verify_ms += context.get("verify_ms", 0)
        self.tokens = context.get("tokens", self.tokens)
        self.cost = context.get("cost_micro_usd", self.cost)
        self.hint = context.get("hint") or self.hint
        self.worker = context.get("worker", "")


class Attested(NamedTuple):
    """A person's word in place of a test."""

    actor: str
    why: str


@lean()
class Rest:
    """A time in which no attempt could begin, or in which nobody worked on the run."""

    kind: Literal["wait", "stop", "crash"] = "wait"
    since: str = ""
    until: str = ""
    """Empty while it lasts."""
    reason: str = ""
    """Why the run waits, or why it stopped; empty where a person stopped it, or nobody knows."""


class Seal(NamedTuple):
    """The digests of a detailed plan's files; empty if the end of its agent is not in the log."""

    files: str = ""
    """Digest of the list of its files."""
    digest: str = ""
    """Digest of the plan itself; empty if it is missing or unreadable."""


@lean()
class History:
    """Takes in the log, event by event."""

    attempts: dict[str, list[AttemptStory]] = field(default_factory=dict)
    proposals: dict[tuple[str, int], Seal] = field(default_factory=dict)
    """Story and number of a detailed plan → the digests of its files when it was proposed."""
    chunk_ms: dict[str, int] = field(default_factory=dict)
    """Time by chunk; the empty name holds the time outside of chunks."""
    uncounted_ms: dict[str, int] = field(default_factory=dict)
    """The part of that time that the log has not recorded yet. A crash loses it here and there."""
    marked: str = ""
    """The time up to which the log has recorded execution time."""
    rested_ms: int = 0
    """Waiting since then, which does not count as execution time."""
    first: str = ""
    last: str = ""
    start: Context = field(default_factory=Context)
    """The latest start: pid, host, version, sandbox, jobs."""
    attested: dict[str, Attested] = field(default_factory=dict)
    """Story → who took its work last, and why."""
    limits: dict[str, str] = field(default_factory=dict)
    """Story → the name of the limit that it reached."""
    phase: RunPhase = RunPhase.CREATED
    chunk: str | None = None
    begun_chunk: str | None = None
    """The latest chunk that has begun and not ended. A run that failed or was blocked goes on with it."""
    rests: list[Rest] = field(default_factory=list)
    """All of them, in order."""
    asked_by: str = ""
    """Who asked the latest start to stop, first."""
    end: Context = field(default_factory=Context)
    """The details of the latest event that ended or paused the run."""

    @property
    def wait(self) -> Rest:
        """The latest wait for a service."""
        return next((one for one in reversed(self.rests) if one.kind == "wait"), Rest())

    def take(self, event: Event) -> None:
        self._rest(event)
        self._time(event)
        if event.story_id is None:
            self._of_run(event)
        else:
            self._of_story(event.story_id, event)

    def _rest(self, event: Event) -> None:
        """Note when the run rests and when it goes on. A start ends a stop, and tells of a crash where there was none."""
        latest = self.rests[-1] if self.rests else Rest(until=event.timestamp)
        reason, at = event.context.get("reason", ""), event.timestamp
        match event.event:
            case EventKind.WAIT_STARTED if latest.until:  # else one wait became longer
                self.rests.append(Rest("wait", at, reason=reason))
            case EventKind.RUN_PAUSED | EventKind.RUN_ENDED:
                self.rests.append(Rest("stop", at, reason=reason))
            case EventKind.RUN_STARTED if latest.kind == "stop" and not latest.until:
                latest.until = at
            case EventKind.RUN_STARTED if self.phase is not RunPhase.CREATED and latest.until:
                self.rests.append(Rest("crash", self.last, at))
            case EventKind.WAIT_ENDED:
                latest.until = at

    def _time(self, event: Event) -> None:
        """Add the time since the last event to the active chunk, except idle time, which the log tells."""
        working = self.phase in (RunPhase.EXECUTING, RunPhase.RUN_VERIFICATION)
        rested = event.context.get("ms", 0) if event.event is EventKind.WAIT_ENDED else 0
        if working and event.event is not EventKind.RUN_STARTED:
            passed, chunk = max(0, between(self.last, event.timestamp) - rested), self.chunk or ""
            for times in (self.chunk_ms, self.uncounted_ms) if passed else ():
                times[chunk] = times.get(chunk, 0) + passed
        self.rested_ms += rested
        if event.event is EventKind.RUN_STARTED:
            for chunk, passed in self.uncounted_ms.items():
                self.chunk_ms[chunk] -= passed
        if event.event is EventKind.TIME_USED:
            self._take_off(sum(self.uncounted_ms.values()) - event.context.get("ms", 0))
        if event.event in (EventKind.TIME_USED, EventKind.RUN_STARTED):
            self.marked, self.rested_ms, self.uncounted_ms = event.timestamp, 0, {}
        self.first = self.first or event.timestamp
        self.last = event.timestamp

    def _take_off(self, idle_ms: int) -> None:
        """Subtract idle time, such as waiting for a person, from the chunk with the most unrecorded time."""
        for chunk, passed in sorted(self.uncounted_ms.items(), key=lambda one: -one[1]):
            off = max(0, min(idle_ms, passed))
            self.chunk_ms[chunk] -= off
            idle_ms -= off

    def _of_run(self, event: Event) -> None:
        if event.phase is not None:
            self.phase = RunPhase(str(event.phase))
        match event.event:
            case EventKind.RUN_STARTED:
                self.start, self.asked_by, self.chunk = event.context, "", self.begun_chunk
            case EventKind.CHUNK_STARTED:
                self.chunk = self.begun_chunk = event.chunk
            case EventKind.CHUNK_ENDED:
                self.chunk = self.begun_chunk = None
            case EventKind.STOP_REQUESTED:
                self.asked_by = self.asked_by or event.context.get("message") or event.actor
            case EventKind.NOTE if event.context.get("ref", "").startswith("refs/santiago/"):
                self._let_go(event.context["ref"])
            case EventKind.RUN_ENDED | EventKind.RUN_PAUSED:
                self.end = event.context
                self.chunk = None if self.phase in ENDED else self.chunk

    def _let_go(self, ref: str) -> None:
        """Note that the ref of an attempt was removed, or all refs below a folder."""
        for story, tried in self.attempts.items():
            for attempt in tried:
                attempt.pruned |= ref.endswith(("/", f"/{story}/{attempt.number}"))

    def _of_story(self, story: str, event: Event) -> None:
        tried = self.attempts.setdefault(story, [])
        if event.event is EventKind.ATTEMPT_STARTED:
            number, base = event.attempt or len(tried) + 1, event.context.get("base", "")
            own_work = event.context.get("ref", event.actor) if event.actor != "santiago" else ""
            agent = "" if own_work else event.context.get("agent") or self.start.get("agent", "")
            mode = event.context.get("mode")
            tried.append(
                AttemptStory(
                    number, event.timestamp, base=base, agent=agent, own_work=own_work, writes_tests=mode == TESTS,
                    shows=mode == SHOW,
                )
            )  # fmt: skip
        elif event.event in _ENDS:
            attempt = next((one for one in reversed(tried) if one.number == event.attempt), None)
            if attempt is not None:
                attempt.end(event)
        elif event.event is EventKind.USAGE_REPORTED:
            for one in tried:
                if event.context.get("step") == f"attempt/{story}/{one.number}":
                    one.tokens, one.cost = event.context.get("tokens"), event.context.get("cost_micro_usd")
        elif event.event in _PROPOSALS:
            number = event.context.get("revision", 0)
            self.proposals[story, number] = Seal(event.context.get("files", ""), event.context.get("digest", ""))
        elif event.event is EventKind.STORY_ACCEPTED or event.context.get("answer") in _TAKING:
            self.attested[story] = Attested(event.actor, event.context.get("text", ""))
        if limit := event.context.get("limit"):
            self.limits[story] = limit

    def of(self, story: str) -> list[AttemptStory]:
        return self.attempts.get(story, [])


LONGEST_DETAIL = 2**21
"""Largest detailed plan, in bytes. An agent's own text is shorter, and grows a little when it is stored."""
UNREADABLE = "(its detailed plan is missing or changed)"


def with_substeps(plan: Plan, state: RunState, out_dir: Path) -> tuple[Story, ...]:
    """Return all stories in plan order, each followed by its substeps."""
    if len(state.stories) == len(plan.stories):
        return plan.stories
    return tuple(one for story in plan.stories for one in (story, *_parts(story, state.stories[story.id], out_dir)))


def titles_of(plan: Plan, state: RunState, out_dir: Path) -> dict[str, str]:
    """Return the titles of all stories, each on one line and harmless."""
    return {story.id: flat(story.title) for story in with_substeps(plan, state, out_dir)}


def _parts(story: Story, state: StoryState, out_dir: Path) -> Iterator[Story]:
    detail = detail_of(state.id, state.detail, out_dir) if state.parts else None
    names = substep_ids(story.id, detail) if detail else ()
    for name in state.parts:
        if detail and name in names:
            yield substep(story, detail, names.index(name) + 1)
        else:  # the run can still be shown; a start refuses it, and `audit` says why
            yield replace(
                story, id=name, title=UNREADABLE, description="", files=(), verify=(), criteria=(), depends_on=()
            )


def detail_of(story: str, latest: DetailState | None, out_dir: Path) -> Detail | None:
    """Return a story's latest detailed plan; None if there is none, or if the file differs from the log."""
    if latest is None or not latest.digest:
        return None
    path = out_dir / DETAILS / story / f"{latest.revision}.json"
    try:
        content = read_bytes(path, LONGEST_DETAIL)
        return codec.decode(Detail, content, str(path)) if sha256(content).hexdigest() == latest.digest else None
    except SantiagoError:
        return None


def record_in(path: Path) -> dict[str, Any]:
    """Return a record of an attempt as data; empty if there is none."""
    try:
        data = json.loads(read_bytes(path, LARGEST))
    except (SantiagoError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
