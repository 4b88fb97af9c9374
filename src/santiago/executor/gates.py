"""The gates of a run: the questions to a person before a story begins and before its work counts, and who waits for them."""

from __future__ import annotations

from collections.abc import Iterator

from santiago.contract.answers import KINDS
from santiago.contract.counting import count
from santiago.contract.event_effects import EXPIRED, LASTING
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_run, of_story
from santiago.contract.moments import ms_of, text_of
from santiago.contract.phases import StoryPhase
from santiago.contract.state import Question, RunState, StoryState
from santiago.contract.steps import Adopt, Propose
from santiago.executor.agenda import PROVEN, is_interrupted
from santiago.executor.budget import Budget
from santiago.executor.situation import Act, Situation


def owed(at: Situation) -> Iterator[Fact]:
    """Yield the questions about detailed plans and about work that nobody has asked yet."""
    if at.run_input.policy.stepwise:
        if at.state.running:
            return  # an earlier start with more jobs left these: they are judged first, then a person picks one
        if len(names := _to_pick_from(at)) > 1:
            yield _which(at, names)
            return
    for story in at.agenda.of("word"):
        if story.phase is StoryPhase.PROPOSED:
            yield ask(at, "detail", story, story.proposals, _about_detail(story))
        else:
            fact = ask(at, "result", story, story.attempts, _about_result(story))
            if at.run_input.policy.stepwise and story.proof not in PROVEN:
                fact.context["lacks"] = "test"  # a person looks at it, and their word will stand for the test
            yield fact


def before_attempt(at: Situation, story: StoryState, budget: Budget) -> list[Act] | None:
    """Return what comes before a story's first attempt: the question whether to go on, its detailed plan, its substeps.

    An empty list means: wait for a person. None means: go ahead.
    """
    if at.run_input.policy.stepwise and is_interrupted(story):
        return _taking_up(at, story)
    detail = story.detail if story.detail and story.detail.approved else None
    if detail and detail.substeps and not story.parts:
        names = list(detail.substeps)
        return [of_story(story, EventKind.STORY_SPLIT, attempt=0, substeps=names, digest=detail.digest)]
    if story.attempts == 0 and (asked := to_go_on(at, story)) is not None:
        return asked
    if detail or story.parent or story.parts or not at.agenda.is_closed("detail", story):
        return None
    if story.proposals >= budget.story_proposals(story.id):
        return [] if at.state.is_asked("grant", story) else [_grant(at, story, "story_max_proposals", "detailed plan")]
    number = story.proposals + 1
    step = Propose(story=story.id, number=number, timeout_ms=budget.attempt_ms(story, at.now_ms))
    return [of_story(story, EventKind.PROPOSAL_STARTED, attempt=0, step=step.id, revision=number), step]


def _to_pick_from(at: Situation) -> list[str]:
    """Return the stories that are under way and do not depend on each other.

    A run that goes step by step has at most one. There are more only if an earlier start with several jobs left them
    and no person was asked about them since.
    """
    free = [story.id for story in at.agenda.of("pick")]
    return [name for name in free if not set(free).intersection(at.state.needs.get(name, ()))]


def _which(at: Situation, names: list[str]) -> Fact:
    number = sum(one.kind == "pick" for one in at.state.questions.values()) + 1
    text = f"{len(names)} steps are under way: {', '.join(names)}. Which one goes on? The others are put off."
    fact = _asked(at, "pick", None, f"pick-{number}", number, text)
    fact.context["options"] = names
    return fact


def _taking_up(at: Situation, story: StoryState) -> list[Act] | None:
    """Return the question about interrupted work, or what follows from its answer."""
    rounds = [one for one in at.state.questions.values() if one.id.startswith(f"{story.id}-resume-{story.attempts}")]
    asked = rounds[-1] if rounds else None
    if asked is None or asked.answer == EXPIRED:
        text = f"The work on {story.id} was interrupted. Should it be continued, or is it complete if its checks pass?"
        return [ask(at, "resume", story, story.attempts, text)]
    if asked.answer != "complete":
        return None
    number, commit = story.attempts + 1, story.commit or ""
    step = Adopt(story=story.id, number=number, commit=commit)
    begun = of_story(
        story, EventKind.ATTEMPT_STARTED, StoryPhase.RUNNING,
        attempt=number, actor=asked.actor, step=f"attempt/{story.id}/{number}", base=story.base or "", onto=list(story.onto),
        commit=commit,
    )  # fmt: skip
    return [begun, step]


