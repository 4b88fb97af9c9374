"""Which checks are running now, and on what, in words."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from santiago.contract.events import EventKind
from santiago.contract.lazy_regex import pattern
from santiago.util.text import flat

if TYPE_CHECKING:
    from santiago.contract.events import Event

_WORDS = {
    "base": "checks without the work",
    "check": "checks the work",
    "old-tests": "runs the old tests on the new code",
    "new-tests": "runs the new tests on the old code",
    "tests": "runs the new tests",
    "evidence": "finds out which test shows which criterion",
    "blind": "tries whether the checks notice broken code",
    "merged": "checks it beside the others' work",
    "merged-base": "checks the others' work without it",
    "ahead": "checks it ahead of its turn",
    "ahead-base": "checks the others' work without it",
    "claim": "checks what is claimed done",
    "claim-base": "checks without what is claimed done",
}
_PLACE = pattern(rf"(?:(?P<story>.+?)(?:-\d+)?-)?(?P<what>{'|'.join(sorted(_WORDS, reverse=True))})(?:-S[\d.]+)?$")
"""Matches the name of a trial: story, attempt and purpose. One of the run may end with the story of its checks."""
_OF_AGENT = pattern(r"(?P<story>.+)-\d+$")
"""Matches the name of the folder in which an agent works: story and attempt."""
RUN = "run"
"""Stands for the whole run in place of a story's id."""
BASE = "base"
"""Stands for the base of the run in place of a story's id."""


class Checking(NamedTuple):
    """A check that is running, or a command that sets its checkout up."""

    word: str
    place: int
    total: int
    command: str

    @property
    def text(self) -> str:
        if self.place:
            return f"{self.word}, {self.place} of {self.total}: {self.command}"
        return f"sets a checkout up: {self.command}"


class Checks:
    """What is being checked now. It may be called from any thread."""

    def __init__(self) -> None:
        self._now: dict[str, Checking] = {}
        self._lock = threading.Lock()

    def begun(self, name: str, place: int, total: int, command: str) -> None:
        """Note which check runs where. A command of the set-up has the place 0, and an empty one says that it is over."""
        if found := _PLACE.match(name):
            word = _WORDS[found["what"]] if found["story"] else "checks what is there before any work"
        elif found := _OF_AGENT.match(name):
            word = ""
        else:
            return
        with self._lock:
            self._now[found["story"] or BASE] = Checking(word, place, total, flat(command))
            if not command:
                del self._now[found["story"] or BASE]

    def take(self, event: Event) -> None:
        """Note that the checks of a story, or of the base, are over: an event follows them."""
        over = BASE if event.event is EventKind.BASE_EXAMINED else event.story_id
        with self._lock:
            self._now.pop(over or "", None)

    def of(self, story: str) -> Checking | None:
        return self._now.get(story)
