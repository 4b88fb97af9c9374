"""A profile starts a program: the prompt, the folder, a model and money reach it, and what it leaves is read or removed."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from santiago.agent.profile import parse
from santiago.agent.ralph_fresh import MOST_ARGUMENT, Fenced, RalphFresh
from santiago.contract.outcomes import AgentEnding
from santiago.process.server import ProcessServer
from tests.agents.packets import Never, packet_in
from tests.process.serving import start_server

PROGRAM = """
import json, pathlib, sys
words, report = sys.argv[1:], sys.argv[sys.argv.index("--report") + 1]
prompt = sys.stdin.read()
pathlib.Path(".cache.robo").mkdir()
pathlib.Path(".history.robo").write_text(prompt)
pathlib.Path("work.txt").write_text("done")
print("x" * 9_000_000)
print(json.dumps({"say": json.dumps({"words": words, "stdin": prompt})}))
pathlib.Path(report).write_text(json.dumps({"tokens": 42}))
"""
PROFILE = """
name = "robo"
reports = ["tokens"]
[start]
argv = [%(python)s, %(program)s, "{options}", "--in", "{folder}", "--report", "{side}/left.json"%(more)s]
prompt = "%(prompt)s"
model = ["--model", "{model}"]
budget = ["--usd", "{usd}"]
report_name = "left.json"
litter = ["*.robo"]
[[on]]
when = { say = "*" }
message = "say"
[[report]]
tokens = ["tokens"]
"""


@pytest.fixture
def server() -> Iterator[ProcessServer]:
    one = start_server()
    yield one
    one.close()


def started(server: ProcessServer, place: Path, prompt: str, way: str, more: str, model: str | None) -> AgentEnding:
    """Run the program on a prompt."""
    for name in ("work", "plan", "scratch"):
        (place / name).mkdir()
    (place / "program.py").write_text(PROGRAM, "utf-8")
    (place / "prompt.md").write_text(prompt, "utf-8")
    (place / "work" / "kept.robo").write_text("", "utf-8")
    filled = {
        "python": json.dumps(sys.executable),
        "program": json.dumps(str(place / "program.py")),
        "prompt": way,
        "more": more,
    }
    packet = packet_in(place, place / "work", budget_micro_usd=1_500_000)
    profile = parse(PROFILE % filled, "robo.toml")
    backend = RalphFresh(
        server, profile, {"PATH": "/usr/bin:/bin"}, lambda command, *_: Fenced(command), (), place / "scratch", model
    )
    return backend.attempt(packet, Never())


def test_all_reaches_the_program_and_what_it_leaves_is_read_or_removed(server: ProcessServer, tmp_path: Path) -> None:
    end = started(server, tmp_path, "Do {folder}.\n", "stdin", "", "m1")
    told = json.loads(end.message)
    assert told["stdin"] == "Do {folder}.\n"
    assert told["words"][:6] == ["--model", "m1", "--usd", "1.500000", "--in", str(tmp_path / "work")]
    assert (end.reason, end.usage.tokens) == (None, 42)
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == ["kept.robo", "work.txt"]
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize("long", [False, True])
def test_a_prompt_too_long_for_an_argument_is_pointed_to(server: ProcessServer, tmp_path: Path, long: bool) -> None:
    prompt = "Take {side}. " + "x" * (MOST_ARGUMENT if long else 10)
    end = started(server, tmp_path, prompt, "argument", ', "{prompt}"', None)
    told = json.loads(end.message)
    assert told["stdin"] == ""
    assert (told["words"][-1] == prompt, str(tmp_path / "prompt.md") in told["words"][-1]) == (not long, long)


def test_places_are_filled_all_at_once_and_never_inside_what_was_put_in(server: ProcessServer, tmp_path: Path) -> None:
    end = started(server, tmp_path, "p", "stdin", ', "{folder}:{prompt_file}:{other}"', "$(id) {folder} {usd}")
    words = json.loads(end.message)["words"]
    assert words[1] == "$(id) {folder} {usd}"
    assert words[-1] == f"{tmp_path / 'work'}:{tmp_path / 'prompt.md'}:{{other}}"
