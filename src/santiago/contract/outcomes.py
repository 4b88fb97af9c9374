"""What carrying out a step yields: results of checks, a verdict with its strength, the end of an attempt, usage."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from santiago.contract.quantities import Seconds, Usd
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.contract.steps import Ahead, Attempt, Propose


class CheckVerdict(StrEnum):
    PASS = "pass"  # noqa: S105  # a verdict, not a password
    FAIL = "fail"
    NOT_RUN = "not_run"
    """An earlier command failed, or nothing could be run."""
    INHERITED = "inherited"
    """Failed on the base in the same way, so it is not this story's fault."""


class Proof(StrEnum):
    """How strong a verdict is, strongest first."""

    PROVED = "proved"
    """Tests that already existed failed before the work and pass now."""
    OWN_TESTS = "own_tests"
    """The attempt's own new tests fail without its work and pass with it."""
    ATTESTED = "attested"
    """A person said so."""
    REGRESSION = "regression"
    """Nothing broke, and nothing new is shown."""
    CLAIMED = "claimed"
    """The document says that it is done, or it was there before any work; its checks pass."""


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
    """What else is known of a failure: it could not start, was stopped, printed too much, or its summary contradicts its exit code."""
    reused: bool = False
    """Remembered from an earlier run of the same command on the same tree."""
    new_errors: tuple[str, ...] = ()
    """Lines that say what is wrong and that the base does not have, if the command failed there too."""


@record
class DoubtfulLine:
    """A line of the work that could deceive its checks, and that no test can show to be harmless."""

    path: str
    line: int
    rule: str
    sentence: str
    text: str


@record
class Criterion:
    """What shows that a criterion is met: a test, and what it did without the work and with it."""

    id: str
    test: str = ""
    """The id of a test, or a command; empty where the agent named none."""
    before: Literal["", "passed", "failed", "skipped", "missing"] = ""
    after: Literal["", "passed", "failed", "skipped", "missing"] = ""

    @property
    def is_shown(self) -> bool:
        """Whether the test shows anything: it passes with the work, and failed or was not there without it."""
        return self.after == "passed" and self.before in ("failed", "missing")


@record
class Verdict:
    """What santiago itself found out about one tree."""

    passed: bool
    proof: Proof | None
    reason: Reason | None
    """Why it did not pass."""
    results: tuple[CheckResult, ...]
    as_before: tuple[str, ...] = ()
    """Failures of its checks that the base has too: tests by their names, or whole checks."""
    message: str = ""
    """What was seen, in words, where the results alone do not say it."""
    broken: tuple[str, ...] = ()
    """Tests of the base that pass without the work and fail with it."""
    eased: tuple[str, ...] = ()
    """Tests that failed before and pass only because the work changed or removed them."""
    changed: tuple[str, ...] = ()
    """Tests of the base whose text the work changed, and that fail on the work as they stood before."""
    vanished: tuple[str, ...] = ()
    """Tests of the base that no longer run with the work, or are skipped anew, whether they passed or failed there."""
    difference: str = ""
    """What the work did to the tests in question, as a patch for people."""
    doubts: tuple[DoubtfulLine, ...] = ()
    judge_files: tuple[str, ...] = ()
    """Tests, and what steers them, that the work changed."""
    beside: tuple[str, ...] = ()
    """CI files and settings of other tools that the work changed and no check of this story runs."""
    criteria: tuple[Criterion, ...] = ()
    lacks_test: bool = False
    """The work passes its checks, and no test shows what it does."""
    excuse: str = ""
    """Why no agent is asked for the test that is missing: the kind of change, or what the agent says of it."""
    awaiting: tuple[str, ...] = ()
    """Tests that were written before the work, and fail for want of it."""
    flaky: tuple[str, ...] = ()
    """Tests of the base, unchanged, that failed on the work and passed when they ran once more."""

    @property
    def refused(self) -> bool:
        """Whether the work passes its own checks but is still refused."""
        return bool(self.broken or self.eased) or self.reason is Reason.NOTHING_VERIFIED


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
    evidence: tuple[tuple[str, str], ...] = ()
    """Criterion → the test that, the agent says, shows it. Santiago runs that test before it believes this."""
    left: tuple[str, ...] = ()
    """Files that it changed or removed in its private copy of its settings. The user's own settings are untouched."""
    detail: str | None = None
    """What it wrote as the detailed plan of its story; None where it wrote none."""


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
    """Digest of the verification.json that the verdict rests on."""
    files: str | None = None
    """Digest of the list of all files of the attempt with their digests."""
    message: str = ""
    """What went wrong, where no agent or check says it."""
    left_out: tuple[str, ...] = ()
    """Files of the agent that git could not keep, in git's words."""
    tests: str | None = None
    """The commit with only the tests that it wrote, where these will judge the story."""
    notes: tuple[str, ...] = ()
    """What else went wrong and was repaired."""
    worker: str = ""
    """The worker of another machine that carried it out. Only the coordinator says so."""


