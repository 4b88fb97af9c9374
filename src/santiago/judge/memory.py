"""What checks showed on trees, so that nothing runs twice on the same tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from santiago.judge.shown import Shown


class Memory:
    """Results by tree, command and owner.

    The owner is the story for a check that is told its story, and nobody for one that is not: what was not given to a
    check cannot be asked for by it. A failure is remembered for bases only: an attempt's verdict never rests on one.
    """

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str, str], Shown] = {}

    def known(self, tree: str, command: str, owner: str, *, as_base: bool) -> Shown | None:
        found = self._shown.get((tree, command, owner))
        return found if found is not None and (as_base or found.is_green) else None

    def learn(self, tree: str, owner: str, shown: Shown, *, as_base: bool) -> None:
        """Remember what ran to its end; a pass stays, whatever another attempt sees at the same time."""
        key = (tree, shown.command, owner)
        if shown.is_green:
            self._shown[key] = shown
        elif as_base and shown.result.exit_code is not None and not shown.result.timed_out:
            self._shown.setdefault(key, shown)
