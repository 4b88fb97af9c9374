"""What a planning session does next, purely from its log: ask agents, conclude a turn, ask a person, carry out an answer."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from santiago.contract.answers import understood
from santiago.contract.counting import count
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_run
from santiago.contract.phases import SessionPhase
from santiago.contract.reasons import SHARED, Reason
from santiago.contract.record import lean, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from santiago.contract.answers import Letter
    from santiago.contract.policy import Limits
    from santiago.contract.session import DraftKind, DraftState, Mode, SessionInput, SessionState, TurnState

MOST_STARTS = 4
"""How often one agent may be asked in a turn, including starts that a crash interrupted."""


@record
class Ask:
    """Ask an agent."""

    kind: DraftKind
    agent: str
    findings: tuple[str, ...] = ()
    """What was wrong with its last draft."""


@record
class Begin:
    """Begin a turn."""

    mode: Mode
    agents: tuple[str, ...]
    text: str
    actor: str


@record
class Conclude:
    """End the turn, with this agent's draft or without a plan."""

    draft: DraftState | None
    reason: Reason | None = None
    message: str = ""


@record
class AskPerson:
    """Ask a person about the latest revision."""

    revision: int


@record
class Finalize:
    """Carry out the approval of the latest revision."""

    revision: int
    actor: str


@record
class Cancel:
    """End the review, since a person said so."""

    actor: str


Act = Ask | Begin | Conclude | AskPerson | Finalize | Cancel


def next_acts(state: SessionState, asked: SessionInput, limits: Limits) -> list[Act]:
    """Return what to do next; empty if the session waits. Only asking agents may be several acts at once."""
    if state.turn is not None:
        return _turn(state, state.turn, limits)
    if state.phase is SessionPhase.DRAFTING:
        return [Begin(mode=_mode(asked), agents=_labels(asked), text="", actor="")]
    if state.phase is not SessionPhase.REVIEW:
        return []
    if state.owed:
        return [_owed(state, asked)]
    return [] if state.review else [AskPerson(revision=state.revision)]


def _owed(state: SessionState, asked: SessionInput) -> Act:
    question = state.questions[state.owed]
    match question.answer:
        case "approve":
            return Finalize(revision=state.asked_about[question.id], actor=question.actor)
        case "adjust":
            return Begin(mode=_mode(asked), agents=_labels(asked), text=question.detail, actor=question.actor)
        case "edit":
            return Begin(mode="single", agents=_labels(asked)[:1], text=question.detail, actor=question.actor)
        case _:
            return Cancel(actor=question.actor)


def _mode(asked: SessionInput) -> Mode:
    return "multi" if len(asked.drafters) > 1 else "single"


def _labels(asked: SessionInput) -> tuple[str, ...]:
    return tuple(one.label for one in asked.drafters)


def _turn(state: SessionState, turn: TurnState, limits: Limits) -> list[Act]:
    """Every agent drafts. If several drafts succeed, the first agent that is able to merges them."""
    asks = [ask for name in turn.agents for ask in _again(turn, "draft", name)]
    if asks:
        return _within(state, limits, turn, asks)
    drafts = [turn.drafts["draft", name] for name in turn.agents if _is_ok(turn, "draft", name)]
    if len(drafts) < 2:
        return [_concluded(turn, drafts[0] if drafts else None)]
    for draft in drafts:
        if _is_ok(turn, "merge", draft.agent):
            return [_concluded(turn, turn.drafts["merge", draft.agent])]
        if asks := [*_again(turn, "merge", draft.agent)]:
            return _within(state, limits, turn, asks)
    return [_concluded(turn, None)]


def _again(turn: TurnState, kind: DraftKind, agent: str) -> Iterator[Ask]:
    """Yield the agent if it must be asked: for the first time, after an interruption, or to correct its draft."""
    draft = turn.drafts.get((kind, agent))
    if draft is None:
        yield Ask(kind=kind, agent=agent)
    elif draft.status == "" or (draft.status == "failed" and draft.reason == Reason.INTERRUPTED):
        if draft.starts < MOST_STARTS:
            yield Ask(kind=kind, agent=agent, findings=draft.findings)
    elif draft.status == "failed" and draft.findings and not draft.sent_back:
        yield Ask(kind=kind, agent=agent, findings=draft.findings)


def _is_ok(turn: TurnState, kind: DraftKind, agent: str) -> bool:
    draft = turn.drafts.get((kind, agent))
    return draft is not None and draft.status == "ok"


