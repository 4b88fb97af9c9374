"""One of a thing is told in the singular, from the plan to the page of the story."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.cli import greeter
from tests.cli.fakes import PRD
from tests.cli.inside import inside
from tests.cli.santiago import santiago

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = '[policy]\nsandbox = "off"\n[limits]\nrun_max_attempts = 1\nstory_max_attempts = 1\n'
NOUNS = r"stories|attempts|units|criteria|headings|requirements|boxes|commands|checks|records|tasks|chunks|files|tests"

ONE_UNIT = {
    "heading.md": PRD,
    "boxes.md": "# Plan\n\n### T1: Say hello\n\n- [ ] hello.txt says hello\n",
    "task.md": "# Plan\n\n## Task 1: Say hello\n\n- [ ] **Step 1:** write hello.txt\n",
    "requirement.md": "# PRD\n\n### Requirement 1: Hello\n\n#### Acceptance Criteria\n\n1. WHEN run THEN it SHALL say hello\n",
    "story.md": "# PRD\n\n## Epic 1: Words\n\n### Story 1.1: Hello\n\n- [ ] it says hello\n",
    "records.json": '{"stories": [{"id": "US-1", "title": "Hello", "acceptanceCriteria": ["it says hello"]}]}',
    "hello.feature": "Feature: Hello\n  Scenario: Greet\n    When run\n    Then hello\n",
}


def _wrong(shown: str) -> list[str]:
    return re.findall(rf"^.*\b1 (?:more |numbered )?(?:{NOUNS})\b.*$", shown, re.MULTILINE)


@pytest.mark.parametrize("name", ONE_UNIT)
def test_a_plan_of_one_story_tells_what_it_counts_in_the_singular(tmp_path: Path, name: str) -> None:
    repo = greeter.committed(tmp_path / "repo", {name: ONE_UNIT[name]})
    told = inside("plan", name, cwd=repo, env=greeter.place(repo))
    assert told.returncode == 0, told.stderr
    assert not _wrong(told.stdout + told.stderr)


def test_a_run_of_one_attempt_tells_what_it_counts_in_the_singular(tmp_path: Path) -> None:
    repo = greeter.committed(tmp_path / "repo", {"prd.md": PRD, "santiago.toml": SETTINGS})
    place = greeter.place(repo)
    run = santiago("run", "prd.md", "--agent", "sh -c true", "--trust-commands", cwd=repo, env=place)
    assert run.returncode != 0
    looks = [inside(*words, cwd=repo, env=place) for words in (("status",), ("show", "S1"), ("log",))]
    shown = run.stderr + "".join(one.stdout + one.stderr for one in looks)
    assert "1 of 1 attempt used" in shown
    assert not _wrong(shown)
