"""The planning session: its input, and its state as the log tells it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Annotated, Any, Literal, cast

from santiago.contract.events import Event, EventKind
from santiago.contract.ids import RUN_ID
from santiago.contract.phases import SESSION_MOVES, SessionPhase
from santiago.contract.policy import Agent
from santiago.contract.reasons import Reason
from santiago.contract.record import AtLeast, Matching, lean, record
from santiago.contract.state import Question

Artifact = Literal["plan", "document"]
"""What the agents write: a plan that can be run, or a document that the compiler reads."""
Mode = Literal["multi", "single"]
Depth = Literal["shallow", "medium", "deep"]
DraftKind = Literal["draft", "merge"]
LONGEST_DRAFT = 8 * 2**20
"""Characters of a plan or a document as an agent writes it."""


@record
class Drafter:
    """An agent that takes part."""

    label: Annotated[str, Matching(RUN_ID)]
    """The agent's name in the session. Its drafts have this name."""
    agent: Agent


@record
class SizeWishes:
    """How large the plan should be. A plan of another size only gets a warning."""

    chunks: Annotated[int, AtLeast(1)] | None = None
    stories: Annotated[int, AtLeast(1)] | None = None
    depth: Depth | None = None


@record
class SessionInput:
    """The input of a planning session: the content of `session-input.json`."""

    contract_version: Literal[1]
    session_id: Annotated[str, Matching(RUN_ID)]
    artifact: Artifact = "plan"
    task: str = ""
    """What a person wants, in a sentence or more; empty where a document says it."""
    document: str = ""
    """The document that the session begins with, relative to the repository."""
    source: str = ""
    """SHA-256 of that document, or of the plan, as the session keeps it."""
    output: str = ""
    """The file that an approved document is written to."""
    drafters: tuple[Drafter, ...]
    size: SizeWishes = SizeWishes()


@lean()
class DraftState:
    """One agent's part of a turn."""

    agent: str
    kind: DraftKind
    starts: int = 0
    status: Literal["", "ok", "failed"] = ""
    """Empty as long as it is unknown."""
    digest: str = ""
    findings: tuple[str, ...] = ()
    """What is wrong with the agent's draft. The agent is asked once more and told these."""
    sent_back: bool = False
    """The agent was asked once more."""
    reason: str = ""
    message: str = ""


@lean()
class TurnState:
    """A planning turn."""

    number: int
    mode: Mode
    agents: tuple[str, ...]
    text: str
    """What a person said about the revision before."""
    actor: str
    began: int
    """The revision that the turn began from; 0 where there was none."""
    base: str = ""
    """The commit that the agents read."""
    at: str = ""
    drafts: dict[tuple[DraftKind, str], DraftState] = field(default_factory=dict)
    ended: bool = False
    revision: int = 0
    """The revision that the turn brought; 0 where it brought none."""
    digest: str = ""
    merged_by: str = ""
    reason: str = ""
    message: str = ""


@lean()
class SessionState:
    """A planning session as its log tells it. Treat it as a value: only `contract.session_fold` changes one."""

    session_id: str = ""
    phase: SessionPhase = SessionPhase.DRAFTING
    seq: int = 0
    at: str = ""
    """Of the last event."""
    input_digest: str = ""
    turns: list[TurnState] = field(default_factory=list)
    revision: int = 0
    questions: dict[str, Question] = field(default_factory=dict)
    asked_about: dict[str, int] = field(default_factory=dict)
    """Question → the revision that it is about."""
    owed: str = ""
    """The answered question whose answer is still to be carried out."""
    drafters: tuple[tuple[str, str], ...] = ()
    """The agents that a person chose since it began: label, and settings as JSON. Empty as long as those of its input plan."""
    run: str = ""
    """The run that an approved revision becomes."""
    path: str = ""
    """The file that an approved document is written to."""
    notes: tuple[str, ...] = ()
    """Answers to agents' questions, for the next turn."""
    used_ms: int = 0
    tokens: int = 0
    cost_micro_usd: int = 0
    unreported: int = 0
    unpriced: int = 0
    raised: dict[str, int] = field(default_factory=dict)

    @property
    def turn(self) -> TurnState | None:
        """The turn that is under way."""
        return self.turns[-1] if self.turns and not self.turns[-1].ended else None

    def turn_of(self, revision: int) -> TurnState | None:
        """Return the turn that brought a revision."""
        return next((turn for turn in self.turns if turn.revision == revision), None)

    def open_questions(self) -> list[Question]:
        return [question for question in self.questions.values() if question.answer is None]

    @property
    def review(self) -> Question | None:
        """The open question about the latest revision."""
        return next((one for one in self.open_questions() if one.kind == "plan"), None)


EXPIRED = "expired"


class IllegalSessionMoveError(ValueError):
    """An event does not belong to a session, or enters a phase that the session cannot enter now."""


def apply(state: SessionState, event: Event) -> None:
    """Apply one event to a state, in place."""
    if event.phase is not None:
        _move(state, event)
    if (take := _TAKES.get(event.event)) is not None:
        take(state, event)
    state.seq, state.at = event.seq, event.timestamp


