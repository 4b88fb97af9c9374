"""Reads what a running attempt has changed, in the background, and only while its page is shown."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from textual.screen import Screen

if TYPE_CHECKING:
    from santiago.app.loading import Run

SECONDS = 2.0
"""Least seconds between two readings."""
SHARE = 10
"""After a slow reading, wait this many times its duration."""


class LookingOn(Screen[None]):
    """Keeps the last reading of the attempt that is shown."""

    page_shown: str
    _seen: tuple[tuple[str, int], str | None] = ("", 0), None
    """The attempt, and what it had changed."""
    _again = 0.0
    """When it is read next."""

    @property
    def current(self) -> Run:
        raise NotImplementedError

    def paint(self, *, anew: bool = False) -> None:
        raise NotImplementedError

    def changed_live(self, story: str) -> str | None:
        """Return what the running attempt of a story had changed at the last reading; read again if it is time."""
        run = self.current
        if self.page_shown != "changes" or story not in run.state.running or not run.worker:
            return None
        attempt = story, run.state.stories[story].attempts
        if self._seen[0] != attempt:
            self._seen, self._again = (attempt, None), 0.0
        if monotonic() >= self._again:
            self._again = float("inf")  # until this reading has ended
            self.run_worker(lambda: self._look_at(*attempt), thread=True, group="changes")
        return self._seen[1]

    def _look_at(self, story: str, attempt: int) -> None:
        from santiago.report.live_changes import changed_so_far  # loads git and more, so only when needed

        begun = monotonic()
        found = changed_so_far(self.current, story, attempt)
        self.app.call_from_thread(self._took, (story, attempt), found, monotonic() - begun)

    def _took(self, attempt: tuple[str, int], found: str | None, seconds: float) -> None:
        if self._seen[0] == attempt:
            is_new, self._seen = found != self._seen[1], (attempt, found)
            self._again = monotonic() + max(SECONDS, SHARE * seconds)
            if is_new:
                self.paint()
