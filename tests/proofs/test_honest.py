"""Real commits as an agent's work, in short; `python -m proofs honest` has all of them."""

from pathlib import Path
from typing import Any

import pytest
from proofs.corpus import load
from proofs.figures import Figure

from proofs import honest

pytestmark = pytest.mark.xdist_group("real commits")


def test_work_that_people_really_did_is_accepted_or_asked_about(light: Path) -> None:
    corpus = load(light, ["boltons-ebc7a8f7", "boltons-289edfcd"])
    ends = {one["id"]: (one["status"], one["proof"], one["exit"]) for one in honest.judged(corpus, "honest", 2)}
    assert ends == {"boltons-ebc7a8f7": ("done", "own_tests", 0), "boltons-289edfcd": ("blocked", None, 10)}


def test_work_whose_tests_were_committed_first_is_proved(light: Path) -> None:
    (found,) = honest.run(["--only", "boltons-ebc7a8f7", "--variant", "tests-first", "--venv", str(light)])
    assert isinstance(found, Figure)
    assert not found.missed
    assert found.figure == "1 of 1 proved"


def test_under_the_default_policy_only_what_no_test_shows_is_asked_about(light: Path) -> None:
    """The first has tests of its own, the second changes the source alone, the third tests alone."""
    corpus = load(light, ["boltons-ebc7a8f7", "tenacity-cb15300d", "boltons-e66cade3"])
    ends = {one["id"]: (one["proof"], one["exit"], one["attempts"]) for one in honest.judged(corpus, "default", 2)}
    assert ends == {
        "boltons-ebc7a8f7": ("own_tests", 0, 1),
        "tenacity-cb15300d": ("regression", 10, 2),
        "boltons-e66cade3": ("regression", 10, 1),
    }


def ended(name: str, status: str, proof: str = "", code: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": name, "status": status, "proof": proof, "exit": code, "reason": None, **more}


def test_each_target_is_missed_by_itself() -> None:
    good = [ended(f"c{number}", "done", "own_tests") for number in range(8)]
    assert honest.misses("honest", [*good, *[ended("asked", "blocked", code=10)] * 2], {"c1"}) == []
    (few,) = honest.misses("honest", [*good, *[ended("asked", "blocked", code=10)] * 3], set())
    assert few.startswith("8 of 11 accepted")
    (refused,) = honest.misses("honest", [*good, ended("no", "failed", code=30)], set())
    assert refused.startswith("1 refused")
    (weak,) = honest.misses("named", [*good, ended("weak", "done", "regression")], {"weak"})
    assert weak.endswith("weak")
    (unproved,) = honest.misses(
        "tests-first", [ended("a", "done", "own_tests"), ended("b", "done", "proved")], {"a", "b"}
    )
    assert unproved.startswith("1 of 2 proved")


def test_each_target_of_the_default_policy_is_missed_by_itself() -> None:
    asked = {"reason": "unproven", "kind": "test-only", "attempts": 1}
    good = [ended("a", "done", "own_tests"), ended("b", "pending", "regression", 10, **asked)]
    assert honest.misses("default", good, {"a"}) == []
    bad = {
        "1 refused": ended("c", "failed", code=30),
        "1 done although no test shows them": ended("c", "done", "regression"),
        "1 asked about although their own tests show them": ended("c", "pending", "regression", 10, **asked),
        "1 asked for a test although": ended("b", "pending", "regression", 10, **{**asked, "attempts": 2}),
    }
    for words, one in bad.items():
        (missed,) = honest.misses("default", [*good, one], {"c"})
        assert missed.startswith(words)
