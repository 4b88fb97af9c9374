"""Files that only show what plan and log say: chunk plan, full plan, session, table of verdicts. They are never read back."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

from santiago.contract import codec
from santiago.contract.events import Event, EventKind
from santiago.contract.phases import RunPhase
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.record import lean
from santiago.contract.result import ChunkRecord, Feedback, ResumePoint, Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.events import Context
    from santiago.contract.plan import Plan
    from santiago.contract.state import RunState

CHUNK_PLAN = "tasks/plan.json"
FULL_PLAN = "planning_docs/full_plan.json"
BESIDE = f"tasks/{FULL_PLAN}"
"""A second copy of the full plan, beside the chunk's, so that an agent sees both in one folder and nothing else of the run."""
SESSION = "planning/session.json"
VERDICTS = "evidence/verification-results.tsv"
PROJECTIONS = (CHUNK_PLAN, FULL_PLAN, BESIDE, SESSION, VERDICTS)

_COLUMNS = ("story_id", "attempt", "proof", "verdict", "seconds", "commit", "evidence", "digest", "timestamp")
ChunkStatus = Literal["pending", "running", "completed", "failed", "blocked", "stopped"]


@lean()
class _Times:
    started: str | None = None
    ended: str | None = None
    status: ChunkStatus = "pending"


@lean()
class History:
    """What the projections need besides the state: times of chunks, feedback of the planning review, all verdicts."""

    chunks: dict[str, _Times] = field(default_factory=dict)
    verdicts: list[str] = field(default_factory=list)
    """A line of the table for each."""
    feedback: list[Feedback] = field(default_factory=list)
    revision: int = 0
    rounds: int = 0
    mode: Literal["multi", "single"] | None = None
    last: tuple[int, str | None] = (0, None)
    """Number and time of the last event that changes anything."""
    turns: int = 0
    """How many events changed the times of a chunk, or its retries."""

    def take(self, event: Event) -> None:
        """Take in the next event of the log."""
        context = event.context
        if event.event is not EventKind.NOTE:
            self.last = event.seq, event.timestamp
        again = (event.attempt or 0) > 1 and (event.event is EventKind.ATTEMPT_STARTED or event.status == "voided")
        self.turns += again or event.event in _TURNS
        match event.event:
            case EventKind.CHUNK_STARTED if event.chunk is not None:
                times = self.chunks.setdefault(event.chunk, _Times())
                times.started, times.ended, times.status = times.started or event.timestamp, None, "running"
            case EventKind.CHUNK_ENDED if event.chunk is not None:
                times = self.chunks.setdefault(event.chunk, _Times())
                times.ended, times.status = event.timestamp, _ended(event)
            case EventKind.RUN_ENDED | EventKind.RUN_PAUSED:
                self._rest(event)
            case EventKind.RUN_EXECUTING:
                self._go_on()
            case EventKind.ATTEMPT_ENDED | EventKind.CLAIM_JUDGED if event.story_id and "verdict" in context:
                self.verdicts.append(_line(_row(event)))
            case EventKind.RUN_CREATED if "session" in context:
                self._planned(context)
            case _:
                pass

    def _rest(self, event: Event) -> None:
        """The run ends or pauses inside a chunk, which therefore rests as well."""
        stopped = event.event is EventKind.RUN_PAUSED
        for times in self.chunks.values():
            if times.status == "running":
                times.ended, times.status = event.timestamp, "stopped" if stopped else _ended(event)

    def _go_on(self) -> None:
        for times in self.chunks.values():
            if times.status in ("failed", "blocked", "stopped"):
                times.ended, times.status = None, "running"

    def _planned(self, context: Context) -> None:
        """Take over the feedback of the planning session that the run was made from."""
        self.revision, self.rounds = context.get("revision", 0), context.get("round", 0)
        self.mode = "single" if context.get("mode") == "single" else "multi"
        self.feedback = [
            Feedback(
                revision=int(revision), mode="single" if mode == "single" else "multi", text=text, actor=actor, at=at
            )
            for revision, mode, text, actor, at in context.get("feedback", [])
        ]


_TURNS = frozenset(
    {
        EventKind.RUN_CREATED, EventKind.CHUNK_STARTED, EventKind.CHUNK_ENDED, EventKind.RUN_ENDED, EventKind.RUN_PAUSED,
        EventKind.RUN_EXECUTING,
    }
)  # fmt: skip


def _ended(event: Event) -> ChunkStatus:
    if event.status == "ok":
        return "completed"
    return "blocked" if event.status == "blocked" else "failed"


def chunk_plan(plan: Plan, active: str | None) -> dict[str, Any]:
    """Return the plan that an agent gets: only the active chunk, and its place in the whole plan."""
    stories = tuple(story for story in plan.stories if story.chunk == active)
    wanted = {name for story in stories for name in story.requirements}
    requirements = tuple(requirement for requirement in plan.requirements if requirement.id in wanted)
    chunks = tuple(chunk for chunk in plan.chunks if chunk.label == active)
    # Only what is left is made into data: a plan of ten thousand stories has hundreds of chunks.
    data: dict[str, Any] = codec.to_data(replace(plan, stories=stories, requirements=requirements, chunks=chunks))
    labels = [chunk.label for chunk in plan.chunks]
    data["execution_scope"] = {
        "chunk": active,
        "stories": [story.id for story in stories],
        "chunk_index": labels.index(active) + 1 if active in labels else 0,
        "chunk_count": len(labels),
        "full_plan": FULL_PLAN,
    }
    return data


