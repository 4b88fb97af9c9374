"""What each kind of event changes in the state besides the phase: sums, reasons, questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from santiago.contract.events import Event, EventKind
from santiago.contract.outcomes import Proof
from santiago.contract.reasons import OF_WORKERS, SHARED, Reason
from santiago.contract.state import DetailState, Question, Refusal, RunState, StoryState, Unshown
from santiago.contract.steps import Ahead

OVERTAKEN = "overtaken"
"""Recorded in place of an answer that is no longer needed: the story was skipped, or a person supplied the work."""
EXPIRED = "expired"
"""Recorded in place of an answer that did not come in time."""
LASTING = frozenset({"unproven"})
"""Kinds of questions that nobody waits for, and that never expire."""
PARKING = frozenset({"detail", "result", "grant", "resume", "pick", "there"})
"""Kinds of questions about stories that leave the order until they are answered; their phase stays."""


def question_asked(state: RunState, event: Event) -> None:
    context = event.context
    name, kind = context.get("question", ""), context.get("kind", "agent")
    if name in state.questions:  # the same question asked again keeps its answer
        return
    state.questions[name] = Question(
        name,
        event.story_id,
        context.get("text", ""),
        tuple(context.get("options", ())),
        kind,
        round=context.get("round", 1),
        asked_at=event.timestamp,
        until=context.get("until", ""),
        limit=context.get("limit", ""),
        lacks=context.get("lacks", ""),
    )
    state.asking[name] = asked = state.questions[name]
    if kind not in LASTING:
        state.pressing[name] = asked
    if (subject := state.stories.get(event.story_id or "")) is not None:
        subject.questions = (*subject.questions, name)
    if kind not in PARKING:
        return
    for story in map(state.stories.get, asked.about()):
        if story is not None:
            story.asked, story.gated = name, story.gated or kind in ("result", "pick")
    if kind == "pick":
        state.picking = name


def question_answered(state: RunState, event: Event) -> None:
    """The first answer counts; what it says goes into the story's next packet."""
    question = state.questions.get(event.context.get("question", ""))
    if question is None or question.answer is not None:
        return
    close(state, question, event.context.get("answer", ""), event)
    question.detail = event.context.get("text", "")
    if scope := event.context.get("scope"):
        state.rest[question.kind] = "run" if scope == "run" else event.chunk or state.active_chunk or ""
    if question.kind == "continue":
        state.continue_after = ""
    if question.kind == "pick" and event.context.get("answer") == "pick":
        for name in question.options:
            state.stories[name].deferred = name != question.detail
    story = state.stories.get(event.story_id or "")
    if story is None:
        return
    if question.detail:
        note(state, story, event)
    answer = event.context.get("answer", "")
    if question.kind == "unproven":
        _take_unproven(state, story, answer)
    elif (question.kind, answer) == ("result", "change"):
        forget(state, story)  # what the person saw is not what they want
    elif question.lacks and answer == "validate":
        attest(state, story)
    _take(story, question.kind, answer)


def _take_unproven(state: RunState, story: StoryState, answer: str) -> None:
    """A person takes work that no test shows, or lets an agent work on it once more."""
    if answer == "accept":
        attest(state, story)
        return
    story.change_requested, story.reason = story.attempts + 1, None
    story.test_asked = answer != "retry"


def attest(state: RunState, story: StoryState) -> None:
    """A person's word makes the story done. Its box can be ticked then, if the run ticks boxes."""
    story.proof, story.reason, story.adjusting = Proof.ATTESTED, None, False
    state.ticked = state.ticked and not story.integrated
    forget(state, story)


def forget(state: RunState, story: StoryState) -> None:
    story.unshown = None
    state.unshown.discard(story.id)


