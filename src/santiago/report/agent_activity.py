"""What the agents of a run are doing, in a few words: the present tool, the number of tools used, to-do list, tokens."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from santiago.app.loading import working
from santiago.artifacts.lock import last_sign
from santiago.artifacts.names import AGENT_LOG, attempt_folder
from santiago.contract.lazy_regex import pattern
from santiago.report.evidence import AttemptEvidence, tidied
from santiago.report.spending import dollars, thousands
from santiago.util.text import count, fit, flat, width

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from santiago.agent.activity import Activity
    from santiago.agent.stream import Reading, Todo
    from santiago.contract.ports.queue import Beat

ACTIONS = 20
"""How many uses of tools are listed. The others are only counted."""
_SHELL = pattern(r"""(?:(?<!\S)/\S*/)?(?:ba|z|da)?sh -l?c (?P<mark>['"])(?P<words>.*?)(?:(?P=mark)$|$)""")
_JOINT = " · "
DOING = {"preparing": "prepares", "agent": "its agent works", "checks": "runs checks", "sending": "sends the work"}
"""What a worker does with an order, in words."""
LOOK_S = 0.2
"""How often the coordinator's signs of life are read."""
LEAST = 16
"""Columns that are kept for what happens now, however much else there is to show."""


class Doing:
    """Follows the logs of attempts that are under way. Each log is read on from where the last reading ended."""

    def __init__(self, out_dir: Path, agent: str, *, once: bool = False) -> None:
        from santiago.app.profiles import understood  # loaded here, since most runs that are shown are not running

        self.out_dir = out_dir
        self.once = once
        """Whether there is only one reading, which must then be complete."""
        self.profile = understood(agent)
        self.followed: dict[str, tuple[int, Activity]] = {}
        self._workers: Mapping[str, Beat] = {}
        self._asked = 0.0

    def elsewhere(self, story: str, attempt: int) -> Beat | None:
        """Return what a worker of another machine says of an attempt, as the coordinator heard it; None if it is made here."""
        if (now := time.monotonic()) >= self._asked:
            sign, self._asked = last_sign(self.out_dir) if working(self.out_dir) else None, now + LOOK_S
            self._workers = sign.workers if sign else {}
        return self._workers.get(f"attempt/{story}/{attempt}")

    def line(self, story: str, attempt: int, room: int) -> str:
        """Return the text for a table. A use of a tool is shown as it is; a line of the agent's text is marked as such."""
        if self.profile.on or self.elsewhere(story, attempt):
            return self.words(story, attempt, room) or "agent"
        return f"agent  {self.words(story, attempt, room - 7)}".rstrip()

    def words(self, story: str, attempt: int, room: int = 400) -> str:
        """Return what an attempt's agent does now, with figures. If it is too long, the figures are not cut."""
        if beat := self.elsewhere(story, attempt):
            now, figures = at_work(beat), used(beat)
        else:
            reading = self.reading(story, attempt)
            now, figures = plain(reading.now()) or self._last_line(story, attempt), figures_of(reading)
        if not figures:
            return fit(now, room).rstrip()
        behind = _JOINT.join(figures)
        left = max(LEAST, room - width(behind) - len(_JOINT))
        return _JOINT.join(part for part in (fit(now, left).rstrip(), behind) if part)

    def data(self, story: str, attempt: int) -> dict[str, Any]:
        """Return what is known of an attempt's agent, for programs."""
        reading, beat = self.reading(story, attempt), self.elsewhere(story, attempt)
        tokens, cost = (beat.tokens, beat.micro_usd) if beat else (reading.tokens, reading.cost)
        return {
            "now": self.words(story, attempt),
            "worker": (beat.worker or None) if beat else None,
            "activity": (beat.doing if beat.worker else "queued") if beat else None,
            "tools": reading.tools,
            "actions": [{"tool": flat(one.tool), "subject": plain(one.subject)} for one in reading.actions[-ACTIONS:]],
            "todo": [{"text": flat(todo.text), "state": state_of(todo)} for todo in reading.todos.values()],
            "tokens": tokens,
            "cost_usd": cost / 1e6 if cost is not None else None,
            "session": flat(reading.session) if reading.session else None,
            "denials": [flat(name) for name in reading.denials],
        }

    def reading(self, story: str, attempt: int) -> Reading:
        activity = self._of(story, attempt)
        return activity.catch_up() if self.once else activity.look()

    def _of(self, story: str, attempt: int) -> Activity:
        from santiago.agent.activity import Activity

        number, activity = self.followed.get(story, (0, None))
        if activity is None or number != attempt:
            activity = Activity(self.out_dir / attempt_folder(story, attempt) / AGENT_LOG, self.profile)
            self.followed[story] = (attempt, activity)
        return activity

    def _last_line(self, story: str, attempt: int) -> str:
        """Return the last line of a program that prints plain text; empty for a line of JSON."""
        line = AttemptEvidence(self.out_dir, story, attempt).last_line()
        return "" if line.startswith("{") and self.profile.on else line


def at_work(beat: Beat) -> str:
    """Return which worker has an attempt, and what it does with it."""
    return f"{flat(beat.worker)}: {DOING[beat.doing]}" if beat.worker else "queued: no worker has it yet"


def used(beat: Beat) -> list[str]:
    """Return what a worker says that an attempt has used up to now."""
    tokens = [f"{thousands(beat.tokens)} tokens"] if beat.tokens else []
    return [*tokens, *([dollars(beat.micro_usd)] if beat.micro_usd else [])]


def plain(text: str) -> str:
    """Return what an agent does without the checkout's path and without the shell around a command."""
    return flat(_SHELL.sub(r"\g<words>", tidied(text)))


def state_of(todo: Todo) -> str:
    return "done" if todo.done else "active" if todo.active else "open"


def figures_of(reading: Reading) -> list[str]:
    """Return the figures, the most useful first."""
    found = []
    if reading.tools:
        found.append(count(reading.tools, "tool"))
    if reading.todos:
        done = sum(todo.done for todo in reading.todos.values())
        found.append(f"to-do {done}/{len(reading.todos)}")
    if reading.tokens:
        found.append(f"{thousands(reading.tokens)} tokens")
    return found
