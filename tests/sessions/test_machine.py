"""The machine of a planning session: its moves, its fold, and what it does next; no files, no agents, no clock."""

from __future__ import annotations

from itertools import product
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.contract.events import Context, Event, EventKind
from santiago.contract.phases import SESSION_MOVES, SessionPhase
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.policy import Agent, Limits
from santiago.contract.quantities import Minutes
from santiago.contract.session import (
    Drafter,
    IllegalSessionMoveError,
    SessionInput,
    SessionState,
    apply,
)
from santiago.sessions.conduct import shown
from santiago.sessions.session_acts import (
    MOST_STARTS,
    Ask,
    AskPerson,
    Begin,
    Cancel,
    Conclude,
    Finalize,
    exhausted,
    next_acts,
    too_many,
)
from tests.sessions.folding import evolve, fold_session

K, P = EventKind, SessionPhase
LIMITS = Limits()


def asked(*labels: str) -> SessionInput:
    drafters = tuple(Drafter(label=label, agent=Agent()) for label in labels)
    return SessionInput(contract_version=CONTRACT_VERSION, session_id="p_1", task="x", drafters=drafters)


class Log:
    """A session's log as it grows."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.events: list[Event] = []
        self.add(K.SESSION_CREATED, P.DRAFTING)

    def add(self, event_kind: EventKind, phase: SessionPhase | None = None, /, **more: Any) -> Log:
        fields = {name: more.pop(name) for name in ("attempt", "status", "actor") if name in more}
        event = Event(
            seq=self.state.seq + 1, timestamp="2026-11-17T00:00:00.000Z", run_id="p_1", event=event_kind, phase=phase,
            context=cast("Context", more), **fields,
        )  # fmt: skip
        apply(self.state, event)
        self.events.append(event)
        return self

    def turn(self, *agents: str, mode: str = "single", text: str = "") -> Log:
        return self.add(
            K.TURN_STARTED, P.DRAFTING, attempt=len(self.state.turns) + 1, mode=mode, agents=list(agents), text=text,
            revision=self.state.revision, base="c1", actor="ann",
        )  # fmt: skip

    def starts(self, agent: str, kind: str = "draft") -> Log:
        return self.add(K.DRAFT_STARTED, attempt=len(self.state.turns), agent=agent, kind=kind)

    def ends(self, agent: str, status: str = "ok", kind: str = "draft", **more: Any) -> Log:
        return self.add(
            K.DRAFT_ENDED, attempt=len(self.state.turns), agent=agent, kind=kind, status=status, ms=1000, **more
        )

    def revised(self) -> Log:
        return self.add(K.TURN_ENDED, P.REVIEW, status="ok", revision=self.state.revision + 1, digest="d", agent="a")

    def asks(self) -> Log:
        number = len(self.state.questions) + 1
        return self.add(K.QUESTION_ASKED, question=f"plan-{number}", kind="plan", revision=self.state.revision)

    def answered(self, word: str, text: str = "") -> Log:
        question = self.state.review
        assert question is not None
        return self.add(K.QUESTION_ANSWERED, question=question.id, answer=word, text=text, run="r_1", actor="ann")


def in_review() -> Log:
    return Log().turn("a").starts("a").ends("a").revised().asks()


@pytest.mark.parametrize(("old", "new"), list(product(SessionPhase, SessionPhase)))
def test_line_3_only_the_moves_of_the_table_are_possible(old: SessionPhase, new: SessionPhase) -> None:
    state = SessionState(phase=old, seq=5)
    event = Event(seq=6, timestamp="2026-11-17T00:00:00Z", run_id="p_1", event=K.NOTE, phase=new)
    if new in SESSION_MOVES[old] or (old is new is P.DRAFTING):
        assert evolve(state, event).phase is new
    else:
        with pytest.raises(IllegalSessionMoveError):
            evolve(state, event)


def test_the_fold_leaves_the_given_state_as_it_was_and_a_replay_gives_the_same() -> None:
    log = in_review()
    assert fold_session(log.events) == log.state
    before = fold_session(log.events[:-1])
    evolve(before, log.events[-1])
    assert before == fold_session(log.events[:-1])


def test_a_new_session_begins_its_first_turn_with_all_its_agents() -> None:
    (act,) = next_acts(Log().state, asked("a", "b"), LIMITS)
    assert act == Begin(mode="multi", agents=("a", "b"), text="", actor="")
    (alone,) = next_acts(Log().state, asked("a"), LIMITS)
    assert isinstance(alone, Begin)
    assert alone.mode == "single"


def test_line_48_all_draft_side_by_side_then_the_first_that_could_merges() -> None:
    log = Log().turn("a", "b", mode="multi")
    assert next_acts(log.state, asked("a", "b"), LIMITS) == [Ask(kind="draft", agent="a"), Ask(kind="draft", agent="b")]
    log.starts("a").starts("b").ends("a", "failed", reason="agent_exit_nonzero")
    assert [act.agent for act in next_acts(log.state, asked("a", "b"), LIMITS) if isinstance(act, Ask)] == ["b"]
    log.ends("b")
    (act,) = next_acts(log.state, asked("a", "b"), LIMITS)
    assert isinstance(act, Conclude)
    assert act.draft is not None
    assert act.draft.agent == "b", "with one draft there is nothing to merge"


def test_line_51_what_is_wrong_is_sent_back_once_and_not_twice() -> None:
    log = Log().turn("a").starts("a").ends("a", "failed", findings=["no chunk"], reason="plan_generation_failed")
    assert next_acts(log.state, asked("a"), LIMITS) == [Ask(kind="draft", agent="a", findings=("no chunk",))]
    log.starts("a").ends("a", "failed", findings=["no chunk"], reason="plan_generation_failed")
    (act,) = next_acts(log.state, asked("a"), LIMITS)
    assert isinstance(act, Conclude)
    assert act.draft is None


def test_line_77_a_draft_that_a_crash_cut_short_is_asked_for_again_and_its_turn_counts_once() -> None:
    log = Log().turn("a")
    for start in range(1, MOST_STARTS + 1):
        assert [type(act) for act in next_acts(log.state, asked("a"), LIMITS)] == [Ask], start
        log.starts("a").ends("a", "failed", reason="interrupted")
    (act,) = next_acts(log.state, asked("a"), LIMITS)
    assert isinstance(act, Conclude), "not for ever"
    assert len(log.state.turns) == 1


def test_what_was_wrong_is_still_to_be_put_right_after_a_crash() -> None:
    log = Log().turn("a").starts("a").ends("a", "failed", findings=["no chunk"], reason="plan_generation_failed")
    log.starts("a").ends("a", "failed", reason="interrupted")
    assert next_acts(log.state, asked("a"), LIMITS) == [Ask(kind="draft", agent="a", findings=("no chunk",))]


def test_a_revision_is_put_before_a_person_and_then_it_waits() -> None:
    log = Log().turn("a").starts("a").ends("a").revised()
    assert next_acts(log.state, asked("a"), LIMITS) == [AskPerson(revision=1)]
    assert next_acts(log.asks().state, asked("a"), LIMITS) == []


@pytest.mark.parametrize(
    ("word", "text", "expected"),
    [
        ("approve", "", Finalize(revision=1, actor="ann")),
        ("adjust", "more", Begin(mode="multi", agents=("a", "b"), text="more", actor="ann")),
        ("edit", "less", Begin(mode="single", agents=("a",), text="less", actor="ann")),
        ("cancel", "", Cancel(actor="ann")),
    ],
)
def test_an_answer_is_owed_until_it_is_carried_out(word: str, text: str, expected: object) -> None:
    log = in_review().answered(word, text)
    assert next_acts(log.state, asked("a", "b"), LIMITS) == [expected]
    assert next_acts(fold_session(log.events), asked("a", "b"), LIMITS) == [expected], "also after a crash"


def test_a_cancelled_review_has_no_open_question_and_asks_anew_when_it_is_taken_up() -> None:
    log = in_review().answered("cancel").add(K.SESSION_CANCELLED, P.CANCELLED)
    assert log.state.open_questions() == []
    assert next_acts(log.state, asked("a"), LIMITS) == []
    log.add(K.SESSION_REOPENED, P.REVIEW)
    assert next_acts(log.state, asked("a"), LIMITS) == [AskPerson(revision=1)]


def test_line_53_time_tokens_and_money_of_all_drafts_are_counted_and_bounded() -> None:
    log = Log().turn("a").starts("a").ends("a", "failed", reason="agent_exit_nonzero", tokens=500, cost_micro_usd=900)
    assert (log.state.used_ms, log.state.tokens, log.state.cost_micro_usd) == (1000, 500, 900)
    assert exhausted(log.state, LIMITS) is None
    assert "planning_max_tokens" in (exhausted(log.state, Limits(planning_max_tokens=500)) or "")
    short = Limits(planning_timeout_minutes=Minutes.of(0.01))
    assert "planning_timeout_minutes" in (exhausted(log.state, short) or "")
    log.add(K.BUDGET_RAISED, limit="planning_max_tokens", amount=1)
    assert exhausted(log.state, Limits(planning_max_tokens=500)) is None


def test_line_53_a_turn_without_budget_ends_with_what_was_drafted() -> None:
    log = Log().turn("a", "b", mode="multi").starts("a").starts("b").ends("a", tokens=500).ends("b", tokens=500)
    (act,) = next_acts(log.state, asked("a", "b"), Limits(planning_max_tokens=600))
    assert isinstance(act, Conclude)
    assert act.draft is not None, "the drafts are there, and only merging them would cost more"


def test_line_53_no_turn_begins_beyond_the_limit() -> None:
    log = in_review()
    assert too_many(log.state, Limits(planning_max_turns=1)) is not None
    assert too_many(log.state, Limits(planning_max_turns=2)) is None


SCREENS = {P.DRAFTING: "planning", P.REVIEW: "ready", P.CANCELLED: "cancelled"}


@given(st.lists(st.sampled_from(["adjust", "edit", "cancel"]), max_size=6))
def test_every_turn_is_counted_once_and_every_revision_follows_the_one_before(words: list[str]) -> None:
    log = in_review()
    turns = 1
    for word in words:
        log.answered(word, "more")
        if word == "cancel":
            log.add(K.SESSION_CANCELLED, P.CANCELLED).add(K.SESSION_REOPENED, P.REVIEW).asks()
            continue
        turns += 1
        log.turn("a", text="more").starts("a").ends("a").revised().asks()
    assert len(log.state.turns) == log.state.revision == turns
    assert [turn.revision for turn in log.state.turns] == list(range(1, turns + 1))
    assert shown(log.state).planning_iteration_count == turns
    assert len(log.state.open_questions()) == 1
