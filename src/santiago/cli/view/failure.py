"""The failure report: what failed, its output in a frame, where the evidence is, and what to type next."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from santiago.artifacts.attempts import AGENT_LOG
from santiago.artifacts.store import attempt_folder
from santiago.cli.finding import find_run
from santiago.cli.view import refused
from santiago.cli.view.endings import is_the_agents
from santiago.cli.view.evidence import AttemptEvidence, Check, checks_in, first_failing, near, totals
from santiago.cli.view.lines import flat
from santiago.cli.view.measures import count
from santiago.cli.view.text import fit, harmless, paint, width
from santiago.cli.view.waiting import named, unicode, unmet
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.budget import Budget
from santiago.executor.result import status_of

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState, StoryState

FULL = 3
"""Stories that are shown with their output; of the others only the name."""
OUTPUT_LINES = 20
_SAME = "This is the same failure as in the attempt before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Writes the report of one run; all of it comes from plan, log and evidence."""

    plan: Plan
    run_input: RunInput
    state: RunState
    out_dir: Path
    stderr: bool = True

    def needing(self) -> list[Story]:
        """Return the stories that somebody has to look at: failed ones, then blocked ones."""
        found = [
            story
            for phase in (StoryPhase.FAILED, StoryPhase.BLOCKED)
            for story in self.plan.stories
            if self.state.stories[story.id].phase is phase and not self.state.stories[story.id].skipped
        ]
        return found or self._running_out()

    def _running_out(self) -> list[Story]:
        """Where the run itself ran out, the stories that had been tried in vain are what people ask about."""
        if self.state.phase not in (RunPhase.FAILED, RunPhase.BLOCKED):
            return []
        return [
            story
            for story in self.plan.stories
            if self.state.stories[story.id].attempts and status_of(self.state.stories[story.id]) == "pending"
        ]

    def counts(self) -> str:
        """Return how many stories ended how: `3 done, 1 not done of 4`."""
        found: dict[str, int] = {}
        for story in self.plan.stories:
            status = status_of(self.state.stories[story.id])
            found[status] = found.get(status, 0) + 1
        told = ", ".join(f"{number} {'not done' if word == 'pending' else word}" for word, number in found.items())
        return f"{told} of {len(self.plan.stories)}"

    def attempts(self) -> str:
        """Return how much of the run's attempts is used: `6/20 attempts`."""
        most = self.run_input.limits.run_max_attempts + self.state.raised.get("run_max_attempts", 0)
        return f"{self.state.counted}/{most} attempts"

    def heading(self, planned: Story) -> str:
        story = self.state.stories[planned.id]
        word = story.phase if story.phase in (StoryPhase.FAILED, StoryPhase.BLOCKED) else "not done"
        return f"{planned.id} {flat(planned.title)}: {word}"

    def block(self, planned: Story) -> list[str]:
        """Return everything about one story, without its heading."""
        story = self.state.stories[planned.id]
        lines = [
            f"why        {self.why(story)}",
            f"from       {self.plan.source.path}:{planned.origin.line}   {', '.join(planned.requirements[:6])}",
        ]
        if stopped := refused.of_story(self.state, self.run_input, self.out_dir, story.id):
            lines += stopped
        elif story.attempts:
            lines += self._attempt(planned, story)
        for question in self.state.open_questions():
            if question.story == planned.id:
                lines += [f"question   {flat(question.id)}: {flat(question.text)}"]
        return lines

    def why(self, story: StoryState) -> str:
        spent = f"{story.counted} of {Budget(self.run_input.limits, self.state).story_attempts(story.id)} attempts"
        if story.reason == Reason.ATTEMPT_BUDGET_EXHAUSTED or story.phase is StoryPhase.READY:
            return f"{story.reason or self.state.reason} ({spent})"
        sentence = MEANINGS[Reason(story.reason)].sentence if story.reason else ""
        return f"{story.reason or '-'}: {sentence} ({spent})"

    def at_rest(self) -> list[str]:
        """Return why a run rests that nobody stopped."""
        return refused.of_rest(self.state, self.run_input, self.out_dir)

    def _attempt(self, planned: Story, story: StoryState) -> list[str]:
        number = story.attempts
        evidence = AttemptEvidence(self.out_dir, planned.id, number)
        lines = []
        failing = evidence.failing()
        if failing is not None:
            lines += self.frame(failing)
        elif critique := evidence.critique():
            lines += self._bar([line for line in critique.splitlines() if line.strip()][:OUTPUT_LINES])
        if _SAME in evidence.critique():
            lines.append(f"same failure in attempts {number - 1} and {number}")
        if tampered := evidence.tampered():
            lines.append(f"protected  {named([flat(path) for path in tampered])}")
        if stats := evidence.stats():
            lines.append(f"changes    {totals(stats)}, kept at refs/santiago/{self.state.run_id}/{planned.id}/{number}")
        folder = self.out_dir / attempt_folder(planned.id, number)
        lines.append(f"log        {near(folder / AGENT_LOG)}   ({count(evidence.log_lines(), 'line')})")
        lines.append(f"evidence   {near(folder)}")
        return lines

    def run_check(self) -> list[str]:
        """Return the frame of the run's own check that failed."""
        path = self.out_dir / "evidence" / f"run-{self.state.verify_rounds}.json"
        failing = first_failing(checks_in(path))
        return [*self.frame(failing), f"evidence   {near(path)}"] if failing else []

    def frame(self, check: Check) -> list[str]:
        columns = min(shutil.get_terminal_size((100, 24)).columns, 120)
        ended = check.ended
        command = fit(f"$ {flat(check.command)}", max(20, columns - width(ended) - 2)).rstrip()
        room = max(2, columns - width(command) - width(ended))
        return [f"{command}{' ' * room}{ended}", *self._bar(check.lines(OUTPUT_LINES))]

    def _bar(self, lines: list[str]) -> list[str]:
        bar = "│" if unicode(stderr=self.stderr) else "|"
        return [f"{bar} {harmless(line).rstrip()}"[:400] for line in lines]

    def title_line(self, text: str, colour: str = "red") -> str:
        columns = min(shutil.get_terminal_size((100, 24)).columns, 100)
        dash = "─" if unicode(stderr=self.stderr) else "-"
        side = max(3, (columns - width(text) - 2) // 2)
        return paint(f"{dash * side} {text} {dash * side}", colour, bold=True, stderr=self.stderr)

    def accounts(self) -> list[str]:
        """Return who ended how, by name."""
        by: dict[str, list[str]] = {}
        for story in self.plan.stories:
            by.setdefault(status_of(self.state.stories[story.id]), []).append(story.id)
        words = {"failed": "Failed", "blocked": "Blocked", "done": "Done", "skipped": "Left out", "pending": "Not done"}
        parts = [f"{word}: {_shortened(by[status])}" for status, word in words.items() if by.get(status)]
        waiting = [
            f"{name} needs {named(needed)}"
            for name in by.get("pending", [])
            if (needed := [n for n in unmet(self.state, self.state.stories[name]) if self._is_parked(n)])
        ]
        return ["     ".join(parts) + (f"  ({'; '.join(waiting[:4])})" if waiting else "")]

    def _is_parked(self, name: str) -> bool:
        return self.state.stories[name].phase in (StoryPhase.FAILED, StoryPhase.BLOCKED)

    def next_commands(self) -> list[str]:
        """Return what to type next, each with what it does."""
        rows: list[tuple[str, str]] = []
        folder = target(self.out_dir)
        for story in self.needing()[:1]:
            state = self.state.stories[story.id]
            if state.attempts:
                rows.append((f"santiago show{folder} {story.id} --attempt {state.attempts}", "all of that attempt"))
        rows += self._remedies(folder)
        stories = [self.state.stories[planned.id] for planned in self.plan.stories]
        pending = [story.id for story in stories if story.phase is StoryPhase.PLANNED and not story.skipped]
        if pending and self.needing():
            named_run = f" --run{folder}" if folder else ""
            rows.append((f"santiago explain {pending[0]}{named_run}", "what it waits for"))
        size = max((len(command) for command, _ in rows), default=0)
        return [f"{'next:' if at == 0 else '     '} {command:{size}}   {why}" for at, (command, why) in enumerate(rows)]

    def _remedies(self, folder: str) -> list[tuple[str, str]]:
        reason = self.state.reason
        questions = self.state.open_questions()
        if questions:
            name = questions[0].id
            return [
                (f'santiago answer{folder} {name} approve --text "…"', "the answer goes into the next attempt"),
                (f"santiago resume{folder}", "go on"),
            ]
        match reason:
            case Reason.ATTEMPT_BUDGET_EXHAUSTED:
                names = ", ".join(story.id for story in self.needing()[:4]) or "the run"
                return [(f"santiago resume{folder} --add-attempts 2", f"retry {names} with the critique, then go on")]
            case Reason.AGENT_RATE_LIMITED:
                return [
                    (f"santiago resume{folder}", "go on when the limit is over"),
                    (f"santiago resume{folder} --agent NAME", "go on with another agent"),
                ]
            case Reason.AGENT_NOT_SIGNED_IN:
                return [
                    ("santiago doctor --online", "does the agent answer now?"),
                    (f"santiago resume{folder}", "go on once it does"),
                ]
            case Reason.AGENT_MODEL_NOT_FOUND:
                return [(f"santiago resume{folder} --model NAME", "go on with a model that there is")]
            case Reason.USAGE_UNKNOWN:
                more = "--add-cost 5" if self.run_input.limits.run_max_cost_usd is not None else "--add-tokens 100000"
                return [
                    (f"santiago resume{folder} {more}", "accept what is unknown so far, and go on"),
                    (f"santiago resume{folder} --agent NAME", "go on with an agent that reports"),
                ]
            case Reason.RUN_TIMEOUT:
                return [(f"santiago resume{folder} --add-minutes 60", "go on with more time")]
            case Reason.COST_BUDGET_EXHAUSTED:
                return [(f"santiago resume{folder} {self._more()}", "go on with more of it")]
            case Reason.RUN_VERIFICATION_FAILED:
                return [
                    (f"git switch {self.state.branch}", "mend it there, commit, switch back"),
                    (f"santiago resume{folder}", "run the checks again on its head"),
                ]
            case None | Reason.INTERRUPTED:
                return [(f"santiago resume{folder}", "go on")]
            case _:
                why = "go on" if is_the_agents(reason) else MEANINGS[Reason(reason)].hint
                return [(f"santiago resume{folder}", why)]

    def _more(self) -> str:
        """Return what grants more of that which is used up: tokens, money, or both."""
        budget = Budget(self.run_input.limits, self.state)
        given = {"--add-tokens 100000": budget.tokens, "--add-cost 5": budget.money}
        gone = [words for words, purse in given.items() if purse is not None and purse.left(0) <= 0]
        return " ".join(gone) or "--add-cost 5"


def _shortened(names: list[str]) -> str:
    return " ".join(names[:12]) + (f" … ({len(names)})" if len(names) > 12 else "")


def target(out_dir: Path) -> str:
    """Return how to name a run on a command line, with a space before it; nothing where it is the latest one here."""
    try:
        if find_run(None) == out_dir:
            return ""
    except SantiagoError:
        pass
    return f" {near(out_dir)}"
