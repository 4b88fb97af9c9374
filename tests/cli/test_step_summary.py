"""The page beside a GitHub job: what came of the run, bounded, and texts of others letter by letter."""

import html
import json
import os
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from santiago.cli.view.ci import STEP_SUMMARY
from santiago.report import step_summary
from santiago.report.pull_request import code, prose
from tests.cli import greeter
from tests.transcripts import recording
from tests.transcripts.playing import typed

HOSTILE = "Say `x` | y | <img src=a onerror=b> [link](http://a.example) *a* @ann $$1$$ www.a.example \\"
RENDER = MarkdownIt("gfm-like", {"html": True})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "summary.md"
    made.write_text("from an earlier step\n")
    return made


def rows(page: str) -> list[list[str]]:
    """Return the cells of the table as GitHub would show them."""
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", shown, re.DOTALL)][1:]


def told(world: str, folder: Path, file: Path) -> list[str]:
    return typed(f"{STEP_SUMMARY}={file} santiago run prd.md", recording.load(world, folder / world))


def test_runs_add_a_page_each(file: Path, tmp_path: Path) -> None:
    told("failed", tmp_path, file)
    first = file.read_text()
    assert first.startswith(
        "from an earlier step\n\n### santiago: failed&#58; attempt&#95;budget&#95;exhausted, 1 of 3 done"
    )
    assert rows(first) == [
        ["S1", "Say hello", "failed: attempt_budget_exhausted", "2", ""],
        ["S2", "Say goodbye", "done", "1", "proved"],
        ["S3", "Both", "not done", "0", ""],
    ]
    assert ": 3/20 attempts, " in first
    assert "next: santiago show S1 --attempt 2" in first
    assert "santiago resume --add-attempts 2" in first
    told("finished", tmp_path, file)
    second = file.read_text().removeprefix(first)
    assert len(second) < len(file.read_text())
    assert "### santiago: success, 3 done&#58; 3 shown&#59; 3 of 3 criteria" in second
    assert [row[2:4] for row in rows(second)] == [["done", "2"], ["done", "1"], ["done", "1"]]
    assert "next: git merge santiago/r_" in second


def test_a_page_says_what_is_not_proven_and_who_attested_what(file: Path, tmp_path: Path) -> None:
    told("unproven", tmp_path, file)
    told("taken", tmp_path, file)
    page = html.unescape(file.read_text())
    assert "### santiago: finished, 2 of 5 not proven: S2, S3; 3 done: 1 shown" in page
    assert "- S3 Tidy up +1 -0 in three.py the agent says: refactoring git show " in page
    assert ["S2", "Two", "not proven", "2", ""] in rows(page)
    assert "- attested: S2, S3 by ann: I looked at both\n" in page


def test_a_title_is_shown_letter_by_letter(file: Path, tmp_path: Path) -> None:
    repo = recording.load("finished", tmp_path)
    plan = greeter.out_dir(repo) / "plan.json"
    plan.write_text(plan.read_text().replace('"Say hello"', json.dumps(f"{HOSTILE}\x1b[31m")))
    typed(f"{STEP_SUMMARY}={file} santiago run prd.md", repo)
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
    assert "the step summary cannot be written" in told("finished", tmp_path, pipe)[-1]


def test_agents_and_checks_cannot_write_to_it(file: Path, tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    text = (repo / "prd.md").read_text()
    probe = '`test -z "$GITHUB_STEP_SUMMARY" && grep hello hello.txt`'
    (repo / "prd.md").write_text(text.replace("`grep hello hello.txt`", probe))
    assert greeter.carry_out(repo, {STEP_SUMMARY: str(file)}).returncode == 0
    assert len(rows(file.read_text())) == 3


def test_the_table_is_bounded_and_keeps_failures(monkeypatch: pytest.MonkeyPatch, file: Path, tmp_path: Path) -> None:
    monkeypatch.setattr(step_summary, "MOST", 1)
    told("failed", tmp_path, file)
    assert [row[0] for row in rows(file.read_text())] == ["S1"]
    assert "… and 2 stories more" in file.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "hello.txt says hello (twice), or 100 %", "own_tests, __init__ and *stars*", "<b>bold</b> & <script>", "[a](b) ![c](d)",
        "1. a list", "- a list", "+ a list", "# no heading", "a | b", "~~gone~~ $x$ {y} ^z", "a \\ b \\* c",
        "see https://example.org and www.example.org", "a ` alone", "&amp; stays", "| a |", "> quoted",
    ],
)  # fmt: skip
def test_prose_is_shown_letter_by_letter(text: str) -> None:
    shown = RENDER.render(f"- {prose(text)}\n")
    plain = RENDER.renderInline("".join(f"&#{ord(sign)};" for sign in text))
    assert shown == f"<ul>\n<li>{plain}</li>\n</ul>\n"


def test_what_a_reader_of_the_file_sees_is_close_to_what_was_written() -> None:
    text = "the total of own_tests (in EUR), e.g. `total([1], x)`, is 3.50: see docs/prd.md"
    assert prose(text) == text


@pytest.mark.parametrize("text", ["npm test", "a `b` c", "``", "`x`", "grep '<b>' *.md"])
def test_code_is_shown_letter_by_letter(text: str) -> None:
    inner = text.replace("<", "&lt;").replace(">", "&gt;")
    assert RENDER.render(f"- {code(text)}\n") == f"<ul>\n<li><code>{inner}</code></li>\n</ul>\n"
