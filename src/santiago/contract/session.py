"""The planning session: its input, and its state as the log tells it."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from santiago.contract.ids import RUN_ID
from santiago.contract.phases import SessionPhase
from santiago.contract.policy import Agent
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
