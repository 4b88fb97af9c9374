"""What a person sees of a run: a live table on a terminal, else lines; a summary at the end; NDJSON for programs."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from santiago import __version__
from santiago.app.loading import History, load
from santiago.app.paths import near
from santiago.cli.view import ci
from santiago.cli.view.beat import Beat
from santiago.cli.view.checking import Checks
from santiago.cli.view.lines import Lines, timed
from santiago.cli.view.live import Live, is_wanted
from santiago.cli.view.table import Table
from santiago.cli.view.terminal import STREAM, columns_of, paint, painted, say, show_record
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind
from santiago.contract.phases import ENDED, RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.scope import Scope
from santiago.executor.tally import headline, is_on_branch
from santiago.report import spending, step_summary
from santiago.report.account_lines import not_planned
from santiago.report.failure import FULL, REFUSED, Report
from santiago.report.marks import RUNS
from santiago.report.measures import span
from santiago.report.page import Line, ruled
from santiago.report.pauses import because
from santiago.report.proof import criteria_line, flaky_lines, on_word_lines, unproven_lines
from santiago.report.remedies import beyond_scope, listed, next_commands, resume, taking_over
from santiago.report.story_status import held_back
from santiago.util.clock import SystemClock, time_of_day, zone
from santiago.util.text import count, harmless
from santiago.util.wrapping import broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from santiago.app.forecasting import Outlook
    from santiago.app.start.request import RunHeader
    from santiago.contract.events import Event
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState

_IN_TABLE = frozenset(
    {
        EventKind.CHUNK_STARTED,
        EventKind.ATTEMPT_STARTED,
        EventKind.AHEAD_VERIFIED,
        EventKind.STORY_INTEGRATED,
        EventKind.STORY_DONE,
        EventKind.RUN_VERIFYING,
    }
)
"""Events that the table already shows."""
_AT_THE_END = frozenset({EventKind.RUN_ENDED, EventKind.RUN_PAUSED})
"""Events that the summary already tells."""


class Screen:
    """Shows a run on standard error; the events themselves as NDJSON on standard output with --json.

    Nothing here may break a run, even if the reader goes away.
    """

    def __init__(
        self, plan: Plan, run_input: RunInput, *, as_json: bool, plain: bool = False, scope: Scope | None = None,
        frozen: RunInput | None = None, desk: Callable[[str], None] | None = None, expected: Outlook | None = None,
    ) -> None:  # fmt: skip
        self.plan = plan
        self.run_input = run_input
        """The run input with the agent and policy of this start."""
        self.frozen = frozen
        """The frozen run input."""
        self.desk = desk
        """Prints lines if the desk shows the questions."""
        self.expected = expected
        """What was said before the start, to be compared at the end."""
        self.scope = scope or Scope()
        self.history = History()
        """What was recorded in this start; at the end what the log holds of all starts."""
        self.is_whole = False
        """Whether the run was created in this start, so that it was there for all of its events."""
        self.as_json = as_json
        self.lively = not as_json and is_wanted(plain=plain)
        self.clock = SystemClock()
        self.since = self.clock.monotonic_ms()
        self.lines = Lines(plan, run_input.limits)
        self.checks = Checks()
        self.jobs, self.held = 1, ""
        self.table: Table | None = None
        self.live: Live | None = None
        self.beat: Beat | None = None
        if as_json:
            self._emit(STREAM)

    def header(self, head: RunHeader) -> None:
        """Say what begins."""
        if self.as_json:
            return
        self.close()  # another agent may take over
        self.lines.out_dir, self.jobs = head.out_dir, head.jobs
        self.lines.follower = head.follower
        verb = "resumes" if head.resumed else "begins"
        begins = (
            f"santiago {__version__}  run {head.run_id} {verb}: {count(head.stories, 'story', 'stories')} in "
            f"{count(head.chunks, 'chunk')}, agent {harmless(head.agent)}{self._chosen()}, sandbox {head.sandbox}, "
            f"{f'by workers of {head.engine}' if head.engine else f'{head.jobs} at a time'}, times in {zone(self.clock.utc())}"
        )
        notes = (f"{paint('note:', 'busy')} {harmless(notice)}" for notice in head.notices)
        told = [broken(begins, columns_of(stderr=True), 4), *notes]
        for text in told:
            self._say(text)
        if self.lively:
            self.table = Table(
                self.plan, self.run_input, head.out_dir, harmless(head.agent), self.clock.monotonic_ms, self.checks,
                head.jobs,
            )  # fmt: skip
            self.live = Live(self.table, before=told)
            self.live.start()
        else:
            self.beat = Beat(head.out_dir, harmless(head.agent), self.clock.monotonic_ms, self._tell_now, self.checks)
            self.beat.start()

    def _chosen(self) -> str:
        """Return why this agent was chosen, if nobody named one."""
        agent = self.run_input.agent
        named = agent.mode == "scripted" or agent.profile or agent.command
        return "" if named else " (the first that is installed and signed in)"

    def take(self, events: Sequence[Event], state: RunState) -> None:
        """Show what was just recorded."""
        for event in events:
            self.is_whole |= event.event is EventKind.RUN_CREATED
            self.history.take(event)
            self.checks.take(event)
        if self.as_json:
            for event in events:
                self._emit({"type": "event", **codec.to_data(event)})
            return
        if self.live is not None and not self.live.broken:
            self.live.take(events, state)
        elif self.beat is not None:
            self.beat.take(events, state)
        for event in events:
            self._take(event, state)
        self._tell_held(state)

    def _tell_held(self, state: RunState) -> None:
        """Print once that a limit keeps stories from running at the same time. The live table shows that by itself."""
        held = held_back(state, self.run_input.limits, self.jobs)
        if held and held != self.held and self.live is None:
            self._tell_now(
                Line(
                    f"the next story waits: {held} leaves no room for an attempt beside the running ones",
                    "warn",
                    label="held",
                )
            )
        self.held = held or self.held

    def _take(self, event: Event, state: RunState) -> None:
        if event.event in _AT_THE_END or (self.desk is not None and event.event is EventKind.QUESTION_ASKED):
            return
        line = self.lines.of(event, state)
        if self.live is None or self.live.broken:
            if line is not None:
                self._tell(line, time_of_day(event.timestamp))
        elif event.event is EventKind.CHUNK_ENDED and self.table is not None:
            self._keep_chunk(event.chunk or "", state)
        elif line is not None and event.event not in _IN_TABLE:
            self.live.above(timed(line, time_of_day(event.timestamp), columns=_columns()))

    def check_begun(self, name: str, place: int, total: int, command: str) -> None:
        """Note which check the judge starts. Called from any thread."""
        self.checks.begun(name, place, total, command)

    def _keep_chunk(self, label: str, state: RunState) -> None:
        """Leave a finished chunk's rows on the screen, above the table of the next."""
        assert self.table is not None
        assert self.live is not None
        self.live.above(paint(f"    {harmless(label)}", "busy"))
        for row in self.table.rows(state, _columns(), label):
            self.live.above(row)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Leave the terminal to a question. Lines that would stand above the table wait until it is back."""
        live = self.live
        if live is not None:
            live.hide()
        try:
            yield
        finally:
            if live is not None:
                live.show()

    def close(self) -> None:
        """Remove the live view, whatever happened, and print the lines that it could not show."""
        if self.beat is not None:
            self.beat.close()
        if self.live is not None:
            for line in self.live.close():
                self._say(line)
        self.live = self.beat = None

    # The end

    def end(self, state: RunState, out_dir: Path, following: list[str] | None = None, own_work: str = "") -> None:
        """Print the summary: the outcome, where the evidence is, and the next commands (`following` if given).

        `own_work` is the story whose work a person supplied and that did not pass.
        """
        if self.live is not None and self.table is not None and state.phase is not RunPhase.SUCCESS:
            for row in self.table.rows(state, _columns()):
                self.live.above(row)
        self.close()
        if not self.is_whole:
            with contextlib.suppress(SantiagoError):
                self.history = load(out_dir).history
        report = Report(
            plan=self.plan, run_input=self.run_input, state=state, out_dir=out_dir, history=self.history,
            frozen=self.frozen, scope=self.scope,
        )  # fmt: skip
        following = [_look(report), *(following or _following(report))]
        trouble = ci.append_page(lambda: step_summary.page(report, following))
        if self.as_json:
            return
        self._troubles(report, own_work)
        self._say("")
        if report.needing():
            for text in report.by_status():
                self._say(text)
        self._say(_summary(report))
        if why := because(state, self.scope, self.history):
            self._say(f"because: {why}")
        proofs = (
            *unproven_lines(self.plan, state, out_dir),
            *on_word_lines(self.plan, state, self.history),
            *flaky_lines(self.plan, state),
            *criteria_line(self.plan, state),
        )
        left = not_planned(self.plan)
        unplanned = [f"not planned, and so not done: {left}"] if left else []
        for text in (*self._off(state), *proofs, *unplanned, *following):
            self._say(text)
        if trouble:
            self._say(f"{paint('note:', 'busy')} {trouble}")

    def _off(self, state: RunState) -> list[str]:
        """Return how far the forecast of this start was off. A run that somebody stopped tells nothing of that."""
        if self.expected is None or state.phase not in ENDED:
            return []
        from santiago.report.forecast_page import off  # loaded with what it needs only where there was a forecast

        return [off(self.expected, self.clock.monotonic_ms() - self.since)]

    def _troubles(self, report: Report, own_work: str) -> None:
        """Print what went wrong, if anything did."""
        if report.state.phase in (RunPhase.FAILED, RunPhase.BLOCKED):
            self._failures(report)
        elif own_work:
            self._show([Line(), *report.failing_check(own_work)])
        if rest := report.at_rest():
            self._show([Line(), ruled(REFUSED, columns_of(stderr=True), "warn"), *rest])

    def _failures(self, report: Report) -> None:
        """Print what failed, each story in a group where the log can fold."""
        needing, columns = report.needing(), columns_of(stderr=True)
        for story in needing[:FULL]:
            heading = report.heading(story)
            self._say("")
            for text in ci.opening(heading) or [painted(ruled(heading, columns))]:
                self._say(text, order=True)
            self._show(report.block(story))
            for text in ci.closing():
                self._say(text, order=True)
            why = f"{heading}: {report.why(report.state.stories[story.id])}"
            for text in ci.annotation(self.plan.source.path, story.origin.line, f"{story.id} failed", why):
                self._say(text, order=True)
        if len(needing) > FULL:
            self._say(
                f"… and {count(len(needing) - FULL, 'story', 'stories')} more; `santiago status --failed` shows all"
            )
        if not needing and (told := report.run_check()):
            self._show([Line(), ruled(report.run_heading, columns), *told])

    # Writing

    def _tell_now(self, line: Line) -> None:
        self._tell(line, time_of_day(self.clock.utc()))

    def _tell(self, line: Line, time: str) -> None:
        self._say(timed(line, time))
        if self.beat is not None:
            self.beat.said()

    def _show(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self._say(painted(line))

    def _say(self, text: str, *, order: bool = False) -> None:
        """Print a line. `order` means that it is a command for the CI service."""
        text = text if order else ci.quiet(text)
        with contextlib.suppress(OSError):
            if self.desk is not None:
                self.desk(text)
            else:
                say(text, err=True)

    def _emit(self, data: object) -> None:
        try:
            show_record(data)
        except OSError:
            # The reader went away, and the run goes on. Without this, Python would complain once more at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _summary(report: Report) -> str:
    state, line = report.state, headline(report.plan, report.state)
    tone = RUNS.get(line.word, "")
    badly = state.reason if state.phase is not RunPhase.SUCCESS and state.reason != Reason.INTERRUPTED else None
    ended = [f"exit {int(MEANINGS[badly].exit_code)}"] if badly else []
    used = [report.attempts(), span(state.used_ms), *spending.of_run(state, report.run_input.limits), *ended]
    return f"{paint(line.word, tone)}{line.rest}   {'   '.join(used)}"


def _look(report: Report) -> str:
    """Return where to see the work and the evidence."""
    state = report.state
    there = any(is_on_branch(story) for story in state.stories.values())
    return f"look: {f'git diff HEAD...{state.branch}   ' if there else ''}evidence in {near(report.out_dir)}"


def _following(report: Report) -> list[str]:
    """Return what to type next."""
    state = report.state
    if state.phase is RunPhase.SUCCESS and all(
        story.is_kept for story in state.stories.values() if story.phase is StoryPhase.DONE
    ):
        return ["nothing to merge: every story was done before this run, and its checks still pass"]
    if state.phase is RunPhase.SUCCESS:
        return listed(taking_over(report))
    if state.phase is RunPhase.PAUSED and not report.at_rest():
        return listed([*beyond_scope(report), (resume(report), "go on")])
    return next_commands(report)


def _columns() -> int:
    return max(20, (columns_of(stderr=True) or 80) - 1)
