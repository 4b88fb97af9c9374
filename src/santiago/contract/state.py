"""The state of a run: what its log tells, and nothing else; `contract.fold` makes it.

It also holds what follows from the log, so that deciding never scans the whole plan: which stories are ready
(dependencies satisfied, chunk active, no earlier story overtaken), which story is next to be retired, what is spent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from santiago.contract.phases import PARKED, SATISFIED, WAITING, RunPhase, StoryPhase
from santiago.contract.record import lean

if TYPE_CHECKING:
    from santiago.contract.outcomes import Proof
    from santiago.contract.plan import Plan
    from santiago.contract.reasons import Reason
    from santiago.contract.steps import Ahead


@lean()
class DetailState:
    """A story's latest detailed plan."""

    revision: int
    digest: str
    """Digest of its file; empty where the agent wrote nothing readable."""
    substeps: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """Digests of the commands that a person approves together with this plan."""
    findings: tuple[str, ...] = ()
    lacks: str = ""
    """What keeps it from plain approval: `check` where a substep has none, `part` where one that the document names is missing."""
    approved: bool = False


@lean()
class Unshown:
    """Work that passes its checks and that no test shows. It is kept, whatever later attempts bring."""

    commit: str
    attempt: int
    criteria: tuple[tuple[str, ...], ...] = ()
    blind: bool = False
    """Its checks do not notice broken code, so it cannot go on without a test."""
    excuse: str = ""
    """Why no agent is asked for the missing test."""


