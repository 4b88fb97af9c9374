"""Answers and changes from outside: what nobody can hear is refused, and what is taken says which run it went to."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from santiago.cli.commands import COMMANDS
from santiago.cli.main import main
from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.greeter import looks, says
from tests.cli.inside import inside

pytestmark = pytest.mark.xdist_group("reaching")

ASKS = greeter.GOOD.replace("  R1:\n", '  R1:\n    - ask: "Loud or quiet?"\n')


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a run whose first story asks."""
    repo = greeter.make(tmp_path_factory.mktemp("asked") / "repo", ASKS)
    ran = greeter.carry_out(repo)
    assert (ran.returncode, "Loud or quiet?" in ran.stderr) == (10, True), ran.stderr
    return repo


def copied(repo: Path, target: Path) -> Path:
    """Return a copy of a run's folder, which may be written to."""
    return shutil.copytree(greeter.out_dir(repo), target / "copy")


def letters(out_dir: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted((out_dir / "inbox").glob("*.json"))]


def test_the_run_s_end_and_status_say_how_to_answer(asked: Path) -> None:
    assert 'santiago answer S1-1 "YOUR ANSWER"' in looks(asked, "status").stdout


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
        late = looks(repo, "answer", "S1-1", "Loud!")
        assert late.returncode == 30
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
    told = looks(failure.repo, "change", spent, "S1", "--text", "in blue")
    assert told.returncode == 0
    assert f"its attempts are used up: `santiago resume {spent} --add-attempts N` grants more" in told.stderr


def test_every_command_takes_debug(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        assert main([command, "--debug", "--help"]) == 0
        assert "--debug" in capsys.readouterr().out, command
