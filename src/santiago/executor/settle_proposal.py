"""What is recorded of a detailed plan: it waits for a person's word, goes back to the agent, or the agent could not be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_story, spent
from santiago.contract.outcomes import Usage
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import MEANINGS, SHARED, Reason

if TYPE_CHECKING:
    from santiago.contract.events import Context
    from santiago.contract.outcomes import ProposalOutcome
    from santiago.contract.state import StoryState

MOST_FINDINGS, MAX_WORDS = 20, 500


def proposal(story: StoryState, outcome: ProposalOutcome) -> list[Fact]:
    """Return the facts to record for a proposal; none if the log already has its end."""
    if story.proposals != outcome.number or story.phase is not StoryPhase.READY or not story.proposing:
        return []
    if outcome.stopped:
        usage = outcome.ending.usage if outcome.ending else Usage()
        return [unfinished(story, usage, outcome.agent_ms)]
    reason = outcome.ending.reason if outcome.ending else None
    if reason in SHARED:
        return _not_asked(story, outcome)
    if outcome.findings and not story.sent_back:
        return [_ended(story, outcome, EventKind.PROPOSAL_ENDED, None)]
    return [_ended(story, outcome, EventKind.STORY_PROPOSED, StoryPhase.PROPOSED)]


def unfinished(story: StoryState, usage: Usage, agent_ms: int) -> Fact:
    """Return the end of a proposal that was interrupted. Its usage counts; it is unknown if the agent did not report it."""
    return of_story(
        story, EventKind.PROPOSAL_ENDED, None, "voided",
        attempt=0, step=f"propose/{story.id}/{story.proposals}", revision=story.proposals, agent_ms=agent_ms,
        reason=Reason.INTERRUPTED, known=spent(usage),
    )  # fmt: skip


def _not_asked(story: StoryState, outcome: ProposalOutcome) -> list[Fact]:
    """The agent's service refused, or nobody is signed in. This would happen to every story, so it concerns the run."""
    assert outcome.ending is not None
    assert outcome.ending.reason is not None
    reason, words = outcome.ending.reason, outcome.ending.message.strip()[-MAX_WORDS:]
    known = spent(outcome.ending.usage)
    if outcome.ending.wait_seconds is not None:
        known["ms"] = outcome.ending.wait_seconds * 1000
    ended = of_story(
        story, EventKind.PROPOSAL_ENDED, None, "voided",
        attempt=0, step=outcome.step, revision=outcome.number, agent_ms=outcome.agent_ms, reason=reason, message=words,
        known=known,
    )  # fmt: skip
    if MEANINGS[reason].ends_in != "blocked":
        return [ended]
    hint = outcome.ending.remedy[:MAX_WORDS]
    rests = EventKind.STORY_BLOCKED
    return [
        ended,
        of_story(story, rests, StoryPhase.BLOCKED, "blocked", attempt=0, reason=reason, message=words, hint=hint),
    ]


def _ended(story: StoryState, outcome: ProposalOutcome, event: EventKind, phase: StoryPhase | None) -> Fact:
    known: Context = spent(outcome.ending.usage) if outcome.ending else {"tokens": 0, "cost_micro_usd": 0}
    findings = [one[:MAX_WORDS] for one in outcome.findings[:MOST_FINDINGS]]
    return of_story(
        story, event, phase, "ok" if phase else "failed",
        attempt=0, step=outcome.step, revision=outcome.number, digest=outcome.digest, files=outcome.files,
        substeps=list(outcome.substeps), digests=list(outcome.commands), findings=findings, lacks=outcome.lacks,
        agent_ms=outcome.agent_ms, verify_ms=outcome.verify_ms, known=known,
    )  # fmt: skip
