"""What an agent is doing, from its growing log: the same whatever the pieces, bounded, and never an error."""

import json
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.agent.activity import PIECE, Activity
from santiago.agent.stream import MOST_LINE, Reading
from santiago.app.profiles import understood
from santiago.cli.view.beat import EVERY_MS, Beat
from santiago.contract.state import RunState
from santiago.report.agent_activity import Doing, plain
from santiago.report.evidence import tidied
from santiago.report.spending import Sum, dollars, said, thousands
from tests.cli import fakes

CLAUDE = understood("claude")
STREAM = [
    fakes.begins(),
    fakes.says("I look first."),
    fakes.plans(("Look", "completed"), ("Write", "in_progress"), ("Test", "pending")),
    fakes.uses("Read", file_path="src/app.py"),
    {"print": "Warning: something that is no JSON, 환불"},
    fakes.uses("Bash", command="pytest -q"),
    fakes.ends(tokens=1200, cost=0.5),
]


def _bytes(steps: list[fakes.Step]) -> bytes:
    lines = [line if isinstance(line := step["print"], str) else json.dumps(line) for step in steps]
    return "".join(f"{line}\n" for line in lines).encode()


def _told(reading: Reading) -> tuple[object, ...]:
    todos = [(todo.text, todo.done, todo.active) for todo in reading.todos.values()]
    return reading.now(), reading.tools, todos, reading.tokens, reading.cost, reading.session, reading.lines


@given(st.data())
def test_a_growing_log_cut_anywhere_tells_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = _bytes(STREAM)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    log = tmp_path_factory.mktemp("log") / "agent.log"
    activity = Activity(log, CLAUDE)
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        with log.open("ab") as file:
            file.write(whole[start:end])
        activity.look()
    assert _told(activity.reading) == (
        "Bash pytest -q", 3, [("Look", True, False), ("Write", False, True), ("Test", False, False)],
        1200, 500_000, "5e55-10", len(STREAM),
    )  # fmt: skip


