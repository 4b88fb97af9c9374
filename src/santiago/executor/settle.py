"""From what a step brought to what is recorded: a pure table of endings, the other half of deciding."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from santiago.contract.events import Context, EventKind, EventStatus, Fact
from santiago.contract.outcomes import (
    AttemptOutcome,
    ClaimOutcome,
    IntegrationOutcome,
    Outcome,
    RunVerdict,
)
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, SHARED, Reason
from santiago.executor import messages

if TYPE_CHECKING:
    from santiago.contract.state import RunState, StoryState


MAX_WORDS = 1000
MAX_QUESTION = 4000
"""Characters of an agent's message in the log; all of it is in the attempt's files."""


def settle(state: RunState, outcome: Outcome) -> list[Fact]:
    """Return the facts that an outcome makes; none where the log already knows an end of that step."""
    match outcome:
        case AttemptOutcome():
            story = state.stories[outcome.story]
            if story.phase is not StoryPhase.RUNNING or story.attempts != outcome.number:
                return []  # a late or second report
            return _attempt(story, outcome)
        case ClaimOutcome():
            story = state.stories[outcome.story]
            return _claim(story, outcome) if story.phase is StoryPhase.READY and not story.judged else []
        case IntegrationOutcome():
            story = state.stories[outcome.story]
            return _integration(story, outcome) if story.phase is StoryPhase.VERIFIED else []
        case RunVerdict():
            return _run_verdict(outcome) if state.phase is RunPhase.RUN_VERIFICATION else []
        case _:
            assert_never(outcome)


def dismiss(state: RunState, outcome: Outcome) -> list[Fact]:
    """Return the facts about a step whose ground has gone: an attempt does not count, however it ended."""
    if not isinstance(outcome, AttemptOutcome):
        return settle(state, outcome)
    story = state.stories[outcome.story]
    if story.phase is not StoryPhase.RUNNING or story.attempts != outcome.number:
        return []
    refused = outcome.reason if outcome.reason in SHARED else None
    context: Context = {**_context(outcome), "reason": refused or Reason.INTERRUPTED}
    return [_fact(story, EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided", context)]


def _attempt(story: StoryState, outcome: AttemptOutcome) -> list[Fact]:
    if outcome.status == "stopped" and outcome.reason is None:
        return []  # its agent ended and its work is kept; the next start gives the verdict
    context = _context(outcome)
    if outcome.status == "ok":
        context["verdict"] = "pass"
        return [
            _fact(story, EventKind.ATTEMPT_ENDED, StoryPhase.EVIDENCE_COLLECTED, "ok", context),
            _fact(story, EventKind.STORY_VERIFIED, StoryPhase.VERIFIED, "ok", {}),
        ]
    reason = outcome.reason or Reason.INTERRUPTED
    if reason is Reason.AGENT_ASKED:
        return _asked(story, outcome, context)
    if not MEANINGS[reason].spends or outcome.status == "voided":
        voided = _fact(story, EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided", context)
        return [voided, *([_blocked(story, outcome)] if MEANINGS[reason].ends_in == "blocked" else [])]
    context["verdict"] = "fail"
    ended = _fact(
        story,
        EventKind.ATTEMPT_ENDED,
        StoryPhase.READY,
        "stopped" if outcome.status == "stopped" else "failed",
        context,
    )
    if MEANINGS[reason].ends_in == "blocked":
        return [ended, _fact(story, EventKind.STORY_BLOCKED, StoryPhase.BLOCKED, "blocked", {"reason": reason})]
    return [ended]


def _asked(story: StoryState, outcome: AttemptOutcome, context: Context) -> list[Fact]:
    """The agent's question stays open; the story rests until somebody answers."""
    question = f"{story.id}-{outcome.number}"
    text = (outcome.ending.question if outcome.ending else None) or "The agent asked a question."
    text = text[:MAX_QUESTION]
    return [
        _fact(story, EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided", context),
        _fact(story, EventKind.QUESTION_ASKED, None, None, {"question": question, "text": text}),
        _fact(
            story,
            EventKind.STORY_BLOCKED,
            StoryPhase.BLOCKED,
            "blocked",
            {"reason": Reason.AGENT_ASKED, "question": question},
        ),
    ]


def _blocked(story: StoryState, outcome: AttemptOutcome) -> Fact:
    """A person must act before the agent can work: say what it said, and what to do."""
    context: Context = {"reason": outcome.reason or Reason.AGENT_UNAVAILABLE}
    if words := _words(outcome):
        context["message"] = words
    if outcome.ending is not None and outcome.ending.remedy:
        context["hint"] = outcome.ending.remedy[:MAX_WORDS]
    return _fact(story, EventKind.STORY_BLOCKED, StoryPhase.BLOCKED, "blocked", context)


def _words(outcome: AttemptOutcome) -> str:
    """Return the end of what went wrong in words, short enough for the log."""
    text = outcome.message or (outcome.ending.message if outcome.ending else "")
    return text.strip()[-MAX_WORDS:]


def _context(outcome: AttemptOutcome) -> Context:
    context: Context = {"step": outcome.step, "agent_ms": outcome.agent_ms, "verify_ms": outcome.verify_ms}
    if outcome.reason:
        context["reason"] = outcome.reason
    if outcome.commit:
        context["commit"] = outcome.commit
    if outcome.verdict and outcome.verdict.proof:
        context["proof"] = outcome.verdict.proof
    if outcome.digest:
        context["digest"] = outcome.digest
    context |= _said(outcome)
    if lost := messages.left_out(outcome.left_out):
        context["message"] = "; ".join(filter(None, (lost, context.get("message"))))
    return context


def _said(outcome: AttemptOutcome) -> Context:
    """Return what the agent's own ending adds: usage, and for a refusal its words and how long it lasts."""
    ending = outcome.ending
    if ending is None:
        return {"tokens": 0, "cost_micro_usd": 0}  # no agent was asked
    context: Context = {}
    if ending.usage.tokens is not None:
        context["tokens"] = ending.usage.tokens
    if ending.usage.cost_usd is not None:
        context["cost_micro_usd"] = int(ending.usage.cost_usd)
    if outcome.reason in SHARED:
        if ending.wait_seconds is not None:
            context["ms"] = ending.wait_seconds * 1000
        if words := _words(outcome):
            context["message"] = words
    return context


def _claim(story: StoryState, outcome: ClaimOutcome) -> list[Fact]:
    """Claimed work that passes is done without an attempt; otherwise it is an ordinary story."""
    if outcome.verdict.reason is Reason.INTERRUPTED:
        return []  # the next start looks again
    context: Context = {"step": outcome.step, "verify_ms": outcome.verify_ms}
    if outcome.digest:
        context["digest"] = outcome.digest
    if not outcome.verdict.passed:
        context["verdict"] = "fail"
        return [_fact(story, EventKind.CLAIM_JUDGED, None, "failed", context)]
    context |= {"verdict": "pass", "commit": outcome.commit, "proof": "regression"}
    return [
        _fact(story, EventKind.CLAIM_JUDGED, StoryPhase.EVIDENCE_COLLECTED, "ok", context),
        _fact(story, EventKind.STORY_VERIFIED, StoryPhase.VERIFIED, "ok", {}),
    ]


def _integration(story: StoryState, outcome: IntegrationOutcome) -> list[Fact]:
    if outcome.head is not None:
        done: Context = {"commit": outcome.commit or outcome.head, "head": outcome.head, "verify_ms": outcome.verify_ms}
        if outcome.digest:
            done["digest"] = outcome.digest
        return [_fact(story, EventKind.STORY_DONE, StoryPhase.DONE, "ok", done)]
    reason = outcome.reason or Reason.WORKSPACE_CONFLICT
    if reason is Reason.INTERRUPTED:
        return []  # it stays verified, and the next start integrates it
    context: Context = {
        "step": outcome.step,
        "reason": reason,
        "message": outcome.message[:MAX_WORDS],
        "verify_ms": outcome.verify_ms,
    }
    if MEANINGS[reason].ends_in == "blocked":
        return [_fact(story, EventKind.STORY_BLOCKED, StoryPhase.BLOCKED, "blocked", context)]
    if story.conflicts == 0:
        return [_fact(story, EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided", context)]
    return [_fact(story, EventKind.INTEGRATION_FAILED, StoryPhase.READY, "failed", context)]


def _run_verdict(outcome: RunVerdict) -> list[Fact]:
    if outcome.stopped:
        return [Fact(event=EventKind.RUN_PAUSED, phase=RunPhase.PAUSED, context={"reason": Reason.INTERRUPTED})]
    context: Context = {"verify_ms": outcome.verify_ms, "step": outcome.step}
    if outcome.digest:
        context["digest"] = outcome.digest
    if outcome.verdict.passed:
        return [Fact(event=EventKind.RUN_ENDED, phase=RunPhase.SUCCESS, status="ok", context=context)]
    reason = outcome.verdict.reason or Reason.RUN_VERIFICATION_FAILED
    if reason is Reason.VERIFICATION_UNRUNNABLE:
        context["reason"] = reason
        if outcome.verdict.message:
            context["message"] = outcome.verdict.message
        return [Fact(event=EventKind.RUN_ENDED, phase=RunPhase.BLOCKED, status="blocked", context=context)]
    context["reason"] = Reason.RUN_VERIFICATION_FAILED
    return [Fact(event=EventKind.RUN_ENDED, phase=RunPhase.FAILED, status="failed", context=context)]


def _fact(
    story: StoryState, kind: EventKind, phase: StoryPhase | None, status: EventStatus | None, context: Context
) -> Fact:
    attempt = story.attempts or None
    return Fact(
        event=kind, story=story.id, chunk=story.chunk, phase=phase, attempt=attempt, status=status, context=context
    )
