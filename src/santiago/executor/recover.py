"""After a crash: what the next start records about attempts that nobody saw the end of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.events import Context, EventKind, Fact
from santiago.contract.moments import ms_of
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import Reason
from santiago.executor import messages
from santiago.executor.budget import TICK_MS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from santiago.contract.outcomes import Usage
    from santiago.contract.ports.workspace import Snapshot
    from santiago.contract.state import RunState, StoryState

_AT_WORK = (RunPhase.EXECUTING, RunPhase.RUN_VERIFICATION)
MOST_ADOPTIONS = 3
"""How often the work of one attempt is taken up again: what ends santiago every time must not go on for ever."""


def lasted(state: RunState, alive_ms: int, most_ms: int) -> dict[str, int]:
    """Return how long each attempt that was running had lasted at the last sign of life."""
    begun = {name: ms_of(state.stories[name].begun_at) for name in state.running if state.stories[name].begun_at}
    return {name: min(max(0, alive_ms - at), most_ms) for name, at in begun.items()}


def may_adopt(state: RunState, story: StoryState) -> bool:
    """Whether the next start may judge what an attempt left, instead of ending it as interrupted."""
    return state.epoch - story.begun_in < MOST_ADOPTIONS


def unseen(state: RunState, alive_ms: int) -> list[Fact]:
    """Return the execution time before a crash that no event has recorded, by the last sign of life.

    Time is recorded in short steps, so more than a few of them would be a machine that slept.
    """
    waiting = state.wait_until is not None and not state.running
    if state.phase not in _AT_WORK or not state.timed_at or waiting:
        return []
    ms = min(alive_ms - ms_of(state.timed_at), 3 * TICK_MS)
    return [Fact(event=EventKind.TIME_USED, context={"ms": ms})] if ms > 0 else []


def interruptions(
    state: RunState,
    kept: Mapping[str, Snapshot | None] | None = None,
    adopted: frozenset[str] = frozenset(),
    used: Mapping[str, Usage] | None = None,
    lasted: Mapping[str, int] | None = None,
) -> list[Fact]:
    """Return the end of every attempt that was running, except those whose snapshot waits for its verdict.

    `kept` holds what was saved of each, `used` what those said whose agent had ended; of the others it is unknown.
    An interrupted attempt counts, and so does the time that it lasted, in milliseconds.
    """
    facts = []
    for name in sorted(state.running - adopted, key=lambda name: state.stories[name].index):
        story = state.stories[name]
        context: Context = {"reason": Reason.INTERRUPTED}
        if ms := (lasted or {}).get(name):
            context["agent_ms"] = ms
        usage = (used or {}).get(name)
        if usage and usage.tokens is not None:
            context["tokens"] = usage.tokens
        if usage and usage.cost_usd is not None:
            context["cost_micro_usd"] = int(usage.cost_usd)
        snapshot = (kept or {}).get(name)
        if snapshot is not None:
            context["commit"] = snapshot.commit
            if lost := messages.left_out(snapshot.left_out):
                context["message"] = lost
        facts.append(
            Fact(
                event=EventKind.ATTEMPT_ENDED,
                story=name,
                chunk=story.chunk,
                phase=StoryPhase.READY,
                attempt=story.attempts,
                status="stopped",
                context=context,
            )
        )
    return facts