@lean()
class StoryState:
    """The state of one story."""

    id: str
    index: int
    """Position in plan order."""
    chunk: str
    unmet: int
    """Number of its dependencies that are neither verified, done nor skipped."""
    behind: int = 0
    """Number of earlier stories that it must not overtake and that are still in the way."""
    lost: int = 0
    """Number of its dependencies that cannot go on by themselves."""
    phase: StoryPhase = StoryPhase.PLANNED
    blocked_from: StoryPhase | None = None
    parent: str | None = None
    attempts: int = 0
    """Attempts started; each has a number of its own, counted or not."""
    voided: int = 0
    """Attempts that do not count."""
    uncounted: int = 0
    """Voided attempts since a person last opened the story; limited in number."""
    conflicts: int = 0
    """How often its verified work did not fit onto the branch."""
    used_ms: int = 0
    """Agent and verification time over its attempts."""
    tokens: int = 0
    cost_micro_usd: int = 0
    unreported: int = 0
    """Attempts that did not say their tokens; what they used is in no sum."""
    unpriced: int = 0
    """Attempts that did not say their cost."""
    unsettled: bool = False
    """The latest attempt has begun, and its usage is not yet in the sums."""
    begun_ms: int = 0
    """The run's time used when the latest attempt began, as far as it was recorded."""
    begun_in: int = 0
    """The start of the run in which the latest attempt began."""
    trouble: str = ""
    """How a step of the latest attempt failed in an earlier start, so that the attempt could not end."""
    base: str | None = None
    onto: tuple[str, ...] = ()
    """Verified commits that were applied to the base before the latest attempt began."""
    commit: str | None = None
    """Snapshot of the latest attempt; once the story is done, the integrated commit."""
    writes_tests: bool = False
    """The latest attempt only writes the story's tests."""
    tests: str | None = None
    """The commit with the tests that were written for it before the work."""
    tests_by: int = 0
    """Number of the attempt that wrote the latest of these tests."""
    on_tests: bool = False
    """The latest attempt began on the story's own tests: they are the last of `onto`."""
    proof: Proof | None = None
    ahead: Ahead | None = None
    """The latest verdict on its work that was given before its turn."""
    criteria: tuple[tuple[str, ...], ...] = ()
    """Of the latest attempt: criterion, test, the test's result without the work and with it."""
    flaky: tuple[str, ...] = ()
    """Of the latest attempt: tests of the base that failed on its work and passed when they ran once more."""
    reason: Reason | None = None
    remedy: str = ""
    """What helps against the reason, where more is known than the reason itself says."""
    unshown: Unshown | None = None
    """Its work that passes its checks and that no test shows, until the story is done or the work is given up."""
    test_asked: bool = False
    """An agent was asked for the missing test, since a person last said so. That happens once."""
    unchanged: int = 0
    """How many attempts in a row changed nothing."""
    showing: bool = False
    """The latest attempt was asked only for the test that its work lacks."""
    word: tuple[str, str] = ("", "")
    """Who takes the work of the latest attempt even if no test shows it, and why: a person who brought it."""
    integrated: str = ""
    """The commit of its unproven work on the branch. Other stories build on it, and it is never taken back."""
    before: str = ""
    """The head of the branch before that commit: what the story's strength is measured against."""
    kept: str = ""
    """The earlier run that finished it, where the base holds that work."""
    kept_proof: Proof | None = None
    """How strongly it was shown there."""
    judged: bool = False
    """The story was checked on the base, since the document claims it done or the base holds its work."""
    skipped: bool = False
    asked: str = ""
    """The open question that the story waits for. Until it is answered, the story has left the order."""
    gated: bool = False
    """A person was asked about its work. Until the story is done, no other story builds on it."""
    validated: bool = False
    """A person has validated the verified work of its latest attempt."""
    deferred: bool = False
    """A person deferred it. It comes again when nothing else is left."""
    proposals: int = 0
    """Detailed plans that an agent was asked for."""
    proposing: bool = False
    """The latest detailed plan is being written, as far as the log tells."""
    sent_back: bool = False
    """The latest detailed plan was sent back to the agent, with what is wrong."""
    detail: DetailState | None = None
    parts: tuple[str, ...] = ()
    """Its substeps. A story with substeps has no attempt of its own; it is judged when they are done."""
    seen: str = ""
    """The work that a person saw and asked to have changed: the next attempt may take it up."""
    adjusting: bool = False
    """A person asked for changes of its work. True until the work is validated or done."""
    change_requested: int = 0
    """Number of the first attempt that knows of a requested change, until that attempt has ended; else 0."""
    questions: tuple[str, ...] = ()
    """The open questions about it alone."""
    notes: tuple[str, ...] = ()
    """Answers, hints and change requests for the next packet."""

    @property
    def counted(self) -> int:
        return self.attempts - self.voided

    @property
    def is_kept(self) -> bool:
        """Done without an attempt, since the base held its work and its checks passed there."""
        return bool(self.kept) and self.phase is StoryPhase.DONE and not self.attempts

    @property
    def is_unproven(self) -> bool:
        """Its work is on the branch, and no test and no person has shown yet that the story is done."""
        return bool(self.integrated) and self.phase is StoryPhase.VERIFIED and self.commit == self.integrated

    @property
    def is_improved(self) -> bool:
        """Its work is on the branch, and better work of it is verified."""
        return bool(self.integrated) and self.phase is StoryPhase.VERIFIED and self.commit != self.integrated

    @property
    def stands(self) -> bool:
        """It has work that goes on however its next attempt ends."""
        return bool(self.integrated) or (self.unshown is not None and not self.unshown.blind)

    @property
    def is_worked(self) -> bool:
        """Others can build on its work."""
        return bool(self.integrated) or (
            self.phase in SATISFIED and not (self.gated and self.phase is StoryPhase.VERIFIED)
        )

    @property
    def satisfied(self) -> bool:
        return self.skipped or self.is_worked

    @property
    def aside(self) -> bool:
        """Waits for a person's answer; stories that must not overtake it need not wait for it."""
        return bool(self.asked) or self.deferred

    @property
    def hopeless(self) -> bool:
        """Cannot go on by itself: it is parked, waits for a person, or depends on such a story. It has left the order."""
        return self.phase in PARKED or self.aside or (self.lost > 0 and self.phase in WAITING)

    @property
    def is_past(self) -> bool:
        """Retired, or out of the order: no other story waits for its turn."""
        return self.phase is StoryPhase.DONE or self.skipped or bool(self.integrated) or self.hopeless

    @property
    def work(self) -> tuple[str, ...]:
        """The commits that bring its work: its own tests where these came first, then the rest."""
        return (*(self.onto[-1:] if self.on_tests else ()), *((self.commit,) if self.commit else ()))

    @property
    def its_turn(self) -> bool:
        """Waits to begin, and for no other story."""
        return self.phase in WAITING and not self.skipped and self.unmet == 0 and self.behind == 0

    @property
    def clear(self) -> bool:
        """No longer in the way of stories that must not overtake it: neither it nor any before it that it must not overtake itself."""
        return (self.is_worked or self.skipped or self.hopeless) and self.behind == 0


