"""Times of the log as numbers and back: what `datetime` says, without a clock in the core."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from santiago.contract.moments import ms_of, text_of

BEGIN = datetime(1970, 1, 1)  # noqa: DTZ001  # all of it is UTC


@given(st.datetimes(min_value=BEGIN, max_value=datetime(9999, 12, 31)))  # noqa: DTZ001
def test_text_and_number_say_what_the_calendar_says(moment: datetime) -> None:
    ms = (moment - BEGIN) // timedelta(milliseconds=1)
    text = (BEGIN + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds") + "Z"
    assert (text_of(ms), ms_of(text)) == (text, ms)


def test_thousandths_may_be_missing() -> None:
    assert ms_of("2026-01-02T03:04:05Z") == ms_of("2026-01-02T03:04:05.000Z")
