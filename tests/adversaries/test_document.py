"""docs/adversaries.md tells what the suite does."""

from __future__ import annotations

from tests.adversaries.document import PAGE, page_with
from tests.adversaries.table import ADVERSARIES


def test_the_page_has_the_codes_own_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page_with(text) == text, "run `python -m tests.adversaries.document`"


def test_there_are_at_least_forty_and_each_name_is_used_once() -> None:
    names = [one.name for one in ADVERSARIES]
    assert len(names) == len(set(names)) >= 40
