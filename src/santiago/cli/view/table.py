"""The table of a running run: one row per story of the active chunk, as plain text that fits the terminal."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from santiago.app.loading import titles_of
from santiago.cli.view.checking import BASE, RUN, Checks
from santiago.cli.view.terminal import paint
from santiago.contract.counting import count
from santiago.contract.events import EventKind
from santiago.contract.phases import WAITING, RunPhase, StoryPhase
from santiago.executor.budget import Budget
from santiago.report import pauses, spending
from santiago.report.agent_activity import Doing
from santiago.report.evidence import AttemptEvidence
from santiago.report.measures import clock
from santiago.report.pauses import stopping
from santiago.report.story_status import row_of
from santiago.util.clock import SystemClock
from santiago.util.text import fit, flat, width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from santiago.contract.events import Event
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState, StoryState

_PREPARES = "prepares its checks"
NARROW = 60
"""Terminals with fewer columns have no room for attempts and times."""
QUIET_MS = 60_000
"""After this long without output an agent is shown as quiet."""


class Table:
    """Makes the lines of the table, and prints nothing. What it reads may change meanwhile."""

    def __init__(
        self, plan: Plan, run_input: RunInput, out_dir: Path, agent: str, now_ms: Callable[[], int],
        checks: Checks | None = None, jobs: int = 1,
    ) -> None:  # fmt: skip
        self.run_input = run_input
        self.out_dir = out_dir
        self.agent = agent
        self.doing = Doing(out_dir, agent)
        self.now_ms = now_ms
        self.utc = SystemClock().utc
        self.why_waiting = self.stopping = ""
        self.plan = plan
        self.titles = {story.id: flat(story.title) for story in plan.stories}
        self.started: dict[str, int] = {}
        self.checks = checks or Checks()
        self.jobs = jobs
        self.mark = self.looked = now_ms()
        """Since when time is not recorded in the log yet, and when that was last read."""
        self.lock = threading.Lock()

    def take(self, events: Sequence[Event]) -> None:
        """Note when attempts began. The rest is in the state."""
        now = self.now_ms()
        with self.lock:
            for event in events:
                if event.event is EventKind.TIME_USED:
                    self.mark = now
                if event.event is EventKind.WAIT_STARTED:
                    self.why_waiting = event.context.get("reason", "")
                if event.event is EventKind.STOP_REQUESTED:
                    self.stopping = f"stopping {stopping(event)}"
                if event.event is EventKind.ATTEMPT_STARTED and event.story_id:
                    self.started[event.story_id] = now

    # The picture

    def picture(self, state: RunState, columns: int, rows: int) -> list[str]:
        """Return the lines of the live region."""
        if len(state.stories) > len(self.titles):
            self.titles = titles_of(self.plan, state, self.out_dir)
        lines = [self.header(state, columns)]
        if rows_of := self._fitting(state, columns, max(3, rows - 5)):
            name, title = self._widths(self.chunk(state), columns)
            heads = f"    {'story':{name}}  {fit('title', title)}  {_figures('try', 'time', columns)}now"
            lines += [paint(fit(heads, columns).rstrip(), "dim"), *rows_of]
        if whole := self._whole(state):
            lines.append(paint(fit(f" ▶  {whole}", columns).rstrip(), "busy"))
        if warning := self._last_chance(state):
            lines.append(paint(fit(warning, columns).rstrip(), "warn"))
        if waiting := self._waiting(state):
            lines.append(paint(fit(waiting, columns).rstrip(), "warn"))
        keys = self.stopping if state.stop_requested else "ctrl-c stops safely"
        return [*lines, paint(fit(keys, columns).rstrip(), "dim")]

    def _whole(self, state: RunState) -> str:
        """Return what is being checked for the whole run."""
        if checking := self.checks.of(BASE):
            return checking.text
        if state.phase is not RunPhase.RUN_VERIFICATION:
            return ""
        checking = self.checks.of(RUN)
        return f"the whole run  {checking.text if checking else _PREPARES}"

    def _waiting(self, state: RunState) -> str:
        if state.wait_until is None:
            return ""
        still = pauses.still(state.wait_until, self.why_waiting, self.agent, self.utc())
        return f"{still} · {pauses.CALM}"

    def header(self, state: RunState, columns: int) -> str:
        told = spending.progress(self.plan, state, self.run_input.limits, self.used(state))
        parts = [f"run {state.run_id}", *told, self.agent]
        while len(parts) > 2 and width("   ".join(parts)) > columns:
            parts.pop(0 if parts[0].startswith("run ") else -1)  # the run's name was printed before
        return paint(fit("   ".join(parts), columns).rstrip(), "head")

    def used(self, state: RunState) -> int:
        """Return the execution time. It does not grow while the run only waits, for a service or for workers."""
        now = self.now_ms()
        running = [self._is_queued(state.stories[name]) for name in state.running]
        if all(running) if running else state.wait_until is not None:
            self.mark += now - self.looked
        self.looked = now
        return state.used_ms + now - self.mark

    def _widths(self, here: list[StoryState], columns: int) -> tuple[int, int]:
        name = max([5, *(len(story.id) for story in here)])
        title = max([5, *(width(self.titles.get(story.id, "")) for story in here)])
        return name, max(10, min(title, (columns - name - 6 - len(_figures("", "", columns))) * 9 // 20))

    def chunk(self, state: RunState, label: str | None = None) -> list[StoryState]:
        """Return the stories of a chunk; of the active one together with stories of finished chunks that are worked on again."""
        chunk = state.chunks.get(label or state.active_chunk or "")
        names = [] if chunk is None or (label is None and chunk.ended) else list(chunk.stories)
        if label is None:
            names = [*(name for name in state.order if name in state.running and name not in names), *names]
        return [state.stories[name] for name in names]

    def _fitting(self, state: RunState, columns: int, most: int) -> list[str]:
        """Return rows for as many stories as fit. Finished stories are dropped first, then those that wait longest."""
        stories = self.chunk(state)
        lines: list[str] = []
        if len(stories) > most:
            done = [story for story in stories if story.phase is StoryPhase.DONE]
            stories = [story for story in stories if story.phase is not StoryPhase.DONE]
            lines += [f"    … {len(done)} done"] if done else []
        room = most - len(lines) - 1
        left = stories[room:] if len(stories) > room + 1 else []
        shown = stories[: len(stories) - len(left)]
        widths = self._widths(self.chunk(state), columns)
        lines += [self._row(state, story, columns, widths) for story in shown]
        return [*lines, f"    … {len(left)} more wait"] if left else lines

    def rows(self, state: RunState, columns: int, label: str | None = None) -> list[str]:
        """Return the rows of a chunk that stay on the screen: the stories that were worked on."""
        stories = [story for story in self.chunk(state, label) if story.attempts or story.phase not in WAITING]
        widths = self._widths(stories, columns)
        return [self._row(state, story, columns, widths) for story in stories]

    def _row(self, state: RunState, story: StoryState, columns: int, widths: tuple[int, int]) -> str:
        name, title = widths
        row = row_of(state, story, self.run_input.limits, at_rest=state.phase is RunPhase.PAUSED, jobs=self.jobs)
        if self._is_queued(story):
            self.started[story.id] = self.now_ms()
        since = self.started.get(story.id) if story.phase is StoryPhase.RUNNING else None
        used = story.used_ms + (self.now_ms() - since if since is not None else 0)
        time = clock(used) if story.attempts else ""
        words = fit(self.titles.get(story.id, ""), title)
        text = f" {row.mark.symbol}  {story.id:{name}}  {words}  {_figures(row.tries, time, columns)}"
        now = self._now(state, story, max(10, columns - width(text))) or row.now
        return paint(fit(text + now, columns).rstrip(), row.mark.tone)

    def _now(self, state: RunState, story: StoryState, room: int) -> str:
        """Return what its agent or its checks do; empty if nobody works on it."""
        checking = self.checks.of(story.id)
        if story.phase is StoryPhase.VERIFIED and checking:
            return checking.text
        if story.phase is StoryPhase.RUNNING and state.phase is not RunPhase.PAUSED:
            return checking.text if checking else self._agent(story, room)
        return ""

    def _agent(self, story: StoryState, room: int) -> str:
        evidence = AttemptEvidence(self.out_dir, story.id, story.attempts)
        if evidence.has_ended():
            return _PREPARES
        room -= len(task := "tests: " if story.writes_tests else "missing test: " if story.showing else "")
        quiet = evidence.quiet_ms()
        silence = f"(quiet for {clock(quiet)}) " if quiet is not None and quiet > QUIET_MS else ""
        return task + silence + self.doing.line(story.id, story.attempts, room - len(silence))

    def _is_queued(self, story: StoryState) -> bool:
        """Return whether a story waits for a worker, which spends no time."""
        beat = self.doing.elsewhere(story.id, story.attempts)
        return beat is not None and not beat.worker

    def _last_chance(self, state: RunState) -> str:
        if self.run_input.policy.keep_going:
            return ""
        for name in sorted(state.running):
            story = state.stories[name]
            if story.counted >= Budget(self.run_input.limits, state).attempts_of(story):
                left = sum(1 for other in state.stories.values() if not other.attempts and not other.skipped)
                return f"last attempt for {name}: if it fails, the run ends with {count(left, 'story', 'stories')} not started"
        return ""


def _figures(tries: str, time: str, columns: int) -> str:
    """Return the columns of numbers; empty on a narrow terminal."""
    return f"{tries:>5}  {time:>7}  " if columns >= NARROW else ""
