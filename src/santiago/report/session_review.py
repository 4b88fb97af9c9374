"""A planning session for people: its state, the plan by chunk, what changed, feedback, and usage."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from santiago.app.planning.planning_sessions import load_session
from santiago.app.planning.planning_sessions import sessions_of as folders_of
from santiago.app.start.agents import called
from santiago.contract import codec
from santiago.contract.answers import KINDS
from santiago.contract.counting import count
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import SessionPhase
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.report.measures import ago
from santiago.util.text import fit, flat

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.planning.planning_sessions import Planning
    from santiago.contract.plan import Plan, Story
    from santiago.contract.session import TurnState
    from santiago.contract.views import Screen
    from santiago.planner.rebase import Diff
    from santiago.report.page import Tone

OTHERS = 5
MOST = 40
"""How many sessions are offered. Older ones can be named on the command line."""
Mark = Literal["", "new", "changed"]
TONES: dict[str, Tone] = {
    "review": "good", "drafting": "busy", "interrupted": "warn", "cancelled review": "warn",
    "cancelled, no plan yet": "warn", "no plan yet": "bad",
}  # fmt: skip
"""The state of a session in words → its tone."""


@record
class ChunkRow:
    """A chunk of the plan."""

    number: int
    label: str
    stories: tuple[Story, ...]
    changed: int
    """How many of its stories are new or changed in this revision."""


@record
class Review:
    """Everything that a review shows."""

    session_id: str
    title: str
    artifact: str
    state: str
    """The state in a word: drafting, review, finalized, cancelled or interrupted."""
    screen: Screen
    revision: int
    plan: Plan | None
    chunks: tuple[ChunkRow, ...]
    diff: Diff | None
    marks: dict[str, Mark]
    turns: tuple[TurnState, ...]
    question: str
    """The open question about the revision; empty where there is none."""
    others: tuple[tuple[str, str], ...]
    """Open questions of agents: id and text."""
    words: tuple[tuple[str, str], ...]
    spent: str
    worker: str
    run: str
    """The run or file that it became; empty as long as it is not final."""
    agent: str
    """The name of the agent that carries the plan out; empty for a document."""
    output: str

    def counts(self) -> list[str]:
        """Return how many stories, chunks and criteria the plan has."""
        if self.plan is None:
            return []
        criteria = sum(len(one.criteria) for one in self.plan.requirements)
        stories, chunks = count(len(self.plan.stories), "story", "stories"), count(len(self.plan.chunks), "chunk")
        return [stories, chunks, count(criteria, "criterion", "criteria")]

    def criteria(self, story: Story) -> tuple[tuple[str, str], ...]:
        """Return the criteria of a story: id and text."""
        texts = self.plan.criteria if self.plan else {}
        return tuple((name, texts.get(name, "")) for name in story.criteria)


def review_of(planning: Planning, revision: int | None = None, *, compared: bool = True) -> Review:
    """Return the review of a session, with its latest or an earlier revision, `compared` with the one before that."""
    from santiago.planner.rebase import difference  # not needed to list sessions

    state, latest = planning.state, revision or planning.state.revision
    plan = planning.plan(latest) if latest else None
    diff = difference(planning.plan(latest - 1), plan) if plan and latest > 1 and compared else None
    marks: dict[str, Mark] = {}
    if diff is not None:
        marks = {**dict.fromkeys(diff.new, "new"), **dict.fromkeys((name for name, _ in diff.changed), "changed")}
    return Review(
        session_id=planning.session_id,
        title=planning.title,
        artifact=planning.asked.artifact,
        state=word_of(planning),
        screen=screen_of(planning),
        revision=latest,
        plan=plan,
        chunks=_chunks(plan, marks) if plan else (),
        diff=diff,
        marks=marks,
        turns=tuple(state.turns),
        question=state.review.id if state.review else "",
        others=tuple((one.id, one.text) for one in state.open_questions() if one.kind == "agent"),
        words=tuple((word, does) for word, does in KINDS["plan"].items() if word != "stop"),
        spent=_spent(planning),
        worker=planning.worker or "",
        run=state.run if state.phase is SessionPhase.FINALIZED else "",
        agent=called(planning.run_input.agent) if planning.asked.artifact == "plan" else "",
        output=planning.asked.output,
    )


def sessions_of(root: Path, most: int = OTHERS) -> list[tuple[str, str]]:
    """Return the newest sessions of a repository that are not final, cancelled ones too, each with its state in a word."""
    standing = ((folder.name, _standing(folder)) for folder in folders_of(root))
    return list(islice((one for one in standing if one[1] != SessionPhase.FINALIZED), most))


def _standing(folder: Path) -> str:
    try:
        return word_of(load_session(folder))
    except SantiagoError:
        return "damaged"


def screen_of(planning: Planning) -> Screen:
    """Return the screen state of a session that is not a run yet."""
    match planning.state.phase:
        case SessionPhase.DRAFTING:
            return "PLANNING_ACTIVE"
        case SessionPhase.REVIEW:
            return "PLAN_REVIEW_READY"
        case _:
            return "NORMAL"


def word_of(planning: Planning) -> str:
    """Return the state of a session in a word or two."""
    state = planning.state
    if state.phase is SessionPhase.DRAFTING and not planning.worker:
        return "interrupted"
    if state.phase is SessionPhase.CANCELLED and not state.revision:
        return (
            "cancelled, no plan yet" if state.turns and state.turns[-1].reason == Reason.INTERRUPTED else "no plan yet"
        )
    return "cancelled review" if state.phase is SessionPhase.CANCELLED else str(state.phase)


def _chunks(plan: Plan, marks: dict[str, Mark]) -> tuple[ChunkRow, ...]:
    by_id = {story.id: story for story in plan.stories}
    return tuple(
        ChunkRow(
            number=number,
            label=chunk.label,
            stories=tuple(by_id[name] for name in chunk.stories),
            changed=sum(name in marks for name in chunk.stories),
        )
        for number, chunk in enumerate(plan.chunks, 1)
    )


def outcome_of(turn: TurnState) -> str:
    """Return `revision 2`, `under way`, or why a turn brought no revision."""
    if not turn.ended:
        return "under way"
    return f"revision {turn.revision}" if turn.revision else turn.message or turn.reason or "no plan"


def _spent(planning: Planning) -> str:
    state, limits = planning.state, planning.run_input.limits
    turns = limits.planning_max_turns + state.raised.get("planning_max_turns", 0)
    parts = [
        f"{len(state.turns)} of {count(turns, 'turn')}",
        f"{state.used_ms // 60_000} of {limits.planning_timeout_minutes.written} min",
    ]
    if state.tokens or not state.unreported:
        parts.append(f"{state.tokens:,} tokens" + (" and more" if state.unreported else ""))
    if state.cost_micro_usd:
        parts.append(f"${state.cost_micro_usd / 1e6:.2f}" + (" and more" if state.unpriced else ""))
    return ", ".join(parts)


def as_data(review: Review) -> dict[str, Any]:
    """Return a review for programs."""
    diff = review.diff
    return {
        "contract_version": 1,
        "session_id": review.session_id,
        "title": review.title,
        "artifact": review.artifact,
        "state": review.state,
        "screen": review.screen,
        "revision": review.revision,
        "plan": codec.to_data(review.plan) if review.plan else None,
        "diff": diff
        and {
            "kept": list(diff.kept),
            "changed": [{"id": name, "what": what} for name, what in diff.changed],
            "new": list(diff.new),
            "removed": list(diff.removed),
        },
        "turns": [
            {
                "number": one.number, "mode": one.mode, "agents": list(one.agents), "text": one.text, "actor": one.actor,
                "at": one.at, "outcome": outcome_of(one), "reason": one.reason,
            }
            for one in review.turns
        ],
        "questions": [{"id": review.question, "kind": "plan", "words": dict(review.words)}] if review.question else []
        + [{"id": name, "kind": "agent", "text": text} for name, text in review.others],
        "run_id": review.run or None,
        "agent": review.agent or None,
        "worker": review.worker or None,
    }  # fmt: skip


# The sessions of a repository


@record
class SessionRow:
    """One session to choose."""

    folder: Path
    title: str
    at: str
    """Time of its last event; empty if the session cannot be read."""
    state: str

    def text(self, now: str) -> str:
        """Return the session on one line."""
        when = ago(self.at, now) if self.at else ""
        return f"{self.folder.name:<20}  {fit(self.title, 28)}  {when:<12}  {self.state}"


def session_rows(root: Path) -> list[SessionRow]:
    """Return the newest sessions of a repository."""
    return [_row(folder) for folder in folders_of(root)[:MOST]]


def _row(folder: Path) -> SessionRow:
    try:
        planning = load_session(folder)
    except SantiagoError:
        return SessionRow(folder=folder, title="", at="", state="damaged")
    revision = f", rev {planning.state.revision}" if planning.state.revision else ""
    return SessionRow(
        folder=folder, title=flat(planning.title), at=planning.state.at, state=f"{word_of(planning)}{revision}"
    )
