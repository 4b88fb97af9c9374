"""Bugs planted in the real code, one at a time: schedules that do not find each of them would prove nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from santiago.contract import event_effects
from santiago.contract.events import EventKind
from santiago.contract.facts import of_run, of_story
from santiago.contract.fold import Fold
from santiago.contract.outcomes import AttemptOutcome
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState, StoryState
from santiago.contract.steps import Integrate, Order
from santiago.executor import decide, letters, recover, schedule, settle
from santiago.executor.budget import Budget, Purse
from santiago.executor.loop import Coordinator

Planted = AbstractContextManager[object]


def a_double_retire() -> Planted:
    """A second integration begins while one is under way."""

    def begun(at: Any) -> list[Any]:
        story = decide.next_to_retire(at.state, at.agenda.of("improved"))
        if story is None or story.commit is None or at.agenda.awaits_word(story) or story.id in at.agenda.steps:
            return []
        return [Integrate(story=story.id, attempt=max(story.attempts, 1), commit=story.commit)]

    def next_one(state: RunState, improved: Any) -> StoryState | None:
        return min((state.stories[name] for name in state.verified), key=lambda one: one.index, default=None)

    return _both(patch.object(decide, "_integrations", begun), patch.object(decide, "next_to_retire", next_one))


def a_forgotten_reservation() -> Planted:
    """Attempts under way reserve nothing of the budget."""
    return patch.object(Purse, "left", lambda self, under_way: self.most - self.spent)


def work_left_out_of_the_base() -> Planted:
    """An attempt begins on the head, without the verified work that it waits for."""
    return patch.object(decide, "base_of", lambda state, story: (state.head or "",))


def files_forgotten() -> Planted:
    """Stories that touch the same files overtake each other."""
    return patch.object(schedule, "_in_chunk", lambda stories, optimistic: {story.id: () for story in stories})


def a_wait_cut_short() -> Planted:
    """Attempts begin although the agent's service asked to wait."""
    real = decide.starts

    def begun(at: Any, room: int) -> Any:
        until, at.state.wait_until = at.state.wait_until, None
        try:
            return real(at, room)
        finally:
            at.state.wait_until = until

    return patch.object(decide, "starts", begun)


def one_attempt_too_many() -> Planted:
    real = Budget.attempts_of
    return patch.object(Budget, "attempts_of", lambda self, story: real(self, story) + 1)


def attempts_of_the_run_uncounted() -> Planted:
    """Attempts that begin together are not held against the run's limit."""
    real = Budget.holding
    return patch.object(Budget, "holding", lambda self, under_way, begun=0: real(self, under_way, 0))


def any_order() -> Planted:
    """Verified stories retire as they come."""
    return patch.object(
        decide,
        "next_to_retire",
        lambda state, improved: next((state.stories[name] for name in sorted(state.verified, reverse=True)), None),
    )


def a_failure_taken_for_success() -> Planted:
    """An agent that ran into its time limit counts as one that passed."""
    real = settle._attempt

    def settled(story: StoryState, outcome: Any) -> Any:
        if outcome.reason is Reason.AGENT_TIMEOUT:
            outcome = replace(outcome, status="ok", reason=None)
        return real(story, outcome)

    return patch.object(settle, "_attempt", settled)


def an_interrupted_attempt_for_free() -> Planted:
    """What a crash interrupted is void, and its tokens are forgotten."""
    real = recover.end
    return patch.object(recover, "end", lambda story, left: real(story, left._replace(begun=False)))


def stale_work_kept() -> Planted:
    """Work that builds on voided work stays verified."""
    return patch.object(decide, "_stale", lambda at: iter(()))


def an_answer_taken_twice() -> Planted:
    """A letter about a question that is closed takes effect again."""

    def heard(letter: Any, state: RunState, found: Any) -> None:
        question = state.questions.get(letter.subject)
        found.facts += letters._answers(letter, question, state, found)

    return patch.object(letters, "_hear_answer", heard)


def usage_booked_twice() -> Planted:
    real = event_effects._spend

    def spend(state: RunState, story: StoryState, event: Any) -> None:
        real(state, story, event)
        if event.context.get("reason") == Reason.WORKER_LOST:
            real(state, story, event)

    return patch.object(event_effects, "_spend", spend)


def a_chunk_too_early() -> Planted:
    """The next chunk begins when nothing of this one can begin."""

    def next_chunk(self: RunState) -> Any:
        open_one = next((chunk for chunk in self.chunks.values() if chunk.left), None)
        later = next((chunk for chunk in self.chunks.values() if not chunk.started), None)
        return later if open_one and open_one.started and open_one.left == 1 and later else open_one

    return patch.object(RunState, "next_chunk", next_chunk)


def a_success_unverified() -> Planted:
    """The run's own checks are left out."""

    def verifying(at: Any) -> list[Any]:
        return [] if at.flying else [of_run(EventKind.RUN_ENDED, RunPhase.SUCCESS, "ok", step="verify-run/1")]

    return patch.object(decide, "_verifying", verifying)


