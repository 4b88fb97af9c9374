"""Making an order: a step, with what it needs of the state at the moment it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.phases import StoryPhase
from santiago.contract.steps import DetailRef, ExamineBase, Order, Propose, VerifyRun, WriteBack, story_of
from santiago.executor.budget import Budget

if TYPE_CHECKING:
    from santiago.contract.policy import Limits
    from santiago.contract.state import RunState, StoryState
    from santiago.contract.steps import Step


def order(step: Step, state: RunState, limits: Limits, anchor: str) -> Order:
    """Return the order of a step; `anchor` is where the log stands."""
    story = state.stories.get(story_of(step) or "")
    budget, others = Budget(limits, state), max(0, len(state.running) - 1)
    return Order(
        step=step,
        run_id=state.run_id,
        head=state.head or "",
        base=(story.base if story else None) or state.head or "",
        began=state.base or "",
        anchor=anchor,
        notes=_notes(story) if story else (),
        tokens=budget.tokens.left(others) if budget.tokens else None,
        micro_usd=budget.money.left(others) if budget.money else None,
        tests_by=story.tests_by if story and story.on_tests else 0,
        stories=_concerned(step, state),
        parent=story.parent if story else None,
        details=details_of(step, state),
        findings=story.detail.findings if story and story.sent_back and story.detail else (),
        before=story.before if story else "",
        parts=bool(story and story.parts),
        kept=bool(story and story.kept),
    )


def _notes(story: StoryState) -> tuple[str, ...]:
    """Return what people said about the story, and how to get the work that they mean."""
    if not (story.adjusting and story.seen) or story.parts:
        return story.notes
    where = f"There is work on this already: `git checkout {story.seen} -- .` brings it into this folder."
    return (*story.notes, f"{where} Begin with that, and change what was asked for.")


def details_of(step: Step, state: RunState) -> tuple[DetailRef, ...]:
    """Return the detailed plans that a step needs: those that a person approved, or the previous proposal."""
    story = state.stories.get(story_of(step) or "")
    if story is not None:
        owner = state.stories[story.parent] if story.parent else story
        wanted = [owner] if isinstance(step, Propose) or (owner.detail and owner.detail.approved) else []
    else:
        wanted = [one for one in state.stories.values() if one.detail and one.detail.approved]
    return tuple(
        DetailRef(story=one.id, revision=one.detail.revision, digest=one.detail.digest)
        for one in wanted
        if one.detail and one.detail.digest
    )


def _concerned(step: Step, state: RunState) -> tuple[tuple[str, int], ...]:
    """Return the stories that a step about the run concerns: those that are left, or those that are done."""
    match step:
        case ExamineBase():
            return tuple((one.id, one.attempts) for one in state.stories.values() if not one.satisfied)
        case VerifyRun():
            return tuple(
                (one.id, one.attempts)
                for one in state.stories.values()
                if one.phase is StoryPhase.DONE or one.integrated
            )
        case WriteBack():
            return tuple((one.id, one.attempts) for one in state.stories.values() if one.phase is StoryPhase.DONE)
        case _:
            return ()
