"""Which checks run at the moment, on what, in words."""

from __future__ import annotations

import re
import threading
from typing import NamedTuple

from santiago.util.text import flat

_PLACE = re.compile(r"(?P<story>.+?)(?:-\d+)?-(?P<what>base|check|merged|merged-base|claim|claim-base)$")
_WORDS = {
    "base": "checks without the work",
    "check": "checks the work",
    "merged": "checks it beside the others' work",
    "merged-base": "checks the others' work without it",
    "claim": "checks what is claimed done",
    "claim-base": "checks without what is claimed done",
}
RUN = "run"
"""Stands for the whole run where stories have their ids."""


class Checking(NamedTuple):
    """A check that is running."""

    word: str
    place: int
    total: int
    command: str

    @property
    def text(self) -> str:
        return f"{self.word}, {self.place} of {self.total}: {self.command}"


class Checks:
    """What is being checked; told from any thread."""

    def __init__(self) -> None:
        self._now: dict[str, Checking] = {}
        self._lock = threading.Lock()

    def begun(self, folder: str, place: int, total: int, command: str) -> None:
        """Note which check runs where; checkouts are named after story, attempt and purpose."""
        found = _PLACE.match(folder.rpartition("/")[2])
        if found is not None:
            with self._lock:
                self._now[found["story"]] = Checking(_WORDS[found["what"]], place, total, flat(command))

    def over(self, story: str) -> None:
        with self._lock:
            self._now.pop(story, None)

    def of(self, story: str) -> Checking | None:
        return self._now.get(story)
