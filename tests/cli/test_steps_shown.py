"""`status`, `show`, `log`, `explain` and `audit` on a real run that goes step by step, with substeps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from santiago.app.loading import load
from tests.cli import greeter, stepwise
from tests.cli.santiago import santiago


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that asks about the detailed plan of its first story."""
    return stepwise.begin(tmp_path_factory.mktemp("asking") / "repo")


@pytest.fixture(scope="module")
def halfway(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose first substep is done and whose second waits for a person's word."""
    out_dir = stepwise.begin(tmp_path_factory.mktemp("halfway") / "repo")
    stepwise.answer_until(out_dir, "S1.2-result-1")
    return out_dir


def look(out_dir: Path, *words: str) -> str:
    repo = out_dir.parents[2]
    seen = santiago(*words, cwd=repo, env=greeter.place(repo))
    assert seen.returncode == 0, seen.stderr
    return seen.stdout


def told(out_dir: Path, *words: str) -> Any:
    return json.loads(look(out_dir, *words, "--json"))


def by_id(out_dir: Path) -> dict[str, Any]:
    return {story["id"]: story for story in told(out_dir, "status")["stories"]}


def test_line_5_an_open_question_is_told_with_its_kind_its_words_and_what_answers_it(asking: Path) -> None:
    (question,) = told(asking, "status")["questions"]
    assert (question["id"], question["kind"], question["story"], question["round"]) == (
        "S1-detail-2",
        "detail",
        "S1",
        1,
    )
    assert question["words"] == ["approve", "adjust", "defer", "stop"]
    assert question["answer_command"] == "santiago answer S1-detail-2"
    assert question["asked_at"] == load(asking).state.questions["S1-detail-2"].asked_at
    assert question["until"] is None


def test_line_26_status_prints_the_open_question_with_the_command_that_answers_it(asking: Path) -> None:
    shown = look(asking, "status", "--stories")
    assert "needs you: S1-detail-2: Carry out S1" in shown
    assert "santiago answer S1-detail-2 approve" in shown
    assert 'santiago answer S1-detail-2 adjust --text "…"' in shown
    assert "its plan waits for your answer" in shown


def test_line_31_show_prints_the_latest_detailed_plan(asking: Path) -> None:
    shown = look(asking, "show", "S1")
    assert "Detailed plan of S1, proposal 2: it waits for your answer" in shown
    assert "## Substep S1.2: The world" in shown
    detail = told(asking, "show", "S1")["detail"]
    assert (detail["revision"], detail["approved"], detail["file"]) == (2, False, "details/S1/2.json")
    assert detail["text"] == (asking / "details/S1/2.md").read_text()


def test_line_72_a_detailed_plan_is_shown_without_what_would_act_on_a_terminal(asking: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(asking, tmp_path / "copy")
    with (copy / "details/S1/2.md").open("a") as file:
        file.write("\x1b]8;;http://evil.example\x07click\x1b[2J\u202e\n")
    shown = santiago("show", copy, "S1", cwd=asking.parents[2], env=greeter.place(asking.parents[2])).stdout
    assert "click" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_lines_6_to_9_stories_have_their_step_state_their_detail_and_their_parent(halfway: Path) -> None:
    stories = by_id(halfway)
    assert [(name, one["parent"], one["step_state"]) for name, one in stories.items()] == [
        ("S1", None, "Implementing"),
        ("S1.1", "S1", "Marked Complete"),
        ("S1.2", "S1", "Substep Done"),
        ("S2", None, "Tasks Created"),
        ("S3", None, "Tasks Created"),
    ]
    assert (stories["S1"]["detail"]["approved"], stories["S1.1"]["detail"]) == (True, None)
    assert stories["S1.1"]["title"] == "The word"


def test_substeps_stand_indented_below_their_parent_and_are_not_counted_as_stories(halfway: Path) -> None:
    lines = look(halfway, "status", "--stories").splitlines()
    (parent,) = (at for at, line in enumerate(lines) if " S1  " in line and "Say hello" in line)
    assert "   S1.1  The word" in lines[parent + 1]
    assert "   S1.2  The world" in lines[parent + 2]
    assert "its result waits for your answer" in lines[parent + 2]
    assert told(halfway, "status")["chunks"][0]["pending"] == 2


def test_a_substep_is_shown_and_explained_by_its_own_name(halfway: Path) -> None:
    shown = look(halfway, "show", "s1.1")
    assert "S1.1 The word" in shown
    assert "write hello.txt" in shown
    assert "grep hello hello.txt" in shown
    assert "S1.2 The world: asks you" in look(halfway, "explain", "S1.2")
    assert "(its substep)" in look(halfway, "explain", "S1")


def test_a_substep_whose_plan_was_changed_can_still_be_looked_at(halfway: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(halfway, tmp_path / "copy")
    (copy / "details/S1/2.json").write_text("{}")
    repo = halfway.parents[2]
    assert "missing or changed" in santiago("show", copy, "S1.1", cwd=repo, env=greeter.place(repo)).stdout


def test_line_24_the_log_tells_who_answered_what(halfway: Path) -> None:
    shown = look(halfway, "log")
    assert "answered S1-detail-2: approve  by ann" in shown
    assert "split    S1 Say hello into S1.1, S1.2" in shown
    assert "start    S1.2 The world  (attempt 1 of 2)" in shown
    assert "S1.1" not in look(halfway, "log", "--story", "S1.2")


def test_line_34_a_step_that_was_put_off_says_so(asking: Path, tmp_path: Path) -> None:
    repo = shutil.copytree(asking.parents[2], tmp_path / "repo", symlinks=True)
    out_dir = greeter.out_dir(repo)
    stepwise.answer(out_dir, "defer")
    assert by_id(out_dir)["S1"]["deferred"] is True
    assert "- put off  S1" in look(out_dir, "status", "--stories")
    assert "put off" in look(out_dir, "explain", "S1")


def test_line_16_a_change_reaches_a_substep_whose_work_waits_for_a_word(halfway: Path, tmp_path: Path) -> None:
    repo = shutil.copytree(halfway.parents[2], tmp_path / "repo", symlinks=True)
    out_dir = greeter.out_dir(repo)
    asked = santiago("change", out_dir, "s1.2", "--text", "louder", cwd=repo, env=greeter.place(repo))
    assert (asked.returncode, "the next attempt of S1.2" in asked.stderr) == (0, True), asked.stderr
    santiago("resume", out_dir, cwd=repo, env=greeter.place(repo))
    assert load(out_dir).state.stories["S1.2"].notes == ("louder",)
    assert told(out_dir, "status")["questions"][0]["id"] == "S1.2-result-2"


def test_a_run_with_substeps_ends_with_a_result_of_its_stories(halfway: Path, tmp_path: Path) -> None:
    repo = shutil.copytree(halfway.parents[2], tmp_path / "repo", symlinks=True)
    out_dir = greeter.out_dir(repo)
    for _ in range(3):
        stepwise.answer(out_dir)
    assert load(out_dir).state.stories["S1"].phase == "done"
    result = json.loads((out_dir / "result.json").read_text())
    assert [(story["id"], story["attempts"]) for story in result["stories"]] == [("S1", 3), ("S2", 0), ("S3", 0)]
    session = json.loads((out_dir / "planning/session.json").read_text())
    assert (session["resumable_state"]["story"], session["chunk_history"][0]["retries"]) == ("S2", 1)
    assert look(out_dir, "audit").startswith("clean")


def test_line_18_the_work_of_a_substep_whose_start_was_killed_is_judged_by_the_next(
    halfway: Path, tmp_path: Path
) -> None:
    repo = shutil.copytree(halfway.parents[2], tmp_path / "repo", symlinks=True)
    out_dir = greeter.out_dir(repo)
    cut_after(out_dir, b'"attempt_started"')
    assert load(out_dir).state.running == {"S1.2"}
    santiago("resume", out_dir, cwd=repo, env=greeter.place(repo))
    state = load(out_dir).state
    assert [one.id for one in state.open_questions()] == ["S1.2-result-1"]
    assert (state.stories["S1.2"].attempts, state.stories["S1.2"].phase) == (1, "verified")


def cut_after(out_dir: Path, kind: bytes) -> None:
    """Let a log end with its last event of a kind, as if santiago had been killed then."""
    lines = (out_dir / "progress.ndjson").read_bytes().splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if kind in line)
    (out_dir / "progress.ndjson").write_bytes(b"".join(lines[: last + 1]))
    (out_dir / "result.json").unlink()


# audit


def test_an_audit_knows_the_files_of_detailed_plans(halfway: Path) -> None:
    found = told(halfway, "audit")
    assert (found["clean"], found["findings"], found["checked"]["files of plans"]) == (True, [], 8)


@pytest.mark.parametrize("name", ["2.json", "2.md", "2.files.json", "1.json"])
def test_line_32_an_audit_finds_a_detailed_plan_that_was_changed(halfway: Path, tmp_path: Path, name: str) -> None:
    copy = shutil.copytree(halfway, tmp_path / "copy")
    (copy / f"details/S1/{name}").write_text("{}")
    assert ("file_changed", f"details/S1/{name}") in audited(halfway, copy)


def test_an_audit_finds_a_file_that_was_put_beside_a_detailed_plan(halfway: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(halfway, tmp_path / "copy")
    (copy / "details/S1/2.more.md").write_text("also do this")
    assert ("file_unknown", "details/S1/2.more.md") in audited(halfway, copy)


def test_an_audit_knows_a_proposal_that_was_killed(asking: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(asking, tmp_path / "copy")
    cut_after(copy, b'"proposal_started"')
    assert not [path for _, path in audited(asking, copy) if path.startswith("details/")]


def audited(run: Path, copy: Path) -> list[tuple[str, str]]:
    repo = run.parents[2]
    seen = santiago("audit", copy, "--repo", repo, "--json", cwd=repo, env=greeter.place(repo))
    return [(one["code"], one["where"]) for one in json.loads(seen.stdout)["findings"]]