def a_stop_unheard() -> Planted:
    """Stories begin after somebody asked the run to stop."""
    real = decide._over

    def over(at: Any) -> Any:
        found = real(at)
        return None if at.state.stop_requested and at.flying else found

    return patch.object(decide, "_over", over)


def ready_for_ever() -> Planted:
    """A story stays ready although what it waits for was voided."""
    real = Fold._settle

    def settled(self: Fold, story: StoryState) -> None:
        if story.phase is not StoryPhase.READY:
            real(self, story)

    return patch.object(Fold, "_settle", settled)


def a_cancelled_attempt_counted() -> Planted:
    """The end of an attempt whose ground is gone is taken like any other."""
    return patch.object(Coordinator, "_cancel", lambda self, step: self.engine.stop(step, now=True))


def an_end_without_a_name() -> Planted:
    return patch.object(decide, "_end", lambda phase, reason, limit="": of_run(EventKind.RUN_ENDED, phase, "failed"))


def a_verdict_of_another_tree() -> Planted:
    """A story is put onto the branch with the work of its first attempt, whatever its latest one was judged on."""

    def begun(at: Any) -> list[Any]:
        found = _integrations(at)
        return [
            replace(one, commit=f"{one.story}/1") if isinstance(one, Integrate) and one.attempt > 1 else one
            for one in found
        ]

    _integrations = decide._integrations
    return patch.object(decide, "_integrations", begun)


def a_verdict_ahead_for_any_tree() -> Planted:
    """A verdict that was given ahead holds for the story's work, whatever came onto the branch before it."""
    believed = patch.object(
        Order, "known_by", lambda self, key: self.ahead if self.ahead and self.ahead.passed else None
    )
    return _both(believed, patch.object(decide, "_holds", lambda onto, work: onto[-1] == work[-1]))


def a_red_verdict_ahead_believed() -> Planted:
    """Work that failed ahead is turned down before its turn."""
    real = settle._ahead

    def ahead(story: StoryState, outcome: Any) -> Any:
        told, reason = real(story, outcome), Reason.WORKSPACE_CONFLICT
        void = of_story(
            story, EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided", step=told.context["step"], reason=reason
        )
        return told if outcome.ahead.passed else void

    return patch.object(settle, "_ahead", ahead)


def a_second_conflict_for_free() -> Planted:
    """Work that never fits costs no attempt."""
    return patch.object(settle, "_unfit", lambda story, reason: (EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided"))


def a_late_report_believed() -> Planted:
    """A second report on a step is taken like the first, and nothing asks whether the log has its end."""

    def awaited(self: Coordinator) -> None:
        finished = self.engine.wait(200)
        if finished is None:
            return
        step, outcome = finished
        self._end(step.id)
        assert not isinstance(outcome, BaseException)
        self.record(settle.settle(self.fold.state, outcome))

    def settled(story: StoryState, outcome: Any) -> Any:
        ended = of_story(
            story, EventKind.ATTEMPT_ENDED, StoryPhase.READY, "failed", step=outcome.step, reason="interrupted"
        )
        return (
            real(story, outcome) if story.attempts == outcome.number and story.phase is StoryPhase.RUNNING else [ended]
        )

    real = settle._attempt
    unguarded = patch.object(settle, "settle", lambda state, outcome: _unguarded(state, outcome, settled))
    return _both(patch.object(Coordinator, "_await_one", awaited), unguarded)


def _unguarded(state: RunState, outcome: Any, settled: Callable[[StoryState, Any], Any]) -> Any:
    if isinstance(outcome, AttemptOutcome):
        return settled(state.stories[outcome.story], settle._estimated(state, outcome))
    return _settle(state, outcome)


_settle = settle.settle


def nothing_noticed_at_a_replay() -> Planted:
    """Sums are kept in the memory of the coordinator, and not in what a replay gives."""
    real = Coordinator.record

    def recorded(self: Coordinator, facts: Any) -> None:
        real(self, facts)
        if any(one.event is EventKind.ATTEMPT_VOIDED for one in facts):
            self.fold.state.tokens += 1

    return patch.object(Coordinator, "record", recorded)


@contextmanager
def _both(*patches: Any) -> Iterator[None]:
    one, other = patches
    with one, other:
        yield


BUGS: dict[str, Callable[[], Planted]] = {
    bug.__name__: bug
    for bug in (
        a_double_retire, a_forgotten_reservation, work_left_out_of_the_base, files_forgotten, a_wait_cut_short,
        one_attempt_too_many, attempts_of_the_run_uncounted, any_order, a_failure_taken_for_success,
        an_interrupted_attempt_for_free, stale_work_kept, an_answer_taken_twice, usage_booked_twice, a_chunk_too_early,
        a_success_unverified, a_stop_unheard, ready_for_ever, a_cancelled_attempt_counted, an_end_without_a_name,
        a_verdict_of_another_tree, a_verdict_ahead_for_any_tree, a_red_verdict_ahead_believed,
        a_second_conflict_for_free, a_late_report_believed, nothing_noticed_at_a_replay,
    )
}  # fmt: skip
