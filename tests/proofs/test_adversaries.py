"""Every adversary ends in its reason, and none of them in a false “done”, except those that nobody can see.

A sample, with one trial of each kind; `python -m proofs adversaries` has all of them.
"""

import shutil
from pathlib import Path

import pytest
from proofs.adversaries.adversary import Adversary, Fence
from proofs.adversaries.arena import make_template, trial, wrong_with
from proofs.adversaries.document import PAGE, page_with
from proofs.adversaries.table import ADVERSARIES, SAMPLE, TRIALS, kind

from tests.programs import works


def test_the_sample_has_every_end_of_every_group_and_both_ends_of_whoever_the_sandbox_changes() -> None:
    assert {kind(*trial) for trial in SAMPLE} == {kind(*trial) for trial in TRIALS}


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.mark.parametrize(
    ("adversary", "fence"), SAMPLE, ids=[f"{one.name}-{'un' * (fence == 'off')}fenced" for one, fence in SAMPLE]
)
def test_an_adversary_ends_in_its_reason_and_in_a_false_done_only_where_nobody_can_see_it(
    adversary: Adversary, fence: Fence, template: Path, tmp_path: Path
) -> None:
    if fence == "auto" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed, so there is no fence to try")
    tool = adversary.check.split()[0]
    if tool in {"node", "cargo"} and not works(tool):
        pytest.skip(f"{tool} is not installed, or finds nothing to work with in this home folder")
    ending = trial(adversary, fence, template, tmp_path)
    assert wrong_with(adversary, fence, ending) == [], ending.words


def test_the_page_has_the_codes_own_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page_with(text) == text, "run `python -m proofs.adversaries.document`"


def test_there_are_at_least_forty_and_each_name_is_used_once() -> None:
    names = [one.name for one in ADVERSARIES]
    assert len(names) == len(set(names)) >= 40
