"""Answers and changes from outside: what nobody can hear is refused, and what is taken says which run it went to."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from santiago.cli.commands import COMMANDS
from santiago.cli.main import main
from tests.cli import greeter
from tests.cli.santiago import santiago

if TYPE_CHECKING:
    from tests.cli.conftest import Done

ASKS = greeter.GOOD.replace("  R1:\n", '  R1:\n    - ask: "Loud or quiet?"\n')


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a run whose first story asks."""
    repo = greeter.make(tmp_path_factory.mktemp("asked") / "repo", ASKS)
    ran = greeter.carry_out(repo)
    assert ran.returncode == 10, ran.stderr
    return repo


class Seen(NamedTuple):
    """What a command printed, and how it ended."""

    returncode: int
    stdout: str
    stderr: str


Says = Callable[..., Seen]


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Says:
    """The program's own entry, in a repository; without a process for each word."""

    def said(repo: Path, *arguments: str | Path) -> Seen:
        monkeypatch.chdir(repo)
        for name, value in greeter.place(repo).items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        return Seen(main(list(map(str, arguments))), *capsys.readouterr())

    return said


def copied(repo: Path, target: Path) -> Path:
    """Return a copy of a run's folder, which may be written to."""
    return shutil.copytree(greeter.out_dir(repo), target / "copy")


def letters(out_dir: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted((out_dir / "inbox").glob("*.json"))]


def test_the_run_s_end_and_status_say_how_to_answer(says: Says, asked: Path) -> None:
    assert 'santiago answer S1-1 "YOUR ANSWER"' in says(asked, "status").stdout


@pytest.mark.parametrize(
    ("words", "answer", "text"),
    [
        (("Quiet, please",), "adjust", "Quiet, please"),
        (("quiet", "and", "slow"), "adjust", "quiet and slow"),
        (("adjust", "--text", "Quiet"), "adjust", "Quiet"),
        (("Defer",), "defer", ""),
    ],
)
def test_an_answer_is_a_fixed_word_or_one_s_own_words(
    says: Says, asked: Path, tmp_path: Path, words: tuple[str, ...], answer: str, text: str
) -> None:
    run = copied(asked, tmp_path)
    told = says(asked, "answer", run, "S1-1", *words, "--json")
    said = json.loads(told.stdout)
    assert (said["run_id"], said["kind"], said["subject"], said["done"]) == (
        greeter.out_dir(asked).name,
        "answer",
        "S1-1",
        True,
    )
    (letter,) = letters(run)
    assert (letter["answer"], letter["text"]) == (said["answer"], said["text"] or "") == (answer, text)


@pytest.mark.parametrize(
    ("words", "says_so"),
    [
        (("S2-1", "approve"), "there is no question S2-1"),
        (("S1-1", "aprove"), "did you mean 'approve'?"),
        (("S1-1", ""), "the answer is empty"),
        (("S1-1", "x" * 40_000), "40,000 characters"),
        (("r_none", "S1-1", "approve"), "there is no question r_none"),
    ],
)
def test_what_answers_nothing_is_refused_and_takes_nobody_s_place(
    says: Says, asked: Path, words: tuple[str, ...], says_so: str
) -> None:
    told = says(asked, "answer", *words)
    assert (told.returncode, says_so in told.stderr) == (2, True), told.stderr
    assert not letters(greeter.out_dir(asked))


