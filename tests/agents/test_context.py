"""The packet holds what the document says beside its stories, and names what there was no room for."""

from pathlib import Path

from santiago.agent.packet import render
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
from tests.agents.packets import packet_in

PRD = f"""\
# Shop

## Goals
Sell twice as much.

## Tasks
Keep the interface as it is.

- [ ] T1: log in
- [ ] T2: log out

## Out of scope
Ships.

## Notes
{"Long. " * 2000}
"""


def test_an_agent_is_told_the_context_of_its_story_and_what_is_cut(tmp_path: Path) -> None:
    plan = compile_plan(Source(PRD, path="prd.md")).plan
    assert plan is not None
    context = tuple(row for row in plan.account if row.text or row.is_context)
    prompt = render(packet_in(tmp_path, tmp_path, story=plan.stories[0], context=context))
    assert all(text in prompt for text in ("Sell twice as much.", "Keep the interface as it is.", "Long. Long."))
    assert "Ships." not in prompt
    assert "Cut for length, and to be read in the document where it matters: Notes (line 15)" in prompt
    assert len(prompt) < 8000


def test_an_agent_is_told_what_the_checks_are_for(tmp_path: Path) -> None:
    said = {}
    for task in ("", "tests_only", "proposes"):
        packet = packet_in(tmp_path, tmp_path, commands=("make",), **({task: True} if task else {}))
        said[task] = next(line for line in render(packet).splitlines() if "must pass" in line)
    assert said == {
        "": "All of these must pass:",
        "tests_only": "These run the tests, and must pass once the story is implemented:",
        "proposes": "These judge the work, and must pass once the story is carried out:",
    }
