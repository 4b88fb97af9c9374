"""The page beside a GitHub job: what came of the run, bounded, and deaf to what titles say."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from santiago.cli.view.ci import STEP_SUMMARY
from santiago.report import step_summary
from tests.cli import greeter
from tests.cli.santiago import santiago, trusted

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "Say `x` | y | <img src=a onerror=b> [link](http://a.example) *a* @ann $$1$$ www.a.example \\"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "summary.md"
    made.write_text("from an earlier step\n")
    return made


def rows(page: str) -> list[list[str]]:
    """Return the cells of the table as GitHub would show them."""
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", shown, re.DOTALL)][1:]


def test_a_run_and_its_resume_add_a_page_each(file: Path, tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo", greeter.BAD, limits="[limits]\nstory_max_attempts = 2\n")
    ran = greeter.carry_out(repo, {STEP_SUMMARY: str(file)})
    assert ran.returncode == 30
    first = file.read_text()
    assert first.startswith("from an earlier step\n\n### santiago: failed: attempt&#95;budget&#95;exhausted\n")
    assert rows(first) == [
        ["S1", "Say hello", "failed: attempt_budget_exhausted", "2", ""],
        ["S2", "Say goodbye", "done", "1", "proved"],
        ["S3", "Both", "not done", "0", ""],
    ]
    assert "1 failed, 1 done, 1 not done of 3, 3/20 attempts" in first
    assert "next: santiago show S1 --attempt 2" in first
    assert "santiago resume --add-attempts 2" in first

    (repo / "playbook.yaml").write_text(greeter.GOOD)
    env = {**greeter.place(repo), STEP_SUMMARY: str(file)}
    ran = santiago("resume", "--add-attempts", "2", "--trust-commands", "--json", cwd=repo, env=env)
    assert ran.returncode == 0, ran.stdout
    both = file.read_text()
    assert both.startswith(first)
    second = both.removeprefix(first)
    assert "### santiago: success\n" in second
    assert [row[2:4] for row in rows(second)] == [["done", "3"], ["done", "1"], ["done", "1"]]
    assert f"next: git merge santiago/{greeter.out_dir(repo).name}" in second


def test_a_title_is_shown_letter_by_letter(file: Path, tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    text = (repo / "prd.md").read_text().replace("Say hello", f"{HOSTILE}\x1b[31m")
    (repo / "prd.md").write_text(text)
    assert greeter.carry_out(repo, {STEP_SUMMARY: str(file)}).returncode == 0
    page = file.read_text()
    assert "\x1b" not in page
    (row, *_) = rows(page)
    assert len(row) == 5
    assert "<" not in row[1]
    assert "&lt;img src=a onerror=b&gt; [link](http://a.example) *a* @ann $$1$$" in row[1]
    assert not re.search(r"[`<>\[\]@$~*\\|]|www\.|://", page.split("| S1 | ")[1].split(" | ")[0])


def test_a_file_that_cannot_be_written_is_named_and_harms_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    repo = greeter.make(tmp_path / "repo")
    ran = greeter.carry_out(repo, {STEP_SUMMARY: str(pipe)})
    assert ran.returncode == 0
    assert "the step summary cannot be written" in ran.stderr


def test_agents_and_checks_cannot_write_to_it(file: Path, tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    text = (repo / "prd.md").read_text()
    probe = '`test -z "$GITHUB_STEP_SUMMARY" && grep hello hello.txt`'
    (repo / "prd.md").write_text(text.replace("`grep hello hello.txt`", probe))
    assert greeter.carry_out(repo, {STEP_SUMMARY: str(file)}).returncode == 0


def test_the_table_is_bounded_and_keeps_what_failed(
    monkeypatch: pytest.MonkeyPatch, file: Path, tmp_path: Path
) -> None:
    """One row is left, and it is that of the story that failed."""
    from santiago.cli import main

    repo = greeter.make(
        tmp_path / "repo",
        greeter.GOOD.replace("goodbye", "goodby"),
        limits="keep_going = true\n[limits]\nstory_max_attempts = 2\n",
    )
    monkeypatch.chdir(repo)
    for name, value in {**greeter.place(repo), STEP_SUMMARY: str(file)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(step_summary, "MOST", 1)
    assert main.main(trusted("run", "prd.md", "--trust-commands")) == 30
    assert [row[0] for row in rows(file.read_text())] == ["S2"]
    assert "… and 2 stories more" in file.read_text()
