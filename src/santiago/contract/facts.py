"""How a fact is made: of the run or of a story, in one line, with its details by name and without those that are empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast

from santiago.contract.events import Context, EventKind, EventStatus, Fact
from santiago.contract.outcomes import Proof, Usage
from santiago.contract.phases import RunPhase, SessionPhase, StoryPhase

if TYPE_CHECKING:
    from santiago.contract.state import StoryState


def of_run(
    event: EventKind,
    phase: RunPhase | SessionPhase | None = None,
    status: EventStatus | None = None,
    *,
    actor: str = "santiago",
    **context: Unpack[Context],
) -> Fact:
    """Return a fact about the whole run."""
    return Fact(event=event, phase=phase, status=status, actor=actor, context=_given(context))


def of_story(
    story: StoryState,
    event: EventKind,
    phase: StoryPhase | None = None,
    status: EventStatus | None = None,
    *,
    attempt: int | None = None,
    actor: str = "santiago",
    known: Context | None = None,
    **context: Unpack[Context],
) -> Fact:
    """Return a fact about a story and its latest attempt. `attempt` names another attempt; 0 means none.

    `known` holds numbers that may be unknown. An unknown number is left out, since no number could stand for it.
    """
    return Fact(
        event=event,
        story=story.id,
        chunk=story.chunk,
        phase=phase,
        attempt=(story.attempts if attempt is None else attempt) or None,
        status=status,
        actor=actor,
        context=_given({**context, **(known or {})}),
    )


def accepted(story: StoryState, actor: str, why: str) -> list[Fact]:
    """Return the facts by which a person accepts the work of a story's latest attempt, in place of a verdict.

    Work that is on the branch already makes its story done.
    """
    taken = of_story(
        story, EventKind.STORY_ACCEPTED, StoryPhase.DONE if story.is_unproven else StoryPhase.EVIDENCE_COLLECTED, "ok",
        actor=actor, commit=story.commit or "", proof=Proof.ATTESTED, text=why,
    )  # fmt: skip
    verified = of_story(story, EventKind.STORY_VERIFIED, StoryPhase.VERIFIED, "ok", actor=actor)
    return [taken] if story.is_unproven else [taken, verified]


def spent(usage: Usage) -> Context:
    """Return the usage that an agent reported. What it did not report is left out, not zero."""
    context: Context = {}
    if usage.tokens is not None:
        context["tokens"] = usage.tokens
    if usage.cost_usd is not None:
        context["cost_micro_usd"] = int(usage.cost_usd)
    return context


def _given(context: Context) -> Context:
    """Return the details without the empty ones; 0 is not empty."""
    return cast("Context", {name: value for name, value in context.items() if value not in (None, "", [])})
