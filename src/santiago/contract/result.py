"""The documents that others read: `result.json`, `planning/session.json`, and the queue's ticket."""

from __future__ import annotations

from typing import Literal

from santiago.contract.outcomes import Criterion, Proof
from santiago.contract.quantities import Seconds, Usd
from santiago.contract.reasons import Reason
from santiago.contract.record import record

NextAction = Literal["open_pr", "resume", "raise_budget", "answer_question", "fix_input", "inspect"]
StoryStatus = Literal["done", "failed", "blocked", "skipped", "pending"]


@record
class StoryResult:
    id: str
    status: StoryStatus
    attempts: int
    verification: Literal["passed", "failed", "pending"]
    proof: Proof | None
    reason: Reason | None
    commit: str | None
    criteria: tuple[Criterion, ...] = ()
    """The test that shows each criterion. Criteria without evidence are listed too."""
    tokens: int | None = None
    """Null where any attempt of it did not say; what the others said is in `known_tokens`."""
    cost_usd: Usd | None = None
    known_tokens: int = 0
    known_cost_usd: Usd = Usd(0)  # immutable, like any number
    unreported: int = 0
    """Attempts, counted or not, that did not say their tokens."""
    unpriced: int = 0
    """Attempts, counted or not, that did not say their cost."""


@record
class Summary:
    """Counts of stories: the first four add up to all of them."""

    completed: int = 0
    failed: int = 0
    blocked: int = 0
    skipped: int = 0
    """Stories that never had their turn, or that a person skipped."""
    shown: int = 0
    """Of the completed ones: a test fails without the work and passes with it. This and the next four add up to `completed`."""
    attested: int = 0
    """A person said that they are done."""
    claimed: int = 0
    """The document says that they are done, or they were there before any work."""
    prose: int = 0
    """No test shows them, and none is asked for: by the plan they are about texts for people alone."""
    not_proven: int = 0
    """No test shows them, and the policy takes them so."""
    unproven: int = 0
    """Of the blocked ones: their work is on the branch, no test shows it, and a person has not said yet that they are done."""
    criteria: int = 0
    """The acceptance criteria of all stories but skipped ones."""
    criteria_shown: int = 0
    """Of these, the ones with a named test that did not pass without the work and passes with it."""


@record
class TotalUsage:
    attempts: int = 0
    seconds: Seconds = Seconds(0)  # immutable, like any number
    tokens: int | None = None
    """Null where any attempt did not say; what the others said is in `known_tokens`."""
    cost_usd: Usd | None = None
    known_tokens: int = 0
    known_cost_usd: Usd = Usd(0)
    unreported: int = 0
    """Attempts, counted or not, that did not say their tokens."""
    unpriced: int = 0
    """Attempts, counted or not, that did not say their cost."""


@record
class LogHead:
    """The end of the log's hash chain, kept outside the log."""

    seq: int
    hash: str


@record
class Result:
    contract_version: Literal[1]
    run_id: str | None
    status: Literal["success", "failed", "blocked"]
    reason: Reason | None
    message: str
    """One sentence for people."""
    next_action: NextAction
    stories: tuple[StoryResult, ...]
    summary: Summary
    usage: TotalUsage
    branch: str | None
    head: LogHead | None


@record
class Feedback:
    revision: int
    mode: Literal["multi", "single"]
    text: str
    actor: str = ""
    """Who said it."""
    at: str = ""
    """When, in UTC."""


@record
class ChunkRecord:
    chunk: str
    started_at: str | None
    ended_at: str | None
    status: Literal["pending", "running", "completed", "failed", "blocked", "stopped"]
    """`stopped`: the run rests, and the next start goes on with it."""
    retries: int


@record
class ResumePoint:
    seq: int
    """Number of the last event that changed anything."""
    chunk: str | None
    """The attempt of the story, where there is one."""
    story: str | None
    timestamp: str | None = None
    """Of that event, in UTC."""


@record
class Session:
    """Where planning and chunked execution stand; a projection of the log."""

    contract_version: Literal[1]
    plan_revision: int
    planning_iteration_count: int
    planning_feedback_history: tuple[Feedback, ...]
    last_planning_mode: Literal["multi", "single"] | None
    execution_mode: Literal["chunked_by_planner_v1"]
    current_chunk: str | None
    completed_chunks: tuple[str, ...]
    chunk_history: tuple[ChunkRecord, ...]
    resumable_state: ResumePoint | None
    status: Literal["planning", "ready", "cancelled", "executing", "resumable", "completed", "failed"]
