"""The eight promises, checked at every event against the log and the simulated branch, by rules of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from santiago.contract.events import Event, EventKind
from santiago.contract.fold import Fold
from santiago.contract.moments import ms_of
from santiago.contract.outcomes import AttemptOutcome, ClaimOutcome, IntegrationOutcome, Outcome
from santiago.contract.plan import Plan
from santiago.contract.policy import Limits, Policy
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.state import RunState, initial
from santiago.executor.schedule import followed, overlap

WORD = {"accept", "validate"}
OPEN = {"planned", "ready", "proposed", "running", "evidence_collected"}
PARKED = {"failed", "blocked"}
BUDGETS = {"attempt_budget_exhausted", "cost_budget_exhausted", "run_timeout"}
"""Reasons that end a story as failed or as blocked, as the policy says."""


class BrokenPromiseError(Exception):
    """A promise does not hold."""


def holds(promise: int, truth: object, words: str) -> None:
    if not truth:
        raise BrokenPromiseError(f"promise {promise}: {words}")


@dataclass
class Told:
    """What the log tells of one story."""

    phase: str = "ready"
    attempts: int = 0
    """The number of the latest one."""
    counted: int = 0
    open: bool = False
    done: bool = False
    integrated: bool = False
    """Its work is on the branch, and no test and no person has shown it yet."""
    commit: str = ""
    passed: str = ""
    """The commit of its latest passing verdict."""
    skipped: bool = False
    word: bool = False
    """A person takes its work."""
    conflicts: int = 0
    extra: int = 0
    used_ms: int = 0
    onto: tuple[str, ...] = ()
    aside: bool = False
    left: bool = False
    """It has left the order at some time: it waited for a person, or had failed."""


@dataclass
class Promises:
    """Reads every event once, in the order of the log, and holds it against what came before."""

    plan: Plan
    limits: Limits
    policy: Policy
    issued: dict[str, list[Outcome]] = field(default_factory=dict)
    """Step → what its agent, its judge or the branch really said."""
    branch: list[tuple[str, str, str]] = field(default_factory=list)
    """Story, commit and head of each commit that was put onto the branch."""
    seen: int = 0
    stories: dict[str, Told] = field(default_factory=dict)
    chunks: list[str] = field(default_factory=list)
    wait_until: int = 0
    phase: str = ""
    raised: Counter[str] = field(default_factory=Counter)
    counted: int = 0
    spent: dict[str, int] = field(default_factory=dict)
    """Step → tokens that count for it."""
    silent: int = 0
    largest: int = 0
    under_way: set[str] = field(default_factory=set)
    stopped: bool = False
    answered: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    picks: dict[str, list[str]] = field(default_factory=dict)
    """Question → the stories that a person picks from."""
    used_ms: int = 0
    verified_head: str = ""

    def __post_init__(self) -> None:
        self.stories = {story.id: Told() for story in self.plan.stories}
        self.by_id = {story.id: story for story in self.plan.stories}
        self.place = {story.id: at for at, story in enumerate(self.plan.stories)}

    # One event after the other

    def take(self, log: Sequence[Event]) -> None:
        for event in log[self.seen :]:
            self.seen += 1
            holds(3, event.seq == self.seen, f"event {event.seq} is number {self.seen} of the log")
            self._of_run(event) if event.story_id is None else self._of_story(event, self.stories.get(event.story_id))
            for one in self.stories.values():
                one.left = one.left or one.aside or one.phase in PARKED

    def _of_run(self, event: Event) -> None:
        context, kind = event.context, event.event
        if event.phase is not None:
            self.phase = str(event.phase)
        match kind:
            case EventKind.RUN_STARTED:
                self.stopped = False
            case EventKind.RUN_EXECUTING:
                self.wait_until = 0
            case EventKind.STOP_REQUESTED:
                self.stopped = True
            case EventKind.CHUNK_STARTED:
                self._chunk(event.chunk or "")
            case EventKind.WAIT_STARTED:
                self.wait_until = ms_of(context["until"])
            case EventKind.WAIT_ENDED:
                self.wait_until = 0
            case EventKind.BUDGET_RAISED:
                self.raised[context["limit"]] += context["amount"]
            case EventKind.TIME_USED:
                self.used_ms += context["ms"]
            case EventKind.RUN_ENDED | EventKind.RUN_PAUSED:
                self._rests(event)
            case EventKind.QUESTION_ANSWERED | EventKind.QUESTION_ASKED:
                self._question(event)

    def _chunk(self, label: str) -> None:
        labels = [chunk.label for chunk in self.plan.chunks]
        left = [
            one for chunk in self.plan.chunks[: labels.index(label)] for one in chunk.stories
            if not (self.stories[one].integrated or self.stories[one].skipped)
        ]  # fmt: skip
        holds(7, not left, f"chunk {label} begins before {left} are done")
        self.chunks.append(label)

    def _rests(self, event: Event) -> None:
        """Promise 8, and at a success promise 2."""
        reason, phase = event.context.get("reason", ""), str(event.phase)
        if phase == "success":
            wrong = [name for name, one in self.stories.items() if not (one.done or one.skipped)]
            holds(2, not wrong, f"a success without {wrong}")
            said = self.issued.get(event.context.get("step", ""), [])
            holds(2, said, "a success that no check of the run's head shows")
            holds(2, self.verified_head == self.head, f"a success on {self.head}, verified was {self.verified_head}")
        elif phase in ("failed", "blocked"):
            holds(8, reason in {one.value for one in Reason}, f"the run is {phase} without a reason")
            ends = MEANINGS[Reason(reason)].ends_in
            fits = {"failed", ends} if ends != "paused" else {"failed", "blocked"}
            holds(8, phase in fits or reason in BUDGETS, f"{phase} for {reason}, which is {ends}")

    @property
    def head(self) -> str:
        return self.branch[-1][2] if self.branch else "head0"

    def _question(self, event: Event) -> None:
        name = event.context["question"]
        if event.event is EventKind.QUESTION_ASKED:
            holds(4, name not in self.asked, f"{name} is asked twice")
            self.asked.add(name)
            self.picks[name] = event.context.get("options", []) if event.context.get("kind") == "pick" else []
        else:
            holds(4, name not in self.answered, f"{name} is answered twice")
            self.answered.add(name)
        for one in self.picks.get(name, []):
            chosen = event.event is EventKind.QUESTION_ANSWERED and event.context.get("text") == one
            self.stories[one].aside = not chosen

    def _of_story(self, event: Event, story: Told | None) -> None:
        if story is None:
            return
        name = event.story_id or ""
        if event.phase is not None:
            holds(4, not story.done or story.phase != "done", f"{name} is done, and then {event.phase}")
            story.phase = str(event.phase)
        if (told := self._tellers.get(event.event)) is not None:
            told(event, name, story)

    @cached_property
    def _tellers(self) -> dict[EventKind, Callable[[Event, str, Told], None]]:
        kinds = EventKind
        return {
            kinds.ATTEMPT_STARTED: self._begins, kinds.CLAIM_JUDGED: self._claimed, kinds.STORY_UNPROVEN: self._unproven,
            kinds.ATTEMPT_ENDED: self._ends, kinds.ATTEMPT_VOIDED: self._ends, kinds.INTEGRATION_FAILED: self._ends,
            kinds.STORY_DONE: self._lands, kinds.STORY_INTEGRATED: self._lands,
            kinds.STORY_FAILED: self._parked, kinds.STORY_BLOCKED: self._parked,
            kinds.PROPOSAL_ENDED: self._spends, kinds.STORY_PROPOSED: self._spends, kinds.USAGE_REPORTED: self._spends,
            kinds.QUESTION_ASKED: self._asks, kinds.QUESTION_ANSWERED: self._asks,
            kinds.STORY_ACCEPTED: self._changes, kinds.STORY_VERIFIED: self._changes, kinds.STORY_SKIPPED: self._changes,
            kinds.STORY_REOPENED: self._changes, kinds.BUDGET_RAISED: self._changes, kinds.CHANGE_REQUESTED: self._changes,
        }  # fmt: skip

    def _changes(self, event: Event, name: str, story: Told) -> None:
        match event.event:
            case EventKind.STORY_ACCEPTED:
                story.word, story.passed = True, story.commit
            case EventKind.STORY_VERIFIED:
                holds(2, story.passed or story.word, f"{name} is verified without a passing verdict")
            case EventKind.STORY_SKIPPED:
                story.skipped = True
            case EventKind.STORY_REOPENED:
                story.passed = story.passed if story.word else ""
            case EventKind.BUDGET_RAISED:
                self.raised[f"{event.context['limit']}/{name}"] += event.context["amount"]
            case EventKind.CHANGE_REQUESTED:
                story.aside, story.passed = True, ""

    def _parked(self, event: Event, name: str, story: Told) -> None:
        holds(8, event.context.get("reason"), f"{name} is {event.phase} without a reason")

    def _unproven(self, event: Event, name: str, story: Told) -> None:
        commit = event.context["commit"]
        said = [one for step in self.issued.values() for one in step if isinstance(one, AttemptOutcome)]
        kept = [one for one in said if one.commit == commit and one.reason is Reason.UNPROVEN]
        holds(2, kept, f"{commit} of {name} goes on, and no judge saw its checks pass")
        story.passed = story.commit = commit

    def _spends(self, event: Event, name: str, story: Told) -> None:
        step, tokens = event.context["step"], event.context.get("tokens", 0)
        if event.event is EventKind.USAGE_REPORTED:
            holds(5, step in self.spent, f"{step} is reported, and nothing was assumed for it")
        self.spent[step] = tokens
        self.largest = max(self.largest, tokens)

    def _asks(self, event: Event, name: str, story: Told) -> None:
        self._question(event)
        if event.event is EventKind.QUESTION_ASKED:
            story.aside = True
        elif event.context.get("answer") in WORD:
            story.word = True
            story.done = story.done or event.phase == "done"

    def _begins(self, event: Event, name: str, story: Told) -> None:
        step = event.context["step"]
        holds(4, event.attempt == story.attempts + 1, f"attempt {event.attempt} of {name} follows {story.attempts}")
        holds(4, not story.open, f"{name} has two attempts at once")
        holds(4, not story.done, f"{name} is attempted although it is done")
        holds(5, not self.stopped, f"{step} begins after a stop was asked for")
        holds(5, not self.wait_until, f"{step} begins while the run waits for the agent's service")
        failed = [one for one, told in self.stories.items() if told.phase == "failed" and not told.skipped]
        holds(5, self.policy.keep_going or not failed, f"{step} begins although {failed} failed")
        self._within(name, story, step)
        self._behind(event, name)
        story.attempts, story.open, story.word, story.passed = story.attempts + 1, True, False, ""
        story.counted += 1
        self.counted += 1
        story.onto = (event.context.get("base", ""), *event.context.get("onto", ()))
        self.under_way.add(step)

    def _within(self, name: str, story: Told, step: str) -> None:
        """Promise 5, from the log alone."""
        limits, raised = self.limits, self.raised
        most = limits.story_max_attempts + raised["story_max_attempts"] + raised[f"story_max_attempts/{name}"]
        holds(5, story.counted < most, f"{step} is attempt {story.counted + 1} of {most}")
        all_most = limits.run_max_attempts + raised["run_max_attempts"]
        holds(5, self.counted < all_most, f"{step} is attempt {self.counted + 1} of {all_most} of the run")
        own = (
            int(limits.story_timeout_minutes)
            + raised[f"story_timeout_minutes/{name}"]
            + raised["story_timeout_minutes"]
        )
        holds(5, story.used_ms < own, f"{step} begins after {story.used_ms} of {own} ms")
        whole = int(limits.run_timeout_minutes) + raised["run_timeout_minutes"]
        holds(5, self.used_ms < whole, f"{step} begins after {self.used_ms} of {whole} ms of the run")
        if limits.run_max_tokens is not None:
            most = limits.run_max_tokens + raised["run_max_tokens"]
            reserved = self.largest * (len(self.under_way) + 1)
            holds(
                5,
                sum(self.spent.values()) + reserved <= most,
                f"{step} begins with {sum(self.spent.values())} + {reserved} of {most}",
            )

    def _behind(self, event: Event, name: str) -> None:
        """Promise 7: it overtakes none that it must not, and begins on the head with all the work that it waits for."""
        mine = self.by_id[name]
        base = (event.context.get("base", ""), *event.context.get("onto", ()))
        holds(7, base[0] == self._recorded_head, f"{name} begins on {base[0]}, the head is {self._recorded_head}")
        holds(7, mine.chunk in self.chunks, f"{name} begins before its chunk")
        ahead = [other for other in self.plan.stories[: self.place[name]] if other.chunk == mine.chunk]
        wide = () if self.policy.optimistic else ("any",)
        for other in ahead:
            met = any(overlap(a, b) for a in mine.files for b in other.files)
            met = met or (bool(wide) and not (mine.files and other.files))
            told = self.stories[other.id]
            needs = other.id in mine.depends_on
            lost = any(self._is_lost(one) for one in self._needed(other.id))
            waits = (
                told.phase in OPEN
                and not (told.skipped or told.integrated or self._is_lost(other.id))
                and not (lost and told.phase in ("planned", "ready"))
            )
            holds(7, not ((met or needs) and waits), f"{name} overtakes {other.id}, which is {told.phase}")
            if (met or needs) and told.phase == "verified" and not told.integrated and not told.aside:
                holds(7, told.commit in base, f"{name} begins without {told.commit} of {other.id}")
        for needed in mine.depends_on:
            told = self.stories[needed]
            holds(7, told.integrated or told.skipped or told.phase == "verified", f"{name} begins before {needed}")

    _recorded_head: str = "head0"

    def _ends(self, event: Event, name: str, story: Told) -> None:
        context, kind = event.context, event.event
        step = context.get("step") or f"attempt/{name}/{event.attempt}"
        reason = context.get("reason", "")
        was_open = story.open
        holds(4, event.attempt == story.attempts, f"{step} ends, and the latest is {story.attempts}")
        if kind is EventKind.ATTEMPT_ENDED:
            holds(4, was_open, f"{step} ends twice")
        if kind is EventKind.ATTEMPT_VOIDED:
            story.counted -= 1
            self.counted -= 1
            holds(4, was_open or reason == "workspace_conflict", f"{step} is void after its end")
        if not was_open:  # verified work that did not fit, or whose ground went
            holds(4, not step.startswith("ahead"), f"{name} is turned down by {step}, before its turn")
            if context.get("step", "").startswith("integrate"):
                wanted = EventKind.ATTEMPT_VOIDED if story.conflicts == 0 else EventKind.INTEGRATION_FAILED
                holds(4, kind is wanted, f"{kind} at conflict {story.conflicts + 1} of {name}")
            story.conflicts += reason == "workspace_conflict"
            story.passed = story.commit = ""
            return
        story.open = False
        story.conflicts += reason == "workspace_conflict"
        self.under_way.discard(f"attempt/{name}/{event.attempt}")
        story.used_ms += context.get("agent_ms", 0) + context.get("verify_ms", 0)
        self.spent[f"attempt/{name}/{event.attempt}"] = context.get("tokens", 0)
        self.largest = max(self.largest, context.get("tokens", 0))
        said = [one for one in self.issued.get(step, []) if isinstance(one, AttemptOutcome)]
        story.commit = context.get("commit", "")
        if event.status == "ok":
            true = [one for one in said if one.status == "ok" and one.commit == story.commit]
            holds(2, true, f"{step} passed by the log, and no judge said so")
            there = {(one, commit) for one, commit, _ in self.branch}
            for commit in story.onto[1:]:
                owner = commit.partition("/")[0]
                if owner != name and owner in self.by_id[name].depends_on:
                    stands = commit == self.stories[owner].commit or (owner, commit) in there
                    holds(7, stands, f"{step} counts, and {commit}, which it began on, is void")
            story.passed = story.commit if context.get("verdict") == "pass" else ""
        else:
            holds(8, reason, f"{step} ended without a reason")
        if reason not in ("interrupted", "workspace_conflict", "worker_lost", "declined", ""):
            holds(2, any(one.reason == reason for one in said), f"{step} ended with {reason}, which nobody said")
        counts = kind is EventKind.ATTEMPT_ENDED
        if reason in {one.value for one in Reason} and said:
            spends = MEANINGS[Reason(reason)].spends
            holds(
                4,
                counts == spends or reason in ("interrupted", "workspace_conflict", "agent_asked"),
                f"{step} with {reason} counts: {counts}",
            )

    def _claimed(self, event: Event, name: str, story: Told) -> None:
        if event.status != "ok":
            return
        said = [one for one in self.issued.get(event.context.get("step", ""), []) if isinstance(one, ClaimOutcome)]
        holds(2, any(one.verdict.passed for one in said), f"the claim of {name} passed, and no judge said so")
        story.passed = story.commit = event.context.get("commit", "")

    def _lands(self, event: Event, name: str, story: Told) -> None:
        """Promises 2, 4 and 7: what passed comes onto the branch once, in the order of the plan."""
        head = event.context.get("head", "")
        if story.done and event.event is EventKind.STORY_DONE and not head:
            return  # a person's word on what is on the branch already
        if head:
            landed = [one for one in self.branch if one[2] == head]
            holds(3, landed, f"{name} is on {head}, which the branch never was")
            holds(2, landed[0][0] == name, f"{name} is done with the work of {landed[0][0]}")
            holds(2, landed[0][1] == story.passed or story.word or event.event is EventKind.STORY_INTEGRATED,
                  f"{landed[0][1]} of {name} is on the branch, and {story.passed or 'nothing'} passed")  # fmt: skip
            self._recorded_head = head
            there = {(one, commit) for one, commit, _ in self.branch}
            for commit in story.onto[1:]:
                owner = commit.partition("/")[0]
                known = owner == name or owner not in self.by_id[name].depends_on or (owner, commit) in there
                holds(2, known or story.word, f"{name} lands, and was judged on {commit}, which is not on the branch")
        holds(4, not story.done or story.word, f"{name} is done twice")
        story.done = story.done or event.event is EventKind.STORY_DONE
        chunk = self.by_id[name].chunk
        for other in () if story.integrated else self.plan.stories[: self.place[name]]:
            told = self.stories[other.id]
            gone = told.integrated or told.skipped or told.left
            hopeless = any(self._is_lost(one) for one in self._needed(other.id))
            holds(
                7, gone or hopeless or other.chunk != chunk, f"{name} retires before {other.id}, which is {told.phase}"
            )
        story.integrated = True

    def _needed(self, name: str) -> set[str]:
        found: set[str] = set()
        left = [name]
        while left:
            for one in self.by_id[left.pop()].depends_on:
                if one not in found:
                    found.add(one)
                    left.append(one)
        return found

    def _is_lost(self, name: str) -> bool:
        return self.stories[name].phase in PARKED or self.stories[name].aside

    # What the coordinator has in memory

    def matches(self, state: RunState, log: Sequence[Event]) -> None:
        """Promise 3 and 4: a replay of the log gives the very state that the coordinator worked with."""
        fold = Fold(initial(self.plan, followed(self.plan, optimistic=self.policy.optimistic)))
        for event in log:
            fold.apply(event)
        holds(3, fold.state == state, "a replay of the log gives another state")
        tokens = sum(self.spent.values())
        holds(5, state.tokens == tokens, f"{state.tokens} tokens are booked, the log has {tokens}")
        holds(5, state.counted == self.counted, f"{state.counted} attempts count, by the log {self.counted}")
        free = {name for name, one in self.stories.items() if one.phase == "ready" and not one.skipped}
        ready = {story.id for story in state.ready_stories()}
        holds(7, ready <= free, f"{ready - free} are ready by the state, and not by the log")

    def landed(self, outcome: IntegrationOutcome, commit: str) -> None:
        self.branch.append((outcome.story, commit, outcome.head or ""))
