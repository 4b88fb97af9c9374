"""Every adversary ends in its reason, and none of them in a false “done”, except those that nobody can see."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.adversaries.arena import make_template, trial
from tests.adversaries.table import ADVERSARIES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.adversaries.adversary import Adversary, Fence


@cache
def works(tool: str) -> bool:
    """Whether a program can be started; that of rustup stands on PATH also where it has no compiler."""
    found = shutil.which(tool)
    return found is not None and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0


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
    if tool in {"node", "cargo"} and not works(tool):
        pytest.skip(f"{tool} is not installed, or finds nothing to work with in this home folder")
    ending = trial(adversary, fence, template, tmp_path)
    assert ending.exit_code != 70, ending.words
    assert "Traceback" not in ending.words
    is_false = ending.reason == "done" and not ending.true
    is_unseen = bool(adversary.unseen) and adversary.ends_in(fence) == "done"
    assert is_false == is_unseen, "a false done" if is_false else "it is seen now: say so, without `unseen`"
    assert ending.reason == adversary.ends_here(fence), ending.words
    assert not ending.alive
    assert not ending.mark.exists(), "santiago ran what an agent planted"