def _move(state: SessionState, event: Event) -> None:
    entered, first = event.phase, event.event is EventKind.SESSION_CREATED
    stays = entered is state.phase is SessionPhase.DRAFTING  # the first turn of a session that began with none
    allowed = state.seq == 0 if first else stays or entered in SESSION_MOVES[state.phase]
    if not isinstance(entered, SessionPhase) or not allowed:
        raise IllegalSessionMoveError(f"event {event.seq}: the session cannot go from {state.phase} to {entered}")
    state.phase = entered


def _created(state: SessionState, event: Event) -> None:
    state.session_id = event.run_id
    state.input_digest = event.context.get("input_digest", "")


def _turn_started(state: SessionState, event: Event) -> None:
    context = event.context
    if state.turn is not None or event.attempt != len(state.turns) + 1:
        raise IllegalSessionMoveError(f"event {event.seq}: turn {event.attempt} cannot begin now")
    state.turns.append(
        TurnState(
            number=event.attempt,
            mode=cast("Mode", context.get("mode", "single")),
            agents=tuple(context.get("agents", ())),
            text=context.get("text", ""),
            actor=event.actor,
            began=context.get("revision", 0),
            base=context.get("base", ""),
            at=event.timestamp,
        )
    )
    state.owed = ""


def _draft_of(state: SessionState, event: Event) -> DraftState:
    turn, agent = state.turn, event.context.get("agent", "")
    if turn is None or event.attempt != turn.number:
        raise IllegalSessionMoveError(f"event {event.seq}: no turn {event.attempt} is under way")
    kind = cast("DraftKind", event.context.get("kind", "draft"))
    return turn.drafts.setdefault((kind, agent), DraftState(agent, kind))


def _draft_started(state: SessionState, event: Event) -> None:
    draft = _draft_of(state, event)
    draft.starts += 1
    draft.sent_back = draft.sent_back or (draft.status == "failed" and bool(draft.findings))
    draft.status = ""


def _draft_ended(state: SessionState, event: Event) -> None:
    draft, context = _draft_of(state, event), event.context
    draft.status = "ok" if event.status == "ok" else "failed"
    draft.digest = context.get("digest", "")
    if context.get("reason") != Reason.INTERRUPTED:  # an interruption leaves the earlier findings to be mended
        draft.findings = tuple(context.get("findings", ()))
    draft.reason, draft.message = context.get("reason", ""), context.get("message", "")
    state.used_ms += context.get("ms", 0)
    tokens, cost = context.get("tokens"), context.get("cost_micro_usd")
    state.tokens += tokens or 0
    state.cost_micro_usd += cost or 0
    state.unreported += tokens is None
    state.unpriced += cost is None


def _turn_ended(state: SessionState, event: Event) -> None:
    turn, context = state.turn, event.context
    if turn is None:
        raise IllegalSessionMoveError(f"event {event.seq}: no turn is under way")
    turn.ended = True
    turn.reason, turn.message = context.get("reason", ""), context.get("message", "")
    if event.status == "ok":
        turn.revision = state.revision = context.get("revision", 0)
        turn.digest, turn.merged_by = context.get("digest", ""), context.get("agent", "")
        state.notes = ()


def _asked(state: SessionState, event: Event) -> None:
    context = event.context
    name = context.get("question", "")
    state.questions[name] = Question(
        id=name, story=None, text=context.get("text", ""), options=tuple(context.get("options", ())),
        kind=context.get("kind", "agent"), round=context.get("round", 1), asked_at=event.timestamp,
    )  # fmt: skip
    state.asked_about[name] = context.get("revision", 0)


def _answered(state: SessionState, event: Event) -> None:
    context = event.context
    question = state.questions[context.get("question", "")]
    question.answer, question.detail = context.get("answer", ""), context.get("text", "")
    question.actor, question.answered_at = event.actor, event.timestamp
    if question.kind == "agent":
        state.notes = (*state.notes, f"{question.text}\n{question.detail}")
    elif question.kind == "plan":
        state.owed = question.id
        state.run, state.path = context.get("run", ""), context.get("path", "")


def _raised(state: SessionState, event: Event) -> None:
    limit = event.context.get("limit", "")
    state.raised[limit] = state.raised.get(limit, 0) + event.context.get("amount", 0)


def _drafters_chosen(state: SessionState, event: Event) -> None:
    state.drafters = tuple((label, agent) for label, agent in event.context.get("drafters", ()))


def _settled(state: SessionState, _: Event) -> None:
    """Close the open question: the review is over, or begins anew."""
    state.owed = ""
    for question in state.open_questions():
        if question.kind == "plan":
            question.answer = EXPIRED


_TAKES: dict[EventKind, Callable[[SessionState, Any], None]] = {
    EventKind.SESSION_CREATED: _created,
    EventKind.TURN_STARTED: _turn_started,
    EventKind.DRAFT_STARTED: _draft_started,
    EventKind.DRAFT_ENDED: _draft_ended,
    EventKind.TURN_ENDED: _turn_ended,
    EventKind.QUESTION_ASKED: _asked,
    EventKind.QUESTION_ANSWERED: _answered,
    EventKind.BUDGET_RAISED: _raised,
    EventKind.DRAFTERS_CHOSEN: _drafters_chosen,
    EventKind.SESSION_CANCELLED: _settled,
    EventKind.SESSION_REOPENED: _settled,
    EventKind.SESSION_FINALIZED: _settled,
}
