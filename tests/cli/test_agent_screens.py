"""Runs with agents that stream: what they do is seen while they do it, in every size, and afterwards what they did and used."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli import fakes, greeter
from tests.cli.santiago import trusted
from tests.transcripts import recording
from tests.transcripts.playing import typed
from tests.tui.terminal import Terminal

HOSTILE = "\x1b[2J\x1b]0;owned\x07::error::x"


def _waiting(place: fakes.Place) -> list[fakes.Step]:
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
    assert "   tokens and cost unknown\n" in shown
    assert "tools that it used" not in shown


def _on_a_terminal(place: fakes.Place) -> tuple[int, str]:
    """Run with a terminal, and let the agent go on once the table has shown what it does."""
    env = {**place.env, "TERM": "xterm", "COLUMNS": "120", "LINES": "30", "NO_COLOR": "1"}
    terminal = Terminal("-m", "santiago", *trusted("run", "prd.md", "--trust-commands"), cwd=place.repo, env=env)
    terminal.until(b"to-do 1/3")
    (place.folder / "go").touch()
    code = terminal.ends()
    terminal.close()
    return code, terminal.shown.decode().replace("\r\n", "\n")


def test_the_live_table_shows_tool_file_to_do_list_and_what_is_spent_of_the_limit(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path, "[limits]\nrun_max_cost_usd = 2.5\nrun_max_tokens = 90000\n")
    place.sign_in()
    place.install("claude", _waiting(place))
    code, shown = _on_a_terminal(place)
    assert code == 0
    assert re.search(r"▶ +S1 +Say hello +1/4 +0:\d\d +Edit src/app.py · 5 tools · to-do 1/3\n", shown)
    assert re.search(r"0/1 story +1/20 attempts .* 0 of 90k tokens   \$0.00 of \$2.50   claude\n", shown)
    assert re.search(r"1,200 of 90,000 tokens\s+\$0.03 of \$2.50", shown)
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


TITLES = [
    f"Say word {number} so loudly that everybody in the room can hear it and write it down" for number in range(5)
]
PRD = "# PRD: Words\n\n" + "\n".join(
    f"### R{number}: {title}\n\n**Files:** `w{number}.txt`\n\n- [ ] it says w\n\n**Verification:** `test -f w{number}.txt`\n"
    for number, title in enumerate(TITLES, 1)
)


class Window:
    """A window of tmux with a program in it, on a server of its own."""

    def __init__(self, place: fakes.Place, command: list[str], columns: int, rows: int) -> None:
        self.socket = place.folder / "tmux"
        words = shlex.join(
            ["env", "-u", "COLUMNS", "-u", "LINES", *(f"{name}={value}" for name, value in place.env.items()), *command]
        )
        self.tmux(
            "-f", os.devnull, "new-session", "-d", "-c", str(place.repo), "-x", str(columns), "-y", str(rows),
            f"echo before the run; {words}; echo ended; cat",
        )  # fmt: skip

    def tmux(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-S", str(self.socket), *words], capture_output=True, text=True, check=True, timeout=60
        ).stdout

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def lines(self) -> list[str]:
        """Return what the window holds, and what has left it at the top."""
        return self.tmux("capture-pane", "-p", "-S", "-").splitlines()

    def until(self, true: Callable[[list[str]], bool]) -> list[str]:
        deadline = time.monotonic() + 60
        while not true(lines := self.lines()):
            assert time.monotonic() < deadline, "\n".join(lines)
            time.sleep(0.05)
        return lines


def _once(lines: list[str], columns: int) -> bool:
    """Tell whether the table stands there, once, in its form for that many columns."""
    heads = [line for line in lines if line.lstrip().startswith("story ")]
    rows = [line for line in lines if line.startswith((" ▶ ", " · "))]
    return (
        [row.split()[1] for row in rows] == [f"S{number}" for number in range(1, len(TITLES) + 1)]
        and rows[0].endswith("…")
        and len(rows[0]) == columns - 1
        and [("try" in head) for head in heads] == [columns > 60]
        and sum("ctrl-c stops safely" in line for line in lines) == 1
    )


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux, a terminal that breaks its lines anew")
def test_the_table_stands_there_once_in_every_size_and_leaves_only_what_stays(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path, prd=PRD)
    place.sign_in()
    said = fakes.says("I look at all the files that there are, and then at each of them once more. " * 3)
    halt = {"wait_for": str(tmp_path / "go")}
    turns = [[{"write": {f"w{number}.txt": "w\n"}}, fakes.ends(tokens=10, cost=0.01)] for number in range(1, 6)]
    place.install("claude", [fakes.begins(), said, halt, *turns[0]], *turns[1:])
    command = [sys.executable, "-m", "santiago", *trusted("run", "prd.md", "--trust-commands", "--jobs", "1")]
    window = Window(place, command, 200, 24)
    try:
        window.until(lambda lines: _once(lines, 200))
        for columns, rows in ((40, 24), (120, 20), (60, 24), (200, 40), (40, 18), (80, 24)):
            window.resize(columns, rows)
            window.until(lambda lines, columns=columns: _once(lines, columns))  # type: ignore[misc]
        (tmp_path / "go").touch()
        lines = window.until(lambda lines: "ended" in lines)
    finally:
        window.tmux("kill-server")
    assert lines[0] == "before the run"
    assert sum("begins: 5 stories" in line for line in lines) == 1
    assert [line.split()[1] for line in lines if line.startswith(" ✓ ")] == [f"S{n}" for n in range(1, len(TITLES) + 1)]
    assert not any("ctrl-c" in line or line.lstrip().startswith("story ") for line in lines)
