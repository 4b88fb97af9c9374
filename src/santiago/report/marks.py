"""How the state of a story looks: a symbol, a word and a colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from santiago.contract.phases import StoryPhase

if TYPE_CHECKING:
    from santiago.contract.state import StoryState


class Mark(NamedTuple):
    """How a state is shown. It always has a word, never only a colour or a symbol."""

    symbol: str
    plain: str
    """The symbol for terminals that only have ASCII."""
    word: str
    colour: str


_MARKS = {
    StoryPhase.PLANNED: Mark("·", ".", "waiting", "white"),
    StoryPhase.READY: Mark("·", ".", "ready", "white"),
    StoryPhase.PROPOSED: Mark("?", "?", "proposed", "cyan"),
    StoryPhase.RUNNING: Mark("▶", ">", "running", "cyan"),
    StoryPhase.EVIDENCE_COLLECTED: Mark("▶", ">", "judged", "cyan"),
    StoryPhase.VERIFIED: Mark("+", "+", "verified", "green"),
    StoryPhase.DONE: Mark("✓", "*", "done", "green"),
    StoryPhase.FAILED: Mark("✗", "x", "failed", "red"),
    StoryPhase.BLOCKED: Mark("!", "!", "blocked", "yellow"),
}
UNPROVEN = Mark("?", "?", "not proven", "yellow")
_KEPT = Mark("✓", "*", "kept", "green")
_LEFT_OUT = Mark("-", "-", "left out", "yellow")
_STOPPED = Mark("-", "-", "stopped", "cyan")
_ASKS = Mark("?", "?", "asks you", "yellow")
_PUT_OFF = Mark("-", "-", "put off", "yellow")


def mark_of(phase: StoryPhase) -> Mark:
    return _MARKS[phase]


def mark(story: StoryState, *, at_rest: bool = False) -> Mark:
    """Return how a story is shown. `at_rest` means that nobody works on the run, so that nothing of it is running."""
    if story.skipped:
        return _LEFT_OUT
    if story.is_kept:
        return _KEPT
    if story.is_unproven:
        return UNPROVEN
    if story.aside:
        return _ASKS if story.asked else _PUT_OFF
    return _STOPPED if at_rest and story.phase is StoryPhase.RUNNING else _MARKS[story.phase]
