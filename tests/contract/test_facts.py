"""Facts hold what was said and nothing else: no empty details, no unknown ones, and a zero is no silence. Times are the calendar's."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.artifacts.frame import GENESIS, WrongLineError, encode
from santiago.contract.events import Context, Event, EventKind, Fact
from santiago.contract.facts import of_run, of_story, spent
from santiago.contract.moments import ms_of, text_of
from santiago.contract.outcomes import Usage
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.quantities import Usd
from santiago.contract.reasons import Reason
from santiago.contract.state import StoryState
from tests.util.each import each

NEW = StoryState(id="S1", index=0, chunk="C01", unmet=0)
TRIED = StoryState(id="S1", index=0, chunk="C01", unmet=0, attempts=2)


def test_a_fact_of_the_run_holds_what_it_was_given() -> None:
    fact = of_run(EventKind.RUN_ENDED, RunPhase.FAILED, "failed", actor="ann", reason=Reason.RUN_TIMEOUT, ms=7)
    context = {"reason": "run_timeout", "ms": 7}
    assert fact == Fact(
        event=EventKind.RUN_ENDED, phase=RunPhase.FAILED, status="failed", actor="ann", context=context  # type: ignore[arg-type]
    )  # fmt: skip


def test_empty_details_are_left_out_and_zeros_are_kept() -> None:
    known = spent(Usage(tokens=0, cost_usd=Usd(0)))
    fact = of_story(TRIED, EventKind.ATTEMPT_ENDED, reason="", message="", onto=[], agent_ms=0, known=known)
    assert fact.context == {"agent_ms": 0, "tokens": 0, "cost_micro_usd": 0}
    assert of_run(EventKind.RUN_PAUSED, reason="", digests=[], ms=0).context == {"ms": 0}
    assert of_story(TRIED, EventKind.ATTEMPT_ENDED, known=spent(Usage())).context == {}
    assert spent(Usage(tokens=7)) == {"tokens": 7}


@each(("story", "told", "attempt"), [(NEW, None, None), (TRIED, None, 2), (TRIED, 3, 3), (NEW, 1, 1), (TRIED, 0, None)])
def test_a_fact_is_about_the_latest_attempt_by_default(
    story: StoryState, told: int | None, attempt: int | None
) -> None:
    fact = of_story(story, EventKind.STORY_VERIFIED, StoryPhase.VERIFIED, "ok", attempt=told)
    assert (fact.story, fact.chunk, fact.attempt, fact.phase) == ("S1", "C01", attempt, StoryPhase.VERIFIED)


def test_a_misspelt_detail_is_an_error_of_types_and_is_never_written() -> None:
    """The type checker takes an `ignore` that it does not need for an error, so it guards the first half."""
    wrong = [
        of_run(EventKind.NOTE, mesage="so it is"),  # type: ignore[call-arg]
        of_story(TRIED, EventKind.NOTE, resaon=Reason.INTERRUPTED),  # type: ignore[call-arg]
        of_run(EventKind.NOTE, message=7),  # type: ignore[arg-type]
    ]
    for fact in wrong:
        told = {"event": fact.event, "story_id": fact.story, "context": fact.context}
        with pytest.raises(WrongLineError, match="detail"):
            encode(Event(seq=1, timestamp="2026-01-01T00:00:00Z", run_id="run-1", **told), GENESIS)  # type: ignore[arg-type]


def test_no_detail_has_the_name_of_a_fact_s_own_field() -> None:
    assert not {"story", "event", "phase", "status", "attempt", "actor", "known"} & set(Context.__annotations__)


BEGIN = datetime(1970, 1, 1)  # noqa: DTZ001  # all of it is UTC


@given(st.datetimes(min_value=BEGIN, max_value=datetime(9999, 12, 31)))  # noqa: DTZ001
def test_text_and_number_of_a_time_say_what_the_calendar_says_and_thousandths_may_be_missing(moment: datetime) -> None:
    ms = (moment - BEGIN) // timedelta(milliseconds=1)
    text = (BEGIN + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds") + "Z"
    assert (text_of(ms), ms_of(text)) == (text, ms)
    assert ms_of(text[:19] + "Z") == ms_of(text[:19] + ".000Z")