def _within(state: SessionState, limits: Limits, turn: TurnState, asks: list[Ask]) -> list[Act]:
    """Return the agents to ask, or the end of the turn if a limit is used up."""
    spent = exhausted(state, limits)
    if spent is None:
        return list(asks)
    done = [turn.drafts["draft", name] for name in turn.agents if _is_ok(turn, "draft", name)]
    return [Conclude(draft=done[0])] if done else [Conclude(draft=None, reason=Reason.RUN_TIMEOUT, message=spent)]


def _concluded(turn: TurnState, draft: DraftState | None) -> Conclude:
    if draft is not None:
        return Conclude(draft=draft)
    failed = [one for one in turn.drafts.values() if one.status == "failed"]
    words = "; ".join(f"{one.agent}: {one.message or ', '.join(one.findings[:3]) or one.reason}" for one in failed)
    reasons = {one.reason for one in failed}
    reason = Reason.AGENT_ASKED if Reason.AGENT_ASKED in reasons else Reason.PLAN_GENERATION_FAILED
    if len(reasons) == 1 and reasons <= SHARED:
        reason = Reason(reasons.pop())
    return Conclude(draft=None, reason=reason, message=words)


def exhausted(state: SessionState, limits: Limits) -> str | None:
    """Return, in words, the limit that forbids asking another agent; None if there is none."""
    spent = (
        ("planning_timeout_minutes", state.used_ms, int(limits.planning_timeout_minutes)),
        ("planning_max_tokens", state.tokens, limits.planning_max_tokens),
        (
            "planning_max_cost_usd",
            state.cost_micro_usd,
            None if limits.planning_max_cost_usd is None else int(limits.planning_max_cost_usd),
        ),
    )
    for name, used, most in spent:
        if most is not None and used >= most + state.raised.get(name, 0):
            return f"the session has used up {name}"
    return None


def too_many(state: SessionState, limits: Limits) -> str | None:
    """Return, in words, why no further turn may begin; None if one may."""
    most = limits.planning_max_turns + state.raised.get("planning_max_turns", 0)
    if len(state.turns) >= most:
        return f"the session has used its {count(most, 'turn')}"
    return exhausted(state, limits)


@lean()
class Heard:
    """What follows from letters."""

    facts: list[Fact] = field(default_factory=list)
    void: list[str] = field(default_factory=list)
    """Names of letters that answered nothing. Their questions stay open."""


def heard(letters: Sequence[Letter], state: SessionState, limits: Limits, name_run: Callable[[], str]) -> Heard:
    """Return what follows from letters. A letter that cannot be obeyed is only noted."""
    found, answered = Heard(), set()
    ends = [letter for letter in letters if wants_end(letter) and state.turn is not None]
    for letter in letters:
        if letter in ends:
            continue
        trouble = letter.fault or _trouble(letter, state, limits)
        if trouble or letter.subject in answered:
            found.void.append(letter.name)
            if trouble:
                found.facts.append(of_run(EventKind.NOTE, actor=letter.actor, message=f"{letter.name}: {trouble}"))
            continue
        answered.add(letter.subject)
        found.facts.append(_answer(letter, state, name_run))
    if ends:  # the session can be taken up again
        actor = ends[0].actor
        found.facts.append(of_run(
            EventKind.TURN_ENDED, SessionPhase.CANCELLED, "stopped", actor=actor, reason=Reason.INTERRUPTED,
            message=f"{actor} cancelled the turn",
        ))  # fmt: skip
    return found


def wants_end(letter: Letter) -> bool:
    """Tell whether a letter asks to end the present turn."""
    return letter.kind in ("stop", "stop-now", "stop-detach") and not letter.fault


def _trouble(letter: Letter, state: SessionState, limits: Limits) -> str:
    """Return why a letter cannot be obeyed; empty if it can."""
    if letter.kind != "answer":
        return "a planning session takes answers only"
    question = state.questions.get(letter.subject)
    if question is None or question.answer is not None:
        return "there is no such open question"
    try:
        answer = understood(question.kind, letter.answer, letter.text)
    except SantiagoError as error:
        return error.message
    if answer.word == "stop":
        return "the question stays open"
    return (too_many(state, limits) or "") if answer.word in ("adjust", "edit") and question.kind == "plan" else ""


def _answer(letter: Letter, state: SessionState, name_run: Callable[[], str]) -> Fact:
    question = state.questions[letter.subject]
    answer = understood(question.kind, letter.answer, letter.text)
    approved = question.kind == "plan" and answer.word == "approve"
    return of_run(
        EventKind.QUESTION_ANSWERED, actor=letter.actor, question=question.id, answer=answer.word, text=answer.text,
        revision=state.asked_about[question.id], run=name_run() if approved else "", via=letter.via,
    )  # fmt: skip
