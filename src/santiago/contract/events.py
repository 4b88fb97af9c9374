"""Events: the closed list of what can be recorded. The log of them is the truth; everything else is computed from it."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Literal

from typing_extensions import TypedDict  # the codec's library wants this one below Python 3.12

from santiago.contract.ids import RUN_ID, STORY_ID
from santiago.contract.phases import RunPhase, SessionPhase, StoryPhase
from santiago.contract.record import AtLeast, Matching, record

UTC = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z"


class EventKind(StrEnum):
    # The run
    RUN_CREATED = "run_created"
    """First line: plan and input are frozen, with their digests."""
    RUN_STARTED = "run_started"
    """A coordinator began to work on the run; once per start."""
    PLANNING_STARTED = "planning_started"
    """Of a run that was planned in its own log. No longer written, like the next two; they are still read in older logs."""
    PLAN_PROPOSED = "plan_proposed"
    PLAN_APPROVED = "plan_approved"
    RUN_EXECUTING = "run_executing"
    """Enters `executing`: at the first start, after a pause, or when a person reopened the run."""
    BASE_EXAMINED = "base_examined"
    """Every check ran once before any agent was started."""
    RUN_PAUSED = "run_paused"
    """Stopped at a safe boundary, or waiting."""
    RUN_VERIFYING = "run_verifying"
    RUN_ENDED = "run_ended"
    """Enters success, failed or blocked."""
    CHUNK_STARTED = "chunk_started"
    CHUNK_ENDED = "chunk_ended"
    COMMANDS_APPROVED = "commands_approved"
    """Commands that came from a document may run; by digest."""
    TICKS_TRUSTED = "ticks_trusted"
    """Whether a person takes the document's word for ticked boxes that no check of their own shows; by its status."""
    UNITS_CONFIRMED = "units_confirmed"
    """A person agreed to the list of units that a proposal was made from."""
    BUDGET_RAISED = "budget_raised"
    TIME_USED = "time_used"
    """Execution time since the last such event."""
    USAGE_REPORTED = "usage_reported"
    """A worker that had been given up as lost said what its attempt used. This replaces what was assumed."""
    TICKS_WRITTEN = "ticks_written"
    """The finished stories were ticked in the plan's document, by a commit on the run's branch; or the reason why not."""
    WAIT_STARTED = "wait_started"
    """No attempt begins until a time: the agent's service refuses requests, or is overloaded."""
    WAIT_ENDED = "wait_ended"
    """A wait is over, or somebody ended it. The time that it took does not count as execution."""
    STOP_REQUESTED = "stop_requested"
    PAUSES_SET = "pauses_set"
    """A person said whether the run rests after each chunk, until the end of this start."""
    LOG_REPAIRED = "log_repaired"
    """A torn last line was set aside."""
    CLOCK_GAP = "clock_gap"
    """The machine slept; that time does not count. No longer written; it is still read in older logs."""
    NOTE = "note"
    # A story
    PROPOSAL_STARTED = "proposal_started"
    """An agent is asked for a story's detailed plan; counted, however it ends."""
    PROPOSAL_ENDED = "proposal_ended"
    """There is no detailed plan to show: santiago sent it back to the agent, or the agent could not be asked."""
    STORY_PROPOSED = "story_proposed"
    """A detailed plan waits for a person's word."""
    ATTEMPT_STARTED = "attempt_started"
    ATTEMPT_ENDED = "attempt_ended"
    ATTEMPT_VOIDED = "attempt_voided"
    """The attempt does not count: a conflict at integration, or a limit outside the agent's power."""
    INTEGRATION_FAILED = "integration_failed"
    """Verified work did not fit the branch for the second time; now it counts."""
    STORY_KEPT = "story_kept"
    """An earlier run finished this story, and the base holds its work. Its checks will tell whether it still passes."""
    CLAIM_JUDGED = "claim_judged"
    """A story that the document claims done, or whose work is already in the base, was checked on the base."""
    STORY_ACCEPTED = "story_accepted"
    """A person takes the work of the latest attempt as it is, whatever the verdict said."""
    STORY_UNPROVEN = "story_unproven"
    """The story's work passes its checks, and no test shows it. It goes on all the same, and a person is asked."""
    STORY_VERIFIED = "story_verified"
    AHEAD_VERIFIED = "ahead_verified"
    """Verified work was verified once more, on the state that is expected at its turn. Nothing is decided by it before that turn."""
    STORY_INTEGRATED = "story_integrated"
    """Unproven work is on the branch. Its story is done only when a person says so, or a later attempt shows it."""
    STORY_DONE = "story_done"
    STORY_FAILED = "story_failed"
    STORY_BLOCKED = "story_blocked"
    STORY_REOPENED = "story_reopened"
    """The story is ready again: it was unblocked, or got more budget."""
    STORY_SKIPPED = "story_skipped"
    STORY_SPLIT = "story_split"
    """An approved detailed plan became substeps."""
    # People
    QUESTION_ASKED = "question_asked"
    QUESTION_ANSWERED = "question_answered"
    QUESTION_EXPIRED = "question_expired"
    """Nobody answered in time. That is not an approval."""
    CHANGE_REQUESTED = "change_requested"
    HINT_ADDED = "hint_added"
    # A planning session, in a log of its own
    SESSION_CREATED = "session_created"
    """First line: what is to be planned, by whom, within which limits."""
    TURN_STARTED = "turn_started"
    """Agents are asked for a plan, with what a person said about the last revision; counted, however it ends."""
    DRAFT_STARTED = "draft_started"
    """One agent is asked: for a draft of its own, or to merge those of all."""
    DRAFT_ENDED = "draft_ended"
    TURN_ENDED = "turn_ended"
    """The turn brought a new revision, or the reason why it did not."""
    DRAFTERS_CHOSEN = "drafters_chosen"
    """A person has other agents plan from here on."""
    SESSION_REOPENED = "session_reopened"
    """A cancelled session is taken up again, on its last revision."""
    SESSION_CANCELLED = "session_cancelled"
    SESSION_FINALIZED = "session_finalized"
    """The approved revision has its run, or is written where it was asked for."""


