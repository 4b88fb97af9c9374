"""The runs of a repository as the pages show them: each is followed once, for all who look at it."""

from __future__ import annotations

from collections import OrderedDict
from functools import cache, cached_property
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING

from santiago.app.finding import runs_here
from santiago.app.planning.planning_sessions import session_here
from santiago.contract.errors import Kind, SantiagoError
from santiago.process import sandbox
from santiago.report.agent_activity import Doing
from santiago.report.following import Following
from santiago.report.following_session import FollowingSession

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.artifacts.registry import Registered

MOST = 60
"""How many runs are kept in memory."""
SHOWN = 40
"""How many runs the first page lists. Older ones have their address all the same."""
ASKED_S = 1.0
"""Seconds between two looks who works on a run."""


class Followed:
    """One run as far as its log was read."""

    def __init__(self, out_dir: Path) -> None:
        self.lock = RLock()
        """Held by whoever reads the log on, or what was read of it."""
        self.following = Following(out_dir)
        self.damage: SantiagoError | None = None
        self._asked = 0.0

    @property
    def run(self) -> Run:
        return self.following.run

    def look(self, *, at_once: bool = False) -> Run:
        """Read on to the end, and now and then, or `at_once`, who works on it; raise where the log is damaged."""
        with self.lock:
            if self.damage is not None:
                raise self.damage
            try:
                if (now := monotonic()) - self._asked >= ASKED_S or at_once:
                    self._asked = now
                    self.following.ask_worker()
                return self.following.catch_up()
            except SantiagoError as error:
                self.damage = error
                raise

    @cached_property
    def doing(self) -> Doing:
        """What follows the agents' logs."""
        return Doing(self.run.out_dir, self.run.history.start.get("agent", ""))


class Runs:
    """The runs of this repository. What nobody looks at any more is forgotten."""

    def __init__(self) -> None:
        self._followed: OrderedDict[Path, Followed] = OrderedDict()
        self._lock = RLock()

    def known(self) -> list[Registered]:
        try:
            return runs_here()
        except SantiagoError:
            return []

    def find(self, run_id: str) -> Followed:
        """Return a run of this repository by its id, read to its end."""
        found = next((one for one in self.known() if one.run_id == run_id), None)
        if found is None:
            raise SantiagoError(Kind.USAGE, f"this repository has no run {run_id[:60]}")
        return self.of(found.out_dir)

    def of(self, out_dir: Path) -> Followed:
        with self._lock:
            followed = self._followed.get(out_dir)
            if followed is None or followed.damage is not None:
                followed = self._followed[out_dir] = Followed(out_dir)
            self._followed.move_to_end(out_dir)
            while len(self._followed) > MOST:
                self._followed.popitem(last=False)
        followed.look(at_once=True)
        return followed


class Plans:
    """The planning sessions of this repository: each shown revision is read once, for all who look at it."""

    def __init__(self) -> None:
        self._followed: OrderedDict[tuple[str, int], tuple[FollowingSession, RLock]] = OrderedDict()
        self._lock = RLock()

    def find(self, name: str, revision: int) -> tuple[FollowingSession, RLock]:
        """Return a session by its id with one of its revisions, or the latest for 0; and who holds the lock may read it on."""
        with self._lock:
            if (name, revision) not in self._followed:
                following = FollowingSession(session_here(name))
                if revision:
                    following.show(revision)
                self._followed[name, revision] = following, RLock()
            self._followed.move_to_end((name, revision))
            while len(self._followed) > MOST:
                self._followed.popitem(last=False)
            return self._followed[name, revision]


def reads_homes(run: Run) -> bool:
    """Tell whether the agents of a run can read the browser's own files, and so what it needs to answer here.

    That is so under Landlock. Without any sandbox an agent can do all that its person can, and nothing is claimed.
    """
    return run.history.start.get("sandbox", "").startswith("landlock")


@cache
def fence_here() -> str:
    """Return the kind of sandbox that works on this machine."""
    return sandbox.detect("auto").kind
