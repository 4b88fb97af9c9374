"""After a crash: what the next start records about attempts that nobody saw the end of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.events import Context, EventKind, Fact
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from santiago.contract.outcomes import Usage
    from santiago.contract.state import RunState


def interruptions(
    state: RunState,
    commits: Mapping[str, str | None] | None = None,
    adopted: frozenset[str] = frozenset(),
    used: Mapping[str, Usage] | None = None,
) -> list[Fact]:
    """Return the end of every attempt that was running, except those whose snapshot waits for its verdict.

    `commits` holds what was saved of each, `used` what those said whose agent had ended; of the others it is unknown.
    An interrupted attempt counts.
    """
    facts = []
    for name in sorted(state.running - adopted, key=lambda name: state.stories[name].index):
        story = state.stories[name]
        context: Context = {"reason": Reason.INTERRUPTED}
        usage = (used or {}).get(name)
        if usage and usage.tokens is not None:
            context["tokens"] = usage.tokens
        if usage and usage.cost_usd is not None:
            context["cost_micro_usd"] = int(usage.cost_usd)
        commit = (commits or {}).get(name)
        if commit:
            context["commit"] = commit
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