@record
class ProposalOutcome:
    """A story's detailed plan, or why there is none."""

    step: str
    story: str
    number: int
    ending: AgentEnding | None
    digest: str = ""
    """Digest of its file; empty where the agent wrote nothing readable."""
    substeps: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """Digests of the commands that a person approves together with this plan."""
    findings: tuple[str, ...] = ()
    lacks: str = ""
    """What keeps it from plain approval; see `DetailState.lacks`."""
    files: str = ""
    """Digest of the list of its files."""
    agent_ms: int = 0
    verify_ms: int = 0
    stopped: bool = False
    message: str = ""
    """Why no agent could be asked."""


@record
class ClaimOutcome:
    """What the checks say of work that the document claims done."""

    step: str
    story: str
    commit: str
    verdict: Verdict
    own_check: bool = True
    """A check of the story's own shows it, and not only the checks of all stories."""
    verify_ms: int = 0
    digest: str | None = None


@record
class IntegrationOutcome:
    """The result of putting a verified attempt onto the run's branch."""

    step: str
    story: str
    head: str | None
    """The branch's new head; None where it did not work out."""
    commit: str | None = None
    reason: Reason | None = None
    message: str = ""
    verify_ms: int = 0
    digest: str | None = None
    """Digest of the second verification's record, where one was needed."""
    ahead: str = ""
    """The step that gave this verdict ahead."""
    files: str | None = None
    """Digest of the list of the attempt's files, where one of them was written anew."""


@record
class AheadOutcome:
    """The verdict on a story's work on the state that is expected at its turn."""

    story: str
    attempt: int
    ahead: Ahead
    verify_ms: int = 0
    message: str = ""
    """What is wrong, if it did not pass."""
    stopped: bool = False


@record
class TicksWritten:
    """The result of ticking the finished stories in the plan's document."""

    step: str
    head: str | None
    """The branch's new head; None where nothing was written."""
    message: str
    """What was written, or why nothing was."""
    refused: bool = False


@record
class RunVerdict:
    """What the run's own checks say of the final head."""

    step: str
    verdict: Verdict
    verify_ms: int = 0
    digest: str | None = None
    stopped: bool = False


@record
class BaseExamined:
    """What the checks show before any agent is started."""

    step: str
    reason: Reason | None = None
    """Why nothing may begin: a check cannot run here, or none can see the work."""
    message: str = ""
    hint: str = ""
    red: tuple[str, ...] = ()
    """Tests, or whole checks, that fail already."""
    notes: tuple[str, ...] = ()
    settings: tuple[tuple[str, ...], ...] = ()
    """Settings that would help: each with its name, and then all its values."""
    verify_ms: int = 0
    digest: str | None = None
    stopped: bool = False


NOTHING_USED = Usage(tokens=0, cost_usd=Usd(0))


def without_work(
    step: Attempt | Propose, reason: Reason, usage: Usage = NOTHING_USED, message: str = ""
) -> AttemptOutcome | ProposalOutcome:
    """Return the outcome of an agent's step that no worker carried out to its end: it was lost, declined, or claimed by nobody.

    `usage` of a lost one is what the worker last said of it.
    """
    ending = AgentEnding(reason=reason, exit_code=None, message=message, usage=usage)
    if isinstance(step, Propose):
        stopped = reason is Reason.INTERRUPTED
        return ProposalOutcome(step=step.id, story=step.story, number=step.number, ending=ending, stopped=stopped)
    return AttemptOutcome(
        step=step.id, story=step.story, number=step.number, status="voided", reason=reason, commit=None, verdict=None,
        ending=ending, message=message,
    )  # fmt: skip


Outcome = (
    ProposalOutcome
    | AttemptOutcome
    | ClaimOutcome
    | IntegrationOutcome
    | AheadOutcome
    | TicksWritten
    | RunVerdict
    | BaseExamined
)
