"""Letters of people and other programs to a run, turned into facts: an answer closes its question, and its story goes on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from typing import Literal

from santiago.contract.answers import JUDGED, UNFIT, Letter, Understood, lacks, understood, words_of
from santiago.contract.errors import SantiagoError
from santiago.contract.event_effects import PAUSES, REST
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import accepted, of_run, of_story
from santiago.contract.phases import WAITING, StoryPhase
from santiago.contract.record import lean
from santiago.contract.state import Question, RunState, StoryState

NOTED = 3
"""How many of the faulty letters that are found together get a line of their own in the log."""


Stop = Literal["detach", "soon", "now"]


@lean()
class Heard:
    """What follows from the letters that were read."""

    facts: list[Fact] = field(default_factory=list)
    stop: Stop | None = None
    """The strongest one: `detach` leaves alone what workers have."""
    later: list[str] = field(default_factory=list)
    """Letters that are left for the next look, since another letter about the same thing comes first."""
    changed: list[str] = field(default_factory=list)
    """Stories whose running attempt ends at once."""
    void: list[str] = field(default_factory=list)
    """Names of letters that were meant to answer a question and failed to. The question stays open for others."""


def heard(letters: Sequence[Letter], state: RunState, held: Collection[str] = ()) -> Heard:
    """Return what follows from letters. A letter that cannot be understood is only noted.

    Letters about `held` stories wait, since these stories are just being put onto the branch.
    """
    found, decided = Heard(), set(held)
    found.facts += _put_aside([f"inbox/{letter.name}: {letter.fault}" for letter in letters if letter.fault])
    for letter in letters:
        if letter.fault:
            found.void += [letter.name] if letter.kind == "answer" else []
            continue
        about = letter.subject if letter.kind in ("change", "hint") else ""
        if letter.kind == "answer" and (question := state.questions.get(letter.subject)):
            about = question.story or ""
        if about in decided:  # the facts of the earlier letter may move the story
            found.later.append(letter.name)
            continue
        decided |= {about} - {""}
        match letter.kind:
            case "stop" | "stop-now" | "stop-detach":
                wanted = _STOPS[letter.kind]
                found.stop = max(wanted, found.stop or wanted, key=_STRENGTH.index)
                found.facts.append(of_run(EventKind.STOP_REQUESTED, actor=letter.actor, mode=letter.kind))
            case "answer":
                _hear_answer(letter, state, found)
            case "pause":
                mode = PAUSES if letter.answer == "on" else "auto"
                found.facts.append(of_run(EventKind.PAUSES_SET, actor=letter.actor, mode=mode))
            case "hint" | "change":
                _hear_wish(letter, state, found)
    return found


_STOPS: dict[str, Stop] = {"stop-detach": "detach", "stop": "soon", "stop-now": "now"}
_STRENGTH: tuple[Stop, ...] = ("detach", "soon", "now")


def _put_aside(faults: Sequence[str]) -> list[Fact]:
    """Note what cannot be understood: the first few one by one, the others by their number."""
    words = list(faults[:NOTED])
    if len(faults) > NOTED:
        words.append(f"{len(faults) - NOTED} more that cannot be understood")
    return [of_run(EventKind.NOTE, message=f"request put aside: {text}") for text in words]


def _hear_wish(letter: Letter, state: RunState, found: Heard) -> None:
    """Give a hint to a story's next attempt, or send the story back for changes. What is done or left out cannot go back."""
    story = state.stories.get(letter.subject)
    if story is None or story.skipped or story.phase is StoryPhase.DONE:
        why = f"it is {story.phase}" if story else "there is no such story"
        message = f"{letter.kind} of {letter.subject}: {why}"
        found.facts.append(of_run(EventKind.NOTE, actor=letter.actor, message=message))
    elif letter.kind == "hint":
        found.facts.append(of_story(story, EventKind.HINT_ADDED, attempt=0, actor=letter.actor, text=letter.text))
    else:
        phase = None if story.phase in (*WAITING, StoryPhase.RUNNING) else StoryPhase.READY
        event = EventKind.CHANGE_REQUESTED
        found.facts.append(of_story(story, event, phase, attempt=0, actor=letter.actor, text=letter.text))
        found.facts += one_attempt(story, letter.actor) if story.integrated else []
        found.changed.append(story.id)


def _hear_answer(letter: Letter, state: RunState, found: Heard) -> None:
    """Take up an answer. The first one counts. `stop` is not an answer: it leaves the question open."""
    question = state.questions.get(letter.subject)
    if question is None or question.answer is None:
        facts = _answers(letter, question, state, found)
        if not any(fact.event is EventKind.QUESTION_ANSWERED for fact in facts):
            found.void.append(letter.name)
        found.facts += facts
    elif not _is_known(letter, question):
        found.facts.append(_noted(letter, "there is no such open question"))


