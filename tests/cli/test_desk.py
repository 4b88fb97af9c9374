"""The terminal while a question is open: what the run says meanwhile, wide letters, odd input, a size that changes."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios
from pathlib import Path

from santiago.app.loading import load
from santiago.util.text import width
from tests.cli import greeter
from tests.cli.greeter import looks, out_dir, place, says
from tests.cli.test_step_by_step import BEGIN, PLAN, PLAYBOOK, make, sits
from tests.cli.typing_person import Person

AGENT = """\
case "$SANTIAGO_STORY-$SANTIAGO_ATTEMPT" in
S1-*) echo hello > hello.txt ;;
S2-1) until test -e {go}; do sleep 0.05; done; echo godbye > bye.txt ;;
S2-2) echo > {begun}; echo goodbye > bye.txt ;;
esac
"""


def test_what_a_run_says_while_somebody_types_waits_for_the_end_of_the_line(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo", limits='gates = ["result"]\n')
    agent, go, begun = tmp_path / "agent.sh", tmp_path / "go", tmp_path / "begun"
    os.mkfifo(begun)
    agent.write_text(AGENT.format(go=go, begun=begun))
    words = ("run", "prd.md", "--jobs", "2", "--agent", f"sh {agent}", "--sandbox", "off")
    person = Person(*words, "--trust-commands", "--trust-project", cwd=repo, env=place(repo))
    person.sees("S1-result-1")
    person.sees("\n> ")
    go.touch()
    begun.read_text()  # by now the first attempt of S2 has failed, and its second has begun
    person.types("louder, please")
    assert person.sees("louder, please") == "", "the line that is typed stays whole"
    person.sees('understood: change "louder, please"; Enter to send')
    person.presses("\x1b")
    assert "attempt 2 of" in person.sees("\n> "), "and then it is told what happened"
    person.types("stop")
    person.sees("understood: stop")
    person.presses("\n")
    assert person.leaves() == 0


def test_a_question_survives_a_terminal_that_changes_its_size_a_line_too_long_and_ctrl_c(tmp_path: Path) -> None:
    repo = make(tmp_path)
    person = sits(repo, *BEGIN)
    person.sees("\n> ")
    for columns in (20, 1, 200):
        fcntl.ioctl(person.ours, termios.TIOCSWINSZ, struct.pack("HHHH", 10, columns, 0, 0))
        os.killpg(person.process.pid, signal.SIGWINCH)
        person.types("")
        person.sees("> ")
    person.types("in French " * 900)  # more than a line takes is no answer by itself
    person.sees("understood: adjust")
    person.presses("\x1b")
    person.sees("> ")
    person.types("ok")
    person.sees("understood: approve; Enter to send")
    os.killpg(person.process.pid, signal.SIGINT)  # a stop, before anything is sent
    assert person.leaves() == 130
    state = load(out_dir(repo)).state
    assert ([one.id for one in state.open_questions()], state.phase) == (["S1-detail-1"], "paused")


def test_a_title_in_wide_letters_is_cut_where_the_terminal_ends(tmp_path: Path) -> None:
    person = sits(make(tmp_path, PLAN.replace("Say hello", "挨拶をする" * 12)), *BEGIN)
    person.sees("── S1-detail-1 ── ")
    rest = person.sees("\n")
    assert rest.startswith("挨拶")
    assert width(f"── S1-detail-1 ── {rest}") <= 80
    person.says("stop", "stop")
    assert person.leaves() == 0


def test_line_72_escapes_in_what_an_agent_asks_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    asks = (
        'stories: {S1: [{ask: "which \\e]0;owned\\a\\e[2J\\u202Eone?"}]}\nproposals:'
        + PLAYBOOK.partition("proposals:")[2]
    )
    repo = make(tmp_path, play=asks)
    says(repo, "step", *BEGIN)
    looks(repo, "answer", "S1-detail-1", "ok")
    told = says(repo, "step")
    assert told.returncode == 10, told.stderr
    for shown in (told.stderr, *(looks(repo, word).stdout for word in ("answer", "status", "log"))):
        assert "which" in shown
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    person = sits(repo)
    person.sees("which")
    person.sees("\n> ")
    person.types("stop")
    person.sees("understood: stop")
    person.presses("\n")
    assert person.leaves() in (0, 10)
    assert "\x1b" not in person.shown
