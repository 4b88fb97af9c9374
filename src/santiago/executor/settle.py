"""What is recorded of a step's outcome: a pure table of endings, the counterpart of `decide`."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar, assert_never

from santiago.contract.answers import KINDS
from santiago.contract.events import Context, EventKind, EventStatus, Fact
from santiago.contract.facts import of_run, of_story, spent
from santiago.contract.outcomes import (
    AgentEnding,
    AheadOutcome,
    AttemptOutcome,
    BaseExamined,
    ClaimOutcome,
    IntegrationOutcome,
    Outcome,
    Proof,
    ProposalOutcome,
    RunVerdict,
    TicksWritten,
    Usage,
    Verdict,
)
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.quantities import Usd
from santiago.contract.reasons import MEANINGS, OF_WORKERS, SHARED, Reason
from santiago.contract.state import RunState, StoryState
from santiago.executor import critique, messages
from santiago.executor.decide import run_end

QUESTIONS = {
    Reason.CHANGED_EXPECTATION: "changed_expectation",
    Reason.DOUBTED: "doubt",
    Reason.NEEDS_USER_CONFIRMATION: "refusal",
}
"""Verdicts that need a person's word, and what kind of question each is."""
MAX_WORDS = 1000
MAX_CRITERIA = 100
MAX_EXCUSE = 200
MAX_QUESTION = 4000
"""Characters of an agent's message in the log; all of it is in the attempt's files."""
MOST_TESTS = 100
Spent = TypeVar("Spent", AttemptOutcome, ProposalOutcome)
_NO_VERDICT = Verdict(passed=False, proof=None, reason=None, results=())


def settle(state: RunState, outcome: Outcome) -> list[Fact]:
    """Return the facts to record for an outcome; none if the log already has the end of that step."""
    match outcome:
        case AttemptOutcome():
            story = state.stories[outcome.story]
            if story.phase is not StoryPhase.RUNNING or story.attempts != outcome.number:
                return []  # a late or second report
            return _attempt(story, _estimated(state, outcome))
        case ProposalOutcome():
            return proposal(state.stories[outcome.story], _estimated(state, outcome))
        case ClaimOutcome():
            story = state.stories[outcome.story]
            return _claim(state, story, outcome) if story.phase is StoryPhase.READY and not story.judged else []
        case IntegrationOutcome():
            story = state.stories[outcome.story]
            return _integration(story, outcome) if story.phase is StoryPhase.VERIFIED else []
        case AheadOutcome():
            story = state.stories[outcome.story]
            fits = story.phase is StoryPhase.VERIFIED and story.commit == outcome.ahead.onto[-1]
            return [_ahead(story, outcome)] if fits and not outcome.stopped else []
        case BaseExamined():
            return _examined(outcome) if state.phase is RunPhase.EXECUTING and not state.examined else []
        case TicksWritten():
            return _ticks(outcome) if state.phase is RunPhase.EXECUTING and not state.ticked else []
        case RunVerdict():
            return _run_verdict(state, outcome) if state.phase is RunPhase.RUN_VERIFICATION else []
        case _:
            assert_never(outcome)


def dismiss(state: RunState, outcome: Outcome) -> list[Fact]:
    """Return the facts about a step that built on voided work. Its attempt does not count, however it ended."""
    if isinstance(outcome, AheadOutcome):
        return []
    if not isinstance(outcome, AttemptOutcome):
        return settle(state, outcome)
    story = state.stories[outcome.story]
    if story.phase is not StoryPhase.RUNNING or story.attempts != outcome.number:
        return []
    refused = outcome.reason if outcome.reason in SHARED | OF_WORKERS else None
    return [_voided(story, _estimated(state, outcome), refused or Reason.INTERRUPTED)]


def _estimated(state: RunState, outcome: Spent) -> Spent:
    """Put a number to what a lost worker used: the larger of what it last said and the run's largest attempt.

    Where no attempt has shown yet how much one uses, it stays unknown.
    """
    ending = outcome.ending
    if ending is None or ending.reason is not Reason.WORKER_LOST:
        return outcome
    said, most, cost = ending.usage, state.largest_tokens, state.largest_cost
    usage = Usage(
        tokens=max(said.tokens or 0, most) if most else None,
        cost_usd=Usd(max(int(said.cost_usd or 0), cost)) if cost else None,
    )
    return replace(outcome, ending=replace(ending, usage=usage))


