"""Deciding costs what changed: the index of whom to look at is what the whole state says, after any history."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from types import FrameType
from typing import Any

from santiago.contract.answers import words_of
from santiago.contract.outcomes import ProposalOutcome, Usage
from santiago.contract.phases import ENDED
from santiago.contract.policy import Limits, Policy
from santiago.contract.quantities import Minutes
from santiago.contract.reasons import Reason
from santiago.contract.state import Question
from santiago.contract.steps import Attempt, Propose
from santiago.executor.agenda import RULES, Agenda, agenda_of
from santiago.executor.reopen import Grants
from santiago.executor.scope import Scope
from santiago.simulation.random_plans import random_plan
from santiago.simulation.world import DONE, EventEngine, Simulation
from tests.executor.fleets import Fleet
from tests.executor.test_unproven import Unshowing

POLICIES: tuple[dict[str, Any], ...] = (
    {}, {"keep_going": True}, {"exhausted": "blocked"}, {"gate": "step"}, {"gates": ("result",)}, {"gates": ("detail",)},
    {"gate": "chunk"}, {"tests_first": "same"}, {"optimistic": True, "keep_going": True},
)  # fmt: skip
FAILS = (
    Reason.STORY_VERIFICATION_FAILED, Reason.AGENT_ASKED, Reason.AGENT_RATE_LIMITED, Reason.AGENT_NO_CHANGE,
    Reason.WORKSPACE_CONFLICT, Reason.DOUBTED, Reason.INTERRUPTED, Reason.AGENT_NOT_SIGNED_IN,
)  # fmt: skip


@dataclass
class Seen:
    """Looks whenever the coordinator decides: is its index the one that is made anew, and does the decision need no more?"""

    run: Simulation
    sizes: Counter[str] = field(default_factory=Counter)

    def look(self) -> None:
        now: Agenda = self.run.loop.agenda
        anew = agenda_of(now.state, now.stories, now.run_input, now.scope, now.recovered, now.flying.values())
        for name in ("sets", "ready", "special", "steps", "agents", "integrating"):
            assert getattr(now, name) == getattr(anew, name), name
        # The position up to which nothing is left, and the sums, are the state's own index.
        state = now.state
        left = [one for one in state.stories.values() if not (one.phase == "done" or one.skipped or one.integrated)]
        assert state.left == len(left) == sum(chunk.left for chunk in state.chunks.values())
        assert state.next_chunk() is next((chunk for chunk in state.chunks.values() if chunk.left), None)
        over = [one.phase == "done" or one.skipped for one in state.stories.values()]
        assert all(over[: state.over])
        assert not any(over[state.over : state.over + 1])
        open_ones = {name: one for name, one in state.questions.items() if one.answer is None}
        assert state.asking == open_ones
        assert state.pressing == {name: one for name, one in open_ones.items() if one.kind != "unproven"}
        for one in state.stories.values():
            assert set(one.questions) == {q.id for q in open_ones.values() if q.story == one.id}
        self.sizes.update(name for name in RULES if now.sets[name])
        self.sizes.update(special=bool(now.special.places))

    def engine(self, *given: Any) -> EventEngine:
        seen = self

        class Looking(EventEngine):
            def capacity(self) -> int:
                seen.look()
                return super().capacity()

        return Looking(*given)


def history(seed: int) -> Seen:
    """Let a random run go through whatever a policy, failing agents and people bring, over several starts."""
    random = Random(seed)
    plan = random_plan(random)
    names = [one.id for one in plan.stories]
    drawn: dict[object, Any] = {}

    def fate(*key: object, often: float, among: Any) -> Any:
        return drawn.setdefault(key, random.choice(among) if random.random() < often else None)

    def proposes(step: Propose) -> ProposalOutcome:
        parts = tuple(f"{step.story}.{n}" for n in (1, 2)) if fate("split", step.story, often=0.5, among=[True]) else ()
        return ProposalOutcome(
            step=step.id, story=step.story, number=step.number, ending=DONE, digest="d" * 64, substeps=parts,
            findings=("?",) if random.random() < 0.1 else (),
        )  # fmt: skip

    def answers(question: Question) -> str | None:
        words = [word for word in words_of(run.loop.fold.state, question) if word != "stop" or random.random() < 0.1]
        if not words or random.random() < 0.3:
            return None if words or random.random() < 0.5 else "as you like"
        rest = " --rest chunk" if random.random() < 0.1 and question.kind in ("detail", "result", "continue") else ""
        return f"{random.choice(words)}: so{rest}"

    policy = Policy(**random.choice(POLICIES))
    run = Simulation(
        plan, jobs=1 if policy.stepwise and random.random() < 0.8 else random.randint(1, 6), policy=policy,
        performer=Unshowing(
            fails=lambda name, attempt: fate(name, attempt, often=0.3, among=FAILS),
            waits=lambda name, attempt: 60,
            uses=lambda name, attempt: Usage(tokens=random.choice((10, 10, None))),
            conflicts={name: 1 for name in names if random.random() < 0.15},
            weak={name: random.choice((2, 99)) for name in names if random.random() < 0.3},
            proposes=proposes,
        ),
        limits=Limits(
            run_max_attempts=random.choice((8, 10_000)), run_timeout_minutes=Minutes.of(1e6),
            run_max_tokens=random.choice((None, None, 90)), story_max_attempts=random.choice((1, 3)),
        ),
        duration=lambda step: random.randint(1, 5000) if isinstance(step, Attempt | Propose) else random.randint(0, 900),
        scope=random.choice((Scope(), Scope(), Scope(stories=frozenset(random.sample(names, 1 + len(names) // 2))),
            Scope(claims=dict.fromkeys(names[::2], 1), blocked=frozenset(names[1::2])))),
        answers=answers, attended=random.random() < 0.6,
        heard=lambda state, now: "soon" if random.random() < 0.01 else None,
    )  # fmt: skip
    seen = Seen(run)
    run.engine_of = seen.engine
    for start in range(4):
        if policy.stepwise:  # what an earlier start with more jobs left under way is picked from
            run.jobs, run.policy = (4, Policy()) if start == 0 else (1, policy)
            run.heard = lambda state, now, first=start == 0: "soon" if first and state.verified else None  # type: ignore[misc]
        state = run.run(Grants(attempts=1, tokens=50) if run.store.log else None)
        if state.phase == "success":
            break
        if state.phase in ENDED and random.random() < 0.3:
            run.scope = Scope()
        if random.random() < 0.3:
            del run.store.log[random.randint(2, len(run.store.log)) :]
            run.interrupt()
            run.performer.kept.clear()
    return seen


def test_the_index_is_what_the_whole_state_says_after_any_history() -> None:
    sizes = sum((history(seed).sizes for seed in range(100)), Counter[str]())
    assert {*RULES, "special"} - sizes.keys() == {"left"}, (
        "the histories come to every set, but for a crash of santiago"
    )


def lines(stories: int) -> float:
    """Return how many lines of the core run for each event, with a fifth as many workers as stories."""
    count, run = 0, Fleet(stories, stories // 5).run

    def trace(frame: FrameType, what: str, _: object) -> Any:
        nonlocal count
        count += what == "line"  # each round of a loop, also of one within an expression
        return trace if "/santiago/" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert run.run().phase == "success"
    finally:
        sys.settrace(before)
    return count / len(run.store.log)


def test_the_cost_of_a_decision_grows_neither_with_stories_nor_with_steps_under_way() -> None:
    assert lines(300) < 1.1 * lines(150)  # from where on as many as may be verified ahead wait for their turns
