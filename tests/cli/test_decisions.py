"""`skip`, `verify`, answers and changes: refused before anything is recorded, and what they say to type next is what helps."""

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from santiago.app.loading import load
from santiago.cli.commands import COMMANDS
from santiago.cli.main import main
from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.greeter import git, looks, says
from tests.cli.inside import inside

pytestmark = pytest.mark.xdist_group("decisions")
ASKS = greeter.GOOD.replace("  R1:\n", '  R1:\n    - ask: "Loud or quiet?"\n')


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
    judged = says(failed.repo, "verify", "S1", "--from", "wrong", code=30)
    assert "(attempt 2, a person's own work)" in judged.stderr
    assert "\n$ grep hello hello.txt " in judged.stderr
    assert "+helo" in looks(failed.repo, "show", "S1", "--patch").stdout
    assert "santiago verify S1 --from wrong   # once it is mended" in judged.stderr
    assert "santiago resume" not in judged.stderr, "that could only fail"
    assert "santiago verify S1 --from wrong" in looks(failed.repo, "status").stdout
    shown = looks(failed.repo, "show", "S1").stdout
    assert "by        a person, from wrong\n" in shown
    assert "agent     " not in shown.partition("attempt 2\n")[2]
    told = json.loads(looks(failed.repo, "show", "S1", "--json").stdout)["attempts"]
    assert [(one["agent"], one["own_work"]) for one in told] == [("scripted", None), (None, "wrong")]
    assert says(failed.repo, "verify", "S1", "--from", "right").returncode == 0


def test_after_a_failed_story_is_left_out_plain_resume_is_what_helps(failed: Failed) -> None:
    left_out = says(failed.repo, "skip", "S1", "--why", "not needed", code=0)
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
    says(repo, "verify", "S3", "--from", "mine", code=0)
    state = load(greeter.out_dir(repo)).state
    assert (state.phase, [chunk.ended for chunk in state.chunks.values()]) == ("success", [True, True])


def test_what_is_done_is_neither_judged_again_nor_left_out(success: Done) -> None:
    before = (success.out_dir / "progress.ndjson").read_bytes()
    for words in (("verify", "S1", "--from", "main"), ("skip", "S1", "--why", "changed my mind")):
        refused = says(success.repo, *words, code=30)
        assert f"{success.out_dir.name}: S1 is done, and that cannot be undone" in refused.stderr
    late = looks(success.repo, "change", "S1", "--text", "in blue")
    assert (late.returncode, "S1 is done" in late.stderr) == (30, True)
    assert (success.out_dir / "progress.ndjson").read_bytes() == before


def test_a_ref_that_was_cleaned_away_is_not_said_to_be_kept(failed: Failed) -> None:
    assert "kept at   refs/santiago/" in looks(failed.repo, "show", "S2").stdout
    assert says(failed.repo, "clean", "--yes", "--force").returncode == 0
    for words in (("show", "S2"), ("status", "--failed")):
        shown = looks(failed.repo, *words).stdout
        assert "refs/santiago/" not in shown
        assert "its ref was removed by `santiago clean`" in shown


def test_line_24_what_a_person_does_is_recorded_with_the_given_name_and_a_bad_one_refused(failed: Failed) -> None:
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


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = greeter.make(tmp_path_factory.mktemp("asked") / "repo", ASKS)
    ran = greeter.carry_out(repo)
    assert (ran.returncode, "Loud or quiet?" in ran.stderr) == (10, True), ran.stderr
    return repo


def copied(repo: Path, target: Path) -> Path:
    return shutil.copytree(greeter.out_dir(repo), target / "copy")


def letters(out_dir: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted((out_dir / "inbox").glob("*.json"))]


def test_an_answer_is_a_fixed_word_or_one_s_own_words(asked: Path, tmp_path: Path) -> None:
    for number, (words, answer, text) in enumerate((
        (("Quiet, please",), "adjust", "Quiet, please"), (("quiet", "and", "slow"), "adjust", "quiet and slow"),
        (("adjust", "--text", "Quiet"), "adjust", "Quiet"), (("Defer",), "defer", ""),
    )):  # fmt: skip
        run = copied(asked, tmp_path / str(number))
        said = json.loads(looks(asked, "answer", run, "S1-1", *words, "--json").stdout)
        told = [said[name] for name in ("run_id", "kind", "subject", "done")]
        assert told == [greeter.out_dir(asked).name, "answer", "S1-1", True], words
        (letter,) = letters(run)
        assert (letter["answer"], letter["text"]) == (said["answer"], said["text"] or "") == (answer, text), words


