"""Work that passes its checks and that no test shows: an agent is asked once for the test, then the work goes on, then a person is asked."""

from __future__ import annotations

from collections.abc import Iterator

from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import accepted, of_story
from santiago.contract.outcomes import Proof
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState, StoryState
from santiago.executor import gates
from santiago.executor.budget import MAX_UNCOUNTED
from santiago.executor.situation import Situation


def owed(at: Situation) -> Iterator[Fact]:
    """Yield what follows from the state alone: work that goes on as it is, and questions that nobody has asked yet."""
    for story in at.agenda.of("unshown"):
        if story.phase is StoryPhase.READY and not _gets_attempt(at, story):
            yield from accepted(story, *story.word) if story.word[1] else goes_on(story)
        elif story.is_unproven:
            yield gates.ask(at, "unproven", story, story.attempts, _text(story))


def goes_on(story: StoryState) -> list[Fact]:
    """Return the facts by which work that no test shows is the story's work all the same."""
    found = story.unshown
    assert found is not None
    number = found.attempt or None
    return [
        of_story(
            story, EventKind.STORY_UNPROVEN, StoryPhase.EVIDENCE_COLLECTED, "ok",
            attempt=number, commit=found.commit, proof=Proof.REGRESSION, reason=Reason.UNPROVEN, excuse=found.excuse,
        ),
        of_story(story, EventKind.STORY_VERIFIED, StoryPhase.VERIFIED, "ok", attempt=number),
    ]  # fmt: skip


def _gets_attempt(at: Situation, story: StoryState) -> bool:
    """Tell whether an agent works on it once more: asked for the missing test, or because a person said so."""
    found, budget = story.unshown, at.agenda.budget
    if story.uncounted >= MAX_UNCOUNTED or budget.exhausted(story, at.now_ms):
        return False
    if story.change_requested:
        return True
    wanted = found is not None and not story.test_asked and not found.excuse and not story.integrated
    # Stories that had no turn yet come before a second attempt of one whose work passes its checks.
    return wanted and budget.run_attempts - at.state.counted >= at.state.left


def is_asked_for_a_test(story: StoryState) -> bool:
    """Tell whether the next attempt begins on the story's work and is asked only for the missing test."""
    if story.unshown is None or story.test_asked:
        return False
    return bool(story.integrated) or not story.unshown.excuse


def is_under_way(at: Situation) -> bool:
    """Tell whether unproven work is being improved, after all chunks are finished."""
    return bool(at.agenda.sets["improving"])


def left(state: RunState) -> list[StoryState]:
    """Return the stories whose work is on the branch and that are not done, in plan order.

    On the board one of them may wait for the claim of an attempt that a person granted.
    """
    return [story for story in state.stories.values() if story.integrated and story.phase is not StoryPhase.DONE]


def _text(story: StoryState) -> str:
    why = f" ({story.unshown.excuse})" if story.unshown and story.unshown.excuse else ""
    return f"The work on {story.id} breaks nothing, but no test fails without it{why}. Is {story.id} done?"
