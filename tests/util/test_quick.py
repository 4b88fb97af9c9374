"""What `./dev test --quick` leaves out is there: a name that was moved would bring its long tests back unseen."""

from __future__ import annotations

from tests.conftest import TESTS, WHOLE


def test_every_name_that_the_edit_loop_leaves_out_is_there() -> None:
    assert [name for name in WHOLE if not (TESTS / name).exists()] == []
