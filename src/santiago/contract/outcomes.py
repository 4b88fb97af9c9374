"""What carrying out a step yields: results of checks, a verdict with its strength, the end of an attempt, usage."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.contract.units import Seconds, Usd


class CheckVerdict(StrEnum):
    PASS = "pass"  # noqa: S105  # a verdict, not a password
    FAIL = "fail"
    NOT_RUN = "not_run"
    """An earlier command failed, or nothing could be run."""
    INHERITED = "inherited"
    """Failed on the base in the same way, so it is not this story's fault."""


class Proof(StrEnum):
    PROVED = "proved"
    """The check failed on the base and passes now."""
    REGRESSION = "regression"
    """Green before and after: nothing broke, nothing new is shown."""


@record
class Output:
    """Captured output within its limit."""

    head: str
    tail: str
    dropped: int
    """Bytes between head and tail that were not kept."""
    total: int


@record
class CheckResult:
    command: str
    exit_code: int | None
    seconds: Seconds
    timed_out: bool
    output: Output
    checks: int | None
    """How many checks ran, where the runner is known; 0 is no evidence."""
    verdict: CheckVerdict
    cause: Literal["", "unrunnable", "stopped", "output_limit", "contradicted"] = ""
    """What else is known of a failure: it could not start, was stopped, flooded, or its own summary contradicts its exit code."""


@record
class Verdict:
    """What santiago itself found out about one tree."""

    passed: bool
    proof: Proof | None
    reason: Reason | None
    """Why it did not pass."""
    results: tuple[CheckResult, ...]
    tampered: tuple[str, ...] = ()
    """Protected files that were changed or deleted."""
    as_before: tuple[str, ...] = ()
    """Failures of its checks that the base has too: tests by their names, or whole checks."""
    message: str = ""
    """Why no check could run, or why checks that pass are not enough."""


@record
class Usage:
    """What an attempt cost; None is unknown, and unknown is not zero."""

    tokens: int | None = None
    cost_usd: Usd | None = None


@record
class AgentEnding:
    """How an agent's process ended, whatever it said about its work."""

    reason: Reason | None
    """None where it ended normally."""
    exit_code: int | None
    message: str
    """Its last words, for people; never believed."""
    usage: Usage
    question: str | None = None
    wait_seconds: int | None = None
    """How long a rate limit lasts, where it was said."""
    session: str | None = None
    denials: tuple[str, ...] = ()
    """Tools that it was not allowed to use."""
    remedy: str = ""
    """What a person can do about it, where the profile knows: the command that signs in."""
    ms: int = 0
    """How long it worked."""


StepStatus = Literal["ok", "failed", "voided", "stopped"]


@record
class AttemptOutcome:
    """The end of one attempt; `attempts/<story>/<n>/outcome.json` is this."""

    step: str
    story: str
    number: int
    status: StepStatus
    reason: Reason | None
    commit: str | None
    """Snapshot of the worktree; None where nothing was left."""
    verdict: Verdict | None
    ending: AgentEnding | None
    agent_ms: int = 0
    verify_ms: int = 0
    digest: str | None = None
    """Of the verification.json that the verdict rests on."""
    message: str = ""
    """What went wrong, where no agent or check says it."""
    left_out: tuple[str, ...] = ()
    """Files of the agent that git could not keep, in git's words."""


@record
class ClaimOutcome:
    """What the checks say of work that the document claims done."""

    step: str
    story: str
    commit: str
    verdict: Verdict
    verify_ms: int = 0
    digest: str | None = None


@record
class IntegrationOutcome:
    """What came of putting a verified attempt onto the run's branch."""

    step: str
    story: str
    head: str | None
    """The branch's new head; None where it did not work out."""
    commit: str | None = None
    reason: Reason | None = None
    message: str = ""
    verify_ms: int = 0
    digest: str | None = None
    """Of the second verification's record, where one was due."""


@record
class RunVerdict:
    """What the run's own checks say of the final head."""

    step: str
    verdict: Verdict
    verify_ms: int = 0
    digest: str | None = None
    stopped: bool = False


Outcome = AttemptOutcome | ClaimOutcome | IntegrationOutcome | RunVerdict
