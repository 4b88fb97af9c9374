"""What commands showed on trees, so that nothing runs twice on the same tree."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from santiago.contract.ports.workspace import PATCH_CUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from santiago.contract.outcomes import CheckResult

VARIABLES = "SANTIAGO_"
"""How the variables begin that tell a check whose it is."""


class Memory:
    """Results by tree and command, for every story alike.

    Unless a command, or anything in the repository, speaks of the variables that name the story: then what it shows holds
    for that story alone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: dict[tuple[str, str, str], CheckResult] = {}
        self._restless: dict[str, frozenset[str]] = {}
        # Apart, since attempts are judged side by side: what one adds must not be lost to another's look at the base.
        self._base_speaks: bool | None = None
        self._work_speaks = False

    @property
    def is_spoken_of(self) -> bool:
        """Whether the repository, or work that was added to it, speaks of the variables."""
        return self._work_speaks or bool(self._base_speaks)

    def look_once(self, mentions: Callable[[], bool]) -> None:
        """Ask whether the repository speaks of the variables, unless somebody did."""
        if self._base_speaks is None:
            self._base_speaks = mentions()

    def heed(self, patch: str) -> None:
        """Look at what an attempt adds to the repository."""
        if VARIABLES in patch or patch.endswith(PATCH_CUT):
            self._work_speaks = True

    def known(self, tree: str, command: str, story: str) -> CheckResult | None:
        return self._shown.get((tree, command, self._owner(command, story)))

    def learn(self, tree: str, story: str, results: Iterable[CheckResult], touched: frozenset[str]) -> None:
        """Remember results, and the test code that was touched while they came about; not what never came to its end."""
        ended = (result for result in results if result.exit_code is not None)
        with self._lock:
            self._shown |= {(tree, one.command, self._owner(one.command, story)): one for one in ended}
            self._restless[tree] = self.restless(tree) | touched

    def restless(self, tree: str) -> frozenset[str]:
        """Return the test code that was touched while a tree was being checked."""
        return self._restless.get(tree, frozenset())

    def _owner(self, command: str, story: str) -> str:
        return story if self.is_spoken_of or VARIABLES in command else ""