def _take(story: StoryState, kind: str, answer: str) -> None:
    """Note what an answer changes in its story besides the phase."""
    match kind, answer:
        case "detail", "approve" | "drop" if story.detail:
            story.detail.approved = True
        case "result", "validate":
            story.validated, story.adjusting = True, False
        case "result", "change":
            story.seen = story.commit or ""
            story.adjusting, story.gated, story.change_requested = True, False, story.attempts + 1
        case "grant", "refuse":
            story.change_requested = 0
        case (("detail" | "result" | "there"), "defer"):
            story.deferred = True
        case "there", "refuse":
            story.reason = None


def question_expired(state: RunState, event: Event) -> None:
    question = state.questions.get(event.context.get("question", ""))
    if question is not None and question.answer is None:
        close(state, question, EXPIRED, event)


def close(state: RunState, question: Question, answer: str, event: Event) -> None:
    question.answer, question.actor, question.answered_at = answer, event.actor, event.timestamp
    for names in (state.asking, state.pressing):
        names.pop(question.id, None)
    if (subject := state.stories.get(question.story or "")) is not None:
        subject.questions = tuple(name for name in subject.questions if name != question.id)
    for story in map(state.stories.get, question.about()):
        if story is not None and story.asked == question.id:
            story.asked, story.gated = "", story.gated and (question.kind != "pick" or answer == "pick")
    if state.picking == question.id:
        state.picking = ""


def overtake(state: RunState, story: StoryState, event: Event) -> None:
    """Close the story's open question: it was decided in another way."""
    if question := state.questions.get(story.asked):
        close(state, question, OVERTAKEN, event)


def note(_: RunState, story: StoryState, event: Event) -> None:
    story.notes = (*story.notes, event.context.get("text", ""))


W = TypeVar("W", Reason, Proof)
TESTS = "tests"
"""Mode of an attempt that only writes its story's tests."""
SHOW = "show"
"""Mode of an attempt that begins on work which passes its checks, and is asked only for the test that shows it."""
PAUSES = "chunk"
"""Mode of a run that rests after each chunk because a person said so while it ran."""
REST = "rest"
"""Mode of a stop that a person asked for at a question."""
_REASONS = {reason.value: reason for reason in Reason}
_PROOFS = {proof.value: proof for proof in Proof}


def reason_of(event: Event) -> Reason | None:
    """Return the reason that the event gives, if it gives one."""
    word = event.context.get("reason")
    return None if word is None else _known("reason", _REASONS, word)


def _known(kind: str, words: dict[str, W], word: str) -> W:
    found = words.get(word)
    if found is None:
        raise ValueError(f"this version of santiago does not know the {kind} {word[:80]!r}; a newer one may")
    return found


# Of the run


def run_created(state: RunState, event: Event) -> None:
    context = event.context
    state.run_id = event.run_id
    state.plan_digest, state.input_digest = context.get("plan_digest", ""), context.get("input_digest", "")
    state.branch, state.head = context.get("branch"), context.get("head")
    state.base = state.head


def run_started(state: RunState, event: Event) -> None:
    state.epoch, state.stop_requested = event.context.get("epoch") or state.epoch + 1, False
    state.engine = event.context.get("engine", "")
    state.pauses = None
    state.started_at = event.timestamp


def run_executing(state: RunState, event: Event) -> None:
    """A person lets the run go on: whatever the agent refused may be asked again."""
    state.head = event.context.get("head") or state.head
    state.refusal = state.shut = state.wait_until = None
    state.wait_length_ms = state.wait_ms = state.waits = 0
    if state.voided:
        for story in state.stories.values():
            story.uncounted = 0


def run_verifying(state: RunState, _: Event) -> None:
    state.verify_rounds += 1


def run_ended(state: RunState, event: Event) -> None:
    if reason_of(event) is Reason.UNPROVEN:
        state.checked = (state.head or "", event.context.get("step", ""), event.context.get("digest", ""))


def ticks_written(state: RunState, event: Event) -> None:
    state.ticked, state.head = True, event.context.get("head") or state.head


