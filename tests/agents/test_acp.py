"""An agent that speaks ACP works like any other: its usage, its question, its faults and its end are the profile's to read."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from santiago.agent.ralph_fresh import Fenced, RalphFresh
from santiago.app.profiles import own_catalog, understood
from santiago.app.start.agents import one_named, profile_of
from santiago.app.start.backends import BRIDGE
from santiago.contract.errors import SantiagoError
from santiago.contract.outcomes import AgentEnding
from santiago.contract.policy import Agent
from santiago.process import tree
from santiago.process.server import ProcessServer
from tests.agents.faults import OF_PROTOCOL
from tests.agents.packets import Never, packet_in
from tests.cli import greeter
from tests.cli.santiago import santiago
from tests.process.serving import start_server

pytest.importorskip("acp", reason="the library that speaks ACP is missing: pip install 'santiago[acp]'")
PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
PROGRAM = Path(__file__).with_name("acp_agent.py")
PRD = "# PRD: Greeter\n\n### R1: Say hello\n\n**Files:** `hello.txt`\n\n- [ ] hello.txt says hello\n\n**Verification:** `grep hello hello.txt`\n"


@pytest.fixture(scope="module")
def server() -> Iterator[ProcessServer]:
    one = start_server()
    yield one
    one.close()


def turn(server: ProcessServer, place: Path, case: str) -> AgentEnding:
    """Have the agent do one thing, by the bridge and without a fence. One that is silent gets little time."""
    for name in ("work", "plan", "scratch"):
        (place / name).mkdir(parents=True)
    (place / "prompt.md").write_text("Write hello.txt.")
    known = own_catalog().get("acp")
    argv = (sys.executable, "-I", BRIDGE, sys.executable, str(PROGRAM), case)
    profile = replace(known, start=replace(known.start, argv=argv))
    agent = RalphFresh(
        server, profile, {"PATH": "/usr/bin:/bin"}, lambda command, *_: Fenced(command, None), (), place / "scratch"
    )
    packet = packet_in(place, place / "work")
    return agent.attempt(replace(packet, timeout_ms=1_000) if case == "silence" else packet, Never())


def test_each_fault_of_the_protocol_ends_in_the_reason_of_the_table(server: ProcessServer, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        ends = pool.map(lambda case: turn(server, tmp_path / case, case), OF_PROTOCOL)
        met = dict(zip(OF_PROTOCOL, ends, strict=True))
    assert {case: end.reason for case, end in met.items()} == {case: end for case, (_, end) in OF_PROTOCOL.items()}
    assert met["question"].question == "Which of the two?"
    for case in ("garbage", "flood"):
        end = met[case]
        assert (end.usage.tokens, end.usage.cost_usd, end.session) == (6150, 250_000, "one"), case
        assert end.message.endswith("All done.")
        assert end.denials == ("Write hello.txt",), "what could be allowed only for always was not allowed"
        assert (tmp_path / case / "work" / "hello.txt").exists()


def test_a_silent_agent_hears_of_the_end_by_the_protocol_first(tmp_path: Path) -> None:
    """As a supervisor does at a time-out, both are told to end."""
    command = [sys.executable, "-I", BRIDGE, sys.executable, str(PROGRAM), "silence"]
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
    for words, known in (
        ("gemini --acp", "gemini"),
        ("/opt/bin/claude-agent-acp", "claude"),
        ("opencode acp", "opencode"),
    ):
        profile, one = profile_of(one_named(Agent(), f"acp:{words}", None, None), {}), own_catalog().get(known)
        assert (profile.name, profile.needs, profile.sign_in) == ("acp", one.needs, one.sign_in)
        assert (profile.reports, profile.start.env) == (one.reports_over_acp, one.start.env)
        assert any(rule.tokens for rule in profile.on) is ("tokens" in one.reports_over_acp)
    assert understood("acp:gemini").name == "acp"
    for words, told in (("acp:", "names nothing"), ("acp", "command line itself")):
        with pytest.raises(SantiagoError, match=told):
            one_named(Agent(), words, None, None)


def test_the_page_says_which_of_them_report_tokens() -> None:
    rows = re.findall(r"(?m)^\|[^|]*\| `acp:([^`]*)` \|[^|]*\| ([^|]*?) \|", PAGE.read_text())
    assert len(rows) >= 9
    for words, told in rows:
        profile = profile_of(one_named(Agent(), f"acp:{words}", None, None), {})
        assert ("tokens" in profile.reports) is (told[:2] != "no"), words
