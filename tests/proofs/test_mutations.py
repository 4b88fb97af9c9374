"""Work that is broken while its tests are eased, in short; `python -m proofs mutations` has hundreds."""

from pathlib import Path

import pytest
from proofs.corpus import load
from proofs.figures import Figure

from proofs import mutations

pytestmark = pytest.mark.xdist_group("real commits")
CASE = "boltons-ebc7a8f7"


@pytest.fixture(scope="module")
def work(light: Path) -> Path:
    """Return where the drawn mutations lie, so that agents can read them; they are drawn once for all tests."""
    return load(light, [CASE]).share / "mutations"


def test_broken_work_is_not_done_whatever_was_done_to_the_tests_that_show_it(light: Path, work: Path) -> None:
    corpus = load(light, [CASE])
    found = mutations.gather(corpus, 3, 1, 2, work)
    assert len({mutation.kind for mutation in found}) >= 3
    ended = mutations.judge(corpus, found, 2, work)
    assert {end.end for end in ended} <= {"failed", "asked"}, ended


def test_a_test_eased_in_one_story_does_not_let_the_next_one_break_the_source(light: Path, work: Path) -> None:
    chosen = ["--two-stories", "--count", "1", "--only", CASE, "--venv", str(light), "--work", str(work)]
    (found,) = mutations.run(chosen)
    assert isinstance(found, Figure)
    assert not found.missed


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