@lean()
class Refusal:
    """An ending against which waiting may help, and after which no wait was decided yet."""

    story: str
    reason: Reason
    at: str
    """UTC."""
    ms: int | None
    """How long to wait, where the service said it."""
    message: str = ""


@lean()
class Question:
    id: str
    story: str | None
    text: str
    options: tuple[str, ...]
    """The words that it takes. Where a story is to be picked: the ids of the stories."""
    kind: str = "agent"
    """What it is about; `contract.answers` has the words that each kind takes."""
    round: int = 1
    """How often the same thing was asked."""
    asked_at: str = ""
    until: str = ""
    """When it expires; empty where it never does."""
    answer: str | None = None
    detail: str = ""
    actor: str = ""
    """Who answered."""
    answered_at: str = ""
    limit: str = ""
    """For a question for more budget: the limit that was reached."""
    lacks: str = ""
    """For a question about a result: what shows it is missing, so that a person's word is what makes it done."""

    def about(self) -> tuple[str, ...]:
        """Return the stories that wait for its answer."""
        return self.options if self.kind == "pick" else (self.story,) if self.story else ()


@lean()
class ChunkState:
    label: str
    stories: tuple[str, ...]
    left: int
    """Stories that are neither done nor skipped, and whose work is not on the branch."""
    started: bool = False
    ended: bool = False
    retries: int = 0
    """Counted attempts of its stories beyond the first of each."""


