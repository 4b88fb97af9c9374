"""The failure report: what failed, its output, where the evidence is, and what to type next."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from santiago.app.history import History
from santiago.app.paths import near
from santiago.app.substeps import with_substeps
from santiago.artifacts.attempts import AGENT_LOG
from santiago.artifacts.names import attempt_folder
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.record import record
from santiago.executor.budget import Budget
from santiago.executor.situation import Scope
from santiago.executor.tally import status_of
from santiago.report import refused
from santiago.report.endings import origin
from santiago.report.evidence import AttemptEvidence, Check, checks_in, first_failing, totals
from santiago.report.story_status import lacking, named, unmet
from santiago.util.text import count, flat

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState, StoryState


FULL = 3
"""How many stories are shown with their output. The others are only named."""
OUTPUT_LINES = 20
_SAME = "This is the same failure as in the attempt before"
_BEFORE = "This failed in the same way before the attempt:"


class Output(NamedTuple):
    """Output of a program. The front end decides how to frame it."""

    lines: list[str]
    command: str = ""
    """The check that printed it; empty if it is not a check's output."""
    ended: str = ""


def _output(check: Check) -> Output:
    return Output(check.lines(OUTPUT_LINES), check.command, check.ended)


@record
class Report:
    """The report of one run, made from plan, log and evidence."""

    plan: Plan
    run_input: RunInput
    state: RunState
    out_dir: Path
    history: History = field(default_factory=History)
    """What the log tells besides the state, as far as it was read."""
    frozen: RunInput | None = None
    """The frozen run input, if `run_input` also holds the flags of this start."""
    scope: Scope = field(default_factory=Scope)
    """The chunks and stories of this start."""

    def needing(self) -> list[Story]:
        """Return the stories that need a person: failed ones, then blocked ones."""
        found = [
            story
            for phase in (StoryPhase.FAILED, StoryPhase.BLOCKED)
            for story in self._stories()
            if self.state.stories[story.id].phase is phase and not self.state.stories[story.id].skipped
        ]
        parents = {
            self.state.stories[story.id].parent for story in found
        }  # the parents of failed substeps, which tell more than the parents
        return [story for story in found if story.id not in parents] or self._running_out()

    def _stories(self) -> tuple[Story, ...]:
        return with_substeps(self.plan, self.state, self.out_dir)

    def _running_out(self) -> list[Story]:
        """Return the stories that were tried without success, if the run's own attempts are used up."""
        if self.state.phase not in (RunPhase.FAILED, RunPhase.BLOCKED):
            return []
        return [
            story
            for story in self._stories()
            if self.state.stories[story.id].attempts
            and status_of(self.state.stories[story.id]) == "pending"
            and not self.state.stories[story.id].aside
        ]

    def attempts(self, joint: str = "/") -> str:
        """Return how much of the run's attempts is used: `6/20 attempts`."""
        most = Budget(self.run_input.limits, self.state).run_attempts
        return f"{self.state.counted}{joint}{count(most, 'attempt')}"

    def heading(self, planned: Story) -> str:
        story = self.state.stories[planned.id]
        ended = story.phase in (StoryPhase.FAILED, StoryPhase.BLOCKED) and not self.run_is_spent(story)
        word = story.phase if ended else "not done"
        return f"{planned.id} {flat(planned.title)}: {word}"

    def block(self, planned: Story) -> list[str | Output]:
        """Return everything about one story, without its heading."""
        story = self.state.stories[planned.id]
        lines: list[str | Output] = [
            f"why        {self.why(story)}",
            f"from       {self.plan.source.path}:{planned.origin.line}   {', '.join(planned.requirements[:6])}",
        ]
        if stopped := refused.of_story(self.state, self.run_input, self.out_dir, story.id):
            lines += stopped
        elif story.attempts:
            lines += self._attempt(planned, story)
        for question in self.state.open_questions():
            if (
                question.story == planned.id and question.kind == "agent"
            ):  # a question of the judge is already shown above
                lines += [f"question   {flat(question.id)}: {flat(question.text)}"]
        return lines

    def why(self, story: StoryState) -> str:
        """Return why a story failed. If its budget is used up, return how its last attempt ended."""
        if self.run_is_spent(story):
            left = count(self.left(), "story is", "stories are")
            return f"{Reason.ATTEMPT_BUDGET_EXHAUSTED}: the run used {self.attempts(' of ')}; {left} left"
        budget = Budget(self.run_input.limits, self.state)
        spent = used_attempts(budget, story)
        if story.reason != Reason.ATTEMPT_BUDGET_EXHAUSTED and story.phase is not StoryPhase.READY:
            sentence = self._sentence(story)
            return f"{story.reason or '-'}: {sentence} ({spent})"
        reason = AttemptEvidence(self.out_dir, story.id, story.attempts).reason() or story.reason or self.state.reason
        minutes = ", and all of its minutes" if budget.story_ms_left(story) <= 0 else ""
        return f"{origin(self.out_dir, story.id, story.attempts, reason or '')}, {spent} used{minutes}"

    def _sentence(self, story: StoryState) -> str:
        planned = next(one for one in self.plan.stories if one.id == (story.parent or story.id))
        if names := lacking(planned, story):
            return f"It depends on {names}, outside the document."
        return MEANINGS[story.reason].sentence if story.reason else ""

    def run_is_spent(self, story: StoryState | None = None) -> bool:
        """Tell whether the run's attempts are used up, and not those of this story, or of any failed story."""
        if story is None:
            needing = self.needing()
            return bool(needing) and all(self.run_is_spent(self.state.stories[one.id]) for one in needing)
        budget = Budget(self.run_input.limits, self.state)
        return story.reason == Reason.ATTEMPT_BUDGET_EXHAUSTED and budget.story_exhausted(story) is None

    def left(self) -> int:
        """Return how many stories are neither done nor left out."""
        return sum(not story.skipped and story.phase is not StoryPhase.DONE for story in self.state.stories.values())

    def at_rest(self) -> list[str]:
        """Return why a run paused although nobody stopped it."""
        return refused.of_rest(self.state, self.run_input, self.out_dir)

    def _attempt(self, planned: Story, story: StoryState) -> list[str | Output]:
        number = story.attempts
        evidence = AttemptEvidence(self.out_dir, planned.id, number)
        lines: list[str | Output] = []
        failing = evidence.failing()
        if failing is not None:
            lines.append(_output(failing))
        elif (critique := evidence.critique()) and story.reason != Reason.AGENT_ASKED:  # the question already tells it
            told = [line for line in critique.splitlines() if line.strip() and not line.startswith(("# ", _SAME))]
            lines.append(Output(told[:OUTPUT_LINES]))
        lines += self._same(planned.id, number)
        if _BEFORE in evidence.critique():
            lines.append(
                "before     the same checks failed before the attempt, and none of them passes now: the critique names them"
            )
        if stats := evidence.stats():
            lines.append(f"changes    {totals(stats)}{self._kept(planned.id, number)}")
        folder = self.out_dir / attempt_folder(planned.id, number)
        lines.append(f"log        {near(folder / AGENT_LOG)}   ({count(evidence.log_lines(), 'line')})")
        lines.append(f"evidence   {near(folder)}")
        return lines

    def failing_check(self, story: str) -> list[Output]:
        """Return the output of the check that failed in a story's latest attempt."""
        failing = AttemptEvidence(self.out_dir, story, self.state.stories[story].attempts).failing()
        return [_output(failing)] if failing else []

    def _kept(self, story: str, number: int) -> str:
        if any(one.pruned for one in self.history.of(story) if one.number == number):
            return "; its ref was removed by `santiago clean`"
        return f", kept at refs/santiago/{self.state.run_id}/{story}/{number}"

    def _same(self, story: str, number: int) -> list[str]:
        """Return since which attempt the failure has been the same, in words."""
        since = number
        while since > 1 and _SAME in AttemptEvidence(self.out_dir, story, since).critique():
            since -= 1
        if since == number:
            return []
        which = f"attempts {since} {'and' if number == since + 1 else 'to'} {number}"
        return [f"same failure in {f'all {number} attempts' if since == 1 and number > 2 else which}"]

    @property
    def run_heading(self) -> str:
        return f"the whole run: {self.state.phase}"

    def run_check(self) -> list[str | Output]:
        """Return the output of the run's own check that failed, or why none could run."""
        name = f"run-{self.state.verify_rounds}" if self.state.verify_rounds else "base"
        path = self.out_dir / "evidence" / f"{name}.json"
        failing, message = first_failing(checks_in(path)), self.history.end.get("message", "")
        if failing is None and not message:
            return []
        told = _output(failing) if failing else Output(message.splitlines()[:OUTPUT_LINES])
        sentence = MEANINGS[self.state.reason].sentence if self.state.reason else ""
        fix = [f"fix        {hint}"] if (hint := self.history.end.get("hint", "")) else []
        return [f"why        {self.state.reason}: {sentence}", told, *fix, f"evidence   {near(path)}"]

    def by_status(self) -> list[str]:
        """Return which stories failed, are blocked, done, left out, or not done."""
        by: dict[str, list[str]] = {}
        for story in map(self.state.stories.__getitem__, (one.id for one in self.plan.stories)):
            by.setdefault("unproven" if story.is_unproven else status_of(story), []).append(story.id)
        words = {
            "failed": "Failed", "blocked": "Blocked", "unproven": "Not proven", "done": "Done", "skipped": "Left out",
            "pending": "Not done",
        }  # fmt: skip
        parts = [f"{word}: {_shortened(by[status])}" for status, word in words.items() if by.get(status)]
        waiting = [
            f"{name} needs {named(needed)}"
            for name in by.get("pending", [])
            if (needed := [n for n in unmet(self.state, self.state.stories[name]) if self._is_parked(n)])
        ]
        return ["     ".join(parts) + (f"  ({'; '.join(waiting[:4])})" if waiting else "")]

    def _is_parked(self, name: str) -> bool:
        return self.state.stories[name].phase in (StoryPhase.FAILED, StoryPhase.BLOCKED)


def report_of(run: Run) -> Report:
    """Return the report of a run as it is on disk."""
    return Report(plan=run.plan, run_input=run.run_input, state=run.state, out_dir=run.out_dir, history=run.history)


def used_attempts(budget: Budget, story: StoryState) -> str:
    """Return how many of its attempts a story has used, in words. A parent and its substeps share theirs."""
    family = list(budget.state.family(story))
    shared = f" of {story.parent or story.id} and its substeps" if len(family) > 1 else ""
    return f"{sum(one.counted for one in family)} of {count(budget.story_attempts(story.parent or story.id), 'attempt')}{shared}"


def _shortened(names: list[str]) -> str:
    return " ".join(names[:12]) + (f" … ({len(names)})" if len(names) > 12 else "")
