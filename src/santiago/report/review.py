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

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.planning.planning_sessions import Planning
    from santiago.contract.plan import Plan, Story
    from santiago.contract.views import Screen
    from santiago.planner.rebase import Diff

OTHERS = 5
Mark = Literal["", "new", "changed"]


@record
class ChunkRow:
    """A chunk of the plan."""

    number: int
    label: str
    stories: tuple[Story, ...]
    changed: int
    """How many of its stories are new or changed in this revision."""


@record
class TurnRow:
    """A turn, in words."""

    number: int
    mode: str
    agents: tuple[str, ...]
    text: str
    actor: str
    at: str
    outcome: str
    """`revision 2`, `under way`, or why it brought no revision."""
    reason: str = ""
    """The reason, where it brought none."""


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
    turns: tuple[TurnRow, ...]
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

    def criteria(self, story: Story) -> tuple[tuple[str, str], ...]:
        """Return the criteria of a story: id and text."""
        texts = {
            one.id: one.text
            for requirement in (self.plan.requirements if self.plan else ())
            for one in requirement.criteria
        }
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
        turns=tuple(_turns(planning)),
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


def _turns(planning: Planning) -> list[TurnRow]:
    rows = []
    for turn in planning.state.turns:
        outcome = f"revision {turn.revision}" if turn.revision else turn.message or turn.reason or "no plan"
        rows.append(
            TurnRow(
                number=turn.number,
                mode=turn.mode,
                agents=turn.agents,
                text=turn.text,
                actor=turn.actor,
                at=turn.at,
                outcome=outcome if turn.ended else "under way",
                reason=turn.reason,
            )
        )
    return rows


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
        "turns": [codec.to_data(row) for row in review.turns],
        "questions": [{"id": review.question, "kind": "plan", "words": dict(review.words)}] if review.question else []
        + [{"id": name, "kind": "agent", "text": text} for name, text in review.others],
        "run_id": review.run or None,
        "agent": review.agent or None,
        "worker": review.worker or None,
    }  # fmt: skip
