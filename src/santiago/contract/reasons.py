"""Every way of not finishing, in one table: where it ends, whether trying again can help, which exit code, what to say."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Literal

from santiago.contract.record import record


class ExitCode(IntEnum):
    OK = 0
    USAGE = 2
    """Usage or configuration error."""
    WOULD_CHANGE = 3
    """`plan --check`: the plan would change."""
    BLOCKED = 10
    """A person or another system must act."""
    TRANSIENT = 20
    """Safe to run again as it is."""
    FAILED = 30
    """The same input will fail again."""
    BUG = 70
    INTERRUPTED = 130
    TERMINATED = 143


class Reason(StrEnum):
    PLAN_GENERATION_FAILED = "plan_generation_failed"
    AGENT_EXIT_NONZERO = "agent_exit_nonzero"
    AGENT_TIMEOUT = "agent_timeout"
    STORY_VERIFICATION_FAILED = "story_verification_failed"
    RUN_VERIFICATION_FAILED = "run_verification_failed"
    ATTEMPT_BUDGET_EXHAUSTED = "attempt_budget_exhausted"
    RUN_TIMEOUT = "run_timeout"
    BLOCKED_DEPENDENCY = "blocked_dependency"
    INVALID_INPUT = "invalid_input"
    NOTHING_VERIFIED = "nothing_verified"
    VERIFICATION_TAMPERED = "verification_tampered"
    CHANGED_EXPECTATION = "changed_expectation"
    DOUBTED = "doubted"
    UNPROVEN = "unproven"
    UNTRUSTED_PROJECT = "untrusted_project"
    SECRET_IN_WORK = "secret_in_work"  # noqa: S105  # a name
    VERIFICATION_TIMEOUT = "verification_timeout"
    VERIFICATION_UNRUNNABLE = "verification_unrunnable"
    COST_BUDGET_EXHAUSTED = "cost_budget_exhausted"
    USAGE_UNKNOWN = "usage_unknown"
    AGENT_UNAVAILABLE = "agent_unavailable"
    AGENT_RATE_LIMITED = "agent_rate_limited"
    AGENT_NOT_SIGNED_IN = "agent_not_signed_in"
    AGENT_MODEL_NOT_FOUND = "agent_model_not_found"
    AGENT_CONTEXT_TOO_LONG = "agent_context_too_long"
    AGENT_REFUSED = "agent_refused"
    AGENT_DENIED = "agent_denied"
    AGENT_KILLED = "agent_killed"
    AGENT_NO_CHANGE = "agent_no_change"
    AGENT_ASKED = "agent_asked"
    OUTPUT_LIMIT = "output_limit"
    DISK_LIMIT = "disk_limit"
    WORKSPACE_CONFLICT = "workspace_conflict"
    NO_PROGRESS = "no_progress"
    MAX_CYCLES = "max_cycles"
    TEST_CONTRACT_BROKEN = "test_contract_broken"
    EXHAUSTION_ACCUMULATED = "exhaustion_accumulated"
    NEEDS_USER_CONFIRMATION = "needs_user_confirmation"
    NEEDS_ROUTING = "needs_routing"
    INTERRUPTED = "interrupted"
    ARTIFACT_CORRUPT = "artifact_corrupt"
    IO_ERROR = "io_error"
    LOCK_HELD = "lock_held"
    WORKER_LOST = "worker_lost"
    DECLINED = "declined"
    NO_WORKERS = "no_workers"


ErrorClass = Literal["none", "soft_fail", "hard_fail", "dependency_blocked"]


@record
class Meaning:
    """What a reason implies, wherever it turns up."""

    ends_in: Literal["failed", "blocked", "paused"]
    """Phase in which a story or run comes to rest when this reason has the last word."""
    retryable: bool
    """Whether another attempt may follow by itself."""
    error_class: ErrorClass
    """The queue protocol's class of error."""
    exit_code: ExitCode
    sentence: str
    hint: str
    spends: bool = True
    """Whether an attempt that ended like this stays counted."""


_OK, _SOFT, _HARD, _DEP = "none", "soft_fail", "hard_fail", "dependency_blocked"


