"""After a crash: what the next start records about attempts whose end is not in the log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Context, EventKind, Fact
from santiago.contract.facts import of_run, of_story, spent
from santiago.contract.outcomes import Usage
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.ports.engine import Sign
from santiago.contract.ports.workspace import Snapshot
from santiago.contract.quantities import Usd
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState, StoryState
from santiago.executor import messages
from santiago.executor.budget import TICK_MS
from santiago.executor.settle import unfinished

_AT_WORK = (RunPhase.EXECUTING, RunPhase.RUN_VERIFICATION)
MOST_WORDS = 500
MOST_ADOPTIONS = 3
"""How often a start may take up the work of one attempt, since judging it may be what ends santiago every time."""


class Left(NamedTuple):
    """What a crash left of one attempt."""

    begun: bool = True
    """Whether its agent may have been started. An attempt without an agent is not counted."""
    snapshot: Snapshot | None = None
    """The commit of its work, if there was any."""
    judge: bool = False
    """Whether its agent had ended, so that only the verdict is missing."""
    usage: Usage = Usage()
    """The usage that the agent reported, if it had ended; else unknown."""
    lasted_ms: int = 0
    """How long it lasted, up to the last sign of life."""
    files: str = ""
    """Digest of the list of its files, where it is over."""
    reason: Reason = Reason.INTERRUPTED
    message: str = ""


def lasted(state: RunState, story: StoryState, sign: Sign | None, most_ms: int) -> int:
    """Return how long the latest attempt had lasted at the last sign of life, or, without one, as far as the log tells."""
    recorded = state.used_ms - story.begun_ms
    ms = sign.steps.get(f"attempt/{story.id}/{story.attempts}", recorded) if sign else recorded
    return min(max(0, ms), most_ms)


def has_failed_so(story: StoryState, error: Exception) -> bool:
    """Tell whether a step of this attempt failed in the same way in an earlier start, so that trying again is in vain."""
    return bool(story.trouble) and story.trouble == _told(error)


def failed(story: StoryState, error: Exception) -> list[Fact]:
    """Return the note that a step of an attempt failed. What a person or another program must end first is not noted."""
    if isinstance(error, SantiagoError):
        kind = None if error.reason is Reason.LOCK_HELD else error.kind
        if kind not in (Kind.TRANSIENT, Kind.BUG):
            return []
    return [of_story(story, EventKind.NOTE, None, "failed", message=_told(error))]


def given_up(error: Exception, aside: str = "") -> Left:
    """Return what is left of an attempt whose step failed in the same way in two starts. `aside` is where its folder is now."""
    reason = (isinstance(error, SantiagoError) and error.reason) or Reason.IO_ERROR
    kept = f"; its files are kept in {aside}" if aside else ""
    return Left(reason=reason, message=f"it failed in the same way in two starts: {_told(error)}{kept}")


def _told(error: Exception) -> str:
    if isinstance(error, SantiagoError):
        return f"{error.where}: {error.message}"[:MOST_WORDS] if error.where else error.message[:MOST_WORDS]
    return f"{type(error).__name__}: {error}"[:MOST_WORDS]


def may_adopt(state: RunState, story: StoryState) -> bool:
    """Tell whether this start may judge the work that an attempt left, instead of ending it as interrupted."""
    return state.epoch - story.begun_in < MOST_ADOPTIONS


def unseen(state: RunState, sign: Sign | None) -> list[Fact]:
    """Return the execution time before a crash that no event has recorded, by the last sign of life.

    The log records time in short steps. A sign of life that is many steps ahead was not written by santiago.
    """
    if sign is None or state.phase not in _AT_WORK:
        return []
    ms = min(sign.used_ms - state.used_ms, 3 * TICK_MS)
    return [of_run(EventKind.TIME_USED, ms=ms)] if ms > 0 else []


def under_way(state: RunState) -> list[str]:
    """Return the steps of agents whose end is not in the log."""
    attempts = [f"attempt/{one.id}/{one.attempts}" for one in state.in_order(state.running)]
    return [*attempts, *(f"propose/{one.id}/{one.proposals}" for one in state.stories.values() if one.proposing)]


def unwritten(
    state: RunState, begun: Callable[[str, int], bool], sign: Sign | None, attached: Collection[str] = ()
) -> list[Fact]:
    """Return the end of every detailed plan that was being written. If its agent was started, its usage is unknown."""
    found = []
    for story in (one for one in state.stories.values() if one.proposing and one.id not in attached):
        usage = Usage() if begun(story.id, story.proposals) else Usage(tokens=0, cost_usd=Usd(0))
        ms = sign.steps.get(f"propose/{story.id}/{story.proposals}", 0) if sign else 0
        found.append(unfinished(story, usage, max(0, ms)))
    return found


def interruptions(state: RunState, left: Mapping[str, Left], attached: Collection[str] = ()) -> list[Fact]:
    """Return the end of every attempt that was running, except those that only lack their verdict or that workers still have.

    An interrupted attempt counts, and so does the time that it lasted, unless its agent was never started.
    """
    found = [(story, left.get(story.id, Left())) for story in state.in_order(state.running - set(attached))]
    return [end(story, one) for story, one in found if not one.judge]


def end(story: StoryState, left: Left) -> Fact:
    """Return the end of one attempt that no verdict ends."""
    reason = left.reason
    if not left.begun:
        nothing: Context = {"tokens": 0, "cost_micro_usd": 0}
        event, phase = EventKind.ATTEMPT_VOIDED, StoryPhase.READY
        return of_story(story, event, phase, "voided", known=nothing, reason=reason, files=left.files)
    known = spent(left.usage)
    if left.lasted_ms:
        known["agent_ms"] = left.lasted_ms
    return of_story(
        story,
        EventKind.ATTEMPT_ENDED,
        StoryPhase.READY,
        "stopped" if reason is Reason.INTERRUPTED else "failed",
        known=known,
        reason=reason,
        commit=left.snapshot.commit if left.snapshot else "",
        message=left.message or (messages.left_out(left.snapshot.left_out) if left.snapshot else ""),
        files=left.files,
    )