def grant_instead(at: Situation, story: StoryState, limit: str) -> Fact | None:
    """Return the question for one more attempt, if a person asked for a change and the budget forbids it."""
    if limit != "story_max_attempts" or not story.change_requested or story.asked:
        return None
    return _grant(at, story, limit, "attempt")


def waits_for_a_person(at: Situation) -> bool:
    """Tell whether somebody is there who may still answer an open question."""
    return at.attended and bool(at.state.pressing)


def holding(state: RunState) -> list[Question]:
    """Return the open questions that keep a run from going on or from its end."""
    return list(state.pressing.values())


def expired(at: Situation) -> list[Fact]:
    """Return the end of the questions that nobody answered in time. A new start asks them anew."""
    most, started = int(at.run_input.limits.wait_max_minutes), at.state.started_at
    late = [one for one in holding(at.state) if "" < _until(at, one, most) <= at.utc]
    if late and started and ms_of(at.utc) < ms_of(started) + most:
        return []
    return [
        Fact(event=EventKind.QUESTION_EXPIRED, story=one.story, context={"question": one.id, "answer": EXPIRED})
        for one in late
    ]


def _until(at: Situation, question: Question, most: int) -> str:
    """Return when a question expires; empty if it does not. Those of agents and of the judge wait as long as others."""
    waits = at.attended and not question.until and question.asked_at
    return text_of(ms_of(question.asked_at) + most) if waits else question.until


def for_the_deferred(at: Situation) -> list[Fact]:
    """Return the question whether to go on with the deferred stories, when nothing else is left."""
    names = [story.id for story in at.state.stories.values() if story.deferred and not story.skipped]
    if not names:
        return []
    number = sum(one.story is None and one.kind == "continue" for one in at.state.questions.values()) + 1
    text = f"Only stories that were put off are left: {', '.join(names)}. Go on with them, or stop?"
    return [_asked(at, "continue", None, f"deferred-{number}", 1, text)]


def to_go_on(at: Situation, story: StoryState) -> list[Act] | None:
    """Return the question whether to go on after the step or substep that was done last; None if it is not asked."""
    if not at.state.continue_after or not at.agenda.is_closed("detail", story):
        return None
    done = at.state.stories[at.state.continue_after]
    text = f"{done.id} is complete. Go on with {story.id}, or stop?"
    return [] if at.state.is_asked("continue", done) else [ask(at, "continue", done, done.attempts, text)]


def is_busy(at: Situation) -> bool:
    """Tell whether a person is busy with one story, in a run that goes step by step."""
    if not at.run_input.policy.stepwise:
        return False
    return bool(at.agenda.sets["engaging"] or at.state.picking)


def _grant(at: Situation, story: StoryState, limit: str, what: str) -> Fact:
    used = story.proposals if what != "attempt" else sum(one.counted for one in at.state.family(story))
    text = f"{story.id} has used all of its {used} {what}s. Grant one more?"
    fact = ask(at, "grant", story, used, text)
    fact.context["limit"] = limit
    return fact


def ask(at: Situation, kind: str, story: StoryState, number: int, text: str) -> Fact:
    """Return the question about a story; asked again, it gets a name of its own."""
    name = f"{story.id}-{kind}-{number}" if number else f"{story.id}-{kind}"
    rounds, free = 1, name
    while free in at.state.questions:
        rounds += 1
        free = f"{name}-again{rounds}"
    return _asked(at, kind, story, free, rounds, text)


def _asked(at: Situation, kind: str, story: StoryState | None, name: str, rounds: int, text: str) -> Fact:
    most = int(at.run_input.limits.wait_max_minutes)
    until = text_of(ms_of(at.utc) + most) if at.attended and kind not in LASTING else ""
    options = list(KINDS[kind])
    event = EventKind.QUESTION_ASKED
    if story is None:
        return of_run(event, question=name, kind=kind, text=text, options=options, round=rounds, until=until)
    return of_story(story, event, question=name, kind=kind, text=text, options=options, round=rounds, until=until)


def _about_detail(story: StoryState) -> str:
    detail = story.detail
    if detail is None or not detail.digest:
        return f"The agent wrote no detailed plan of {story.id} that can be read. Say what should be different, or defer it."
    found = f" {count(len(detail.findings), 'thing looks', 'things look')} wrong in it." if detail.findings else ""
    return f"Carry out {story.id} as its detailed plan says (proposal {detail.revision})?{found}"


def _about_result(story: StoryState) -> str:
    shown = f" ({story.proof})" if story.proof in PROVEN else ", but no test shows it"
    return f"The work on {story.id} passes its checks{shown}. Is it complete, or should something change?"
