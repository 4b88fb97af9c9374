"""One of a thing is told in the singular, from the plan to the page of the story."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli import greeter
from tests.cli.fakes import PRD
from tests.cli.inside import inside
from tests.transcripts.playing import transcripts

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


def test_a_plan_of_one_story_tells_what_it_counts_in_the_singular(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, text in ONE_UNIT.items():
        (tmp_path / name).write_text(text)
        told = inside("plan", name, cwd=tmp_path, env=greeter.place(tmp_path))
        assert told.returncode == 0, told.stderr
        assert not _wrong(told.stdout + told.stderr)


def test_what_transcripts_show_of_single_attempts_stories_and_tests_is_told_in_the_singular() -> None:
    """Among the recorded runs are some of one attempt, of one story, and of one of one attempt used."""
    shown = "".join(path.read_text() for path in transcripts())
    assert all(one in shown for one in ("1 of 1 attempt used", "(1 attempt, ", "1 test failed", "1 of 1 attempt; "))
    assert not _wrong(shown)
