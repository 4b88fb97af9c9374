"""Runs with agents that stream: what they are doing is seen while they do it, and afterwards what they did and used."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli import fakes, greeter
from tests.cli.santiago import trusted
from tests.transcripts import recording
from tests.transcripts.playing import typed

HOSTILE = "\x1b[2J\x1b]0;owned\x07::error::x"


def _waiting(place: fakes.Place) -> list[fakes.Step]:
    """Return a turn that stops in the middle until the test has looked."""
    steps = [fakes.uses("Read", file_path=f"{HOSTILE}a.py") for _ in range(3)]
    todo = fakes.plans(("Look around", "completed"), ("Say hello", "in_progress"), ("Test it", "pending"))
    halt = {"write": {str(place.folder / "halfway"): ""}, "wait_for": str(place.folder / "go")}
    return [fakes.begins(), *steps, todo, fakes.uses("Edit", file_path="src/app.py"), halt, *fakes.GOOD]


@contextmanager
def _halfway(place: fakes.Place, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Yield while the agent stands still; then let it go on, and the run to its end."""
    ran = subprocess.Popen(
        [sys.executable, "-m", "santiago", *trusted("run", "prd.md", "--trust-commands", "--plain", *arguments)],
        cwd=place.repo, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _until(lambda: (place.folder / "halfway").exists() or ran.poll() is not None)
        yield ran
    finally:
        (place.folder / "go").touch()
        ran.communicate(timeout=60)


def _until(true: Any) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def test_status_and_show_tell_what_an_agent_is_doing_while_it_does_it(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path)
    place.sign_in()
    place.install("claude", _waiting(place))
    with _halfway(place) as ran:
        _until(lambda: "Edit" in place.look("status"))
        status = place.look("status")
        assert re.search(r"▶ S1 Say hello +attempt 1 .*   Edit src/app.py · 5 tools · to-do 1/3", status)
        assert "   agent claude" in status
        (story,) = place.json("status")["stories"]
        assert (story["doing"]["now"], story["doing"]["tools"]) == ("Edit src/app.py · 5 tools · to-do 1/3", 5)
        assert [todo["state"] for todo in story["doing"]["todo"]] == ["done", "active", "open"]
        shown = place.look("show", "S1")
        assert "  ✓ Look around\n  ▶ Say hello\n  · Test it" in shown
        assert "  Read ::error::xa.py   (3 times)\n  TodoWrite\n  Edit src/app.py" in shown
        assert "owned" not in shown + status
    assert ran.returncode == 0


def test_show_tells_afterwards_what_was_done_and_used_each_story_with_its_own_account(tmp_path: Path) -> None:
    """In words it stands in the transcripts of `show` and `status`, of the same recorded run."""
    repo = recording.load("accounts", tmp_path)
    told, status = (json.loads("\n".join(typed(f"santiago {words} --json", repo))) for words in ("show S1", "status"))
    attempt = told["attempts"][0]
    assert (told["usage"]["tokens"], attempt["cost_usd"], attempt["agent"]) == (1200, 0.0345, "claude")
    assert (told["shown"]["activity"]["tools"], len(told["shown"]["activity"]["actions"])) == (32, 20)
    assert told["shown"]["ending"]["session"] == "5e55-10"
    assert status["usage"] == json.loads((greeter.out_dir(repo) / "result.json").read_text())["usage"]
    assert [story["known_tokens"] for story in status["stories"]] == [1200, 0, 600]


def test_a_program_that_only_prints_text_is_shown_by_its_last_line_and_its_usage_as_unknown(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path)
    work = {"print": "writing hello.txt", "write": {"hello.txt": "hello\n", str(tmp_path / "halfway"): ""}}
    place.install("mine", [{"print": "reading"}, work, {"wait_for": str(tmp_path / "go")}])
    with _halfway(place, "--agent", "mine") as ran:
        _until(lambda: "writing" in place.look("status"))
        assert "agent  writing hello.txt" in place.look("status")
    assert ran.returncode == 0
    assert "   tokens and cost unknown   " in place.look("status")
    usage = place.json("status")["usage"]
    assert (usage["tokens"], usage["cost_usd"], usage["unreported"]) == (None, None, 1)
    shown = place.look("show", "S1")
    assert "used       tokens and cost unknown\n" in shown
    assert "tools that it used" not in shown


def _on_a_terminal(place: fakes.Place) -> tuple[int, str]:
    """Run with a terminal, and let the agent go on once the table has shown what it does."""
    ours, theirs = pty.openpty()
    pieces: list[bytes] = []

    def read() -> None:
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                return
            pieces.append(piece)
            if b"to-do 1/3" in b"".join(pieces[-3:]):
                (place.folder / "go").touch()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    code = subprocess.run(
        [sys.executable, "-m", "santiago", *trusted("run", "prd.md", "--trust-commands")], cwd=place.repo,
        env={**place.env, "TERM": "xterm", "COLUMNS": "120", "LINES": "30", "NO_COLOR": "1"},
        stdin=theirs, stdout=theirs, stderr=theirs, timeout=60, check=False,
    ).returncode  # fmt: skip
    os.close(theirs)
    reader.join(10)
    os.close(ours)
    return code, b"".join(pieces).decode().replace("\r\n", "\n")


def test_the_live_table_shows_tool_file_to_do_list_and_what_is_spent_of_the_limit(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path, "[limits]\nrun_max_cost_usd = 2.5\nrun_max_tokens = 90000\n")
    place.sign_in()
    place.install("claude", _waiting(place))
    code, shown = _on_a_terminal(place)
    assert code == 0
    assert re.search(r"▶ +S1 +Say hello +1/4 +0:\d\d +Edit src/app.py · 5 tools · to-do 1/3\n", shown)
    assert re.search(r"0/1 story +1/20 attempts .* 0 of 90k tokens   \$0.00 of \$2.50   claude\n", shown)
    assert "1,200 of 90,000 tokens   $0.03 of $2.50" in shown
    assert "owned" not in shown


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_completes_the_names_of_agents(tmp_path: Path, shell: str) -> None:
    words = {"COMP_WORDS": "santiago run --agent c", "COMP_CWORD": "3", "_SANTIAGO_COMPLETE": f"{shell}_complete"}
    ran = subprocess.run(
        [sys.executable, "-c", "from santiago.cli.entry import entry; entry()"],
        env={**os.environ, **words, "XDG_CONFIG_HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert {"claude", "codex"} <= set(re.split(r"[,\n]", ran.stdout))
    assert "command" not in re.split(r"[,\n]", ran.stdout)
