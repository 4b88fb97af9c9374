"""Brings the letters in the inbox to the coordinator, and puts them away when they are in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.artifacts.inbox import Inbox
from santiago.desk.outside import understood

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from santiago.contract.ports.desk import Heard, Letter
    from santiago.contract.state import RunState


class Letters:
    """The coordinator's ear."""

    def __init__(self, out_dir: Path) -> None:
        self.inbox = Inbox(out_dir)
        self.read: list[Letter] = []
        self.void: list[str] = []

    def hear(self, state: RunState, held: Collection[str]) -> Heard:
        self.read = self.inbox.collect()
        heard = understood(self.read, state, held)
        self.read = [letter for letter in self.read if letter.name not in heard.later]
        self.void = heard.void
        return heard

    def done(self) -> None:
        if self.read:
            self.inbox.put_away(self.read, self.void)
            self.read = []
