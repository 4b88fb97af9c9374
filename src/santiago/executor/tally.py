"""How the stories of a run ended and how the finished ones are shown: as counts, and as the one line that every front end prints first."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Literal, NamedTuple, TypedDict

from santiago.contract.counting import count
from santiago.contract.outcomes import Criterion, Proof
from santiago.contract.phases import SATISFIED, RunPhase, StoryPhase
from santiago.contract.plan import CONTRACT_VERSION, Plan, Story
from santiago.contract.quantities import Seconds, Usd
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.result import LogHead, NextAction, Result, StoryResult, StoryStatus, Summary, TotalUsage
from santiago.contract.state import RunState, StoryState

Strength = Literal["shown", "attested", "claimed", "prose", "not_proven"]
WORDS: dict[Strength, str] = {
    "shown": "shown", "attested": "attested", "claimed": "claimed", "prose": "docs only", "not_proven": "not proven",
}  # fmt: skip
"""How a finished story is shown, strongest first, and the word that people read."""
NAMED = 6
"""How many stories the line names."""


class Headline(NamedTuple):
    """The first line on a run: its state in a word, the reason if it has one, and how its stories ended, all in one line."""

    word: str
    reason: str = ""
    text: str = ""

    @property
    def rest(self) -> str:
        """Return what stands behind the word, which can be painted."""
        if self.word == "finished":
            return f", {self.text}"
        return "".join(f"  {part}" for part in (self.reason, self.text) if part)

    def __str__(self) -> str:
        return f"{self.word}{self.rest}"


def headline(plan: Plan, state: RunState, word: str = "") -> Headline:
    """Return the first line on a run. `word` is its state where that is no end, such as `running`."""
    text = counted(plan, state)
    if word:
        return Headline(word, text=text)
    if is_finished(state):
        return Headline("finished", text=text)
    word = "stopped" if state.phase is RunPhase.PAUSED else str(state.phase)
    reason = "" if state.phase is RunPhase.SUCCESS or state.reason is Reason.INTERRUPTED else state.reason or ""
    return Headline(word, reason, text)


def stopped_by(state: RunState) -> StoryState | None:
    """Return the story that a run stopped for, or would stop for: the first that failed, else the first that is blocked."""
    waiting = [story for story in state.stories.values() if not story.skipped]
    for phase in (StoryPhase.FAILED, StoryPhase.BLOCKED):
        if found := next((story for story in waiting if story.phase is phase), None):
            return found
    return None


def is_finished(state: RunState) -> bool:
    """Tell whether all work is on the branch, and only a word on what no test shows is missing."""
    return state.phase is RunPhase.BLOCKED and state.reason is Reason.UNPROVEN


def counted(plan: Plan, state: RunState) -> str:
    """Return how many stories ended how, and how many criteria a named test shows."""
    found, total = summary(plan, state), len(plan.stories)
    first = [_done(found, total), _waiting(unproven(plan, state), total if is_finished(state) else 0)]
    left_out = sum(state.stories[story.id].skipped for story in plan.stories)
    others = {"failed": found.failed, "blocked": found.blocked - found.unproven, "left out": left_out}
    criteria = f"{found.criteria_shown} of {count(found.criteria, 'criterion', 'criteria')} shown by a named test"
    parts = [
        *(reversed(first) if is_finished(state) else first),
        ", ".join(f"{number} {word}" for word, number in others.items() if number),
        criteria if found.criteria and found.completed + found.unproven else "",
    ]
    return "; ".join(filter(None, parts))


def _done(found: Summary, total: int) -> str:
    """Return how many stories are done, and how each of them is shown; empty if that goes without saying."""
    strengths = ", ".join(f"{number} {word}" for name, word in WORDS.items() if (number := getattr(found, name)))
    if found.completed + found.unproven < total:
        return f"{found.completed} of {total} done{f': {strengths}' if strengths else ''}"
    return f"{found.completed} done: {strengths}" if strengths else ""


def _waiting(names: list[str], total: int) -> str:
    if not names:
        return ""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{len(names)}{f' of {total}' if total else ''} not proven: {', '.join(names[:NAMED])}{more}"


def summary(plan: Plan, state: RunState) -> Summary:
    """Return how many stories ended how, and how the finished ones are shown."""
    pairs = [(story, state.stories[story.id]) for story in plan.stories]
    ended = Counter(status_of(story) for _, story in pairs)
    shown = Counter(strength_of(planned, story) for planned, story in pairs if status_of(story) == "done")
    asked = {name for planned, story in pairs if not story.skipped for name in planned.criteria}
    # What no test of its own shows has no criterion that one shows, whatever command its agent named.
    stands = [s for planned, s in pairs if status_of(s) == "done" and strength_of(planned, s) == "shown"]
    met = {row.id for story in stands for row in criteria_of(story) if row.is_shown}
    return Summary(
        completed=ended["done"], failed=ended["failed"], blocked=ended["blocked"],
        skipped=ended["skipped"] + ended["pending"],
        shown=shown["shown"], attested=shown["attested"], claimed=shown["claimed"], prose=shown["prose"],
        not_proven=shown["not_proven"], unproven=len(unproven(plan, state)),
        criteria=len(asked), criteria_shown=len(met & asked),
    )  # fmt: skip


def strength_of(planned: Story, story: StoryState) -> Strength:
    """Return how a finished story is shown."""
    if story.proof in (Proof.PROVED, Proof.OWN_TESTS):
        return "shown"
    if story.proof is Proof.ATTESTED:
        return "attested"
    if story.proof is Proof.CLAIMED:
        return "claimed"
    return "prose" if planned.is_prose else "not_proven"


def of_strength(plan: Plan, state: RunState, strength: Strength) -> list[str]:
    """Return the finished stories that are shown in this way, in plan order."""
    pairs = ((planned, state.stories[planned.id]) for planned in plan.stories)
    return [
        story.id for planned, story in pairs if status_of(story) == "done" and strength_of(planned, story) == strength
    ]


def unproven(plan: Plan, state: RunState) -> list[str]:
    """Return the stories whose work is on the branch, and about which a person has to say whether they are done."""
    return [story.id for story in plan.stories if state.stories[story.id].is_unproven]


def is_on_branch(story: StoryState) -> bool:
    """Tell whether this run brought a story's work onto its branch."""
    return bool(story.integrated) or (story.phase is StoryPhase.DONE and not story.is_kept)


