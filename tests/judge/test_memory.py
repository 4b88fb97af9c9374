"""What was seen on a tree is not run again, and no verdict on an attempt rests on a remembered failure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from santiago.judge.shown import Shown
from santiago.judge.trials import Memory
from tests.judge.showing import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED = shown("a-")


def remembered(found: Shown, *, learnt_as_base: bool, asked_as_base: bool) -> Shown | None:
    memory = Memory()
    memory.learn("tree", "", found, as_base=learnt_as_base)
    return memory.known("tree", found.command, "", as_base=asked_as_base)


@pytest.mark.parametrize("learnt", [True, False])
@pytest.mark.parametrize("asked", [True, False])
def test_a_pass_is_remembered(learnt: bool, asked: bool) -> None:
    assert remembered(shown("a b"), learnt_as_base=learnt, asked_as_base=asked) is not None


def test_a_failure_is_remembered_for_bases_only() -> None:
    """A check that flaked once must not be the failure of every later attempt."""
    assert remembered(FAILED, learnt_as_base=True, asked_as_base=True) is FAILED
    assert remembered(FAILED, learnt_as_base=True, asked_as_base=False) is None
    assert remembered(FAILED, learnt_as_base=False, asked_as_base=True) is None


@pytest.mark.parametrize("unended", [shown(exit_code=1, timed_out=True), Shown(replace(FAILED.result, exit_code=None))])
def test_a_check_that_did_not_come_to_its_end_is_never_remembered(unended: Shown) -> None:
    assert remembered(unended, learnt_as_base=True, asked_as_base=True) is None


@pytest.mark.parametrize("other", [("another", "pytest", "S1"), ("tree", "pytest -q", "S1"), ("tree", "pytest", "S2")])
def test_a_result_belongs_to_its_tree_its_command_and_its_owner(other: Sequence[str]) -> None:
    memory, found = Memory(), shown("a")
    memory.learn("tree", "S1", found, as_base=False)
    assert memory.known("tree", "pytest", "S1", as_base=False) is found
    assert memory.known(*other, as_base=False) is None