def chunk_ended(state: RunState, event: Event) -> None:
    if event.chunk in state.chunks:
        state.chunks[event.chunk].ended = event.status == "ok"


def budget_raised(state: RunState, event: Event) -> None:
    limit = event.context.get("limit", "")
    name = f"{limit}/{event.story_id}" if event.story_id else limit
    state.raised[name] = state.raised.get(name, 0) + event.context.get("amount", 0)
    if name in _SILENT_COUNTS:
        state.accepted[name] = getattr(state, _SILENT_COUNTS[name])


_SILENT_COUNTS = {"run_max_tokens": "unreported", "run_max_cost_usd": "unpriced"}


def time_used(state: RunState, event: Event) -> None:
    state.used_ms += event.context.get("ms", 0)


def wait_started(state: RunState, event: Event) -> None:
    state.refusal, state.wait_until = None, event.context.get("until")
    state.wait_length_ms += event.context.get("ms", 0)
    state.wait_ms += event.context.get("ms", 0)


def wait_ended(state: RunState, _: Event) -> None:
    state.wait_until, state.wait_length_ms = None, 0
    state.waits += 1


def commands_approved(state: RunState, event: Event) -> None:
    state.approved |= frozenset(event.context.get("digests", ()))


def ticks_trusted(state: RunState, event: Event) -> None:
    state.trusts_ticks = event.status == "ok"


def units_confirmed(state: RunState, _: Event) -> None:
    state.units = True


def base_examined(state: RunState, event: Event) -> None:
    state.examined, state.red = event.status == "ok", tuple(event.context.get("tests", ()))


def stop_requested(state: RunState, event: Event) -> None:
    state.stop_requested, state.rests = True, event.context.get("mode") == REST
    state.unserved = reason_of(event) is Reason.NO_WORKERS


def pauses_set(state: RunState, event: Event) -> None:
    state.pauses = event.context.get("mode") == PAUSES


# Of a story


def story_reopened(_: RunState, story: StoryState, __: Event) -> None:
    story.uncounted, story.reason = 0, None


def change_requested(state: RunState, story: StoryState, event: Event) -> None:
    story.change_requested = story.attempts + 1
    story.adjusting, story.gated, story.deferred = bool(story.attempts or story.parts), False, False
    story.seen = story.commit or story.seen
    story.tests = None  # they may test what the person no longer wants
    story.test_asked = bool(story.integrated)  # a changed story that is not on the branch begins anew
    if not story.integrated:
        forget(state, story)
    for question in [state.questions[name] for name in dict.fromkeys((story.asked, *story.questions)) if name]:
        if question.id == story.asked or question.kind == "unproven":
            close(state, question, OVERTAKEN if question.kind == "pick" else "change", event)
    note(state, story, event)


def story_accepted(state: RunState, story: StoryState, event: Event) -> None:
    """A person's word replaces the verdict, and closes the question about the work."""
    story.proof, story.reason, story.commit = Proof.ATTESTED, None, event.context.get("commit") or story.commit
    attest(state, story)
    for name in story.questions:
        close(state, state.questions[name], "accept", event)


def story_done(state: RunState, story: StoryState, event: Event) -> None:
    story.commit, story.reason = event.context.get("commit") or story.commit, None
    story.adjusting = False
    forget(state, story)
    state.continue_after = story.id
    state.head = event.context.get("head") or state.head


def ahead_verified(_: RunState, story: StoryState, event: Event) -> None:
    context = event.context
    story.ahead = Ahead(
        step=context.get("step", ""), onto=tuple(context.get("onto", ())), passed=event.status == "ok",
        key=context.get("key", ""), digest=context.get("digest", ""),
    )  # fmt: skip


def story_unproven(_: RunState, story: StoryState, event: Event) -> None:
    """The work that stands is the story's again, whatever a later attempt brought."""
    story.commit, story.proof, story.reason = event.context.get("commit"), Proof.REGRESSION, Reason.UNPROVEN
    story.criteria = story.unshown.criteria if story.unshown else story.criteria


