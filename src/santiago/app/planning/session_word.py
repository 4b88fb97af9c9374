"""A person's answer in a planning session: interpreted, checked against the revision they saw, and left for the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from santiago.app.start.leaks import without_secrets
from santiago.artifacts.inbox import Inbox
from santiago.contract import codec
from santiago.contract.answers import Letter, understood
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_run
from santiago.contract.phases import SessionPhase
from santiago.contract.reasons import Reason
from santiago.contract.session import EXPIRED
from santiago.sessions.session_acts import too_many
from santiago.util.clock import moment
from santiago.util.own_run import refuse_own_word
from santiago.workspace.inspect import find

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.app.planning.planning_sessions import Planning
    from santiago.contract.answers import Via
    from santiago.contract.session import Drafter
    from santiago.contract.state import Question


def say_on_plan(
    planning: Planning, word: str, text: str, actor: str, *, revision: int | None = None, moved: bool = False,
    consent: Callable[[], None] = lambda: None, via: Via = "",
) -> None:  # fmt: skip
    """Leave a person's answer on the latest revision; raise if it is not a valid answer, or comes too late.

    The same answer given again is none: a crash came before it was carried out, and the session only has to go on.
    `revision` is the one that the person saw. `moved` tells that they know of commits since it was planned. `consent` asks
    what else they must agree to before the answer counts, and raises if they do not.
    """
    if word == "cancel" and planning.state.turn is not None:
        cancel_turn(planning, actor)
        return
    if _was_said(planning, word, text, revision):
        consent()
        return
    question = open_review(planning)
    word = understood(question.kind, word, text).word
    if revision is not None and revision != planning.state.revision:
        raise _other_revision(planning, revision)
    if word == "approve" and not moved:
        refuse_moved(planning)
    consent()
    answer(planning, question, word, text, actor, via)


def _was_said(planning: Planning, word: str, text: str, revision: int | None) -> bool:
    """Tell whether this very answer lies in the inbox, waits in the log to be carried out, or made the session final."""
    state = planning.state
    if revision not in (None, state.revision) or state.phase not in (SessionPhase.REVIEW, SessionPhase.FINALIZED):
        return False
    said: tuple[str | None, str] | None = None
    if state.review is not None:
        if left := Inbox(planning.folder).left(state.review.id):
            said = left.answer, left.text
    else:
        about = (state.questions[one] for one, number in state.asked_about.items() if number == state.revision)
        for question in (one for one in about if one.kind == "plan"):  # the last one counts
            said = question.answer, question.detail
    meant = understood("plan", word, text)
    return said == (meant.word, without_secrets(meant.text))


def answer(planning: Planning, question: Question, word: str, text: str, actor: str, via: Via = "") -> str:
    """Leave an answer to any open question of a session; return the fixed word that it means."""
    refuse_own_word(planning.session_id)
    meant = understood(question.kind, word, text)
    if question.kind == "plan" and meant.word in ("adjust", "edit"):
        refuse_spent(planning)
    if meant.word == "stop":
        raise SantiagoError(Kind.USAGE, "nothing is running, so there is nothing to stop; the question stays open")
    letter = Letter(
        kind="answer", subject=question.id, answer=meant.word, text=without_secrets(meant.text), actor=actor, via=via
    )
    if not Inbox(planning.folder).drop(letter):
        first = Inbox(planning.folder).answered(question.id)
        by = f", by {first[0]} at {first[1]}" if first else ""
        raise SantiagoError(Kind.INPUT, f"{question.id} was answered before{by}; the first answer counts")
    return meant.word


def cancel_turn(planning: Planning, actor: str) -> None:
    """Ask to end the turn that is under way or was interrupted. The session can be taken up again."""
    refuse_own_word(planning.session_id)
    Inbox(planning.folder).drop(Letter(kind="stop", actor=actor))


def refuse_answered(planning: Planning, question: str) -> NoReturn:
    """Raise for an answer to a question that does not exist, or is no longer open."""
    asked = planning.state.questions.get(question)
    if asked is None or asked.answer == EXPIRED:
        names = ", ".join(one.id for one in planning.state.open_questions())
        message = f"{planning.session_id} has no open question {question}"
        raise SantiagoError(
            Kind.USAGE, message, hint=f"The open question is {names}." if names else "No question is open."
        )
    message = (
        f"{question} was answered before, by {asked.actor} at {moment(asked.answered_at)}; the first answer counts"
    )
    raise SantiagoError(Kind.INPUT, message, where=planning.session_id)


def open_review(planning: Planning) -> Question:
    """Return the question about the latest revision; if there is none, raise and tell the session's state."""
    state, name = planning.state, planning.session_id
    if state.review is not None:
        return state.review
    match state.phase:
        case SessionPhase.FINALIZED:
            where = f"the run {state.run}" if state.run else planning.asked.output
            message = f"{name} is final: revision {state.revision} became {where}"
            hint = (
                f"Planning on begins a new session: `santiago plan --with AGENT .santiago/runs/{state.run}/plan.json`."
            )
            raise SantiagoError(Kind.INPUT, message, hint=hint if state.run else "")
        case SessionPhase.CANCELLED:
            message, hint = f"{name} was cancelled", f"`santiago review {name} --take-up` takes it up again."
        case SessionPhase.DRAFTING:
            by = f", by {planning.worker}" if planning.worker else ""
            message = f"a turn of {name} is under way{by}"
            hint = "" if planning.worker else f"`santiago review {name} --take-up` goes on with it."
        case _:
            message, hint = (
                f"{name} was answered, but has not gone on yet",
                f"`santiago review {name} --take-up` goes on with it.",
            )
    raise SantiagoError(Kind.INPUT, message, hint=hint)


