"""Which checks of a base may run side by side, and which must stay together (promise 7)."""

from dataclasses import replace

from santiago.contract.checks import lanes
from santiago.contract.policy import RunInput, Verification
from tests.contract.histories import plan_of

TOLD = 'test -e "$SANTIAGO_STORY.txt"'


def test_what_stories_share_stays_in_one_checkout_and_so_does_what_one_story_has() -> None:
    plan = plan_of(S1="", S2="", S3="")
    own = {"S1": ("make one", "test one"), "S2": ("test two", "build"), "S3": ("e2e",)}
    stories = [replace(story, verify=own[story.id]) for story in plan.stories]
    checks = Verification(story_commands=("build", "check", TOLD), run_commands=("e2e", "all"))
    run_input = RunInput(contract_version=1, repo_path=".", prd_path="prd.md", verification=checks)
    found = lanes(plan, stories, run_input)
    assert sorted(found) == [
        ("", ["build", "check", "e2e", "all"]),
        ("", ["make one", "test one"]),
        ("", ["test two"]),
        ("S1", [TOLD]),
    ]


def test_many_stories_share_few_checkouts_and_each_check_is_there_once() -> None:
    plan = plan_of(**{f"S{n}": "" for n in range(1, 101)})
    stories = [replace(story, verify=(f"test -e {story.id}",)) for story in plan.stories]
    found = lanes(plan, stories, RunInput(contract_version=1, repo_path=".", prd_path="prd.md"))
    assert len(found) == 16
    assert sorted(one for _, commands in found for one in commands) == sorted(f"test -e S{n}" for n in range(1, 101))