def _is_known(letter: Letter, question: Question) -> bool:
    """Tell whether the log already has this answer: a crash came before the letter was put away, so it was read again."""
    try:
        answer = understood(question.kind, letter.answer, letter.text, question.options)
    except SantiagoError:
        return False
    return (question.answer, question.detail, question.actor) == (answer.word, answer.text, letter.actor)


def _answers(letter: Letter, question: Question | None, state: RunState, found: Heard) -> list[Fact]:
    """Return the facts that follow from a letter about an open question."""
    if question is None:
        return [_noted(letter, "there is no such open question")]
    try:
        answer = understood(question.kind, letter.answer, letter.text, question.options)
    except SantiagoError as error:
        return [_noted(letter, error.message)]
    facts = []
    if answer.word == "stop":
        found.stop = found.stop or "soon"
        facts.append(of_run(EventKind.STOP_REQUESTED, actor=letter.actor, mode=REST))
    if answer.word != "stop" or question.kind == "continue":
        facts += facts_of(answer, question, state, letter)
    return facts


def _noted(letter: Letter, why: str) -> Fact:
    return of_run(EventKind.NOTE, actor=letter.actor, message=f"answer to {letter.subject}: {why}")


_READY, _DONE = StoryPhase.READY, StoryPhase.DONE
_MOVES = {
    ("detail", "approve"): _READY, ("detail", "drop"): _READY, ("detail", "adjust"): _READY, ("detail", "defer"): _READY, ("result", "change"): _READY,
    ("unproven", "accept"): _DONE, ("unproven", "change"): _READY, ("unproven", "retry"): _READY,
}  # fmt: skip
"""Answers that move a story: it is ready again for an attempt, another proposal or its turn later, or it is done."""


def facts_of(answer: Understood, question: Question, state: RunState, letter: Letter) -> list[Fact]:
    """Return the facts of an answer to an open question. One event both closes the question and moves its story."""
    story, actor, via = state.stories.get(question.story or ""), letter.actor, letter.via
    if story is None:
        return [
            of_run(
                EventKind.QUESTION_ANSWERED,
                actor=actor, question=question.id, answer=answer.word, text=answer.text, via=via,
            )
        ]  # fmt: skip
    if question.kind == "detail" and answer.word not in words_of(state, question):
        message = f"answer to {question.id}: {UNFIT[lacks(state, question)]}"
        return [of_run(EventKind.NOTE, actor=actor, message=message)]
    phase = _MOVES.get((question.kind, answer.word))
    answered = of_story(story, EventKind.QUESTION_ANSWERED, phase,
        attempt=0, actor=actor, question=question.id, answer=answer.word, text=answer.text, scope=letter.scope, via=via,
    )  # fmt: skip
    return [answered, *_following(answer, question, story, actor)]


def _following(answer: Understood, question: Question, story: StoryState, actor: str) -> list[Fact]:
    """Return what follows at once from an answer."""
    if question.kind == "detail" and answer.word in ("approve", "drop") and story.detail and story.detail.commands:
        digests = list(story.detail.commands)
        return [of_run(EventKind.COMMANDS_APPROVED, actor=actor, digests=digests)]
    if question.kind == "grant" and answer.word == "grant":
        both = (question.limit, "run_max_attempts") if question.limit == "story_max_attempts" else (question.limit,)
        return [_raised(name, story.parent or story.id, actor) for name in both]
    if question.kind == "unproven" and answer.word != "accept":
        return one_attempt(story, actor)
    if (question.kind, answer.word) == ("there", "accept"):
        return accepted(story, actor, answer.text)
    if story.phase is not StoryPhase.BLOCKED or answer.word == "defer":
        return []
    reopened = of_story(story, EventKind.STORY_REOPENED, StoryPhase.READY, attempt=0, actor=actor)
    taken = accepted(story, actor, answer.text) if question.kind in JUDGED and answer.word == "accept" else []
    return [reopened, *taken]


def one_attempt(story: StoryState, actor: str) -> list[Fact]:
    """Return the facts that grant one more attempt for work that stands already."""
    return [_raised(name, story.id, actor) for name in ("story_max_attempts", "run_max_attempts")]


def _raised(limit: str, story: str, actor: str) -> Fact:
    own = story if limit.startswith("story_") else None
    return Fact(event=EventKind.BUDGET_RAISED, story=own, actor=actor, context={"limit": limit, "amount": 1})
