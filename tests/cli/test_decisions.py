"""`skip` and `verify`: refused before anything is recorded, and what they say to type next is what helps."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from santiago.app.loading import load
from tests.cli import greeter
from tests.cli.greeter import git
from tests.cli.santiago import santiago

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.cli.conftest import Done

LIMITS = "[limits]\nstory_max_attempts = 1\n"


class Failed(NamedTuple):
    """A run whose first story used its only attempt in vain, and two branches of a person's own."""

    repo: Path

    @property
    def run(self) -> Path:
        return greeter.out_dir(self.repo)

    @property
    def log(self) -> bytes:
        return (self.run / "progress.ndjson").read_bytes()

    def says(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return santiago(*arguments, cwd=self.repo, env=greeter.place(self.repo))


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Failed:
    repo = greeter.make(tmp_path_factory.mktemp("failed") / "repo", greeter.BAD, limits=LIMITS)
    assert greeter.carry_out(repo).returncode == 30
    for name, text in (("wrong", "helo"), ("right", "hello")):
        git(repo, "switch", "-q", "-c", name, "main")
        (repo / "hello.txt").write_text(f"{text}\n")
        git(repo, "add", "hello.txt")
        git(repo, "commit", "-q", "-m", "By hand")
    git(repo, "switch", "-q", "main")
    return Failed(repo)


@pytest.mark.parametrize(
    ("story", "ref", "code"), [("S1", "nowhere", 2), ("S1", "--all", 2), ("S1", "", 2), ("S3", "right", 30)]
)
def test_work_that_cannot_be_judged_is_refused_before_anything_is_recorded(
    failed: Failed, story: str, ref: str, code: int
) -> None:
    before = failed.log
    refused = failed.says("verify", story, f"--from={ref}")
    assert (refused.returncode, failed.run.name in refused.stderr) == (code, True), refused.stderr
    assert failed.log == before


def test_own_work_that_did_not_pass_is_shown_as_a_person_s_and_can_be_brought_again(failed: Failed) -> None:
    judged = failed.says("verify", "S1", "--from", "wrong")
    assert judged.returncode == 30
    assert "(attempt 2, a person's own work)" in judged.stderr
    assert "\n$ grep hello hello.txt " in judged.stderr
    assert "+helo" in failed.says("show", "S1", "--patch").stdout
    assert "santiago verify S1 --from wrong   # once it is mended" in judged.stderr
    assert "santiago resume" not in judged.stderr, "that could only fail"
    assert "santiago verify S1 --from wrong" in failed.says("status").stdout
    shown = failed.says("show", "S1").stdout
    assert "by         a person, from wrong\n" in shown
    assert "agent      " not in shown.partition("Attempt 2")[2]
    told = json.loads(failed.says("show", "S1", "--json").stdout)["attempts"]
    assert [(one["agent"], one["own_work"]) for one in told] == [("scripted", None), (None, "wrong")]
    assert failed.says("verify", "S1", "--from", "right").returncode == 0


def test_after_a_failed_story_is_left_out_plain_resume_is_what_helps(tmp_path: Path) -> None:
    failed = Failed(greeter.make(tmp_path / "repo", greeter.BAD, limits=LIMITS))
    assert greeter.carry_out(failed.repo).returncode == 30
    left_out = failed.says("skip", "S1", "--why", "not needed")
    assert left_out.returncode == 0
    assert re.search(r"left out S1 Say hello: not needed\n", left_out.stderr)
    assert f"{failed.run.name} goes on without S1\n" in left_out.stderr
    assert re.search(r"next: santiago resume( --jobs 2)?   # go on", left_out.stderr)
    assert "exit 30" not in left_out.stderr
    assert "--add-attempts" not in left_out.stderr + failed.says("status").stdout
    before = failed.log
    again = failed.says("skip", "S1", "--why", "really")
    assert (again.returncode, f"{failed.run.name}: S1 is left out already" in again.stderr) == (30, True)
    assert failed.log == before
    (failed.repo / "playbook.yaml").write_text(greeter.GOOD)
    assert failed.says("resume").returncode == 0


@pytest.mark.parametrize("flags", [("--chunks", "1"), ("--gate", "chunk")])
def test_work_on_a_story_whose_chunk_is_next_begins_that_chunk(tmp_path: Path, flags: tuple[str, ...]) -> None:
    repo = greeter.make(tmp_path / "repo")
    env = greeter.place(repo)
    assert santiago("run", "prd.md", "--trust-commands", *flags, cwd=repo, env=env).returncode == 0
    git(repo, "switch", "-q", "-c", "mine", f"santiago/{greeter.out_dir(repo).name}")
    (repo / "both.txt").write_text("both\n")
    git(repo, "add", "both.txt")
    git(repo, "commit", "-q", "-m", "By hand")
    git(repo, "switch", "-q", "main")
    judged = santiago("verify", "S3", "--from", "mine", cwd=repo, env=env)
    assert judged.returncode == 0, judged.stderr
    state = load(greeter.out_dir(repo)).state
    assert (state.phase, [chunk.ended for chunk in state.chunks.values()]) == ("success", [True, True])


def test_work_on_a_story_of_a_finished_run_is_refused_and_not_called_a_success(success: Done) -> None:
    refused = santiago("verify", "S1", "--from", "main", cwd=success.repo, env=greeter.place(success.repo))
    assert (refused.returncode, "S1 is done, and that cannot be undone" in refused.stderr) == (30, True), refused.stderr


def test_what_is_done_is_never_left_out(success: Done) -> None:
    before = (success.out_dir / "progress.ndjson").read_bytes()
    refused = santiago("skip", "S1", "--why", "changed my mind", cwd=success.repo, env=greeter.place(success.repo))
    assert refused.returncode == 30
    assert f"{success.out_dir.name}: S1 is done, and that cannot be undone" in refused.stderr
    assert (success.out_dir / "progress.ndjson").read_bytes() == before


def test_a_ref_that_was_cleaned_away_is_not_said_to_be_kept(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    assert greeter.carry_out(repo).returncode == 0
    env = greeter.place(repo)
    assert "kept at    refs/santiago/" in santiago("show", "S1", cwd=repo, env=env).stdout
    assert santiago("clean", "--yes", cwd=repo, env=env).returncode == 0
    shown = santiago("show", "S1", cwd=repo, env=env).stdout
    assert "refs/santiago/" not in shown
    assert "its ref was removed by `santiago clean`" in shown


def test_nor_does_the_failure_report_say_so(tmp_path: Path) -> None:
    failed = Failed(greeter.make(tmp_path / "repo", greeter.BAD, limits=LIMITS))
    assert "kept at refs/santiago/" in greeter.carry_out(failed.repo).stderr
    assert failed.says("clean", "--yes", "--force").returncode == 0
    shown = failed.says("status", "--failed").stdout
    assert "refs/santiago/" not in shown
    assert "its ref was removed by `santiago clean`" in shown


def test_line_24_what_a_person_does_is_recorded_with_the_name_that_is_given_and_a_bad_one_refused(
    tmp_path: Path,
) -> None:
    repo = greeter.make(tmp_path / "repo", greeter.BAD, limits=LIMITS)
    greeter.carry_out(repo)
    run = Failed(repo)
    before = run.log
    for words in (
        ("accept", "S1", "--why", "it will do"), ("skip", "S3", "--why", "not now"), ("verify", "S1", "--from", "main"),
        ("change", "S1", "--text", "louder"), ("stop",), ("clean", "--yes", "--force"),
    ):  # fmt: skip
        for name in ("a\x1b[2Kb", "", "x" * 101):
            told = run.says(*words, "--actor", name)
            assert (told.returncode, "is not a valid name" in told.stderr) == (2, True), told.stderr
    assert (run.log, list((run.run / "inbox").glob("change*"))) == (before, [])
    run.says("change", "S1", "--text", "louder", "--actor", "bob")
    (letter,) = (run.run / "inbox").glob("change*")
    assert json.loads(letter.read_text())["actor"] == "bob"
    run.says("accept", "S1", "--why", "it will do", "--actor", "ann")
    run.says("skip", "S3", "--why", "not now", "--actor", "eve")
    run.says("clean", "--yes", "--force", "--actor", "dan")
    events = [json.loads(line) for line in run.log.splitlines()]
    who = {one["event"]: one["actor"] for one in events if one["actor"] != "santiago"}
    assert (who["story_accepted"], who["story_skipped"], who["note"]) == ("ann", "eve", "dan")