def test_one_look_reads_a_bounded_piece_and_no_endless_line_the_last_counts_when_nobody_writes(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    line = _bytes([fakes.uses("Read", file_path="x" * 100)])
    log.write_bytes(line * (3 * PIECE // len(line)))
    activity = Activity(log, CLAUDE)
    first = activity.look().tools
    assert 0 < first <= PIECE // len(line)
    assert activity.look().tools <= 2 * (first + 1)
    assert activity.catch_up().tools == 3 * PIECE // len(line)
    log.write_bytes(b'{"type": "' + b"x" * (MOST_LINE + PIECE) + b'"}\n' + _bytes([fakes.uses("Read", file_path="a")]))
    activity = Activity(log, CLAUDE)
    assert activity.catch_up().now() == "Read a"
    assert len(activity._begun) <= MOST_LINE
    log.write_bytes(_bytes([fakes.begins(), fakes.uses("Read", file_path="a"), fakes.ends("All of it.")]).rstrip(b"\n"))
    activity = Activity(log, CLAUDE)
    assert activity.catch_up().ends is None, "the rest of the line may follow"
    read = activity.whole().reading
    assert (read.ends, read.message, read.tools) == ("ok", "All of it.", 1)


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_no_log_makes_a_look_raise(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    log = tmp_path_factory.mktemp("log") / "agent.log"
    activity = Activity(log, CLAUDE)
    for piece in pieces:
        with log.open("ab") as file:
            file.write(piece + b"\n")
        activity.look()
    assert activity.reading.lines == b"".join(piece + b"\n" for piece in pieces).count(b"\n")


def test_a_log_that_is_not_there_or_begins_anew_is_no_trouble(tmp_path: Path) -> None:
    assert Activity(tmp_path, CLAUDE).look().now() == "", "a folder is no log"
    log = tmp_path / "agent.log"
    activity = Activity(log, CLAUDE)
    assert activity.look().now() == ""
    log.write_bytes(_bytes(STREAM))
    activity.look()
    log.write_bytes(_bytes([fakes.uses("Read", file_path="b")]))
    assert (activity.look().now(), activity.reading.tools) == ("Read b", 1)


def _doing(folder: Path, agent: str, content: bytes) -> Doing:
    (folder / "attempts" / "S1" / "1").mkdir(parents=True)
    (folder / "attempts" / "S1" / "1" / "agent.log").write_bytes(content)
    return Doing(folder, agent)


def test_a_narrow_place_cuts_what_happens_and_not_the_figures(tmp_path: Path) -> None:
    doing = _doing(tmp_path, "claude", _bytes([*STREAM[:3], fakes.uses("Bash", command="pytest " + "x" * 100)]))
    assert doing.words("S1", 1, 50) == "Bash pytest xxxxxxxxxxxxxxx… · 2 tools · to-do 1/3"
    assert "·" not in doing.words("S1", 2, 50), "another attempt has a log of its own"


@pytest.mark.parametrize("agent", ["my-own-program", "command", "scripted", ""])
def test_a_program_that_prints_text_is_known_by_its_last_line(tmp_path: Path, agent: str) -> None:
    doing = _doing(tmp_path, agent, b"one\ntwo\n{three\n\n")
    assert doing.words("S1", 1) == "{three"


def test_before_a_stream_tells_anything_no_json_is_shown(tmp_path: Path) -> None:
    doing = _doing(tmp_path, "claude", _bytes([fakes.begins()]))
    assert doing.words("S1", 1) == ""


def test_what_an_agent_prints_cannot_steer_the_terminal(tmp_path: Path) -> None:
    bad = "\x1b[2J\x1b]0;owned\x07a\nb\u202e"
    doing = _doing(tmp_path, "claude", _bytes([fakes.plans((bad, "pending")), fakes.uses(f"T{bad}", file_path=bad)]))
    words = doing.words("S1", 1)
    assert words.startswith("Ta a · 2 tools")
    assert words.isprintable()
    told = doing.data("S1", 1)
    texts = [*(text for one in told["actions"] for text in one.values()), *(todo["text"] for todo in told["todo"])]
    assert [text.isprintable() for text in texts] == [True] * 5


def test_paths_of_the_checkout_and_the_shell_around_a_command_are_not_shown() -> None:
    folder = "/home/ann/.cache/santiago/0123456789abcdef/r_1/work/S1-1"
    assert tidied(f"Edit {folder}/src/app.py") == "Edit src/app.py"
    assert tidied(f"Bash cd {folder} && pytest") == "Bash cd . && pytest"
    assert plain("command_execution /bin/bash -lc 'cat hello.py'") == "command_execution cat hello.py"
    assert plain("shell sh -c \"echo 'a' > b") == "shell echo 'a' > b", "cut at the end"
    assert plain("Bash pytest -q") == "Bash pytest -q"


def test_the_heartbeat_says_what_the_agent_does_and_what_is_waited_for(tmp_path: Path) -> None:
    _doing(tmp_path, "claude", _bytes(STREAM[:4]))
    now = 0
    beat = Beat(tmp_path, "claude", lambda: now, lambda _: None)

    class State:
        phase = "executing"
        running = {"S1"}  # noqa: RUF012
        stories = {"S1": type("Story", (), {"attempts": 1})()}  # noqa: RUF012
        wait_until: str | None = None

    state = State()
    beat.take([], cast("RunState", state))
    now = EVERY_MS
    line = beat.line()
    assert line is not None
    assert line.text.endswith("ago: Read src/app.py · 2 tools · to-do 1/3")
    state.running, state.wait_until = set(), "2999-01-01T14:05:00.000Z"
    beat.why_waiting = "agent_rate_limited"
    now = 2 * EVERY_MS
    line = beat.line()
    assert line is not None
    assert line.text.startswith("waits for the rate limit of claude: ")
    assert line.text.endswith("until 2999-01-01 14:05:00 UTC")


@pytest.mark.parametrize(
    ("tokens", "cost", "words"),
    [
        (Sum(0, 0), Sum(0, 0), []),
        (Sum(12_345, 0), Sum(620_000, 0), ["12,345 tokens", "$0.62"]),
        (Sum(12_345, 1), Sum(620_000, 1), ["12,345+ tokens", "$0.62+ (1 attempt did not report)"]),
        (Sum(12_345, 0), Sum(0, 2), ["12,345 tokens", "cost unknown"]),
        (Sum(0, 2), Sum(0, 2), ["tokens and cost unknown"]),
        (Sum(0, 2), Sum(0, 2, 5_000_000), ["tokens unknown", "cost unknown, limit $5.00 (2 attempts did not report)"]),
        (Sum(900, 0, 5000), Sum(2_500, 0, 5_000_000), ["900 of 5,000 tokens", "$0.0025 of $5.00"]),
        (Sum(0, 0, 5000), Sum(0, 0), ["0 of 5,000 tokens"]),
    ],
)  # fmt: skip
def test_what_nobody_said_is_called_unknown_and_never_zero(tokens: Sum, cost: Sum, words: list[str]) -> None:
    assert said(tokens, cost) == words


def test_figures_are_as_short_as_they_can_be_said_and_a_short_line_calls_both_usage() -> None:
    numbers = (7, 999, 1000, 12_345, 999_949, 999_950, 2_000_000)
    assert [thousands(n) for n in numbers] == ["7", "999", "1k", "12.3k", "999.9k", "1M", "2M"]
    assert [dollars(n) for n in (0, 40, 9_999, 10_000, 1_234_567)] == ["$0.00", "<$0.0001", "$0.0100", "$0.01", "$1.23"]
    assert said(Sum(0, 2), Sum(0, 2), brief=True) == ["usage unknown"]


def test_a_log_longer_than_anybody_reads_is_read_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("santiago.agent.activity.MOST_LINES", 1000)
    monkeypatch.setattr("santiago.agent.activity.PIECE", 4096)
    log, steps = tmp_path / "agent.log", _bytes([{"print": {"type": "step_finish", "part": {"tokens": {"input": 5}}}}])
    log.write_bytes(b"{}\n" * 5000 + steps + b"{}\n" * 5000 + b"x" * 10 + _bytes(STREAM))
    reading = Activity(log, CLAUDE).catch_up()
    assert (reading.tokens, reading.gaps, reading.lines < 5000) == (1200, True, True)
    summed = Activity(log, understood("opencode"))
    log.write_bytes(steps + b"{}\n" * 5000)
    assert (summed.catch_up().tokens, summed.reading.usage(complete=True).tokens) == (5, None)
