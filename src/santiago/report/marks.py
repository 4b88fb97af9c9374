"""How the state of a story looks: a symbol, a word and a tone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from santiago.contract.phases import StoryPhase

if TYPE_CHECKING:
    from santiago.contract.state import StoryState
    from santiago.report.page import Tone


class Mark(NamedTuple):
    """How a state is shown. It always has a word, never only a colour or a symbol."""

    symbol: str
    word: str
    tone: Tone


_MARKS = {
    StoryPhase.PLANNED: Mark("·", "waiting", ""),
    StoryPhase.READY: Mark("·", "ready", ""),
    StoryPhase.PROPOSED: Mark("?", "proposed", "busy"),
    StoryPhase.RUNNING: Mark("▶", "running", "busy"),
    StoryPhase.EVIDENCE_COLLECTED: Mark("▶", "judged", "busy"),
    StoryPhase.VERIFIED: Mark("+", "verified", "good"),
    StoryPhase.DONE: Mark("✓", "done", "good"),
    StoryPhase.FAILED: Mark("✗", "failed", "bad"),
    StoryPhase.BLOCKED: Mark("!", "blocked", "warn"),
}
UNPROVEN = Mark("?", "not proven", "warn")
_KEPT = Mark("✓", "kept", "good")
_LEFT_OUT = Mark("-", "left out", "warn")
_STOPPED = Mark("-", "stopped", "busy")
_ASKS = Mark("?", "asks you", "warn")
_PUT_OFF = Mark("-", "put off", "warn")
RUNS: dict[str, Tone] = {
    "success": "good", "finished": "warn", "failed": "bad", "blocked": "warn", "running": "busy", "stopping": "warn",
    "stopped": "busy", "interrupted": "warn",
}  # fmt: skip
"""The state of a run in one word → its tone."""


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