def test_the_first_answer_counts_before_and_after_it_was_heard(
    says: Says, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANTIAGO_ACTOR", "ann")
    repo = greeter.make(tmp_path / "repo", ASKS)
    greeter.carry_out(repo)
    run = greeter.out_dir(repo)
    told = says(repo, "answer", "S1-1", "Quiet, please")
    assert (
        told.returncode,
        f'{run.name}: S1-1 is answered: adjust "Quiet, please"; `santiago resume`' in told.stderr,
    ) == (0, True)
    for _ in ("waiting in the inbox", "known to the log"):
        late = says(repo, "answer", "S1-1", "Loud!")
        assert late.returncode == 30
        assert re.search(
            f"{run.name}: S1-1 was answered before, by ann at 20[-0-9]+ [0-9:]+ [A-Z]+; the first", late.stderr
        )
        assert santiago("resume", cwd=repo, env=greeter.place(repo)).returncode == 0
        shutil.rmtree(run / "inbox", ignore_errors=True)  # what the log knows needs no second witness
    prompt = (run / "attempts" / "S1" / "2" / "prompt.md").read_text()
    assert ("Quiet, please" in prompt, "Loud!" in prompt) == (True, False)


def test_an_answer_that_lies_ready_is_asked_for_no_more(says: Says, asked: Path, tmp_path: Path) -> None:
    run = copied(asked, tmp_path)
    says(asked, "answer", run, "S1-1", "Quiet, please")
    said = says(asked, "status", run).stdout
    assert "santiago answer" not in said
    assert f"needs you: S1-1 is answered; `santiago resume {run}` takes it up\n" in said
    assert "   # go on with the answer\n" in said
    assert json.loads(says(asked, "status", run, "--json").stdout)["questions"] == []


def test_what_was_put_off_says_how_it_goes_on_and_does_when_that_is_typed(says: Says, tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo", ASKS)
    greeter.carry_out(repo)
    says(repo, "answer", "S1-1", "defer")
    said = santiago("resume", cwd=repo, env=greeter.place(repo)).stderr
    assert 'santiago change S1 --text "YOUR ANSWER"' in said
    assert 'santiago skip S1 --why "YOUR REASON"' in said
    assert "needs you: S1 is blocked: S1-1 was deferred (defer).\n" in says(repo, "status").stdout
    assert "Its question S1-1 was deferred (defer): Loud or quiet?\n" in says(repo, "show", "S1").stdout
    says(repo, "change", "S1", "--text", "Quiet, please")
    assert santiago("resume", cwd=repo, env=greeter.place(repo)).returncode == 0
    assert "Quiet, please" in (greeter.out_dir(repo) / "attempts/S1/2/prompt.md").read_text()


def test_a_change_says_what_it_takes_until_somebody_sees_it(
    says: Says, asked: Path, failure: Done, tmp_path: Path
) -> None:
    run = copied(asked, tmp_path)
    told = says(asked, "change", run, "R1", "--text", "in blue", "--json")
    said = json.loads(told.stdout)
    assert (said["kind"], said["subject"], said["text"]) == ("change", "S1", "in blue")
    assert [letter["text"] for letter in letters(run)] == ["in blue"]
    spent = shutil.copytree(failure.out_dir, tmp_path / "spent")
    told = says(failure.repo, "change", spent, "S1", "--text", "in blue")
    assert told.returncode == 0
    assert f"its attempts are used up: `santiago resume {spent} --add-attempts N` grants more" in told.stderr


@pytest.mark.parametrize("words", [("S1", "--text", " "), ("S9", "--text", "in blue"), ("S1",), ("--text", "in blue")])
def test_a_change_of_nothing_is_refused(says: Says, asked: Path, words: tuple[str, ...]) -> None:
    assert says(asked, "change", *words).returncode == 2
    assert not letters(greeter.out_dir(asked))


@pytest.mark.parametrize("words", [("explain", "S9"), ("log", "--story", "S9"), ("show", "S9"), ("skip", "S9", "--why", "x")])  # fmt: skip
def test_a_story_that_there_is_not_is_refused_everywhere_in_the_same_words(
    says: Says, asked: Path, words: tuple[str, ...]
) -> None:
    told = says(asked, *words)
    assert told.returncode == 2
    assert "the plan has no story S9" in told.stderr
    assert "There are S1 to S3." in told.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_debug(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--debug", "--help"]) == 0
    assert "--debug" in capsys.readouterr().out