def test_what_answers_or_changes_nothing_is_refused_and_takes_nobody_s_place(asked: Path) -> None:
    wrong = []
    for words, says_so in (
        (("answer", "S2-1", "approve"), "there is no question S2-1"), (("answer", "S1-1", "aprove"), "did you mean 'approve'?"),
        (("answer", "S1-1", ""), "the answer is empty"), (("answer", "S1-1", "x" * 40_000), "40,000 characters"),
        (("answer", "r_none", "S1-1", "approve"), "there is no question r_none"), (("change", "S1", "--text", " "), ""),
        (("change", "S9", "--text", "in blue"), ""), (("change", "S1"), ""), (("change", "--text", "in blue"), ""),
    ):  # fmt: skip
        told = looks(asked, *words)
        if (told.returncode, says_so in told.stderr, letters(greeter.out_dir(asked))) != (2, True, []):
            wrong.append((words, told))
    # A story that there is not is refused everywhere in the same words.
    for words in (("explain", "S9"), ("log", "--story", "S9"), ("show", "S9"), ("skip", "S9", "--why", "x")):
        told = looks(asked, *words)
        if (
            told.returncode != 2
            or "the plan has no story S9" not in told.stderr
            or "There are S1 to S3." not in told.stderr
        ):
            wrong.append((words, told))
    assert wrong == []


def test_the_first_answer_counts_before_and_after_it_was_heard(asked: Path, tmp_path: Path) -> None:
    repo = greeter.copied(asked, tmp_path)
    run = greeter.out_dir(repo)
    named = {**greeter.place(repo), "SANTIAGO_ACTOR": "ann"}
    told = inside("answer", "S1-1", "Quiet, please", cwd=repo, env=named)
    assert (
        told.returncode,
        f'{run.name}: S1-1 is answered: adjust "Quiet, please"; `santiago resume`' in told.stderr,
    ) == (0, True)
    for _ in ("waiting in the inbox", "known to the log"):
        late = looks(repo, "answer", "S1-1", "Loud!", code=30)
        assert re.search(
            f"{run.name}: S1-1 was answered before, by ann at 20[-0-9]+ [0-9:]+ [A-Z]+; the first", late.stderr
        )
        assert says(repo, "resume").returncode == 0
        shutil.rmtree(run / "inbox", ignore_errors=True)  # what the log knows needs no second witness
    prompt = (run / "attempts" / "S1" / "2" / "prompt.md").read_text()
    assert ("Quiet, please" in prompt, "Loud!" in prompt) == (True, False)


def test_an_answer_that_lies_ready_is_asked_for_no_more(asked: Path, tmp_path: Path) -> None:
    run = copied(asked, tmp_path)
    looks(asked, "answer", run, "S1-1", "Quiet, please")
    said = looks(asked, "status", run).stdout
    assert "santiago answer" not in said
    assert f"needs you: S1-1 is answered; `santiago resume {run}` takes it up\n" in said
    assert "   # go on with the answer\n" in said
    assert json.loads(looks(asked, "status", run, "--json").stdout)["questions"] == []


def test_what_was_put_off_says_how_it_goes_on_and_does_when_that_is_typed(asked: Path, tmp_path: Path) -> None:
    repo = greeter.copied(asked, tmp_path)
    looks(repo, "answer", "S1-1", "defer")
    said = says(repo, "resume").stderr
    assert 'santiago change S1 --text "YOUR ANSWER"' in said
    assert 'santiago skip S1 --why "YOUR REASON"' in said
    assert "needs you: S1 is blocked: S1-1 was deferred (defer).\n" in looks(repo, "status").stdout
    assert "Its question S1-1 was deferred (defer): Loud or quiet?\n" in looks(repo, "show", "S1").stdout
    looks(repo, "change", "S1", "--text", "Quiet, please")
    assert says(repo, "resume").returncode == 0
    assert "Quiet, please" in (greeter.out_dir(repo) / "attempts/S1/2/prompt.md").read_text()


def test_a_change_says_what_it_takes_until_somebody_sees_it(asked: Path, failure: Done, tmp_path: Path) -> None:
    run = copied(asked, tmp_path)
    told = looks(asked, "change", run, "R1", "--text", "in blue", "--json")
    said = json.loads(told.stdout)
    assert (said["kind"], said["subject"], said["text"]) == ("change", "S1", "in blue")
    assert [letter["text"] for letter in letters(run)] == ["in blue"]
    spent = shutil.copytree(failure.out_dir, tmp_path / "spent")
    told = looks(failure.repo, "change", spent, "S1", "--text", "in blue", code=0)
    assert f"its attempts are used up: `santiago resume {spent} --add-attempts N` grants more" in told.stderr


def test_every_command_takes_debug(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        assert main([command, "--debug", "--help"]) == 0
        assert "--debug" in capsys.readouterr().out, command