EventStatus = Literal["ok", "failed", "blocked", "voided", "stopped"]


class Context(TypedDict, total=False):
    """The detail of an event: one closed list of keys, each with one meaning; absent keys are not written."""

    __pydantic_config__ = {"extra": "forbid", "strict": True}  # type: ignore[misc]  # noqa: RUF012  # for the codec

    plan_digest: str
    input_digest: str
    settings_digest: str
    """Digest of `settings.json`, where the run has one."""
    version: str
    """Version of the santiago that wrote the event."""
    log: int
    """Version of the log's format; on its first line."""
    epoch: int
    """Number of the coordinator's start."""
    pid: int
    host: str
    sandbox: str
    engine: str
    """Where workers get their orders: the engine's address without its password. Absent where there are none."""
    engine_options: str
    """The options that named engine and git remote, as they are typed. Absent where variables or settings named them."""
    jobs: int
    branch: str
    base: str
    """Commit that the work began from."""
    onto: list[str]
    """Verified commits, not yet on the branch, that were applied to `base` before the work began."""
    commit: str
    ref: str
    head: str
    """Commit of the run's branch after the event."""
    step: str
    reason: str
    message: str
    hint: str
    proof: str
    verdict: str
    """`pass` or `fail`."""
    digest: str
    """Digest of the evidence file that the event rests on."""
    digests: list[str]
    key: str
    """Digest of all that a verdict rests on: it holds where this is the same."""
    files: str
    """Digest of the attempt's files.json, which lists all files of the attempt with their digests."""
    agent: str
    worker: str
    """The worker of another machine that carried the attempt out."""
    agent_ms: int
    verify_ms: int
    ms: int
    tokens: int
    cost_micro_usd: int
    limit: str
    """Name of the limit that was raised or reached."""
    amount: int
    until: str
    """UTC time until which the run waits."""
    tests: list[str]
    """Tests, or whole checks, that the event is about; the first ones of many."""
    criteria: list[list[str]]
    """For each criterion: its id, the test that shows it, the test's result without the work, and its result with the work."""
    flaky: list[str]
    """Tests of the base that failed on the work and passed when they ran once more."""
    lacks: str
    """What work that passes its checks lacks: `test`, where no test shows it. What keeps a detailed plan from approval: `check`
    where a substep has none, `part` where a part that the document gives the step is left out."""
    excuse: str
    """Why no agent is asked for the test that is missing."""
    tests_commit: str
    """Commit that holds only the tests which an attempt wrote, and none of its other work."""
    kind: str
    """What a question is about."""
    question: str
    options: list[str]
    answer: str
    text: str
    revision: int
    round: int
    """How often the same thing was asked."""
    scope: str
    """How far an approval reaches beyond what was asked: `chunk` or `run`."""
    findings: list[str]
    """What is wrong with a detailed plan."""
    mode: str
    via: str
    """How a person's word came: `terminal`, `screen` or `page`. Absent where a program left the letter."""
    substeps: list[str]
    drafters: list[list[str]]
    """The agents that plan from here on: the label of each, and its settings as JSON."""
    agents: list[str]
    """The agents that take part in a planning turn, in order. The first one that is able to merges the drafts."""
    session: str
    """The planning session that a run was made from."""
    feedback: list[list[str]]
    """What people said while it was planned: revision, mode, words, actor, time."""
    run: str
    """Another run: that of a planning session, the one that a run goes on from, or the one that finished a story before."""
    path: str
    offset: int
    length: int
    lines: int
    settings: list[list[str]]
    """Settings that would help: each with its name, and then all its values."""


@record
class Event:
    """One recorded fact, without the framing of the log."""

    seq: int
    timestamp: str
    """UTC time, for people. The order of events is given by `seq`."""
    run_id: str
    event: EventKind
    story_id: str | None = None
    chunk: str | None = None
    phase: StoryPhase | RunPhase | SessionPhase | None = None
    """The phase that this event enters; null where it enters none."""
    attempt: int | None = None
    status: EventStatus | None = None
    actor: str = "santiago"
    context: Context = field(default_factory=Context)


@record
class Fact:
    """Something to record: an event that has no number and no time yet."""

    event: EventKind
    story: str | None = None
    chunk: str | None = None
    phase: StoryPhase | RunPhase | SessionPhase | None = None
    attempt: int | None = None
    status: EventStatus | None = None
    actor: str = "santiago"
    context: Context = field(default_factory=Context)


@record
class LogLine:
    """One line of `progress.ndjson`: an event and its place in the chain."""

    seq: Annotated[int, AtLeast(1)]
    timestamp: Annotated[str, Matching(UTC)]
    run_id: Annotated[str, Matching(RUN_ID)]
    story_id: Annotated[str, Matching(STORY_ID)] | None
    chunk: str | None
    event: EventKind
    phase: StoryPhase | RunPhase | SessionPhase | None
    attempt: Annotated[int, AtLeast(1)] | None
    status: EventStatus | None
    actor: str
    context: Context
    prev: Annotated[str, Matching("[0-9a-f]{32}")]
    """Hash of the line before."""
    h: Annotated[str, Matching("[0-9a-f]{32}")]
    """Hash over `prev` and the bytes of this line before it."""