def session(state: RunState, history: History) -> Session:
    """Return the state of planning and of chunked execution."""
    return Session(
        contract_version=CONTRACT_VERSION,
        plan_revision=max(history.revision, 1),
        planning_iteration_count=history.rounds,
        planning_feedback_history=tuple(history.feedback),
        last_planning_mode=history.mode,
        execution_mode="chunked_by_planner_v1",
        current_chunk=state.active_chunk if state.phase is not RunPhase.SUCCESS else None,
        completed_chunks=tuple(label for label, chunk in state.chunks.items() if chunk.ended),
        chunk_history=tuple(_chunk_record(state, label, times) for label, times in history.chunks.items()),
        resumable_state=_resume_point(state, *history.last),
        status=_session_status(state),
    )


def _chunk_record(state: RunState, label: str, times: _Times) -> ChunkRecord:
    retries = state.chunks[label].retries if label in state.chunks else 0
    return ChunkRecord(
        chunk=label, started_at=times.started, ended_at=times.ended, status=times.status, retries=retries
    )


def _resume_point(state: RunState, seq: int, timestamp: str | None) -> ResumePoint | None:
    """Return where the next start goes on; None if nothing is left to do."""
    if state.phase is RunPhase.SUCCESS:
        return None
    first = state.stories[state.order[state.over]] if state.over < len(state.order) else None
    chunk, name = (first.chunk, first.id) if first else (state.active_chunk, None)
    return ResumePoint(seq=seq, chunk=chunk, story=name, timestamp=timestamp)


def _session_status(
    state: RunState,
) -> Literal["ready", "executing", "resumable", "completed", "failed"]:
    match state.phase:
        case RunPhase.CREATED:
            return "ready"
        case RunPhase.EXECUTING | RunPhase.RUN_VERIFICATION:
            return "executing"
        case RunPhase.PAUSED | RunPhase.BLOCKED:
            return "resumable"
        case RunPhase.SUCCESS:
            return "completed"
        case RunPhase.FAILED:
            return "failed"


def verdicts(history: History) -> bytes:
    """Return a table of all verdicts, oldest first. A new verdict on a story adds a row and replaces none."""
    return "".join([_line(_COLUMNS), *history.verdicts]).encode("utf-8", "backslashreplace")


def _line(row: tuple[str, ...]) -> str:
    return "\t".join(row) + "\n"


def _row(event: Event) -> tuple[str, ...]:
    context, story = event.context, event.story_id or ""
    ms = (context.get("verify_ms") or 0) + (context.get("agent_ms") or 0)
    values = (
        story,
        str(event.attempt or 0),
        context.get("proof") or "",
        "PASS" if context.get("verdict") == "pass" else "FAIL",
        f"{ms / 1000:.3f}",
        context.get("commit") or "",
        f"attempts/{story}/{event.attempt or 0}/verification.json",
        context.get("digest") or "",
        event.timestamp,
    )
    return tuple(" ".join(value.split()) for value in values)


class Projector:
    """Writes the projections of a run, each only when it has changed."""

    def __init__(self, plan: Plan, get: Callable[[str], bytes | None], put: Callable[[str, bytes], None]) -> None:
        self.history = History()
        self._plan = plan
        self._get = get
        self._put = put
        self._known: dict[str, bytes | None] = {}
        self._chunk: tuple[str | None] | None = None
        self._followed: tuple[object, ...] | None = None

    def take(self, event: Event) -> None:
        """Take in the next event of the log."""
        self.history.take(event)

    def write(self, state: RunState) -> list[str]:
        """Bring the files up to date; return those that were written."""
        written = self.write_session(state)
        files = {VERDICTS: verdicts(self.history)}
        if self._chunk is None:  # the plan of a run never changes
            files[FULL_PLAN] = files[BESIDE] = codec.canonical(self._plan)
        if self._chunk != (state.active_chunk,):
            files[CHUNK_PLAN] = codec.canonical(chunk_plan(self._plan, state.active_chunk))
        written += [path for path, content in files.items() if self._write(path, content)]
        self._chunk = (state.active_chunk,)
        return written

    def write_session(self, state: RunState) -> list[str]:
        """Update only the session file. It is small, but replacing a file makes the file system write it out at once."""
        return [SESSION] if self._write(SESSION, codec.canonical(session(state, self.history))) else []

    def follow(self, state: RunState) -> None:
        """Update the session file if it would say more than that the same story has gone on."""
        told = (
            state.phase,
            state.active_chunk,
            state.over,
            self.history.turns,
        )  # whatever it says beside the event's number
        if told != self._followed:
            self._followed = told
            self.write_session(state)

    def mend(self) -> list[str]:
        """Restore the files for agents that somebody changed, and return their names."""
        shown = [(path, self._known.get(path)) for path in (CHUNK_PLAN, BESIDE)]
        changed = [(path, content) for path, content in shown if content is not None and self._get(path) != content]
        for path, content in changed:
            self._put(path, content)
        return [path for path, _ in changed]

    def _write(self, path: str, content: bytes) -> bool:
        if path not in self._known:
            self._known[path] = self._get(path)
        if self._known[path] == content:
            return False
        self._put(path, content)
        self._known[path] = content
        return True
