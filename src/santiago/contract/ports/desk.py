"""The desk port: what people and other programs ask of a run."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, Protocol

from santiago.contract.record import lean, record

if TYPE_CHECKING:
    from collections.abc import Collection

    from santiago.contract.events import Fact
    from santiago.contract.state import RunState

LetterKind = Literal["stop-now", "stop", "answer", "change", "hint", "pause"]


@record
class Letter:
    """What somebody outside wants of the run."""

    kind: LetterKind
    subject: str = ""
    """The question that is answered, or the story that is to change or to get a hint."""
    answer: str = ""
    """Of an answer its word; of a `pause` after each chunk `on` or `off`."""
    text: str = ""
    scope: str = ""
    """How far an approval reaches beyond what was asked: `chunk` or `run`."""
    actor: str = "user"
    name: str = ""
    """Its file in the inbox."""
    fault: str = ""
    """Why it cannot be understood; it is then only reported and put away."""


@lean()
class Heard:
    """What follows from the letters that were read."""

    facts: list[Fact] = field(default_factory=list)
    stop: Literal["soon", "now"] | None = None
    later: list[str] = field(default_factory=list)
    """Letters that are left for the next look, since another letter about the same thing comes first."""
    changed: list[str] = field(default_factory=list)
    """Stories whose running attempt ends at once."""
    void: list[str] = field(default_factory=list)
    """Names of letters that were meant to answer a question and failed to. The question stays open for others."""


class Outside(Protocol):
    """Brings the run the letters from outside. After a crash, letters that were read but not recorded are read again."""

    def hear(self, state: RunState, held: Collection[str]) -> Heard:
        """Return what is new. Letters about `held` stories wait, since these stories are just being put onto the branch."""

    def done(self) -> None:
        """Put away the letters that were heard last: they are recorded in the log."""
