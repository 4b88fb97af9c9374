"""An agent that speaks ACP works like any other: its usage, its question, its faults and its end are the profile's to read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from santiago.agent.ralph_fresh import Fenced, RalphFresh
from santiago.app.profiles import own_catalog, understood
from santiago.app.start.agents import BRIDGE, one_named, profile_of
from santiago.contract.errors import SantiagoError
from santiago.contract.outcomes import AgentEnding
from santiago.contract.policy import Agent
from santiago.contract.reasons import Reason
from santiago.process import tree
from santiago.process.server import ProcessServer
from tests.agents.packets import Never, packet_in
from tests.cli import greeter
from tests.cli.santiago import santiago
from tests.process.serving import start_server

pytest.importorskip("acp", reason="the library that speaks ACP is missing: pip install 'santiago[acp]'")
PROGRAM = Path(__file__).with_name("acp_agent.py")
PRD = "# PRD: Greeter\n\n### R1: Say hello\n\n**Files:** `hello.txt`\n\n- [ ] hello.txt says hello\n\n**Verification:** `grep hello hello.txt`\n"


@pytest.fixture(scope="module")
def server() -> Iterator[ProcessServer]:
    one = start_server()
    yield one
    one.close()


def turn(server: ProcessServer, place: Path, case: str) -> AgentEnding:
    """Have the agent do one thing, by the bridge and without a fence."""
    for name in ("work", "plan", "scratch"):
        (place / name).mkdir(parents=True)
    (place / "prompt.md").write_text("Write hello.txt.")
    known = own_catalog().get("acp")
    argv = (sys.executable, "-I", BRIDGE, sys.executable, str(PROGRAM), case)
    profile = replace(known, start=replace(known.start, argv=argv))
    agent = RalphFresh(
        server, profile, {"PATH": "/usr/bin:/bin"}, lambda command, *_: Fenced(command, None), (), place / "scratch"
    )
    return agent.attempt(packet_in(place, place / "work"), Never())


def test_each_way_of_ending_has_its_reason(server: ProcessServer, tmp_path: Path) -> None:
    wanted = {
        "work": None, "garbage": None, "flood": None, "asks": Reason.AGENT_ASKED, "refuses": Reason.AGENT_REFUSED,
        "rate": Reason.AGENT_RATE_LIMITED, "unsigned": Reason.AGENT_NOT_SIGNED_IN, "dies": Reason.AGENT_EXIT_NONZERO,
    }  # fmt: skip
    met = {case: turn(server, tmp_path / case, case) for case in wanted}
    assert {case: end.reason for case, end in met.items()} == wanted
    assert met["asks"].question == "Which of the two?"
    for case in ("work", "garbage", "flood"):
        end = met[case]
        assert (end.usage.tokens, end.usage.cost_usd, end.session) == (6150, 250_000, "one"), case
        assert end.message.endswith("All done.")
        assert end.denials == ("Write hello.txt",), "what could be allowed only for always was not allowed"
        assert (tmp_path / case / "work" / "hello.txt").exists()


def test_a_silent_agent_hears_of_the_end_by_the_protocol_first(tmp_path: Path) -> None:
    """As a supervisor does at a time-out, both are told to end."""
    command = [sys.executable, "-I", BRIDGE, sys.executable, str(PROGRAM), "silent"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=tmp_path, text=True) as bridge:
        assert bridge.stdin
        assert bridge.stdout
        bridge.stdin.close()
        assert '"session"' in bridge.stdout.readline()
        for process in (*tree.descendants(bridge.pid), bridge.pid):
            os.kill(process, signal.SIGTERM)
        assert '"stopReason": "cancelled"' in bridge.stdout.read()
    assert bridge.returncode == 0


def test_a_run_has_it_work_inside_the_fence(tmp_path: Path) -> None:
    repo = greeter.committed(tmp_path / "repo", {"prd.md": PRD})
    ran = santiago(
        "run",
        "prd.md",
        "--agent",
        f"acp:{sys.executable} {PROGRAM} work",
        "--trust-commands",
        "--max-cost",
        "2",
        cwd=repo,
        env=greeter.place(repo),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = greeter.looks(repo, "show", "S1").stdout
    assert "All done." in told
    assert "6,150" in told
    assert "$0.25" in told


def test_it_has_the_settings_of_the_agent_that_its_program_names() -> None:
    for words, known in (("gemini --acp", "gemini"), ("/opt/bin/claude-agent-acp", "claude"), ("codex-acp", "codex")):
        profile = profile_of(one_named(Agent(), f"acp:{words}", None, None), {})
        assert (profile.name, profile.needs, profile.sign_in) == (
            "acp",
            (one := own_catalog().get(known)).needs,
            one.sign_in,
        )
    assert understood("acp:gemini").name == "acp"
    with pytest.raises(SantiagoError):
        one_named(Agent(), "acp:", None, None)
    with pytest.raises(SantiagoError, match="command line itself"):
        one_named(Agent(), "acp", None, None)
