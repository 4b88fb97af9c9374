"""Work that is broken while its tests are eased, in short; `python -m proofs mutations` has hundreds.

What `mutations.gather` drew of one commit is kept in `drawn`, one of each kind: to draw takes longer than to judge.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from proofs.corpus import load

from proofs import mutations

pytestmark = pytest.mark.xdist_group("real commits")
CASE = "boltons-ebc7a8f7"


@pytest.fixture(scope="module")
def drawn(light: Path) -> Path:
    """Return where the drawn mutations lie, so that agents can read them."""
    kept, work = Path(__file__).with_name("drawn"), load(light, [CASE]).share / "mutations"
    shutil.copytree(kept, work)
    return work


def test_broken_work_is_not_done_whatever_was_done_to_the_tests_that_show_it(light: Path, drawn: Path) -> None:
    corpus = load(light, [CASE])
    # The first is for two stories, below.
    found = mutations.gather(corpus, 4, 1, 2, drawn)[1:]
    assert [mutation.kind for mutation in found] == ["rename", "empty", "weaken"]
    ended = mutations.judge(corpus, found, 2, drawn)
    assert {end.end for end in ended} <= {"failed", "asked"}, ended


def test_a_test_eased_in_one_story_does_not_let_the_next_one_break_the_source(light: Path, drawn: Path) -> None:
    chosen = ["--two-stories", "--count", "1", "--only", CASE, "--venv", str(light), "--work", str(drawn)]
    assert mutations.run(chosen) == 0


def test_work_that_was_not_judged_is_no_work_refused(tmp_path: Path) -> None:
    outcome = tmp_path / "attempts/S1/1/outcome.json"
    outcome.parent.mkdir(parents=True)
    (tmp_path / "result.json").write_text('{"stories": [{"status": "failed", "reason": "attempt_budget_exhausted"}]}')
    outcome.write_text('{"reason": "agent_exit_nonzero"}')
    assert mutations.how_ended(tmp_path, 30) == ("not judged", "agent_exit_nonzero, exit 30")
    outcome.write_text('{"reason": "story_verification_failed"}')
    assert mutations.how_ended(tmp_path, 30)[0] == "failed"
    (tmp_path / "result.json").write_text('{"stories": [{"status": "done", "reason": null}]}')
    assert mutations.how_ended(tmp_path, 30)[0] == "done"