def late(state: RunState, step: str, usage: Usage) -> list[Fact]:
    """Return the fact that a lost worker said what its step used; none if nothing was assumed for it."""
    story = state.stories.get(step.split("/")[1]) if step in state.assumed else None
    return [of_story(story, EventKind.USAGE_REPORTED, attempt=0, step=step, known=spent(usage))] if story else []


def _attempt(story: StoryState, outcome: AttemptOutcome) -> list[Fact]:
    if outcome.status == "stopped" and outcome.reason is None:
        return []  # its agent ended and its work is kept; the next start gives the verdict
    if outcome.status == "ok" and story.writes_tests:
        return [_end(story, outcome, EventKind.ATTEMPT_ENDED, StoryPhase.READY, "ok")]
    if outcome.status == "ok":
        return [
            _end(story, outcome, EventKind.ATTEMPT_ENDED, StoryPhase.EVIDENCE_COLLECTED, "ok", verdict="pass"),
            of_story(story, EventKind.STORY_VERIFIED, StoryPhase.VERIFIED, "ok"),
        ]
    reason = outcome.reason or Reason.INTERRUPTED
    if reason is Reason.UNPROVEN or (story.stands and (MEANINGS[reason].spends or reason is Reason.AGENT_ASKED)):
        # Whatever this attempt brought: its story has work that goes on. `unproven.owed` says what follows.
        return [_end(story, outcome, EventKind.ATTEMPT_ENDED, StoryPhase.READY, _failed(outcome), verdict="fail")]
    if reason is Reason.AGENT_ASKED:
        return _asked(story, outcome)
    if reason in QUESTIONS:
        # An attempt that only writes tests has no work to accept. A person's answer goes to the agent, as if it had asked.
        return _asked_by_the_judge(story, outcome, "" if story.writes_tests else QUESTIONS[reason])
    if not MEANINGS[reason].spends or outcome.status == "voided":
        # A person must act before the agent can work: say what it said, and what to do.
        ended, words, hint = _voided(story, outcome), _words(outcome), outcome.ending.remedy if outcome.ending else ""
    else:
        ended = _end(story, outcome, EventKind.ATTEMPT_ENDED, StoryPhase.READY, _failed(outcome), verdict="fail")
        words, hint = "", outcome.verdict.message if outcome.verdict else ""
    if MEANINGS[reason].ends_in != "blocked" or MEANINGS[reason].retryable:
        return [ended]
    event, phase = EventKind.STORY_BLOCKED, StoryPhase.BLOCKED
    return [ended, of_story(story, event, phase, "blocked", reason=reason, message=words, hint=hint[:MAX_WORDS])]


def _failed(outcome: AttemptOutcome) -> EventStatus:
    return "stopped" if outcome.status == "stopped" else "failed"


def _asked(story: StoryState, outcome: AttemptOutcome) -> list[Fact]:
    """The agent's question stays open; the story rests until somebody answers."""
    question, reason = f"{story.id}-{outcome.number}", Reason.AGENT_ASKED
    text = (outcome.ending.question if outcome.ending else None) or "The agent asked a question."
    text = text[:MAX_QUESTION]
    return [
        _voided(story, outcome),
        of_story(story, EventKind.QUESTION_ASKED, question=question, text=text),
        of_story(story, EventKind.STORY_BLOCKED, StoryPhase.BLOCKED, "blocked", reason=reason, question=question),
    ]


def _asked_by_the_judge(story: StoryState, outcome: AttemptOutcome, kind: str) -> list[Fact]:
    """The verdict needs a person's decision; the story rests until then."""
    question = f"{story.id}-{outcome.number}"
    text = (outcome.verdict.message if outcome.verdict else "") or MEANINGS[outcome.reason or Reason.DOUBTED].sentence
    if kind == "refusal" and outcome.verdict and outcome.verdict.reason is not outcome.reason:
        text = f"Two attempts in a row were refused for the same reason. {text}"
    return [
        _end(story, outcome, EventKind.ATTEMPT_ENDED, StoryPhase.READY, "failed", verdict="fail"),
        of_story(
            story, EventKind.QUESTION_ASKED,
            question=question, kind=kind, text=text[:MAX_QUESTION], options=["accept", "refuse"] if kind else [],
        ),
        of_story(
            story, EventKind.STORY_BLOCKED, StoryPhase.BLOCKED, "blocked", reason=outcome.reason or "", question=question
        ),
    ]  # fmt: skip


