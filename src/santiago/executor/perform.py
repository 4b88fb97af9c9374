"""Carrying out steps through the ports: an agent's attempt and the verdict on it, integration, the checks of the run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, assert_never

from santiago.contract import box_ticks
from santiago.contract.checks import commands_of, with_own_check
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import (
    AgentEnding,
    AheadOutcome,
    AttemptOutcome,
    BaseExamined,
    ClaimOutcome,
    IntegrationOutcome,
    Outcome,
    RunVerdict,
    StepStatus,
    TicksWritten,
    Usage,
    Verdict,
)  # fmt: skip
from santiago.contract.plan import Plan, Story, content_of
from santiago.contract.policy import RunInput
from santiago.contract.ports.agent import AgentBackend, Packet
from santiago.contract.ports.judge import Judge, SetUpFailedError, Work
from santiago.contract.ports.run import Clock, Stop
from santiago.contract.ports.workspace import Opened, Snapshot, Workspace, WorkspaceConflictError
from santiago.contract.quantities import Usd
from santiago.contract.reasons import SHARED, Reason
from santiago.contract.record import lean
from santiago.contract.steps import (
    Adopt,
    Ahead,
    Attempt,
    ExamineBase,
    Integrate,
    JudgeClaim,
    Order,
    Propose,
    VerifyAhead,
    VerifyRun,
    WriteBack,
)
from santiago.executor import critique, detailed_plan, messages
from santiago.executor.proposing import Proposer

if TYPE_CHECKING:
    from santiago.contract.ports.artifacts import AttemptFiles, DetailFiles

MOST_TEST_FILES = 10
"""Test files that an agent is told of."""
_LOOKS_LIKE_TEST = pattern(r"(?:^|[/_.-])(?:tests?|spec)[/_.-]|Tests?\.\w+$", re.ASCII)


@lean(kw_only=True)
class StepPerformer:
    """Carries out each kind of step. It holds no state of the run."""

    plan: Plan
    run_input: RunInput
    workspace: Workspace
    agent: AgentBackend
    tests_agent: AgentBackend
    """The agent that writes a story's tests first, if that is wanted."""
    judge: Judge
    files: AttemptFiles
    details: DetailFiles
    clock: Clock
    plan_folder: str
    stories: dict[str, Story]
    leak: Callable[[Snapshot, str], str] = lambda *_: ""
    """Says which secret the work adds, and where; empty if there is none."""
    mend_plan: Callable[[], list[str]] = list
    """Restores the files that were changed in the plan's folder, and returns their names."""
    surroundings: Callable[[], str] = str
    """Describes what verdicts depend on besides trees and commands: variables, settings, sandbox, dependencies."""
    criteria: dict[str, str] = field(init=False)
    in_chunk: dict[str, list[str]] = field(init=False)
    """Chunk → its stories in words."""

    with_own_check: frozenset[str] = field(init=False)
    """Stories that a check of their own shows."""

    def __post_init__(self) -> None:
        self.with_own_check = with_own_check(self.plan, self.run_input)
        self.criteria = self.plan.criteria
        self.in_chunk = {}
        for story in self.plan.stories:
            self.in_chunk.setdefault(story.chunk, []).append(f"{story.id} {story.title}")

    def perform(self, order: Order, stop: Stop) -> Outcome:
        """Carry out an order, and return its outcome."""
        match order.step:
            case ExamineBase() as step:
                return self._examine(step, order, stop)
            case Propose() as step:
                return self._proposer().propose(step, order, self._story(step.story, order), stop)
            case Attempt() as step:
                return self._attempt(step, order, stop)
            case Adopt() as step:
                return self._adopt(step, order, stop)
            case Integrate() as step:
                return self._integrate(step, order, stop)
            case VerifyAhead() as step:
                return self._verify_ahead(step, order, stop)
            case JudgeClaim() as step:
                return self._claim(step, order, stop)
            case WriteBack() as step:
                return self._write_back(step, order)
            case VerifyRun() as step:
                return self._verify_run(step, order, stop)
            case _:
                assert_never(order.step)

    def _story(self, name: str, order: Order) -> Story:
        """Return a story with what its approved detailed plan adds. A substep is made from its parent's plan."""
        owner = order.parent if order.parent and name not in self.stories else name
        ref = next((one for one in order.details if one.story == owner), None)
        if ref is None or isinstance(order.step, Propose):
            return self.stories[owner]
        story, detail = self.stories[owner], self.details.get(ref)
        if name != owner:
            return detailed_plan.substep(story, detail, detailed_plan.substep_ids(owner, detail).index(name) + 1)
        return detailed_plan.detailed(story, detail)

    def _stories(self, order: Order) -> list[Story]:
        return [self._story(name, order) for name, _ in order.stories if name in self.stories]

    def _examine(self, step: ExamineBase, order: Order, stop: Stop) -> BaseExamined:
        """Run the checks on the base, before any agent is started."""
        began = self.clock.monotonic_ms()
        stories = self._stories(order)
        found = self.judge.examine(step.commit, stories, stop)
        verify_ms = self.clock.monotonic_ms() - began
        if found is None:
            return BaseExamined(step=step.id, verify_ms=verify_ms, stopped=True)
        proposal, checks = found.proposal, {one for story in stories for one in commands_of(story, self.run_input)}
        # Another check is a person's to name, perhaps in the document.
        settings = proposal.settings(self.run_input.workspace) if proposal and proposal.check in checks else ()
        return BaseExamined(
            step=step.id, reason=found.reason, message=found.message, hint=found.hint, red=found.red, notes=found.notes,
            settings=settings, verify_ms=verify_ms, digest=self.files.keep_record("base", found.record),
        )  # fmt: skip

    # An attempt

    def _attempt(self, step: Attempt, order: Order, stop: Stop) -> AttemptOutcome:
        """Make a folder, let the agent work in it, keep its work, and judge the work."""
        story, blank = self._story(step.story, order), _blank(step.id, step.story, step.number)
        try:
            opened = self.workspace.open(step.story, step.number, step.base)
            self.judge.prepare(opened.folder, stop)
            if self.run_input.workspace.setup:
                self.workspace.prepared(step.story, step.number)
            laid = not step.work or self.workspace.lay(step.story, step.number, step.work)
        except WorkspaceConflictError as error:
            return replace(blank, status="voided", reason=Reason.WORKSPACE_CONFLICT, message=error.message)
        except SetUpFailedError as error:
            # No agent was asked, so no attempt is spent.
            self.workspace.close(step.story, step.number)
            unready = replace(blank, status="voided", reason=Reason.VERIFICATION_UNRUNNABLE, message=str(error))
            return self._recorded(unready, None)
        began = self.clock.monotonic_ms()
        step = replace(step, shows=step.shows and laid)
        ending = self._let_work(story, step, order, opened, stop)
        agent_ms = ending.ms or self.clock.monotonic_ms() - began
        ending = replace(ending, ms=agent_ms)
        # What goes wrong from here on is not the agent's fault, and must not lose its work.
        self.files.keep_ending(step.story, step.number, ending)
        snapshot = self.workspace.snapshot(step.story, step.number, self.message(order))
        outcome = replace(blank, ending=ending, agent_ms=agent_ms, notes=messages.mended(self.mend_plan()))
        if snapshot is not None:
            outcome = replace(outcome, commit=snapshot.commit, left_out=snapshot.left_out)
            self.files.keep_work(step.story, step.number, snapshot.patch, snapshot.left_out)
            if snapshot.too_large:
                ending = replace(ending, reason=ending.reason or Reason.DISK_LIMIT)
                self.files.keep_ending(step.story, step.number, ending)
                outcome = replace(outcome, ending=ending, message=messages.too_large(snapshot.too_large))
        outcome = self._judged(outcome, step, order, opened.base, snapshot, stop)
        self.workspace.close(step.story, step.number)
        return outcome

    def message(self, order: Order) -> str:
        """Return the message of the commit that keeps the work of an attempt."""
        step = order.step
        assert isinstance(step, Attempt)
        story = self._story(step.story, order)
        return messages.commit_message(order.run_id, story, step.number, order.anchor, content_of(self.plan, story))

    def _let_work(self, story: Story, step: Attempt, order: Order, opened: Opened, stop: Stop) -> AgentEnding:
        packet = replace(
            self._packet(story, order, opened.folder),
            attempt=step.number,
            critiques=tuple(
                filter(critique.concerns_the_work, self.files.critiques(step.story, step.number, order.tests_by))
            ),
            log=self.files.log_path(step.story, step.number),
            prompt_file=self.files.prompt_path(step.story, step.number),
            timeout_ms=step.timeout_ms,
            tests_only=step.tests,
            shows=step.shows,
            tests_by=order.tests_by,
            test_files=self._test_files(opened.base, written=bool(order.tests_by)),
            **self._approved(order),
        )
        agent = self.tests_agent if step.tests else self.agent
        self.files.keep_prompt(step.story, step.number, agent.render(packet))
        return agent.attempt(packet, stop)

    def _packet(self, story: Story, order: Order, folder: str) -> Packet:
        """Return what every agent is told about a story."""
        return Packet(
            run_id=order.run_id,
            story=story,
            attempt=0,
            criteria=tuple(
                (story.name_of(name), self.criteria[name]) for name in story.criteria if name in self.criteria
            ),
            commands=commands_of(story, self.run_input),
            chunk_titles=tuple(self.in_chunk[story.chunk]),
            critiques=(),
            notes=order.notes,
            folder=folder,
            plan_folder=self.plan_folder,
            log="",
            prompt_file="",
            timeout_ms=0,
            context=tuple(row for row in self.plan.account if row.text or row.is_context),
            budget_tokens=order.tokens,
            budget_micro_usd=order.micro_usd,
        )

    def _approved(self, order: Order) -> dict[str, Any]:
        """Return the packet's fields for the detailed plan that a person approved."""
        if not order.details:
            return {}
        ref = order.details[0]
        text = detailed_plan.markdown(self.stories[ref.story], self.details.get(ref))
        return {"detail": text, "detail_digest": ref.digest}

    def _proposer(self) -> Proposer:
        return Proposer(
            workspace=self.workspace, agent=self.agent, judge=self.judge, details=self.details, clock=self.clock,
            packet=self._packet, commands=lambda story: commands_of(story, self.run_input),
        )  # fmt: skip

    def _test_files(self, base: str, *, written: bool) -> tuple[str, ...]:
        """Return the files of the story's own tests, if these were written first; else some other test files of the base."""
        if written:
            return self.workspace.changed(self.workspace.base_of(base), base)[:MOST_TEST_FILES]
        found = sorted(path for path in self.workspace.files(base) if _LOOKS_LIKE_TEST.search(path))
        return tuple(found[:: len(found) // MOST_TEST_FILES + 1])

    def _judged(
        self,
        outcome: AttemptOutcome,
        step: Attempt | Adopt,
        order: Order,
        base: str,
        snapshot: Snapshot | None,
        stop: Stop,
    ) -> AttemptOutcome:
        """Return the outcome with its reason or its verdict. What the agent said about its work plays no part."""
        ending = outcome.ending
        assert ending is not None
        if ending.reason is not None:
            status: StepStatus = "stopped" if ending.reason is Reason.INTERRUPTED else "failed"
            return self._recorded(replace(outcome, status=status, reason=ending.reason), None)
        if snapshot is None or not snapshot.changes:
            return self._recorded(_unchanged(outcome), None)
        if leak := self.leak(snapshot, base):
            # The commit is dropped, so that nobody can accept the work either.
            return self._recorded(replace(outcome, reason=Reason.SECRET_IN_WORK, message=leak, commit=None), None)
        if stop.soon():
            # The log still says that the attempt is running, so the next start will judge the snapshot.
            return replace(outcome, status="stopped", reason=None)
        began = self.clock.monotonic_ms()
        try:
            judged = self.judge.attempt(self._work(step, order, base, snapshot, ending), stop)
        except SetUpFailedError as error:
            # The same set-up commands succeeded on the base, so the work is what makes them fail.
            verify_ms = self.clock.monotonic_ms() - began
            failed = replace(outcome, reason=Reason.STORY_VERIFICATION_FAILED, message=str(error), verify_ms=verify_ms)
            return self._recorded(failed, None)
        if judged is None:
            return replace(outcome, status="stopped", reason=None)
        verdict = judged.verdict
        outcome = replace(outcome, verdict=verdict, verify_ms=self.clock.monotonic_ms() - began)
        if verdict.lacks_test and not self.files.ending(step.story, step.number):
            verdict = replace(verdict, excuse="a person's own work")  # no agent was asked, and none is
        judged_status: StepStatus = "ok" if verdict.passed else "failed"
        outcome = replace(outcome, status=judged_status, reason=verdict.reason, tests=judged.tests)
        if judged.tests:
            self.workspace.keep_tests(outcome.story, outcome.number, judged.tests)
        if is_same_refusal(self._before(outcome), outcome):
            # The agent was told about this and did it again. Now a person must decide.
            outcome = replace(outcome, reason=Reason.NEEDS_USER_CONFIRMATION)
        return self._recorded(outcome, judged.record)

    def _work(self, step: Attempt | Adopt, order: Order, base: str, snapshot: Snapshot, ending: AgentEnding) -> Work:
        """Return the work to judge. If the agent names no evidence, it is taken from the attempt that wrote the tests."""
        written = self.files.ending(step.story, order.tests_by) if order.tests_by else None
        story = self._story(step.story, order)
        ids = {story.name_of(name): name for name in story.criteria}
        named = (*(written.evidence if written else ()), *ending.evidence)
        evidence = {ids.get(name, name): test for name, test in named}
        return Work(
            story=story, attempt=step.number, base=base, snapshot=snapshot,
            evidence=tuple(evidence.items()), writes_tests=step.tests,
            before_tests=self.workspace.base_of(base) if order.tests_by else None,
            before_story=order.before or None, needs_no_proof=order.parent is not None,
        )  # fmt: skip

    def _recorded(self, outcome: AttemptOutcome, record: bytes | None) -> AttemptOutcome:
        """Write the attempt's evidence. The verification record is on disk before anything refers to it."""
        text = critique.critique(outcome, self._before(outcome)) if outcome.reason else ""
        digest, files = self.files.keep_outcome(outcome, record, text)
        return replace(outcome, digest=digest, files=files)

    def _before(self, outcome: AttemptOutcome) -> AttemptOutcome | None:
        """Return the outcome of the latest earlier attempt that tells something about the work."""
        found = (self.files.outcome(outcome.story, number) for number in range(outcome.number - 1, 0, -1))
        latest = next((one for one in found if one is not None and one.reason not in SHARED), None)
        return None if latest is not None and latest.tests else latest

    def _adopt(self, step: Adopt, order: Order, stop: Stop) -> AttemptOutcome:
        """Judge the kept work of an attempt of an earlier start, as if its agent had just ended."""
        if step.commit:
            self.workspace.keep(step.story, step.number, step.commit)
        snapshot = self.workspace.kept(step.story, step.number)
        # A person's own work has no agent's ending, and costs nothing.
        nobody = AgentEnding(reason=None, exit_code=0, message="", usage=Usage(tokens=0, cost_usd=Usd(0)))
        ending = self.files.ending(step.story, step.number) or nobody
        outcome = replace(_blank(step.id, step.story, step.number), ending=ending, agent_ms=ending.ms)
        left_out = self.files.left_out(step.story, step.number)
        outcome = replace(outcome, commit=snapshot.commit if snapshot else None, left_out=left_out)
        base = self.workspace.base_of(snapshot.commit) if snapshot else order.base
        outcome = self._judged(outcome, step, order, base, snapshot, stop)
        self.workspace.close(step.story, step.number)
        return outcome

    # Integration and the run

    def _integrate(self, step: Integrate, order: Order, stop: Stop) -> IntegrationOutcome:
        """Put verified work onto the branch. If the branch has moved since, verify the work again first."""
        story = self._story(step.story, order)
        if step.commit == order.head:
            return IntegrationOutcome(step=step.id, story=step.story, head=order.head, commit=step.commit)
        base = self.workspace.base_of(step.commit)
        if order.tests_by:
            base = self.workspace.base_of(base)  # so that the tests which were written first are part of the work
        content = content_of(self.plan, story)
        trailers = messages.trailers(order.run_id, story, step.attempt, order.anchor, content)
        subject = messages.subject(story)
        made = self.workspace.integrate(step.story, step.commit, base, subject, trailers, onto=order.head)
        blank = IntegrationOutcome(step=step.id, story=step.story, head=None)
        if made.head is None:
            return replace(blank, reason=Reason.WORKSPACE_CONFLICT, message=f"conflict in {made.conflict}")
        if made.moved:
            began = self.clock.monotonic_ms()
            verdict, digest, ahead = self._second_verdict(step, made.head, order, stop)
            verify_ms = 0 if ahead else self.clock.monotonic_ms() - began
            blank = replace(blank, verify_ms=verify_ms, digest=digest, ahead=ahead)
            if not verdict.passed:
                return self._turned_down(step, verdict, replace(blank, digest=None))
        head = self.workspace.advance(order.head, made.head)
        return replace(blank, head=head, commit=head)

    def _second_verdict(
        self, step: Integrate, commit: str, order: Order, stop: Stop
    ) -> tuple[Verdict, str | None, str]:
        """Return the verdict on a story's work together with that of others, its record's digest, and the step that gave it ahead."""
        story, name = self._story(step.story, order), f"{step.story}-{step.attempt}-merged"
        if known := order.known_by(self._key(story, step.attempt, order.head, commit)):
            return PASSED, known.digest, known.step
        judged = self.judge.tree(story, name, commit, order.head, step.attempt, stop)
        if judged is None:
            return _INTERRUPTED, None, ""
        return judged.verdict, self.files.keep_record(name, judged.record), ""

    def _verify_ahead(self, step: VerifyAhead, order: Order, stop: Stop) -> AheadOutcome:
        """Give the verdict of a story's turn before that turn, on commits that nobody keeps: the branch gets others."""
        story, began = self._story(step.story, order), self.clock.monotonic_ms()
        own = 2 if order.tests_by else 1
        found = Ahead(step=step.id, onto=step.onto, passed=False)
        blank = AheadOutcome(story=step.story, attempt=step.attempt, ahead=found)
        try:
            before = self.workspace.stacked(step.onto[:-own])
            after = self.workspace.stacked((before, *step.onto[-own:]))
        except WorkspaceConflictError as error:
            return replace(blank, message=f"conflict in {error.where}")
        found = replace(found, key=self._key(story, step.attempt, before, after))
        if self.workspace.tree(after) == self.workspace.tree(step.onto[-1]):
            return replace(blank, ahead=replace(found, passed=True))  # the tree of its own verdict
        judged = self.judge.tree(story, f"{step.story}-{step.attempt}-ahead", after, before, step.attempt, stop)
        if judged is None:
            return replace(blank, stopped=True)
        digest = self.files.keep_record(step.id.replace("/", "-"), judged.record)
        found = replace(found, passed=judged.verdict.passed, digest=digest)
        message = "" if found.passed else judged.verdict.message or UNFIT
        return replace(blank, ahead=found, message=message, verify_ms=self.clock.monotonic_ms() - began)

    def _key(self, story: Story, attempt: int, before: str, after: str) -> str:
        """Return a digest of all that the verdict on a story's work together with that of others rests on."""
        trees = [self.workspace.tree(commit) for commit in (before, after)]
        told = [story.id, attempt, self.files.prompt_path(story.id, attempt), *commands_of(story, self.run_input)]
        return sha256(repr((told, self.surroundings(), trees)).encode()).hexdigest()

    def _turned_down(self, step: Integrate, verdict: Verdict, blank: IntegrationOutcome) -> IntegrationOutcome:
        """Return why verified work does not come onto the branch. The next attempt is told only if the work is to blame."""
        if verdict.reason in (Reason.INTERRUPTED, Reason.VERIFICATION_UNRUNNABLE):
            return replace(blank, reason=verdict.reason, message=verdict.message)
        text = verdict.message or UNFIT
        files = self.files.keep_conflict(step.story, step.attempt, text, verdict)
        return replace(blank, reason=Reason.WORKSPACE_CONFLICT, message=text, files=files)

    def _claim(self, step: JudgeClaim, order: Order, stop: Stop) -> ClaimOutcome:
        began, name = self.clock.monotonic_ms(), f"{step.story}-claim"
        # A story with finished substeps is compared with the commit that it began on, one that an earlier run finished
        # with the commit that this run began on. A mere claim is compared with nothing.
        base = order.base if order.parts else order.began if order.kept else None
        judged = self.judge.tree(self._story(step.story, order), name, order.head, base, 0, stop)
        blank = ClaimOutcome(step=step.id, story=step.story, commit=order.head, verdict=_INTERRUPTED)
        if judged is None:
            return blank
        digest = self.files.keep_record(name, judged.record)
        found, policy = judged.verdict, self.run_input.policy
        if order.parts and found.passed and found.proof is None and policy.wants_proof:
            why = "its substeps were judged one by one"
            found = replace(found, passed=False, reason=Reason.UNPROVEN, lacks_test=True, excuse=why)
        own = order.parts or order.kept or step.story in self.with_own_check
        verify_ms = self.clock.monotonic_ms() - began
        return replace(blank, verdict=found, own_check=own, verify_ms=verify_ms, digest=digest)

    def _write_back(self, step: WriteBack, order: Order) -> TicksWritten:
        """Tick the finished stories in the document on the branch. After a crash the branch may already have that commit."""
        path, blank = self.run_input.prd_path, TicksWritten(step=step.id, head=None, message="")
        content = self.workspace.read(order.head, path)
        why = box_ticks.refusal(self.plan, path, content)
        if why or content is None:
            return replace(blank, message=why, refused=True)
        written = box_ticks.tick(content, box_ticks.lines_of(self.plan, {name for name, _ in order.stories}))
        if written == content:
            return replace(blank, message=f"{path} has no box to tick for what is done")
        message = messages.ticks_message(order.run_id, path, order.anchor)
        made = self.workspace.compose(order.head, order.head, (), {path: written}, message)
        count = sum(one != other for one, other in zip(content, written, strict=True))
        head = self.workspace.advance(order.head, made)
        return replace(blank, head=head, message=f"{count} ticks in {path}" if count > 1 else f"1 tick in {path}")

    def _verify_run(self, step: VerifyRun, order: Order, stop: Stop) -> RunVerdict:
        began = self.clock.monotonic_ms()
        judged = self.judge.run(order.began, order.head, self._stories(order), self._accepted(order.stories), stop)
        verify_ms = self.clock.monotonic_ms() - began
        if judged is None:
            return RunVerdict(step=step.id, verdict=_INTERRUPTED, verify_ms=verify_ms, stopped=True)
        digest = self.files.keep_record(f"run-{step.round}", judged.record)
        return RunVerdict(step=step.id, verdict=judged.verdict, verify_ms=verify_ms, digest=digest)

    def _accepted(self, done: tuple[tuple[str, int], ...]) -> list[str]:
        """Return the tests whose change a person accepted: those in the questions about stories that are now done."""
        outcomes = (self.files.outcome(name, number) for name, number in done if number)
        verdicts = [one.verdict for one in outcomes if one is not None and one.verdict is not None]
        return [
            test
            for verdict in verdicts
            for test in (*verdict.changed, *verdict.vanished, *verdict.eased, *verdict.broken)
        ]


UNFIT = "its checks fail on the work of the other stories"
PASSED = Verdict(passed=True, proof=None, reason=None, results=())
_INTERRUPTED = Verdict(passed=False, proof=None, reason=Reason.INTERRUPTED, results=())


def is_same_refusal(before: AttemptOutcome | None, now: AttemptOutcome) -> bool:
    """Tell whether work that passes its own checks was refused for the same reason as the attempt before."""
    if before is None or before.verdict is None or now.verdict is None or now.verdict.passed:
        return False
    then, told = before.verdict, now.verdict
    same = (then.reason, then.broken, then.eased, then.message) == (told.reason, told.broken, told.eased, told.message)
    return told.refused and same and bool(told.message)


def _blank(step: str, story: str, number: int) -> AttemptOutcome:
    return AttemptOutcome(
        step=step, story=story, number=number, status="failed", reason=None, commit=None, verdict=None, ending=None
    )


def _unchanged(outcome: AttemptOutcome) -> AttemptOutcome:
    """Return the outcome of an attempt without changes: the agent was denied its tools, asked a question, or did nothing."""
    ending = outcome.ending
    assert ending is not None
    if ending.denials:
        named = ", ".join(dict.fromkeys(ending.denials[:20]))
        return replace(outcome, reason=Reason.AGENT_DENIED, message=f"It was not allowed to use: {named[:500]}")
    words = ending.message.strip().splitlines()
    if words and words[-1].rstrip().endswith(("?", "？")):
        asked = replace(ending, reason=Reason.AGENT_ASKED, question=words[-1].strip())
        return replace(outcome, reason=Reason.AGENT_ASKED, ending=asked)
    return replace(outcome, reason=Reason.AGENT_NO_CHANGE)
