"""Every adversary ends in its reason, and none of them in a false “done”, except those that nobody can see."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.adversaries.arena import make_template, trial
from tests.adversaries.table import ADVERSARIES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.adversaries.adversary import Adversary, Fence

TRIALS = [
    pytest.param(adversary, fence, id=f"{adversary.name}-{'fenced' if fence == 'auto' else 'unfenced'}")
    for adversary in ADVERSARIES
    for fence in adversary.fences
]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.mark.parametrize(("adversary", "fence"), TRIALS)
def test_an_adversary_ends_in_its_reason_and_in_a_false_done_only_where_nobody_can_see_it(
    adversary: Adversary, fence: Fence, template: Path, tmp_path: Path
) -> None:
    if fence == "auto" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed, so there is no fence to try")
    tool = adversary.check.split()[0]
    if tool in {"node", "cargo"} and shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    ending = trial(adversary, fence, template, tmp_path)
    assert ending.exit_code != 70, ending.words
    assert "Traceback" not in ending.words
    is_false = ending.reason == "done" and not ending.true
    is_unseen = bool(adversary.unseen) and adversary.ends_in(fence) == "done"
    assert is_false == is_unseen, "a false done" if is_false else "it is seen now: say so, without `unseen`"
    assert ending.reason == adversary.ends_in(fence), ending.words
    assert not ending.alive
    assert not ending.mark.exists(), "santiago ran what an agent planted"
