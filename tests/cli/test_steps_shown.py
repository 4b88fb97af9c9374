"""`status`, `show`, `log`, `explain` and `audit` on runs that go step by step, with substeps.

What they print is held by the transcripts of the worlds asking, halfway and put-off, which were recorded.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from santiago.app.loading import load
from tests.cli import greeter, stepwise
from tests.cli.inside import inside
from tests.cli.santiago import santiago
from tests.transcripts import recording
from tests.transcripts.playing import typed

pytestmark = pytest.mark.xdist_group("steps shown")


@pytest.fixture
def asking(tmp_path: Path) -> Path:
    return greeter.out_dir(recording.load("asking", tmp_path / "asking"))


@pytest.fixture(scope="module")
def halfway(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run whose first substep is done and whose second waits for a person's word; it is copied before it goes on."""
    out_dir = stepwise.begin(tmp_path_factory.mktemp("halfway") / "repo")
    stepwise.answer_until(out_dir, "S1.2-result-1")
    return out_dir


@pytest.fixture
def copied(halfway: Path, tmp_path: Path) -> Path:
    return greeter.out_dir(shutil.copytree(halfway.parents[2], tmp_path / "repo", symlinks=True))


def told(out_dir: Path, *words: str | Path) -> Any:
    repo = out_dir.parents[2]
    return json.loads(inside(*words, "--json", cwd=repo, env=greeter.place(repo)).stdout)


def test_lines_5_26_31_and_72_a_question_is_shown_with_its_command_and_plan_and_no_escapes(asking: Path) -> None:
    """Line 5: kind and words; line 26: what answers it; line 31: the plan, and that it waits; line 72: text of others."""
    (question,) = told(asking, "status")["questions"]
    about = (question["id"], question["kind"], question["story"], question["round"], question["until"])
    assert about == ("S1-detail-2", "detail", "S1", 1, None)
    assert question["words"] == ["approve", "adjust", "defer", "stop"]
    assert question["answer_command"] == "santiago answer S1-detail-2"
    assert question["asked_at"] == load(asking).state.questions["S1-detail-2"].asked_at
    repo = asking.parents[2]
    assert "santiago answer S1-detail-2 approve" in "\n".join(typed("santiago status", repo))
    assert "detailed plan of S1, proposal 2: it waits for your answer" in typed("santiago show S1", repo)
    detail = told(asking, "show", "S1")["detail"]
    assert (detail["revision"], detail["approved"], detail["file"]) == (2, False, "details/S1/2.json")
    assert detail["text"] == (asking / "details/S1/2.md").read_text()
    with (asking / "details/S1/2.md").open("a") as file:
        file.write("\x1b]8;;http://evil.example\x07click\x1b[2J\u202e\n")
    shown = "\n".join(typed("santiago show S1", asking.parents[2]))
    assert "click" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_lines_6_to_9_stories_have_their_step_state_their_detail_and_their_parent(halfway: Path) -> None:
    status = told(halfway, "status")
    stories = {story["id"]: story for story in status["stories"]}
    assert [(name, one["parent"], one["step_state"]) for name, one in stories.items()] == [
        ("S1", None, "Implementing"),
        ("S1.1", "S1", "Marked Complete"),
        ("S1.2", "S1", "Substep Done"),
        ("S2", None, "Tasks Created"),
        ("S3", None, "Tasks Created"),
    ]
    assert (stories["S1"]["detail"]["approved"], stories["S1.1"]["detail"]) == (True, None)
    assert (stories["S1.1"]["title"], status["chunks"][0]["pending"]) == ("The word", 2), "substeps are no stories"


def test_a_substep_whose_plan_was_changed_can_still_be_looked_at(tmp_path: Path) -> None:
    out_dir = greeter.out_dir(recording.load("halfway", tmp_path))
    (out_dir / "details/S1/2.json").write_text("{}")
    assert "missing or changed" in "\n".join(typed("santiago show S1.1", out_dir.parents[2]))


def test_lines_24_and_34_the_log_tells_who_answered_what_and_a_step_that_was_put_off_says_so(tmp_path: Path) -> None:
    """Line 24: who; line 34: that it was put off."""
    repo = recording.load("halfway", tmp_path / "a")
    assert any(line.endswith("answered S1-detail-2: approve  by ann") for line in typed("santiago log", repo))
    put_off = greeter.out_dir(recording.load("put-off", tmp_path / "b"))
    assert told(put_off, "status")["stories"][0]["deferred"] is True


def test_line_16_a_change_reaches_a_substep_whose_work_waits_for_a_word(copied: Path) -> None:
    repo = copied.parents[2]
    asked = inside("change", copied, "s1.2", "--text", "louder", cwd=repo, env=greeter.place(repo))
    assert (asked.returncode, "the next attempt of S1.2" in asked.stderr) == (0, True), asked.stderr
    santiago("resume", copied, cwd=repo, env=greeter.place(repo))
    state = load(copied).state
    assert state.stories["S1.2"].notes == ("louder",)
    assert [one.id for one in state.open_questions()] == ["S1.2-result-2"]


def test_a_run_with_substeps_ends_with_a_result_of_its_stories(copied: Path) -> None:
    for _ in range(3):
        stepwise.answer(copied)
    assert load(copied).state.stories["S1"].phase == "done"
    result = json.loads((copied / "result.json").read_text())
    assert [(story["id"], story["attempts"]) for story in result["stories"]] == [("S1", 3), ("S2", 0), ("S3", 0)]
    session = json.loads((copied / "planning/session.json").read_text())
    assert (session["resumable_state"]["story"], session["chunk_history"][0]["retries"]) == ("S2", 1)
    assert told(copied, "audit")["findings"] == []


def test_line_18_the_work_of_a_substep_whose_start_was_killed_is_judged_by_the_next(copied: Path) -> None:
    cut_after(copied, b'"attempt_started"')
    assert load(copied).state.running == {"S1.2"}
    santiago("resume", copied, cwd=copied.parents[2], env=greeter.place(copied.parents[2]))
    state = load(copied).state
    assert [one.id for one in state.open_questions()] == ["S1.2-result-1"]
    assert (state.stories["S1.2"].attempts, state.stories["S1.2"].phase) == (1, "verified")


def cut_after(out_dir: Path, kind: bytes) -> None:
    """Let a log end with its last event of a kind, as if santiago had been killed then."""
    lines = (out_dir / "progress.ndjson").read_bytes().splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if kind in line)
    (out_dir / "progress.ndjson").write_bytes(b"".join(lines[: last + 1]))
    (out_dir / "result.json").unlink()


def test_line_32_an_audit_finds_each_file_of_plans_that_was_changed_or_added_and_knows_a_killed_proposal(
    halfway: Path, tmp_path: Path
) -> None:
    clean = told(halfway, "audit")
    assert (clean["clean"], clean["findings"], clean["checked"]["files of plans"]) == (True, [], 8)
    for name in ("2.json", "2.md", "2.files.json", "1.json", "2.more.md"):
        copy = shutil.copytree(halfway, tmp_path / name)
        (copy / f"details/S1/{name}").write_text("{}")
        kind = "file_unknown" if name == "2.more.md" else "file_changed"
        assert (kind, f"details/S1/{name}") in audited(halfway, copy)
    copy = shutil.copytree(halfway, tmp_path / "copy")
    cut_after(copy, b'"proposal_started"')
    assert not [path for _, path in audited(halfway, copy) if path.startswith("details/")]


def audited(run: Path, copy: Path) -> list[tuple[str, str]]:
    findings = told(run, "audit", copy, "--repo", run.parents[2])["findings"]
    return [(one["code"], one["where"]) for one in findings]