def _m(
    ends_in: Literal["failed", "blocked", "paused"], error_class: str, exit_code: ExitCode, sentence: str, hint: str,
    *, retryable: bool = False, spends: bool = True,
) -> Meaning:  # fmt: skip
    return Meaning(
        ends_in=ends_in,
        retryable=retryable,
        error_class=error_class,  # type: ignore[arg-type]  # one of the four names above
        exit_code=exit_code,
        sentence=sentence,
        hint=hint,
        spends=spends,
    )


MEANINGS: dict[Reason, Meaning] = {
    Reason.PLAN_GENERATION_FAILED: _m("failed", _HARD, ExitCode.FAILED, "No plan could be made from the document.", "Fix the findings that `santiago plan` lists, then plan again."),
    Reason.AGENT_EXIT_NONZERO: _m("failed", _SOFT, ExitCode.FAILED, "The agent ended with an error.", "Read the agent's log of that attempt: `santiago show STORY`.", retryable=True),
    Reason.AGENT_TIMEOUT: _m("failed", _SOFT, ExitCode.FAILED, "The agent used up its minutes: those of one attempt, or what the story or the run had left.", "Make the story smaller, or raise `attempt_timeout_minutes`; `santiago resume --add-minutes N` grants story and run more.", retryable=True),
    Reason.STORY_VERIFICATION_FAILED: _m("failed", _SOFT, ExitCode.FAILED, "A check of the story failed on the agent's work.", "Read the critique: `santiago show STORY`.", retryable=True),
    Reason.RUN_VERIFICATION_FAILED: _m("failed", _HARD, ExitCode.FAILED, "All stories are done, but a check of the whole run failed.", "Repair the run's branch and `santiago resume`; the run's checks are repeated on its head."),
    Reason.ATTEMPT_BUDGET_EXHAUSTED: _m("failed", _HARD, ExitCode.FAILED, "The story's attempts or minutes are used up.", "`santiago resume --add-attempts N` (or --add-minutes N) grants more."),
    Reason.RUN_TIMEOUT: _m("failed", _HARD, ExitCode.FAILED, "The minutes of the whole run are used up.", "`santiago resume --add-minutes N` grants more."),
    Reason.BLOCKED_DEPENDENCY: _m("blocked", _DEP, ExitCode.BLOCKED, "Something that the story depends on is not there.", "Finish or unblock the dependency, or use --assume-external for one outside the document."),
    Reason.INVALID_INPUT: _m("failed", _HARD, ExitCode.FAILED, "The input is not valid.", "Correct what the message names."),
    Reason.NOTHING_VERIFIED: _m("failed", _SOFT, ExitCode.FAILED, "Nothing was really checked, so nothing is proven.", "Give the story a check that runs at least one test; no-ops do not count.", retryable=True),
    Reason.VERIFICATION_TAMPERED: _m("failed", _SOFT, ExitCode.FAILED, "The checks pass only because the attempt changed its own tests.", "`santiago show STORY` names them; `santiago accept STORY --why …` takes the work as it is.", retryable=True),
    Reason.CHANGED_EXPECTATION: _m("blocked", _DEP, ExitCode.BLOCKED, "The work changes what existing tests expect, or removes them; a person must agree.", "`santiago show STORY` shows the difference; `santiago answer QUESTION accept` or `refuse` decides."),
    Reason.SECRET_IN_WORK: _m("failed", _SOFT, ExitCode.FAILED, "The work holds a secret, so it does not come onto the branch.", "`santiago show STORY` says where; let the program read it from its environment instead.", retryable=True),
    Reason.DOUBTED: _m("blocked", _DEP, ExitCode.BLOCKED, "The work holds lines that could deceive its checks; a person must look at them.", "`santiago show STORY` names the lines; `santiago answer QUESTION accept` or `refuse` decides."),
    Reason.UNPROVEN: _m("blocked", _DEP, ExitCode.BLOCKED, "The work breaks nothing and is on the branch, but no test fails without it; a person must say whether it is done.", "`santiago show STORY` shows the work; `santiago accept --unproven --why …` takes all of it, `santiago answer QUESTION retry` asks for the missing test."),
    Reason.UNTRUSTED_PROJECT: _m("blocked", _DEP, ExitCode.BLOCKED, "The repository brings settings that start programs or weaken protections, and nobody has trusted them yet.", "Read the settings that the message names, then use --trust-project; on a terminal you are asked."),
    Reason.VERIFICATION_TIMEOUT: _m("failed", _SOFT, ExitCode.FAILED, "A check did not end within its time limit.", "Raise `verification.timeout_minutes`, or find out what hangs.", retryable=True),
    Reason.VERIFICATION_UNRUNNABLE: _m("blocked", _DEP, ExitCode.BLOCKED, "A check lacks something that it needs to run, or the set-up before it failed.", "Install what it needs and `santiago resume`, or start a new run with another check (--verify) or [workspace] setup."),
    Reason.COST_BUDGET_EXHAUSTED: _m("failed", _HARD, ExitCode.FAILED, "The tokens or the money of the run are used up, or do not suffice for one more attempt.", "`santiago resume --add-cost USD` (or --add-tokens N) grants more."),
    Reason.USAGE_UNKNOWN: _m("blocked", _DEP, ExitCode.BLOCKED, "A limit on tokens or money is set, and the agent does not say what it used.", '`santiago resume --add-cost USD` (or --add-tokens N) accepts what is unknown so far; unknown_usage = "allow" under [policy] always does.', spends=False),
    Reason.AGENT_UNAVAILABLE: _m("failed", _SOFT, ExitCode.TRANSIENT, "The agent could not be reached or started.", "Check that it is installed and signed in: `santiago doctor`.", retryable=True, spends=False),
    Reason.AGENT_RATE_LIMITED: _m("paused", _SOFT, ExitCode.TRANSIENT, "The agent's service refuses more requests for now.", "Wait and `santiago resume`, or go on with another agent (--agent NAME); `wait_max_minutes` bounds the waiting.", retryable=True, spends=False),
    Reason.AGENT_NOT_SIGNED_IN: _m("blocked", _DEP, ExitCode.BLOCKED, "The agent is not signed in, or its account may not be used.", "Sign in with the command that the message names, then `santiago resume`.", spends=False),
    Reason.AGENT_MODEL_NOT_FOUND: _m("blocked", _DEP, ExitCode.BLOCKED, "The agent's service does not know the model.", "`santiago resume --model NAME` goes on with another one; `agent.model_hint` sets it for new runs.", spends=False),
    Reason.AGENT_CONTEXT_TOO_LONG: _m("failed", _SOFT, ExitCode.FAILED, "The conversation grew longer than the model can read.", "Make the story smaller, or name its files so that less has to be read.", retryable=True),
    Reason.AGENT_REFUSED: _m("failed", _SOFT, ExitCode.FAILED, "The model refused the work.", "Read its words with `santiago show STORY`; reword the story, or skip it.", retryable=True),
    Reason.AGENT_DENIED: _m("blocked", _DEP, ExitCode.BLOCKED, "The agent was not allowed to use its tools, and changed nothing.", "Allow them in the agent's own settings or in its profile; `santiago show STORY` names them.", spends=False),
    Reason.AGENT_KILLED: _m("failed", _SOFT, ExitCode.FAILED, "The agent was killed by the system.", "Look for lack of memory; the story is tried again within its budget.", retryable=True),
    Reason.AGENT_NO_CHANGE: _m("failed", _SOFT, ExitCode.FAILED, "The attempt changed nothing.", "Give a hint (`santiago resume --hint STORY TEXT`), or skip the story.", retryable=True),
    Reason.AGENT_ASKED: _m("blocked", _DEP, ExitCode.BLOCKED, "The agent asked a question.", "`santiago answer QUESTION … --text …`; the answer goes into the next attempt.", spends=False),
    Reason.OUTPUT_LIMIT: _m("failed", _SOFT, ExitCode.FAILED, "A program printed more than the limit and was stopped.", "Find out what floods the output.", retryable=True),
    Reason.DISK_LIMIT: _m("failed", _SOFT, ExitCode.FAILED, "The attempt's work is larger than one attempt may leave: 1 GiB, or 100,000 files.", "`santiago show STORY` names the files; name in .gitignore what does not belong into the repository.", retryable=True),
    Reason.WORKSPACE_CONFLICT: _m("failed", _SOFT, ExitCode.FAILED, "The work does not fit onto the work of other stories.", "The story is tried again on the new state; declare a dependency or file focus if it repeats.", retryable=True, spends=False),
    Reason.NO_PROGRESS: _m("blocked", _SOFT, ExitCode.BLOCKED, "Several cycles in a row changed nothing.", "Look at the open tickets; something needs a decision."),
    Reason.MAX_CYCLES: _m("blocked", _SOFT, ExitCode.BLOCKED, "The loop reached its limit of cycles.", "Start it again to go on, or raise --max-cycles."),
    Reason.TEST_CONTRACT_BROKEN: _m("blocked", _HARD, ExitCode.BLOCKED, "The tests that the work must satisfy were broken.", "Restore the tests, or change the test contract on purpose."),
    Reason.EXHAUSTION_ACCUMULATED: _m("blocked", _HARD, ExitCode.BLOCKED, "Too many pieces of work ran out of budget.", "Triage the blocked work before going on."),
    Reason.NEEDS_USER_CONFIRMATION: _m("blocked", _DEP, ExitCode.BLOCKED, "A person must confirm something first.", "Answer the open question: `santiago status` shows it."),
    Reason.NEEDS_ROUTING: _m("blocked", _DEP, ExitCode.BLOCKED, "No planner has routed this, and in a project with a board nothing else runs.", "Hand its document to the planner: `santiago run DOC --enqueue`, or `santiago queue add --queue planner-inbox --id ID --title TITLE --source doc:DOC`; `santiago queue move` routes what is there."),
    Reason.INTERRUPTED: _m("paused", _SOFT, ExitCode.INTERRUPTED, "The run was stopped.", "`santiago resume` continues it.", retryable=True),
    Reason.ARTIFACT_CORRUPT: _m("blocked", _HARD, ExitCode.BLOCKED, "A file of the run is damaged.", "Nothing was changed; restore the file from a copy, or start a new run."),
    Reason.IO_ERROR: _m("failed", _SOFT, ExitCode.TRANSIENT, "Reading or writing failed.", "Mend what the message names, then run the same command again.", retryable=True, spends=False),
    Reason.LOCK_HELD: _m("paused", _OK, ExitCode.TRANSIENT, "Another santiago is working on this run.", "Wait for it, or stop it: `santiago stop`.", retryable=True, spends=False),
    Reason.WORKER_LOST: _m("blocked", _SOFT, ExitCode.BLOCKED, "The worker that carried out the attempt was not heard of any more.", "Look at the machine or its connection; the story goes to another worker, and rests after five losses.", retryable=True, spends=False),
    Reason.DECLINED: _m("blocked", _SOFT, ExitCode.BLOCKED, "A worker could not carry out the attempt.", "`santiago log` says why; mend it on that machine. The story goes to another worker, and rests after five refusals.", retryable=True, spends=False),
    Reason.NO_WORKERS: _m("paused", _SOFT, ExitCode.TRANSIENT, "No worker took what was ordered.", "Start one: `santiago work --engine URL --remote GIT-URL`, with --pool NAME where the story needs one; then `santiago resume`.", retryable=True, spends=False),
}  # fmt: skip

SHARED = frozenset(
    {
        Reason.AGENT_UNAVAILABLE,
        Reason.AGENT_RATE_LIMITED,
        Reason.AGENT_NOT_SIGNED_IN,
        Reason.AGENT_MODEL_NOT_FOUND,
        Reason.AGENT_DENIED,
        Reason.USAGE_UNKNOWN,
    }
)
"""Reasons that lie with the agent's program, account or service: the next attempt of any story would meet them too."""
OF_WORKERS = frozenset({Reason.WORKER_LOST, Reason.DECLINED})
"""Reasons that lie with one machine: another worker may carry the same out."""
OF_ONE_AGENT = SHARED - {Reason.USAGE_UNKNOWN}
"""Those that another agent may not meet; usage that is unknown stays unknown, whoever comes next."""