def story_integrated(state: RunState, story: StoryState, event: Event) -> None:
    """The work is on the branch, so it is what a later attempt starts from and is compared with."""
    story.before = story.before or state.head or ""
    story.commit = story.integrated = event.context.get("commit", "")
    if story.unshown:
        story.unshown.commit = story.integrated
    state.head = event.context.get("head") or state.head


def story_skipped(state: RunState, story: StoryState, event: Event) -> None:
    story_rests(state, story, event)
    for question in state.open_questions():
        if story.id in question.about():
            close(state, question, OVERTAKEN, event)


def story_rests(state: RunState, story: StoryState, event: Event) -> None:
    story.reason, story.remedy = reason_of(event), event.context.get("hint", "")
    if story.reason in SHARED:
        state.refusal, state.shut = None, story.reason


def story_kept(_: RunState, story: StoryState, event: Event) -> None:
    story.kept = event.context.get("run", "")
    story.kept_proof = _PROOFS.get(event.context.get("proof", ""))
    story.criteria = tuple(tuple(row) for row in event.context.get("criteria", ()))


def attempt_started(state: RunState, story: StoryState, event: Event) -> None:
    story.attempts += 1
    state.attempts += 1
    state.chunks[story.chunk].retries += story.counted > 1
    story.validated = story.gated = False
    overtake(state, story, event)
    story.base, story.commit, story.proof, story.criteria = event.context.get("base"), None, None, ()
    story.flaky = ()
    story.onto = tuple(event.context.get("onto", ()))
    story.writes_tests = event.context.get("mode") == TESTS
    story.showing = event.context.get("mode") == SHOW
    story.word = (event.actor, event.context.get("text", ""))
    story.test_asked = story.test_asked or story.showing
    story.on_tests = story.tests is not None and story.tests in story.onto[-1:]
    story.unsettled = True
    story.begun_ms, story.begun_in = state.used_ms, state.epoch
    story.trouble = ""


def step_failed(_: RunState, story: StoryState, event: Event) -> None:
    story.trouble = event.context.get("message", "") if event.status == "failed" else story.trouble


def attempt_ended(state: RunState, story: StoryState, event: Event) -> None:
    context, kind = event.context, event.event
    voided = kind is EventKind.ATTEMPT_VOIDED or event.status == "voided"
    if voided:
        state.chunks[story.chunk].retries -= story.counted > 1
        story.voided += 1
        story.uncounted += 1
        state.voided += 1
        if reason_of(event) is Reason.VERIFICATION_UNRUNNABLE:  # no checkout could be made ready, for whichever story
            state.shut = Reason.VERIFICATION_UNRUNNABLE
    if kind is EventKind.CLAIM_JUDGED:
        story.judged, story.validated = True, False
        if story.parts and (words := context.get("message")):
            story.notes = (*story.notes, words)  # its substeps are done, and this is what they lack together
    story.used_ms += context.get("agent_ms", 0) + context.get("verify_ms", 0)
    if not story.writes_tests:
        story.commit = context.get("commit") or story.commit
    elif event.status == "ok":
        story.tests, story.tests_by = context.get("tests_commit"), story.attempts
    story.criteria = tuple(tuple(row) for row in context.get("criteria", ())) or story.criteria
    story.flaky = tuple(context.get("flaky", ())) or story.flaky
    _look_for_a_test(state, story, event, voided=voided)
    _count_unchanged(story, event, voided=voided)
    proof = context.get("proof")
    story.proof, story.reason = None if proof is None else _known("proof", _PROOFS, proof), reason_of(event)
    if story.reason is Reason.WORKSPACE_CONFLICT:
        story.conflicts += 1
        if story.unsettled and story.on_tests:  # its folder could not even be made
            story.tests = None
    if story.unsettled:  # the agent's own end, not what became of its work later
        story.unsettled = False
        state.free += voided and context.get("tokens") == context.get("cost_micro_usd") == 0
        if story.attempts >= story.change_requested and not (story.integrated and voided):
            story.change_requested = 0
        _spend(state, story, event)
        _hear(state, story, event)