def _examined(outcome: BaseExamined) -> list[Fact]:
    """The run goes on. If no verdict is possible, it ends before anything is spent."""
    if outcome.stopped:
        return []  # the next start looks again
    event, ms, digest = EventKind.BASE_EXAMINED, outcome.verify_ms, outcome.digest or ""
    if outcome.reason is None:
        words = "\n".join(outcome.notes)[:MAX_WORDS]
        red = [name[:300] for name in outcome.red]
        return [of_run(event, None, "ok", step=outcome.step, verify_ms=ms, digest=digest, tests=red, message=words)]
    blocks = MEANINGS[outcome.reason].ends_in == "blocked"
    phase = RunPhase.BLOCKED if blocks else RunPhase.FAILED
    told = of_run(
        event, None, "failed", step=outcome.step, verify_ms=ms, digest=digest,
        reason=outcome.reason, message=outcome.message[:MAX_WORDS], hint=outcome.hint[:MAX_WORDS],
    )  # fmt: skip
    ended = of_run(
        EventKind.RUN_ENDED, phase, "blocked" if blocks else "failed",
        reason=outcome.reason, message=outcome.message[:MAX_WORDS], hint=outcome.hint[:MAX_WORDS],
        settings=[list(one) for one in outcome.settings],
    )  # fmt: skip
    return [told, ended]


def _words(outcome: AttemptOutcome) -> str:
    """Return the end of the error text, short enough for the log."""
    text = outcome.message or (outcome.ending.message if outcome.ending else "")
    return text.strip()[-MAX_WORDS:]


