"""The result of a run, as a pure function of its plan and its log."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypedDict

from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.result import LogHead, NextAction, Result, StoryResult, TotalUsage
from santiago.contract.units import Seconds, Usd
from santiago.executor.tally import counted, criteria_of, is_finished, status_of, summary

if TYPE_CHECKING:
    from santiago.contract.plan import Plan
    from santiago.contract.state import RunState, StoryState

_STATUS: dict[RunPhase, str] = {RunPhase.SUCCESS: "success", RunPhase.FAILED: "failed", RunPhase.BLOCKED: "blocked"}


def result(plan: Plan, state: RunState, head: tuple[int, str] | None) -> Result:
    """Return the result of a run that has ended."""
    stories = tuple(_story(state.stories[story.id], state) for story in plan.stories)
    return Result(
        contract_version=CONTRACT_VERSION,
        run_id=state.run_id,
        status=_STATUS[state.phase],  # type: ignore[arg-type]  # only ended runs have a result
        reason=state.reason,
        message=sentence(plan, state),
        next_action=_next_action(state.reason),
        stories=stories,
        summary=summary(plan, state),
        usage=usage_of(state),
        branch=state.branch,
        head=LogHead(seq=head[0], hash=head[1]) if head else None,
    )  # fmt: skip


def sentence(plan: Plan, state: RunState) -> str:
    """Return the outcome for people, in a sentence or two."""
    told = f"{'Finished, ' if is_finished(state) else ''}{counted(plan, state)}"
    if state.phase is RunPhase.SUCCESS:
        return f"{told}. The run's checks passed."
    return f"{told}. {MEANINGS[state.reason].sentence}" if state.reason else f"{told}."


def _story(story: StoryState, state: RunState) -> StoryResult:
    story = _with_parts(story, state)
    return StoryResult(
        id=story.id,
        status=status_of(story),
        attempts=story.counted,
        verification=_verification(story),
        proof=story.proof if story.phase in _PASSED else None,
        reason=_reason(story, state),
        commit=story.commit,
        criteria=tuple(criteria_of(story)),
        **sums(story),
    )


def _with_parts(story: StoryState, state: RunState) -> StoryState:
    """Return a story with the usage of its substeps added, since these have no result of their own."""
    family = list(state.family(story))
    return replace(
        story,
        attempts=sum(one.attempts for one in family),
        voided=sum(one.voided for one in family),
        tokens=sum(one.tokens for one in family),
        cost_micro_usd=sum(one.cost_micro_usd for one in family),
        unreported=sum(one.unreported for one in family),
        unpriced=sum(one.unpriced for one in family),
    )


_PASSED = frozenset({StoryPhase.VERIFIED, StoryPhase.DONE})


def _verification(story: StoryState) -> Literal["passed", "failed", "pending"]:
    if story.phase in _PASSED:
        return "passed"
    return "failed" if story.counted else "pending"


def _reason(story: StoryState, state: RunState) -> Reason | None:
    """Return why a story is not done. If it never had its turn because of another story, that is the reason."""
    if story.phase is StoryPhase.DONE:
        return None
    if story.reason:
        return story.reason
    ended_badly = state.phase in (RunPhase.FAILED, RunPhase.BLOCKED)
    return (
        Reason.BLOCKED_DEPENDENCY if ended_badly and story.phase is StoryPhase.PLANNED and not story.skipped else None
    )


def _next_action(reason: Reason | None) -> NextAction:
    match reason:
        case None:
            return "open_pr"
        case Reason.ATTEMPT_BUDGET_EXHAUSTED | Reason.RUN_TIMEOUT | Reason.COST_BUDGET_EXHAUSTED | Reason.USAGE_UNKNOWN:
            return "raise_budget"
        case Reason.AGENT_ASKED | Reason.NEEDS_USER_CONFIRMATION | Reason.UNPROVEN:
            return "answer_question"
        case Reason.INVALID_INPUT | Reason.PLAN_GENERATION_FAILED | Reason.VERIFICATION_UNRUNNABLE:
            return "fix_input"
        case Reason.INTERRUPTED | Reason.IO_ERROR | Reason.AGENT_RATE_LIMITED | Reason.AGENT_UNAVAILABLE:
            return "resume"
        case _:
            return "inspect"


class Sums(TypedDict):
    tokens: int | None
    cost_usd: Usd | None
    known_tokens: int
    known_cost_usd: Usd
    unreported: int
    unpriced: int


def sums(of: RunState | StoryState) -> Sums:
    """Return what attempts used. There is a total only if every attempt reported its usage."""
    return Sums(
        tokens=None if of.unreported else of.tokens,
        cost_usd=None if of.unpriced else Usd(of.cost_micro_usd),
        known_tokens=of.tokens,
        known_cost_usd=Usd(of.cost_micro_usd),
        unreported=of.unreported,
        unpriced=of.unpriced,
    )


def usage_of(state: RunState) -> TotalUsage:
    """Return what a run has used up to now."""
    return TotalUsage(attempts=state.counted, seconds=Seconds(state.used_ms), **sums(state))
