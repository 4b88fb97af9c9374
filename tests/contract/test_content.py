"""The content of a story: what changes it, and what does not."""

from santiago.contract.plan import content_of, contents_of
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
from tests.cli.greeter import PRD
from tests.util.each import each


def contents(text: str) -> dict[str, str]:
    plan = compile_plan(Source(text, path="prd.md")).plan
    assert plan is not None
    found = contents_of(plan)
    assert [content_of(plan, story) for story in plan.stories] == list(found.values())
    return found


@each(
    ("old", "new"),
    [("Say hello", "Say hi"), ("hello.txt says hello", "hello.txt says hi"), ("grep hello", "grep -w hello")],
)
def test_words_criteria_and_checks_are_the_content(old: str, new: str) -> None:
    before, after = contents(PRD), contents(PRD.replace(old, new))
    assert before["S1"] != after["S1"]
    assert (before["S2"], before["S3"]) == (after["S2"], after["S3"])


@each(
    ("old", "new"),
    [
        ("- [ ] hello", "- [x] hello"),
        ("says hello", "says\n  hello"),
        ("R1", "R7"),
        ("# PRD", "# The PRD"),
        ("`hello.txt`", "`hi.txt`"),
    ],
)
def test_ticks_wrapping_ids_and_files_are_not(old: str, new: str) -> None:
    assert contents(PRD)["S1"] in contents(PRD.replace(old, new)).values()


def test_a_story_that_comes_in_between_changes_no_other() -> None:
    more = PRD.replace("### R2", "### R9: Wave\n\n- [ ] It waves\n\n### R2")
    assert set(contents(PRD).values()) < set(contents(more).values())
