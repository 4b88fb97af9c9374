"""Who waits for whom because of files: parallel equals serial (promise 7) only if no two stories can mean the same file."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.executor.decide import base_of
from santiago.executor.schedule import followed, overlap
from tests.contract.histories import Journal, plan_of
from tests.executor.parity import compare
from tests.util.each import each

HINTS = (
    "a.py", "./a.py", "src", "src/", "src/a.py", "./src/a.py", "src/b.py", "src/auth", "src/auth/login.py", "src/*.py",
    "**/*.py", "src/{a,b}.py", "docs/x.md", "docs/", "docs/?.md",
)  # fmt: skip


@each(
    ("one", "other"),
    [
        ("src/a.py", "./src/a.py"), ("src/auth", "src/auth/login.py"), ("src/", "src/auth/login.py"), ("src", "src/"),
        ("src/{a,b}.py", "src/a.py"), ("src/*.py", "src/a.py"), ("**/*.py", "src/a.py"), ("src/*", "src/a*"), ("src/auth/*", "src"),
    ],
)  # fmt: skip
def test_two_ways_of_naming_a_file_meet(one: str, other: str) -> None:
    assert overlap(one, other)
    assert overlap(other, one)


@each(("one", "other"), [("src/a.py", "src/b.py"), ("src/auth", "src/author.py"), ("docs/", "src/"), ("*.md", "a.py")])
def test_different_files_do_not_meet(one: str, other: str) -> None:
    assert not overlap(one, other)
    assert not overlap(other, one)


@given(st.lists(st.lists(st.sampled_from(HINTS), max_size=2), min_size=1, max_size=7))
def test_no_story_overtakes_an_earlier_one_that_it_may_meet(files: list[list[str]]) -> None:
    plan = plan_of(**{f"S{number}": "" for number in range(len(files))})
    stories = tuple(replace(story, files=tuple(own)) for story, own in zip(plan.stories, files, strict=True))
    waits = followed(replace(plan, stories=stories))
    behind: dict[str, set[str]] = {}
    for place, story in enumerate(stories):
        behind[story.id] = {*waits[story.id], *(name for other in waits[story.id] for name in behind[other])}
        for earlier in stories[:place]:
            wide = not story.files or not earlier.files
            if wide or any(overlap(a, b) for a in story.files for b in earlier.files):
                assert earlier.id in behind[story.id]


def test_an_attempt_builds_on_the_verified_work_before_it_and_on_none_that_a_person_is_asked_about() -> None:
    journal = Journal(plan_of(S1="", S2="", S3="", S4=""), {"S3": ("S2",), "S4": ("S3",)})
    journal.add(EventKind.RUN_EXECUTING, phase=RunPhase.EXECUTING, head="c0")
    journal.move("S2", StoryPhase.RUNNING)
    journal.add(EventKind.ATTEMPT_ENDED, "S2", StoryPhase.EVIDENCE_COLLECTED, status="ok", commit="c2", verdict="pass")
    journal.move("S2", StoryPhase.VERIFIED)
    journal.add(EventKind.STORY_SKIPPED, "S3")
    assert base_of(journal.state, journal["S4"]) == ("c0", "c2"), "also beyond a story that is left out"
    journal.add(
        EventKind.QUESTION_ASKED, "S2", question="q1", kind="result", text="Good?", options=["approve", "adjust"]
    )
    assert journal.ready == ["S1", "S4"]
    assert base_of(journal.state, journal["S4"]) == ("c0",)


@each("seed", [5, 6])
def test_eight_jobs_end_like_one(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest of ten plans; hundreds of them: `python -m proofs parity`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compare(seed, tmp_path)
