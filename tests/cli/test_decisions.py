"""`skip` and `verify`: refused before anything is recorded, and what they say to type next is what helps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from santiago.app.loading import load
from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.greeter import git, looks, says

pytestmark = pytest.mark.xdist_group("decisions")


class Failed(NamedTuple):
    """A run whose first story used its only attempt in vain, and two branches of a person's own."""

    repo: Path

    @property
    def run(self) -> Path:
        return greeter.out_dir(self.repo)

    @property
    def log(self) -> bytes:
        return (self.run / "progress.ndjson").read_bytes()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    limits = "[limits]\nstory_max_attempts = 1\n"
    repo = greeter.make(tmp_path_factory.mktemp("failed") / "repo", greeter.BAD, limits=limits)
    ran = greeter.carry_out(repo)
    assert (ran.returncode, "kept at refs/santiago/" in ran.stderr) == (30, True), ran.stderr
    for name, text in (("wrong", "helo"), ("right", "hello")):
        git(repo, "switch", "-q", "-c", name, "main")
        (repo / "hello.txt").write_text(f"{text}\n")
        git(repo, "add", "hello.txt")
        git(repo, "commit", "-q", "-m", "By hand")
    git(repo, "switch", "-q", "main")
    return repo


@pytest.fixture
def failed(kept: Path, tmp_path: Path) -> Failed:
    return Failed(greeter.copied(kept, tmp_path))


def test_work_that_cannot_be_judged_is_refused_before_anything_is_recorded(failed: Failed) -> None:
    before, wrong = failed.log, []
    for story, ref, code in (("S1", "nowhere", 2), ("S1", "--all", 2), ("S1", "", 2), ("S3", "right", 30)):
        refused = says(failed.repo, "verify", story, f"--from={ref}")
        if (refused.returncode, failed.run.name in refused.stderr, failed.log) != (code, True, before):
            wrong.append((story, ref, refused))
    assert wrong == []


def test_own_work_that_did_not_pass_is_shown_as_a_person_s_and_can_be_brought_again(failed: Failed) -> None:
    judged = says(failed.repo, "verify", "S1", "--from", "wrong")
    assert judged.returncode == 30
    assert "(attempt 2, a person's own work)" in judged.stderr
    assert "\n$ grep hello hello.txt " in judged.stderr
    assert "+helo" in looks(failed.repo, "show", "S1", "--patch").stdout
    assert "santiago verify S1 --from wrong   # once it is mended" in judged.stderr
    assert "santiago resume" not in judged.stderr, "that could only fail"
    assert "santiago verify S1 --from wrong" in looks(failed.repo, "status").stdout
    shown = looks(failed.repo, "show", "S1").stdout
    assert "by         a person, from wrong\n" in shown
    assert "agent      " not in shown.partition("Attempt 2")[2]
    told = json.loads(looks(failed.repo, "show", "S1", "--json").stdout)["attempts"]
    assert [(one["agent"], one["own_work"]) for one in told] == [("scripted", None), (None, "wrong")]
    assert says(failed.repo, "verify", "S1", "--from", "right").returncode == 0


def test_after_a_failed_story_is_left_out_plain_resume_is_what_helps(failed: Failed) -> None:
    left_out = says(failed.repo, "skip", "S1", "--why", "not needed")
    assert left_out.returncode == 0
    assert re.search(r"left out S1 Say hello: not needed\n", left_out.stderr)
    assert f"{failed.run.name} goes on without S1\n" in left_out.stderr
    assert re.search(r"next: santiago resume( --jobs 2)?   # go on", left_out.stderr)
    assert "exit 30" not in left_out.stderr
    assert "--add-attempts" not in left_out.stderr + looks(failed.repo, "status").stdout
    before = failed.log
    again = says(failed.repo, "skip", "S1", "--why", "really")
    assert (again.returncode, f"{failed.run.name}: S1 is left out already" in again.stderr) == (30, True)
    assert failed.log == before
    (failed.repo / "playbook.yaml").write_text(greeter.GOOD)
    assert says(failed.repo, "resume").returncode == 0


@pytest.mark.parametrize("flags", [("--chunks", "1"), ("--gate", "chunk")])
def test_work_on_a_story_whose_chunk_is_next_begins_that_chunk(tmp_path: Path, flags: tuple[str, ...]) -> None:
    repo = greeter.make(tmp_path / "repo")
    assert says(repo, "run", "prd.md", "--trust-commands", *flags).returncode == 0
    git(repo, "switch", "-q", "-c", "mine", f"santiago/{greeter.out_dir(repo).name}")
    (repo / "both.txt").write_text("both\n")
    git(repo, "add", "both.txt")
    git(repo, "commit", "-q", "-m", "By hand")
    git(repo, "switch", "-q", "main")
    judged = says(repo, "verify", "S3", "--from", "mine")
    assert judged.returncode == 0, judged.stderr
    state = load(greeter.out_dir(repo)).state
    assert (state.phase, [chunk.ended for chunk in state.chunks.values()]) == ("success", [True, True])


def test_what_is_done_is_neither_judged_again_nor_left_out(success: Done) -> None:
    before = (success.out_dir / "progress.ndjson").read_bytes()
    for words in (("verify", "S1", "--from", "main"), ("skip", "S1", "--why", "changed my mind")):
        refused = says(success.repo, *words)
        assert refused.returncode == 30
        assert f"{success.out_dir.name}: S1 is done, and that cannot be undone" in refused.stderr
    assert (success.out_dir / "progress.ndjson").read_bytes() == before


def test_a_ref_that_was_cleaned_away_is_not_said_to_be_kept(failed: Failed) -> None:
    assert "kept at    refs/santiago/" in looks(failed.repo, "show", "S2").stdout
    assert says(failed.repo, "clean", "--yes", "--force").returncode == 0
    for words in (("show", "S2"), ("status", "--failed")):
        shown = looks(failed.repo, *words).stdout
        assert "refs/santiago/" not in shown
        assert "its ref was removed by `santiago clean`" in shown


def test_line_24_what_a_person_does_is_recorded_with_the_name_that_is_given_and_a_bad_one_refused(
    failed: Failed,
) -> None:
    before, wrong = failed.log, []
    for words in (
        ("accept", "S1", "--why", "it will do"), ("skip", "S3", "--why", "not now"), ("verify", "S1", "--from", "main"),
        ("change", "S1", "--text", "louder"), ("stop",), ("clean", "--yes", "--force"),
    ):  # fmt: skip
        for name in ("a\x1b[2Kb", "", "x" * 101):
            told = looks(failed.repo, *words, "--actor", name)
            if (told.returncode, "is not a valid name" in told.stderr) != (2, True):
                wrong.append((words, name, told))
    assert (wrong, failed.log, list((failed.run / "inbox").glob("change*"))) == ([], before, [])
    says(failed.repo, "change", "S1", "--text", "louder", "--actor", "bob")
    (letter,) = (failed.run / "inbox").glob("change*")
    assert json.loads(letter.read_text())["actor"] == "bob"
    says(failed.repo, "accept", "S1", "--why", "it will do", "--actor", "ann")
    says(failed.repo, "skip", "S3", "--why", "not now", "--actor", "eve")
    says(failed.repo, "clean", "--yes", "--force", "--actor", "dan")
    events = [json.loads(line) for line in failed.log.splitlines()]
    who = {one["event"]: one["actor"] for one in events if one["actor"] != "santiago"}
    assert (who["story_accepted"], who["story_skipped"], who["note"]) == ("ann", "eve", "dan")
