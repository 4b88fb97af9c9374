"""An ordinary run at a terminal: the agent's question is asked there, its work can be tried there, and nothing is lost."""

import os
import signal
from pathlib import Path

import pytest

from santiago.app.loading import load
from santiago.contract.events import EventKind
from santiago.contract.state import RunState
from tests.cli import greeter
from tests.cli.greeter import out_dir, place
from tests.cli.santiago import santiago
from tests.cli.typing_person import Person
from tests.util.each import each

ASKS = """\
stories:
  R1:
    - ask: In which language?
    - write: {hello.txt: "hello\\n"}
  R2:
    - write: {bye.txt: "goodbye\\n"}
  R3:
    - write: {both.txt: "both\\n"}
"""
RUN = ("run", "prd.md", "--trust-commands", "--trust-project")
UNPROVEN = {"SANTIAGO_POLICY_UNPROVEN": "accept", "CI": ""}


def sits(folder: Path, *words: str, playbook: str = ASKS, **env: str) -> tuple[Path, Person]:
    repo = greeter.make(folder / "repo", playbook)
    return repo, Person(*words, cwd=repo, env={**place(repo), **UNPROVEN, "TERM": "xterm", **env})


def state_of(repo: Path) -> RunState:
    return load(out_dir(repo)).state


@each("more", [(), ("--plain",)])
def test_a_run_asks_the_agents_question_and_goes_on_with_the_answer(tmp_path: Path, more: tuple[str, ...]) -> None:
    """Issue 25, part 7. Other stories go on meanwhile; the live table leaves the terminal to the question."""
    repo, person = sits(tmp_path, *RUN, *more)
    person.sees("In which language?")
    person.says("in English", 'adjust "in English"')
    assert person.leaves() == 0
    run = load(out_dir(repo))
    assert run.state.phase == "success"
    assert run.state.questions["S1-1"].detail == "in English"
    assert "in English" in (run.out_dir / "attempts" / "S1" / "2" / "prompt.md").read_text()
    log = (run.out_dir / "progress.ndjson").read_text()
    assert log.count(f'"{EventKind.RUN_STARTED}"') == 1, "one start saw it through"


@each(("does", "code"), [("stop", 0), (signal.SIGINT, 130), (signal.SIGHUP, 143), ("close", 143)])
def test_who_leaves_at_a_question_finds_it_open_again(tmp_path: Path, does: str | signal.Signals, code: int) -> None:
    """Promise 3, and issue 25, part 7: a word, Ctrl-C, a signal or a closed terminal loses nothing."""
    repo, person = sits(tmp_path, *RUN)
    person.sees("\n> ")
    if isinstance(does, signal.Signals):
        os.killpg(person.process.pid, does)
    elif does == "close":
        os.killpg(person.process.pid, signal.SIGHUP)  # as the system does when a terminal is gone
        os.close(person.ours)
        assert person.process.wait(60) == code
    else:
        person.types("stop")
        person.sees("Enter to send")
        person.presses("\n")
    assert does == "close" or person.leaves() == code, person.seen
    state = state_of(repo)
    assert ([one.id for one in state.open_questions()], state.phase) == (["S1-1"], "paused")
    person = Person("resume", cwd=repo, env={**place(repo), **UNPROVEN})
    person.sees("In which language?")
    person.says("in English", 'adjust "in English"')
    assert person.leaves() == 0
    assert state_of(repo).phase == "success"


@each("given", [{"CI": "true"}, {"--no-input": ""}, {"--json": ""}])
def test_where_nobody_can_be_asked_the_run_ends_on_the_question(tmp_path: Path, given: dict[str, str]) -> None:
    words = [word for word in given if word.startswith("--")]
    repo, person = sits(tmp_path, *RUN, *words, **{name: text for name, text in given.items() if name.isupper()})
    assert person.leaves() == 10
    assert state_of(repo).reason == "agent_asked"


def test_the_question_of_an_agent_that_took_over_is_asked_as_well(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    for name, does in {
        "out": "echo 'Error: your credit balance is too low' >&2; exit 1",
        "asks": 'case "$(cat)" in *"in English"*) echo hello > hello.txt ;; *) echo "SANTIAGO_QUESTION: In which language?" ;; esac',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    words = (*RUN, "--only", "S1", "--agent", f"{tmp_path}/out,{tmp_path}/asks")
    person = Person(*words, cwd=repo, env={**place(repo), **UNPROVEN, "TERM": "xterm"})
    person.sees("In which language?")
    person.says("in English", 'adjust "in English"')
    assert person.leaves() == 0
    assert state_of(repo).stories["S1"].phase == "done"


def test_a_question_that_waits_for_nobody_is_left_to_the_end(tmp_path: Path) -> None:
    """Work that no test shows is decided on together, when the run has ended."""
    _, person = sits(
        tmp_path, *RUN, playbook=greeter.GOOD, SANTIAGO_POLICY_PROOF="proved", SANTIAGO_POLICY_UNPROVEN="ask"
    )
    assert person.leaves() in (0, 10)
    assert "\n> " not in person.seen


@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_the_work_of_a_story_is_tried_in_a_shell_and_nothing_of_it_stays(tmp_path: Path, sandbox: str) -> None:
    """Issue 25, part 7. What the person changed there is kept as a patch."""
    repo = greeter.make(tmp_path / "repo")
    (repo / ".git" / "info" / "exclude").write_text("/node_modules\n/.santiago\n")
    (repo / "node_modules").mkdir()
    (repo / "node_modules" / "left.js").write_text("1\n")
    env = {**place(repo), **UNPROVEN, "SANTIAGO_POLICY_SANDBOX": sandbox, "SHELL": "/bin/sh", "PS1": "sh$ ", "ENV": ""}
    santiago(*RUN, cwd=repo, env=env, code=0)
    before = {path for path in tmp_path.rglob("*") if ".git" not in path.parts}
    person = Person("try", "S1", cwd=repo, env=env)
    person.sees("sh$ ")
    person.types("cat hello.txt node_modules/left.js; git status --short; echo seen; echo more >> hello.txt; exit 3")
    told = person.sees("seen")
    assert person.leaves() == 0
    assert "hello\n1\n" in person.seen, person.seen
    assert "node_modules" not in told.partition("hello\n1")[2]
    (patch,) = (repo / ".santiago" / "tried").iterdir()
    assert "+more\n" in patch.read_text()
    after = {path for path in tmp_path.rglob("*") if ".git" not in path.parts and path.is_file()}
    assert after - before == {patch}
    refused = greeter.looks(repo, "try", "S1")
    assert (refused.returncode, "no terminal" in refused.stderr) == (2, True)
