"""The failure report: what failed, its output, where the evidence is, and what to type next."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from santiago.app.loading import History, record_in, with_substeps
from santiago.app.paths import near
from santiago.artifacts.names import AGENT_LOG, attempt_folder
from santiago.contract.moments import ms_of, text_of
from santiago.contract.phases import PARKED, RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.record import record
from santiago.executor.budget import Budget
from santiago.executor.scope import Scope
from santiago.executor.tally import status_of
from santiago.report import spending
from santiago.report.endings import Ending, ending_of, helping, is_the_agents, origin
from santiago.report.evidence import AttemptEvidence, Check, checks_in, first_failing, totals
from santiago.report.measures import limit, span
from santiago.report.page import Line, framed, labelled
from santiago.report.story_status import lacking, named, unmet
from santiago.util.clock import moment
from santiago.util.text import count, flat, harmless

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState, StoryState


REFUSED = "The agent's service refuses requests for longer than the run may wait"
FULL = 3
"""How many stories are shown with their output. The others are only named."""
OUTPUT_LINES = 20
_SAME = "This is the same failure as in the attempt before"
_BEFORE = "This failed in the same way before the attempt:"


def _output(check: Check) -> list[Line]:
    return [Line(f"$ {flat(check.command)}   {check.ended}"), *framed(check.lines(OUTPUT_LINES))]


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
        # Failed substeps tell more than their parents.
        parents = {self.state.stories[story.id].parent for story in found}
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
        ended = story.phase in PARKED and not self.run_is_spent(story)
        return f"{planned.id} {flat(planned.title)}: {story.phase if ended else 'not done'}"

    def block(self, planned: Story) -> list[Line]:
        """Return everything about one story, without its heading."""
        story = self.state.stories[planned.id]
        place = f"{harmless(self.plan.source.path)}:{planned.origin.line}"
        lines = [
            Line(harmless(self.why(story)), label="why"),
            Line(f"{place}   {', '.join(planned.requirements[:6])}", label="from"),
        ]
        if stopped := self._refused(story):
            lines += stopped
        elif story.attempts:
            lines += self._attempt(planned, story)
        for question in self.state.open_questions():
            if question.story == planned.id and question.kind == "agent":  # one of the judge is already shown above
                lines.append(Line(f"{flat(question.id)}: {flat(question.text)}", label="question"))
        return lines

    def why(self, story: StoryState) -> str:
        """Return why a story failed. If its budget is used up, return how its last attempt ended."""
        if self.run_is_spent(story):
            left = count(self.left(), "story is", "stories are")
            return f"{Reason.ATTEMPT_BUDGET_EXHAUSTED}: the run used {self.attempts(' of ')}; {left} left"
        budget = Budget(self.run_input.limits, self.state)
        spent = used_attempts(budget, story)
        if story.reason != Reason.ATTEMPT_BUDGET_EXHAUSTED and story.phase is not StoryPhase.READY:
            planned = next(one for one in self.plan.stories if one.id == (story.parent or story.id))
            sentence = MEANINGS[story.reason].sentence if story.reason else ""
            if names := lacking(planned, story):
                sentence = f"It depends on {names}, outside the document."
            return f"{story.reason or '-'}: {sentence} ({spent})"
        reason = AttemptEvidence(self.out_dir, story.id, story.attempts).reason() or story.reason or self.state.reason
        minutes = ", and all of its minutes" if budget.story_ms_left(story) <= 0 else ""
        return f"{origin(self.out_dir, story.id, story.attempts, reason or '')}, {spent} used{minutes}"

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

    def at_rest(self) -> list[Line]:
        """Return why a run paused by itself: the service refuses, and the run may not wait any longer."""
        reason, refusal = self.state.reason, self.state.refusal
        if self.state.phase is not RunPhase.PAUSED or refusal is None or not is_the_agents(reason):
            return []
        bound = f"the run may wait {limit(int(self.run_input.limits.wait_max_minutes))} (wait_max_minutes)"
        lasts = Line(f"{span(self.state.wait_ms)} in vain; {bound}", label="waited")
        if refusal.ms:
            over = moment(text_of(ms_of(refusal.at) + refusal.ms), refusal.at)
            lasts = Line(f"{span(refusal.ms)}, until {over}; {bound}", label="lasts")
        why = Line(f"{reason}: {MEANINGS[refusal.reason].sentence}", label="why")
        return [why, lasts, *self._refused(self.state.stories[refusal.story])]

    def _refused(self, story: StoryState) -> list[Line]:
        """Return why the agent's program, account or service refused to work on a story; empty if the story's own work failed."""
        reason = story.reason or ""
        if not is_the_agents(reason):
            return []
        if reason == Reason.USAGE_UNKNOWN:  # the agent's words have nothing to do with it
            used = ", ".join(spending.of_run(self.state, self.run_input.limits))
            return [Line(used, label="used"), Line(helping(reason, Ending()), label="help")]
        ending = ending_of(self.out_dir, story.id, story.attempts) if story.attempts else Ending()
        lines = labelled("it said", ending.words)
        lines += labelled("denied", filter(None, [ending.denied]))
        lines += [
            Line(helping(reason, ending), label="help"),
            Line("no attempt; this one does not count", label="spent"),
        ]
        log = self.out_dir / attempt_folder(story.id, story.attempts) / AGENT_LOG
        return [*lines, *([Line(near(log), label="log")] if story.attempts else [])]

    def _attempt(self, planned: Story, story: StoryState) -> list[Line]:
        number = story.attempts
        evidence = AttemptEvidence(self.out_dir, planned.id, number)
        lines: list[Line] = []
        failing = evidence.failing()
        if failing is not None:
            lines += _output(failing)
        elif (critique := evidence.critique()) and story.reason != Reason.AGENT_ASKED:  # the question already tells it
            told = [line for line in critique.splitlines() if line.strip() and not line.startswith(("# ", _SAME))]
            lines += framed(told[:OUTPUT_LINES])
        lines += self._same(planned.id, number)
        if _BEFORE in evidence.critique():
            told_before = (
                "the same checks failed before the attempt, and none of them passes now: the critique names them"
            )
            lines.append(Line(told_before, label="before"))
        if stats := evidence.stats():
            lines.append(Line(f"{totals(stats)}{self._kept(planned.id, number)}", label="changes"))
        folder = self.out_dir / attempt_folder(planned.id, number)
        log = f"{near(folder / AGENT_LOG)}   ({count(evidence.log_lines(), 'line')})"
        return [*lines, Line(log, label="log"), Line(near(folder), label="evidence")]

    def failing_check(self, story: str) -> list[Line]:
        """Return the output of the check that failed in a story's latest attempt."""
        failing = AttemptEvidence(self.out_dir, story, self.state.stories[story].attempts).failing()
        return _output(failing) if failing else []

    def _kept(self, story: str, number: int) -> str:
        if any(one.pruned for one in self.history.of(story) if one.number == number):
            return "; its ref was removed by `santiago clean`"
        return f", kept at refs/santiago/{self.state.run_id}/{story}/{number}"

    def _same(self, story: str, number: int) -> list[Line]:
        """Return since which attempt the failure has been the same, in words."""
        since = number
        while since > 1 and _SAME in AttemptEvidence(self.out_dir, story, since).critique():
            since -= 1
        if since == number:
            return []
        which = f"attempts {since} {'and' if number == since + 1 else 'to'} {number}"
        return [Line(f"same failure in {f'all {number} attempts' if since == 1 and number > 2 else which}")]

    @property
    def run_heading(self) -> str:
        return f"the whole run: {self.state.phase}"

    def run_check(self) -> list[Line]:
        """Return the output of the run's own check that failed, or why none could run."""
        name = f"run-{self.state.verify_rounds}" if self.state.verify_rounds else "base"
        path = self.out_dir / "evidence" / f"{name}.json"
        failing, message = first_failing(checks_in(record_in(path))), self.history.end.get("message", "")
        if failing is None and not message:
            return []
        told = _output(failing) if failing else framed(message.splitlines()[:OUTPUT_LINES])
        sentence = MEANINGS[self.state.reason].sentence if self.state.reason else ""
        hint = harmless(self.history.end.get("hint", ""))
        fix = [Line(hint, label="fix")] if hint else []
        why = Line(f"{self.state.reason}: {sentence}", label="why")
        return [why, *told, *fix, Line(near(path), label="evidence")]

    def by_status(self) -> list[str]:
        """Return which stories failed, are blocked, done, left out, or not done."""
        by: dict[str, list[str]] = {}
        state = self.state
        for story in map(state.stories.__getitem__, (one.id for one in self.plan.stories)):
            by.setdefault("unproven" if story.is_unproven else status_of(story), []).append(story.id)
        words = {
            "failed": "Failed", "blocked": "Blocked", "unproven": "Not proven", "done": "Done", "skipped": "Left out",
            "pending": "Not done",
        }  # fmt: skip
        parts = [f"{word}: {_shortened(by[status])}" for status, word in words.items() if by.get(status)]
        waiting = [
            f"{name} needs {named(needed)}"
            for name in by.get("pending", [])
            if (needed := [n for n in unmet(state, state.stories[name]) if state.stories[n].phase in PARKED])
        ]
        return ["     ".join(parts) + (f"  ({'; '.join(waiting[:4])})" if waiting else "")]


def report_of(run: Run) -> Report:
    """Return the report of a run as it is on disk."""
    return Report(plan=run.plan, run_input=run.run_input, state=run.state, out_dir=run.out_dir, history=run.history)


def used_attempts(budget: Budget, story: StoryState) -> str:
    """Return how many of its attempts a story has used, in words. A parent and its substeps share theirs."""
    family = budget.state.family(story)
    shared = f" of {story.parent or story.id} and its substeps" if len(family) > 1 else ""
    return f"{sum(one.counted for one in family)} of {count(budget.story_attempts(story.parent or story.id), 'attempt')}{shared}"


def _shortened(names: list[str]) -> str:
    return " ".join(names[:12]) + (f" … ({len(names)})" if len(names) > 12 else "")