def _count_unchanged(story: StoryState, event: Event, *, voided: bool) -> None:
    """Count attempts in a row that changed nothing. After each, the story may turn out to be there already."""
    if not story.unsettled or voided:
        return
    unchanged = reason_of(event) is Reason.AGENT_NO_CHANGE
    story.unchanged = story.unchanged + 1 if unchanged else 0
    story.judged = story.judged and not (unchanged and not story.parts)


def _look_for_a_test(state: RunState, story: StoryState, event: Event, *, voided: bool) -> None:
    """Note whether the work lacks a test that shows it. Work that was kept for that stays until something replaces it."""
    found = story.unshown
    if story.unsettled and (voided or reason_of(event) is Reason.INTERRUPTED):
        story.test_asked = story.test_asked and not story.showing  # nobody could answer
        return
    if story.integrated:
        return
    if event.context.get("lacks") and (found is None or found.blind):
        blind = reason_of(event) is Reason.NOTHING_VERIFIED
        brought = story.word[0] not in ("", "santiago")
        story.test_asked = story.test_asked or brought  # no agent works on what a person brought
        story.unshown = Unshown(
            commit=event.context.get("commit", ""), attempt=story.attempts, criteria=story.criteria, blind=blind,
            excuse=event.context.get("excuse", ""),
        )  # fmt: skip
        state.unshown.add(story.id)
    elif event.status == "ok" or not story.unsettled or (found and found.blind):
        forget(state, story)  # it is shown, it did not fit onto the branch, or it never could go on


def proposal_started(_: RunState, story: StoryState, __: Event) -> None:
    story.proposals += 1
    story.proposing = True


def proposal_ended(state: RunState, story: StoryState, event: Event) -> None:
    """There is a detailed plan, or a reason why not. Writing it is not an attempt, but its usage counts."""
    context = event.context
    story.used_ms += context.get("agent_ms", 0) + context.get("verify_ms", 0)
    story.sent_back, story.proposing = event.status == "failed", False
    if event.status != "voided":
        story.detail = DetailState(
            revision=context.get("revision", story.proposals),
            digest=context.get("digest", ""),
            substeps=tuple(context.get("substeps", ())),
            commands=tuple(context.get("digests", ())),
            findings=tuple(context.get("findings", ())),
            lacks=context.get("lacks", ""),
        )
    _spend(state, story, event)
    if (
        reason := reason_of(event)
    ) is not Reason.INTERRUPTED:  # that says nothing of the story's work, nor of the agent
        story.reason = reason
        _hear(state, story, event)


def _spend(state: RunState, story: StoryState, event: Event) -> None:
    """Add what an attempt used, however it ended. What it did not report stays unknown."""
    tokens, cost = event.context.get("tokens"), event.context.get("cost_micro_usd")
    if tokens is not None:
        state.largest_tokens = max(state.largest_tokens, tokens)
    if cost is not None:
        state.largest_cost = max(state.largest_cost, cost)
    _book(state, story, tokens, cost, 1)
    if reason_of(event) is Reason.WORKER_LOST:
        state.assumed[event.context.get("step", "")] = tokens, cost


def _book(state: RunState, story: StoryState, tokens: int | None, cost: int | None, sign: Literal[1, -1]) -> None:
    """Add what one attempt used to the sums of its run and its story, or take it out again."""
    for sums in (state, story):
        sums.tokens += sign * (tokens or 0)
        sums.cost_micro_usd += sign * (cost or 0)
        sums.unreported += sign * (tokens is None)
        sums.unpriced += sign * (cost is None)


