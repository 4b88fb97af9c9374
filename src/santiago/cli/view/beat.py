"""A sign of life in CI logs: at most once a minute, and only if nothing else was printed."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from santiago.cli.view.checking import BASE, Checks
from santiago.contract.events import EventKind
from santiago.report import pauses
from santiago.report.agent_activity import Doing
from santiago.report.evidence import AttemptEvidence
from santiago.report.measures import span
from santiago.report.page import Line
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from santiago.contract.events import Event
    from santiago.contract.state import RunState

EVERY_MS = 60_000
WORDS = 120
"""Columns for what an agent does."""


class Beat:
    """Prints who is at work if nothing was printed for a minute."""

    def __init__(
        self,
        out_dir: Path,
        agent: str,
        now_ms: Callable[[], int],
        tell: Callable[[Line], None],
        checks: Checks | None = None,
    ) -> None:
        self.out_dir = out_dir
        self.agent = agent
        self.doing = Doing(out_dir, agent)
        self.why_waiting = ""
        self.now_ms = now_ms
        self.tell = tell
        self.checks = checks or Checks()
        self.state: RunState | None = None
        self.since: dict[str, int] = {}
        self.last = now_ms()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._keep_beating, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()

    def take(self, events: Sequence[Event], state: RunState) -> None:
        self.state = state
        for event in events:
            if event.event is EventKind.WAIT_STARTED:
                self.why_waiting = event.context.get("reason", "")
            if event.story_id and event.phase == "running":
                self.since[event.story_id] = self.now_ms()

    def said(self) -> None:
        """Note that something was printed, so that the next sign of life is not due yet."""
        self.last = self.now_ms()

    def line(self) -> Line | None:
        """Return the sign of life that is due now; None if none is."""
        now = self.now_ms()
        if self.state is None or now - self.last < EVERY_MS:
            return None
        self.last = now
        parts = [self._of(name, now) for name in sorted(self.state.running)]
        if self.state.wait_until:
            parts.append(pauses.still(self.state.wait_until, self.why_waiting, self.agent, SystemClock().utc()))
        if not parts and (checking := self.checks.of(BASE)):
            parts.append(checking.text)
        if not parts and self.state.open_questions():
            return None  # it waits for a person, who may be typing
        return Line("; ".join(parts) or str(self.state.phase), label="beat")

    def _of(self, name: str, now: int) -> str:
        assert self.state is not None
        number = self.state.stories[name].attempts
        evidence = AttemptEvidence(self.out_dir, name, number)
        quiet = evidence.quiet_ms()
        doing = f"last agent output {span(quiet)} ago" if quiet is not None else "no agent output yet"
        checking = self.checks.of(name)
        if checking or evidence.has_ended():
            doing = checking.text if checking else "is being verified"
        elif words := self.doing.words(name, number, WORDS):
            doing = words if self.doing.elsewhere(name, number) else f"{doing}: {words}"
        return f"{name} attempt {number} running {span(now - self.since.get(name, now))}, {doing}"

    def _keep_beating(self) -> None:
        while not self._closing.wait(1.0):
            with contextlib.suppress(Exception):  # a failed sign of life must not break a run
                line = self.line()
                if line is not None:
                    self.tell(line)