def _voided(story: StoryState, outcome: AttemptOutcome, reason: Reason | None = None) -> Fact:
    return _end(story, outcome, EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided", reason=reason)


def _end(
    story: StoryState,
    outcome: AttemptOutcome,
    event: EventKind,
    phase: StoryPhase,
    status: EventStatus,
    *,
    reason: Reason | None = None,
    verdict: str = "",
) -> Fact:
    """Return the end of an attempt, with everything that is known of it."""
    found = outcome.verdict or _NO_VERDICT
    remarks = [messages.left_out(outcome.left_out), *outcome.notes]
    if outcome.reason in OF_WORKERS or (outcome.ending and outcome.reason in SHARED):
        remarks.append(_words(outcome))
    if story.writes_tests:  # what is wrong with the tests that were written first, or what was left out
        remarks.append(found.message.partition("\n")[0].rstrip(":.")[:MAX_WORDS])
    remarks.append(messages.flaky(found.flaky))
    return of_story(
        story,
        event,
        phase,
        status,
        step=outcome.step,
        worker=outcome.worker,
        agent_ms=outcome.agent_ms,
        verify_ms=outcome.verify_ms,
        reason=reason or outcome.reason or "",
        commit=outcome.commit or "",
        proof=found.proof or "",
        digest=outcome.digest or "",
        files=outcome.files or "",
        message="; ".join(filter(None, remarks)),
        verdict=verdict,
        lacks="test" if found.lacks_test else "",
        excuse=found.excuse[:MAX_EXCUSE],
        criteria=[[row.id, row.test[:300], row.before, row.after] for row in found.criteria[:MAX_CRITERIA]],
        tests=[name[:300] for name in found.awaiting[:MOST_TESTS]],
        flaky=[name[:300] for name in found.flaky[:MOST_TESTS]],
        tests_commit=outcome.tests or "",
        known=_known(outcome.ending, outcome.reason),
    )


def _known(ending: AgentEnding | None, reason: Reason | None = None) -> Context:
    """Return what the agent's own ending adds: usage, and for a refusal how long it lasts."""
    if ending is None:
        return {"tokens": 0, "cost_micro_usd": 0}  # no agent was asked
    known = spent(ending.usage)
    if reason in SHARED and ending.wait_seconds is not None:
        known["ms"] = ending.wait_seconds * 1000
    return known


def _claim(state: RunState, story: StoryState, outcome: ClaimOutcome) -> list[Fact]:
    """Claimed work that passes is done without an attempt; otherwise it is an ordinary story."""
    if outcome.verdict.reason is Reason.INTERRUPTED:
        return []  # the next start looks again
    step, ms, digest = outcome.step, outcome.verify_ms, outcome.digest or ""
    event, phase = EventKind.CLAIM_JUDGED, StoryPhase.EVIDENCE_COLLECTED
    if not outcome.verdict.passed:
        kept = outcome.verdict.lacks_test
        words = critique.of_parts(outcome.verdict)[:MAX_QUESTION] if story.parts and not kept else ""
        return [
            of_story(
                story, event, None, "failed", step=step, verify_ms=ms, digest=digest, verdict="fail", message=words,
                lacks="test" if kept else "", excuse=outcome.verdict.excuse, commit=outcome.commit if kept else "",
            )
        ]  # fmt: skip
    if not (outcome.own_check or (state.trusts_ticks and not story.attempts)):
        if story.unchanged > 1:
            return _is_it_there(story, outcome)
        said = "the agent changed nothing" if story.unchanged else "its box is ticked"
        words = f"{said}, but no check of its own shows that it is there"  # and nobody took the document's word
        return [of_story(story, event, None, "failed", step=step, verify_ms=ms, digest=digest, message=words)]
    proof = outcome.verdict.proof if story.parts else story.kept_proof or Proof.CLAIMED
    return [
        of_story(
            story, event, phase, "ok",
            step=step, verify_ms=ms, digest=digest, verdict="pass", commit=outcome.commit, proof=proof or Proof.REGRESSION,
        ),
        of_story(story, EventKind.STORY_VERIFIED, StoryPhase.VERIFIED, "ok"),
    ]  # fmt: skip


def _is_it_there(story: StoryState, outcome: ClaimOutcome) -> list[Fact]:
    """The agent found nothing to do, and only checks of all stories pass: a person says whether the story is there already."""
    text = (
        f"The agent changed nothing for {story.id}, and all checks pass without any work. Is {story.id} there already?"
    )
    judged = of_story(
        story, EventKind.CLAIM_JUDGED, None, "ok", step=outcome.step, verify_ms=outcome.verify_ms,
        digest=outcome.digest or "", verdict="pass", commit=outcome.commit,
    )  # fmt: skip
    options, number = list(KINDS["there"]), f"{story.id}-there-{story.attempts}"
    return [
        judged,
        of_story(story, EventKind.QUESTION_ASKED, question=number, kind="there", text=text, options=options),
    ]


def _integration(story: StoryState, outcome: IntegrationOutcome) -> list[Fact]:
    ms = outcome.verify_ms
    if (head := outcome.head) is not None:
        told = Context(
            commit=outcome.commit or head, head=head, verify_ms=ms, digest=outcome.digest or "", step=outcome.ahead
        )
        if story.unshown is None or story.unshown.commit != story.commit:
            return [of_story(story, EventKind.STORY_DONE, StoryPhase.DONE, "ok", known=told)]
        return [
            of_story(story, EventKind.STORY_INTEGRATED, None, "ok", attempt=max(story.unshown.attempt, 1), known=told)
        ]
    reason = outcome.reason or Reason.WORKSPACE_CONFLICT
    if reason is Reason.INTERRUPTED:
        return []  # it stays verified, and the next start integrates it
    event, phase, status = _unfit(story, reason)
    words, files = outcome.message[:MAX_WORDS], outcome.files or ""
    return [
        of_story(
            story, event, phase, status, step=outcome.step, reason=reason, message=words, verify_ms=ms, files=files
        )
    ]


def _ahead(story: StoryState, outcome: AheadOutcome) -> Fact:
    """Whatever was found out, nothing follows from it before the story's turn."""
    found = outcome.ahead
    return of_story(
        story, EventKind.AHEAD_VERIFIED, None, "ok" if found.passed else "failed", attempt=outcome.attempt, step=found.step,
        onto=list(found.onto), key=found.key, digest=found.digest, verify_ms=outcome.verify_ms,
        message=outcome.message[:MAX_WORDS],
    )  # fmt: skip


def _unfit(story: StoryState, reason: Reason) -> tuple[EventKind, StoryPhase, EventStatus]:
    """Return what becomes of verified work that did not fit onto the branch. The first time, the attempt is not counted."""
    if MEANINGS[reason].ends_in == "blocked":
        return EventKind.STORY_BLOCKED, StoryPhase.BLOCKED, "blocked"
    if story.conflicts == 0:
        return EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided"
    return EventKind.INTEGRATION_FAILED, StoryPhase.READY, "failed"


def _ticks(outcome: TicksWritten) -> list[Fact]:
    status: EventStatus = "failed" if outcome.refused else "ok"
    event, head, words = EventKind.TICKS_WRITTEN, outcome.head or "", outcome.message[:MAX_WORDS]
    return [of_run(event, None, status, step=outcome.step, head=head, commit=head, message=words)]


def _run_verdict(state: RunState, outcome: RunVerdict) -> list[Fact]:
    if outcome.stopped:
        return [of_run(EventKind.RUN_PAUSED, RunPhase.PAUSED, reason=Reason.INTERRUPTED)]
    ended, ms, step, digest = EventKind.RUN_ENDED, outcome.verify_ms, outcome.step, outcome.digest or ""
    if outcome.verdict.passed:
        return [run_end(state, verify_ms=ms, step=step, digest=digest)]
    unrunnable = outcome.verdict.reason is Reason.VERIFICATION_UNRUNNABLE
    status: EventStatus = "blocked" if unrunnable else "failed"
    phase = RunPhase.BLOCKED if unrunnable else RunPhase.FAILED
    reason = Reason.VERIFICATION_UNRUNNABLE if unrunnable else Reason.RUN_VERIFICATION_FAILED
    words = outcome.verdict.message if unrunnable else outcome.verdict.message[:MAX_WORDS]
    return [of_run(ended, phase, status, verify_ms=ms, step=step, digest=digest, reason=reason, message=words)]


# Of a detailed plan: it waits for a person's word, goes back to the agent, or the agent could not be asked

MOST_FINDINGS, MAX_PLAN_WORDS = 20, 500


def proposal(story: StoryState, outcome: ProposalOutcome) -> list[Fact]:
    """Return the facts to record for a proposal; none if the log already has its end."""
    if story.proposals != outcome.number or story.phase is not StoryPhase.READY or not story.proposing:
        return []
    if outcome.stopped:
        usage = outcome.ending.usage if outcome.ending else Usage()
        return [unfinished(story, usage, outcome.agent_ms)]
    reason = outcome.ending.reason if outcome.ending else None
    if reason in SHARED | OF_WORKERS:
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
    reason, words = outcome.ending.reason, outcome.ending.message.strip()[-MAX_PLAN_WORDS:]
    ended = of_story(
        story, EventKind.PROPOSAL_ENDED, None, "voided",
        attempt=0, step=outcome.step, revision=outcome.number, agent_ms=outcome.agent_ms, reason=reason, message=words,
        known=_known(outcome.ending, reason),
    )  # fmt: skip
    if MEANINGS[reason].ends_in != "blocked" or MEANINGS[reason].retryable:
        return [ended]
    hint, event = outcome.ending.remedy[:MAX_PLAN_WORDS], EventKind.STORY_BLOCKED
    rests = of_story(story, event, StoryPhase.BLOCKED, "blocked", attempt=0, reason=reason, message=words, hint=hint)
    return [ended, rests]


def _ended(story: StoryState, outcome: ProposalOutcome, event: EventKind, phase: StoryPhase | None) -> Fact:
    findings = [one[:MAX_PLAN_WORDS] for one in outcome.findings[:MOST_FINDINGS]]
    return of_story(
        story, event, phase, "ok" if phase else "failed",
        attempt=0, step=outcome.step, revision=outcome.number, digest=outcome.digest, files=outcome.files,
        substeps=list(outcome.substeps), digests=list(outcome.commands), findings=findings, lacks=outcome.lacks,
        agent_ms=outcome.agent_ms, verify_ms=outcome.verify_ms, known=_known(outcome.ending),
    )  # fmt: skip