def status_of(story: StoryState) -> StoryStatus:
    """Return how a story ended. Unproven work is on the branch, and its story waits for a person."""
    if story.skipped:
        return "skipped"
    match story.phase:
        case StoryPhase.DONE:
            return "done"
        case StoryPhase.FAILED:
            return "failed"
        case StoryPhase.BLOCKED:
            return "blocked"
        case _:
            return "blocked" if story.is_unproven else "pending"


def criteria_of(story: StoryState) -> list[Criterion]:
    """Return which test shows which criterion of a story, according to its latest verdict."""
    return [
        Criterion(id=row[0], test=row[1], before=row[2], after=row[3])  # type: ignore[arg-type]  # as the judge wrote them
        for row in story.criteria
        if len(row) == len(("id", "test", "before", "after"))
    ]


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
        verification="passed" if story.phase in SATISFIED else "failed" if story.counted else "pending",
        proof=story.proof if story.phase in SATISFIED else None,
        reason=_reason(story, state),
        commit=story.commit,
        criteria=tuple(criteria_of(story)),
        **sums(story),
    )


def _with_parts(story: StoryState, state: RunState) -> StoryState:
    """Return a story with the usage of its substeps added, since these have no result of their own."""
    family = state.family(story)
    return replace(
        story,
        attempts=sum(one.attempts for one in family),
        voided=sum(one.voided for one in family),
        tokens=sum(one.tokens for one in family),
        cost_micro_usd=sum(one.cost_micro_usd for one in family),
        unreported=sum(one.unreported for one in family),
        unpriced=sum(one.unpriced for one in family),
    )


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
        case Reason.WORKER_LOST | Reason.DECLINED | Reason.NO_WORKERS:
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
