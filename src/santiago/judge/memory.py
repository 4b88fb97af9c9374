"""What checks showed on trees, so that nothing runs twice on the same tree."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.judge.shown import Shown


class Memory:
    """Results by tree, command and owner.

    The owner is the story for a check that is told its story, and nobody for one that is not: what was not given to a
    check cannot be asked for by it. A failure is remembered for bases only: an attempt's verdict never rests on one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: dict[tuple[str, str, str], Shown] = {}
        self._failures: dict[tuple[str, str, str], Shown] = {}

    def known(self, tree: str, command: str, owner: str, *, as_base: bool) -> Shown | None:
        key = (tree, command, owner)
        return self._shown.get(key) or (self._failures.get(key) if as_base else None)

    def learn(self, tree: str, owner: str, found: Iterable[Shown], *, as_base: bool) -> None:
        """Remember what ran to its end."""
        with self._lock:
            for shown in found:
                key = (tree, shown.command, owner)
                if shown.is_green:
                    self._shown[key] = shown
                elif as_base and shown.result.exit_code is not None and not shown.result.timed_out:
                    self._failures[key] = shown