def take_up(planning: Planning, actor: str) -> list[Fact]:
    """Return the facts that take a session up again. A cancelled one is open for review, or drafts again if it has no plan."""
    state = planning.state
    if state.phase is SessionPhase.FINALIZED:
        open_review(planning)  # raises
    if state.phase is not SessionPhase.CANCELLED:
        return []
    if not state.revision:
        refuse_spent(planning)
    phase = SessionPhase.REVIEW if state.revision else SessionPhase.DRAFTING
    return [of_run(EventKind.SESSION_REOPENED, phase, actor=actor)]


def more_turns(planning: Planning, amount: int, actor: str) -> list[Fact]:
    """Return the facts that allow more turns. They count from now on."""
    raised = planning.state.raised
    raised["planning_max_turns"] = raised.get("planning_max_turns", 0) + amount
    return [of_run(EventKind.BUDGET_RAISED, actor=actor, limit="planning_max_turns", amount=amount)]


def other_drafters(drafters: Sequence[Drafter], actor: str) -> list[Fact]:
    """Return the fact that other agents plan from here on."""
    told = [[one.label, codec.canonical(one.agent).decode()] for one in drafters]
    return [of_run(EventKind.DRAFTERS_CHOSEN, actor=actor, drafters=told)]


def refuse_spent(planning: Planning) -> None:
    """Raise if no further turn may begin."""
    if spent := too_many(planning.state, planning.run_input.limits):
        hint = "The review stays open, and Finalize is still possible; `--add-turns N` adds turns."
        raise SantiagoError(Kind.INPUT, spent, hint=hint, reason=Reason.ATTEMPT_BUDGET_EXHAUSTED)


def moved_since(planning: Planning) -> str:
    """Return the present commit if the latest revision was planned on another one; else an empty text."""
    turn = planning.state.turn_of(planning.state.revision)
    now = find(planning.root).head
    return now if turn is not None and turn.base != now else ""


def refuse_moved(planning: Planning) -> None:
    """Raise if the repository has new commits since the revision was planned. The person then decides."""
    if now := moved_since(planning):
        turn = planning.state.turn_of(planning.state.revision)
        assert turn is not None
        message = f"the repository has new commits ({turn.base[:12]} to {now[:12]}) since revision {planning.state.revision} was planned"
        hint = (
            'Have the plan looked at again: `santiago review --edit "check it against the new commits"`; '
            "or finalize it as it is: --moved-base."
        )
        raise SantiagoError(Kind.INPUT, message, where=planning.session_id, hint=hint)


def _other_revision(planning: Planning, revision: int) -> SantiagoError:
    from santiago.planner.rebase import difference

    latest = planning.state.revision
    if revision > latest or revision < 1:
        return SantiagoError(Kind.USAGE, f"there is no revision {revision}; the latest is {latest}")
    diff = difference(planning.plan(revision), planning.plan(latest))
    parts = [*(f"+ {name}" for name in diff.new), *(f"~ {name} ({what})" for name, what in diff.changed)]
    parts += [f"- {name}" for name in diff.removed]
    message = f"revision {latest} has replaced revision {revision}: {', '.join(parts[:12]) or 'nothing changed'}"
    return SantiagoError(Kind.INPUT, message, hint=f"Look at it, then name it: --revision {latest}.")