@lean()
class RunState:
    """A run as its log tells it. Treat it as a value: only `contract.fold` changes one."""

    stories: dict[str, StoryState]
    chunks: dict[str, ChunkState]
    dependents: dict[str, tuple[str, ...]]
    followers: dict[str, tuple[str, ...]]
    """Stories that must not overtake this one, although they do not depend on it."""
    needs: dict[str, tuple[str, ...]]
    """All that a story waits for, declared or not: its base includes their verified work."""
    order: list[str]
    """Story ids in plan order."""
    run_id: str = ""
    phase: RunPhase = RunPhase.CREATED
    seq: int = 0
    """Number of the last event."""
    epoch: int = 0
    """Number of the latest start."""
    started_at: str = ""
    """When that was."""
    engine: str = ""
    """Where the workers of the latest start get their orders; empty where there are none."""
    plan_digest: str = ""
    input_digest: str = ""
    ready: list[int] = field(default_factory=list)
    """Negated positions of the ready stories, sorted: the next in plan order is the last, so that removing it is cheap."""
    running: set[str] = field(default_factory=set)
    verified: set[str] = field(default_factory=set)
    proposed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    collected: set[str] = field(default_factory=set)
    """Stories whose passing verdict is recorded, and that have not moved on yet."""
    unshown: set[str] = field(default_factory=set)
    """Stories with work that passes its checks and that no test shows."""
    unfinished: list[str] = field(default_factory=list)
    """Chunks that may have a story left, last first; the next one surely has."""
    left: int = 0
    """Stories that are left in all chunks together."""
    over: int = 0
    """Position in plan order before which every story is done or skipped, for good."""
    retire_at: int = 0
    """Position in plan order before which every story is retired or parked."""
    active_chunk: str | None = None
    attempts: int = 0
    voided: int = 0
    free: int = 0
    """Attempts on which no agent worked: declined, withdrawn, or not begun. They show nothing of what an attempt uses."""
    used_ms: int = 0
    tokens: int = 0
    cost_micro_usd: int = 0
    unreported: int = 0
    """Attempts that did not say their tokens."""
    unpriced: int = 0
    """Attempts that did not say their cost."""
    largest_tokens: int = 0
    """The most that one attempt used; the next attempt may use as much."""
    largest_cost: int = 0
    assumed: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    """Steps whose workers were lost → tokens and cost that stand for what they used, until the workers report it themselves."""
    accepted: dict[str, int] = field(default_factory=dict)
    """Limit → attempts without a usage report that a person accepted by raising this limit."""
    refusal: Refusal | None = None
    shut: Reason | None = None
    """Why no further attempt begins in this start of the run. Every story would fail for this reason."""
    wait_until: str | None = None
    """UTC time before which no attempt begins."""
    wait_length_ms: int = 0
    """How long the wait under way is to last, whatever the wall clock is set to meanwhile."""
    wait_ms: int = 0
    """Sum of the waits since the agent last answered, or since a person last let the run go on."""
    waits: int = 0
    """How many waits have ended since then."""
    raised: dict[str, int] = field(default_factory=dict)
    """What people added to each limit; `story_max_attempts/S3` for one story."""
    units: bool = False
    """Whether a person agreed to the units of a proposal."""
    approved: frozenset[str] = frozenset()
    """Digests of document commands that may run."""
    questions: dict[str, Question] = field(default_factory=dict)
    asking: dict[str, Question] = field(default_factory=dict)
    """Those that are open."""
    pressing: dict[str, Question] = field(default_factory=dict)
    """The open ones that keep the run from going on or from its end."""
    base: str | None = None
    """Commit that the run began from."""
    head: str | None = None
    branch: str | None = None
    reason: Reason | None = None
    stop_requested: bool = False
    pauses: bool | None = None
    """Whether the run pauses after each chunk, as a person said since the latest start; None where the policy decides."""
    rests: bool = False
    """The run stops because a person said so at a question. That counts as a pause, not as an interruption."""
    unserved: bool = False
    """The run stops because no worker took what was ordered."""
    continue_after: str = ""
    """The story that was done last, until a person says to go on after it."""
    picking: str = ""
    """The open question that asks which of several stories goes on."""
    rest: dict[str, str] = field(default_factory=dict)
    """Kind of question → the chunk, or `run`, for which a person approved all further questions of this kind."""
    trusts_ticks: bool = False
    """A person takes the document's word for ticked boxes that no check of their own shows."""
    ticked: bool = False
    """The step that ticks finished stories in the plan's document is over, whether it could tick or not."""
    verify_rounds: int = 0
    checked: tuple[str, str, str] = ("", "", "")
    """The head on which the run's checks passed although it was no success yet, by which step, and their record's digest."""
    examined: bool = False
    """Every check ran once on the base, and nothing prevents a verdict."""
    red: tuple[str, ...] = ()
    """Tests, or whole checks, that failed before any agent was started."""

    @property
    def counted(self) -> int:
        return self.attempts - self.voided

    def ready_stories(self) -> Iterator[StoryState]:
        """Yield the ready stories in plan order."""
        return (self.stories[self.order[-place]] for place in reversed(self.ready))

    def in_order(self, names: Iterable[str]) -> list[StoryState]:
        """Return these stories in plan order."""
        return sorted((self.stories[name] for name in names), key=lambda story: story.index)

    def next_chunk(self) -> ChunkState | None:
        """Return the first chunk with a story left. Later chunks wait for all of its stories."""
        return self.chunks[self.unfinished[-1]] if self.unfinished else None

    def family(self, story: StoryState) -> Sequence[StoryState]:
        """Return the stories that share a story's budget: a parent and its substeps."""
        parent = self.stories[story.parent] if story.parent else story
        return (parent, *map(self.stories.__getitem__, parent.parts)) if parent.parts else (parent,)

    def open_questions(self) -> list[Question]:
        return list(self.asking.values())

    def is_asked(self, kind: str, story: StoryState) -> bool:
        """Tell whether a question of this kind about a story is open."""
        return any(self.questions[name].kind == kind for name in story.questions)


def initial(plan: Plan, followed: Mapping[str, tuple[str, ...]] | None = None) -> RunState:
    """Return the state of a run before its first event; `followed` names whom each story must not overtake."""
    declared = {story.id: story.depends_on for story in plan.stories}
    implied = followed or {}
    return RunState(
        stories={
            story.id: StoryState(
                id=story.id,
                index=index,
                chunk=story.chunk,
                unmet=len(story.depends_on),
                behind=len(implied.get(story.id, ())),
            )
            for index, story in enumerate(plan.stories)
        },
        chunks={chunk.label: ChunkState(chunk.label, chunk.stories, len(chunk.stories)) for chunk in plan.chunks},
        dependents=_turned(declared),
        followers=_turned(implied),
        needs={name: tuple(dict.fromkeys((*names, *implied.get(name, ())))) for name, names in declared.items()},
        order=list(declared),
        unfinished=[chunk.label for chunk in reversed(plan.chunks) if chunk.stories],
        left=len(plan.stories),
    )


def _turned(edges: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the reverse mapping: from "waits for" to "is waited for by"."""
    found: dict[str, list[str]] = {}
    for name, needed in edges.items():
        for other in needed:
            found.setdefault(other, []).append(name)
    return {name: tuple(names) for name, names in found.items()}