def usage_reported(state: RunState, story: StoryState, event: Event) -> None:
    """What a lost worker reports replaces what was assumed. A person who accepted the unknown accepted this one with it."""
    assumed = state.assumed.pop(event.context.get("step", ""), None)
    if assumed is None:
        return
    _book(state, story, *assumed, -1)
    _spend(state, story, event)
    for limit, count in _SILENT_COUNTS.items():
        if limit in state.accepted:
            state.accepted[limit] = min(state.accepted[limit], getattr(state, count))


def _hear(state: RunState, story: StoryState, event: Event) -> None:
    """Note what an attempt's ending tells about whether the agent can be reached."""
    if story.reason in _REFUSALS:
        context = event.context
        state.refusal = Refusal(story.id, story.reason, event.timestamp, context.get("ms"), context.get("message", ""))
    elif story.reason not in _SILENT:
        state.wait_ms = state.waits = 0


_REFUSALS = frozenset({Reason.AGENT_RATE_LIMITED, Reason.AGENT_UNAVAILABLE})
_SILENT = SHARED | OF_WORKERS | {Reason.INTERRUPTED, Reason.WORKSPACE_CONFLICT, Reason.IO_ERROR}
"""Endings that do not show that the agent answered."""


OF_RUN: dict[EventKind, Callable[[RunState, Event], None]] = {
    EventKind.RUN_CREATED: run_created,
    EventKind.RUN_STARTED: run_started,
    EventKind.RUN_EXECUTING: run_executing,
    EventKind.RUN_VERIFYING: run_verifying,
    EventKind.RUN_ENDED: run_ended,
    EventKind.TICKS_WRITTEN: ticks_written,
    EventKind.CHUNK_ENDED: chunk_ended,
    EventKind.BUDGET_RAISED: budget_raised,
    EventKind.TIME_USED: time_used,
    EventKind.WAIT_STARTED: wait_started,
    EventKind.WAIT_ENDED: wait_ended,
    EventKind.COMMANDS_APPROVED: commands_approved,
    EventKind.TICKS_TRUSTED: ticks_trusted,
    EventKind.UNITS_CONFIRMED: units_confirmed,
    EventKind.BASE_EXAMINED: base_examined,
    EventKind.STOP_REQUESTED: stop_requested,
    EventKind.PAUSES_SET: pauses_set,
    EventKind.QUESTION_ASKED: question_asked,
    EventKind.QUESTION_ANSWERED: question_answered,
    EventKind.QUESTION_EXPIRED: question_expired,
}

OF_STORY: dict[EventKind, Callable[[RunState, StoryState, Event], None]] = {
    EventKind.PROPOSAL_STARTED: proposal_started,
    EventKind.PROPOSAL_ENDED: proposal_ended,
    EventKind.STORY_PROPOSED: proposal_ended,
    EventKind.ATTEMPT_STARTED: attempt_started,
    EventKind.ATTEMPT_ENDED: attempt_ended,
    EventKind.ATTEMPT_VOIDED: attempt_ended,
    EventKind.INTEGRATION_FAILED: attempt_ended,
    EventKind.STORY_KEPT: story_kept,
    EventKind.CLAIM_JUDGED: attempt_ended,
    EventKind.STORY_ACCEPTED: story_accepted,
    EventKind.AHEAD_VERIFIED: ahead_verified,
    EventKind.STORY_UNPROVEN: story_unproven,
    EventKind.STORY_INTEGRATED: story_integrated,
    EventKind.STORY_DONE: story_done,
    EventKind.STORY_FAILED: story_rests,
    EventKind.STORY_BLOCKED: story_rests,
    EventKind.STORY_SKIPPED: story_skipped,
    EventKind.STORY_REOPENED: story_reopened,
    EventKind.CHANGE_REQUESTED: change_requested,
    EventKind.HINT_ADDED: note,
    EventKind.USAGE_REPORTED: usage_reported,
    EventKind.NOTE: step_failed,
}
