"""What is done on evidence is ticked in the document's own form, and the document stays the one that was planned."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from santiago.app.compiling import Document
from santiago.app.ticking import with_ticks
from santiago.contract.plan import Plan, contents_of
from tests.cli.conftest import Done
from tests.cli.greeter import git, looks
from tests.corpus.score import CORPUS
from tests.transcripts import recording
from tests.transcripts.playing import call
from tests.util.each import each

RALPH = """{"userStories": [
 {"id": "US-1", "title": "One", "acceptanceCriteria": ["a"],
  "passes": false},
 {"id": "US-2", "title": "Two", "acceptanceCriteria": ["b"], "passes": false}
]}
"""
TASKS = """{"tasks": [
 {"id": 1, "title": "One", "description": "x",\r
  "status": "pending", "dependencies": []},
 {"id": 2, "title": "Two", "description": "y", "status" : "in-progress", "dependencies": [1]}
]}
"""
YAML = "tasks:\n  - id: T1\n    title: One\n    status: todo  # soon\n  - id: T2\n    title: Two\n    done: no\n"
BOXES = "\ufeff# Plan\r\n\r\n## One\r\n\r\n- [ ] a\r\n* [x] b\r\n\r\n## Two\r\n\r\n1. [ ] c\r\n"


def compiled(name: str, content: bytes, against: Plan | None = None) -> Plan | None:
    return Document(content.decode("utf-8-sig"), name).compiled(None, against=against).plan


@each(
    ("name", "text", "changes"),
    [
        ("prd.json", RALPH, [('"passes": false', '"passes": true')] * 2),
        ("tasks.json", TASKS, [('"pending"', '"done"'), ('"in-progress"', '"done"')]),
        ("tasks.yaml", YAML, [("status: todo", "status: done"), ("done: no", "done: true")]),
        ("plan.md", BOXES, [("[ ] a", "[x] a"), ("[ ] c", "[x] c")]),
    ],
)
def test_each_form_is_ticked_and_nothing_else_changes(name: str, text: str, changes: list[tuple[str, str]]) -> None:
    content = text.encode()
    plan = compiled(name, content)
    assert plan
    for before, after in changes:
        text = text.replace(before, after, 1)
    assert with_ticks(name, content, plan, [story.id for story in plan.stories]) == text.encode()
    assert with_ticks(name, content, plan, []) == content
    one = with_ticks(name, content, plan, [plan.stories[0].id])
    assert content != one != text.encode()


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the labelled documents are not here: {CORPUS}")
def test_a_ticked_document_gives_the_same_stories_and_is_not_ticked_again() -> None:
    ticked = 0
    for path in sorted(CORPUS.rglob("*.*")):
        content = path.read_bytes()
        plan = compiled(path.name, content) if path.is_file() else None
        if plan is None:
            continue
        every = [story.id for story in plan.stories]
        after = with_ticks(path.name, content, plan, every)
        again = compiled(path.name, after, plan)
        assert again, path
        assert contents_of(again) == contents_of(plan), path
        assert with_ticks(path.name, after, again, every) == after, path
        ticked += all(story.claimed_done for story in again.stories)
    assert ticked > 15


def test_only_evidence_ticks_and_what_is_left_alone_is_named(tmp_path: Path) -> None:
    repo = recording.load("unproven", tmp_path / "unproven")
    document = repo / "prd.md"
    shown = document.read_text()
    document.write_text(shown.replace("one() is 1", "one() is one"))
    code, told = call(["tick", "--here"], repo, {})
    assert (code, document.read_text()) == (0, shown.replace("one() is 1", "one() is one"))
    assert "left alone: S1: its text is not what was planned" in told
    assert "left alone: S4: no test shows it, and nobody attested it" in told
    document.write_text(f"{shown}\nMore words.\n")
    assert call(["tick", "--here"], repo, {})[0] == 0
    assert document.read_text() == f"{shown}\nMore words.\n".replace("- [ ] one()", "- [x] one()")
    again = call(["tick", "--here"], repo, {})[1]
    assert "prd.md has every tick that the evidence allows" in again


def test_ticks_come_onto_the_runs_branch_where_a_person_says_so(success: Done, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    shutil.copytree(success.repo, repo, symlinks=True)
    branch = f"santiago/{success.out_dir.name}"
    was = git(repo, "rev-parse", branch)
    shown = looks(repo, "tick")
    assert (shown.returncode, git(repo, "rev-parse", branch)) == (0, was)
    assert "+- [x] hello.txt says hello" in shown.stdout
    done = looks(repo, "tick", "--yes")
    assert done.returncode == 0, done.stderr
    assert git(repo, "rev-parse", f"{branch}^") == was
    assert git(repo, "diff", "--stat", was, branch).splitlines()[0].split()[0] == "prd.md"
    assert "- [ ]" not in git(repo, "show", f"{branch}:prd.md")
    assert "- [ ]" in (repo / "prd.md").read_text()
    assert looks(repo, "audit").returncode == 0
    assert "every tick" in looks(repo, "tick", "--yes").stdout


def test_the_branch_of_a_run_that_goes_on_is_its_own(failure: Done) -> None:
    refused = looks(failure.repo, "tick", "--yes")
    assert refused.returncode != 0
    assert "has not ended" in refused.stderr


def test_what_is_not_done_is_neither_ticked_nor_called_finished(failure: Done) -> None:
    shown = looks(failure.repo, "tick").stdout
    assert [line for line in shown.splitlines() if line.startswith("+-")] == ["+- [x] bye.txt says goodbye"]
    assert "left alone" not in shown
