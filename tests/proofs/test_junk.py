"""Agents whose work does nothing for their story, in short; `python -m proofs junk` has all of them, in five repositories."""

from dataclasses import replace
from pathlib import Path

import pytest
from proofs.junk import Ended, misses, tried
from proofs.junk.agents import AGENTS, JUNK
from proofs.junk.repositories import REPOSITORIES

PAGE = Path(__file__).parents[2] / "docs" / "adversaries.md"
pytestmark = pytest.mark.xdist_group("real commits")


def test_junk_is_never_a_success_and_a_function_that_tests_itself_shows_no_criterion(light: Path) -> None:
    found = tried(light, ["says_it_is_done", "tests_itself"], {"boltons": REPOSITORIES["boltons"]}, 2)
    assert [(one.agent, one.exit, one.reason, one.attempts) for one in found] == [
        ("says_it_is_done", 10, "unproven", 6), ("tests_itself", 0, "success", 3)
    ]  # fmt: skip
    assert misses(found) == []


def test_each_target_is_missed_by_itself() -> None:
    good = Ended(
        agent="says_it_is_done", repository="boltons", exit=10, reason="unproven", attempts=6, headline="", words=""
    )
    unseen = replace(
        good, agent="tests_itself", exit=0, headline="success 3 done, 0 of 4 criteria shown by a named test"
    )
    assert misses([good, unseen]) == []
    (success,) = misses([replace(good, exit=0)])
    assert "ended as success" in success
    (uncounted,) = misses([replace(unseen, headline="success 3 done of 3")])
    assert "does not say" in uncounted
    (broken,) = misses([replace(good, exit=2)])
    assert "ended with 2" in broken


def test_the_page_names_each_agent_as_it_describes_itself() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [
        name for name, agent in AGENTS.items() if f"`{name}`" not in page or (agent.__doc__ or "") not in page
    ] == []
    assert len(JUNK) >= 12
