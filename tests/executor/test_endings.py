"""Endings of an agent in a whole run with real git and real checks: denials, usage that survives a stop, what it may spend."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from santiago.app.start.compose import execute
from santiago.app.start.request import Request
from santiago.contract.codec import sealed
from santiago.contract.events import Event, EventKind
from santiago.contract.outcomes import AgentEnding, Usage
from santiago.contract.phases import RunPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Agent, Limits, Policy, RunInput, Verification
from santiago.contract.ports.agent import Packet
from santiago.contract.ports.run import Stop
from santiago.contract.quantities import Usd
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState
from santiago.simulation.random_plans import plan_of, story
from tests.executor.parity import repository

Play = Callable[[Packet, Stop], AgentEnding]


class Player:
    """An agent that is a function."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.packets: list[Packet] = []

    def render(self, packet: Packet) -> str:
        return packet.story.title

    def attempt(self, packet: Packet, stop: Stop) -> AgentEnding:
        self.packets.append(packet)
        return self.play(packet, stop)


def ctrl_c(stop: Stop) -> None:
    """Press it while the agent works, and go on when the agent was told."""
    os.kill(os.getpid(), signal.SIGINT)
    told = threading.Event()
    while not stop.soon():
        told.wait(0.01)


def ending(reason: Reason | None = None, tokens: int | None = 100, **more: Any) -> AgentEnding:
    fields = {"exit_code": 0, "message": "", "usage": Usage(tokens=tokens, cost_usd=Usd.of(0.5)), **more}
    return AgentEnding(reason=reason, **fields)


class World:
    """One repository, one plan, one agent that is a function."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        play: Play,
        plan: Plan | None = None,
        *,
        check: str = 'grep -q good "${SANTIAGO_STORY:-S1}.py"',
        policy: Policy | None = None,
        jobs: int = 1,
        files: dict[str, str] | None = None,
        **limits: Any,
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        self.agent, self.out_dir, self.jobs = Player(play), folder / "out", jobs
        monkeypatch.setattr("santiago.app.start.agents.playing", lambda *_: self.agent)
        self.events: list[Event] = []
        self.plan = plan or sealed(plan_of([story("S1"), story("S2")]))
        self.repo = repository(folder / "repo")
        for name, text in (files or {}).items():
            (self.repo / name).parent.mkdir(exist_ok=True)
            (self.repo / name).write_bytes(text.encode())
        if files:
            self.git("add", "-A")
            self.git("commit", "-q", "-m", "Files")
        self.run_input = RunInput(
            contract_version=1, run_id="run-1", repo_path=str(self.repo), prd_path="prd.md", limits=Limits(**limits),
            verification=Verification(story_commands=(check,)), agent=Agent(mode="scripted", playbook="none"),
            policy=policy or Policy(sandbox="off"),
        )  # fmt: skip

    def run(self) -> RunState:
        request = Request(
            out_dir=self.out_dir, run_input=self.run_input, plan=self.plan, jobs=self.jobs,
            listeners=[lambda events, _: self.events.extend(events)],
        )  # fmt: skip
        return execute(request)

    def git(self, *arguments: str) -> str:
        words = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(words, cwd=self.repo, check=True, capture_output=True).stdout.decode()

    def of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.event is kind]

    def critique(self, attempt: int) -> str:
        return (self.out_dir / "attempts" / "S1" / str(attempt) / "critique.md").read_text()


def good(packet: Packet, text: str = "good\n") -> None:
    Path(packet.folder, f"{packet.story.id}.py").write_text(text)


def test_an_agent_that_was_denied_its_tools_and_changed_nothing_blocks_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch, lambda packet, stop: ending(denials=("Write", "Bash"), message="May I?"))
    state = world.run()
    assert (state.phase, state.reason, state.attempts, state.counted) == (RunPhase.BLOCKED, Reason.AGENT_DENIED, 1, 0)
    (blocked,) = world.of(EventKind.STORY_BLOCKED)
    assert "Write, Bash" in blocked.context["message"]
    assert "Write, Bash" in world.critique(1)


def test_denials_do_not_matter_where_the_work_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(packet: Packet, stop: Stop) -> AgentEnding:
        good(packet)
        return ending(denials=("WebFetch",))

    world = World(tmp_path, monkeypatch, play)
    assert world.run().phase is RunPhase.SUCCESS
    assert json.loads((world.out_dir / "attempts/S1/1/ending.json").read_text())["denials"] == ["WebFetch"]
    assert {(one.budget_tokens, one.budget_micro_usd) for one in world.agent.packets} == {(None, None)}, "no limit"


def test_the_usage_of_an_attempt_that_is_adopted_after_a_stop_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(packet: Packet, stop: Stop) -> AgentEnding:
        good(packet)
        if packet.story.id == "S1":
            ctrl_c(stop)
        return ending(tokens=1234)

    world = World(tmp_path, monkeypatch, play)
    assert world.run().phase is RunPhase.PAUSED
    state = world.run()
    assert (state.phase, state.attempts) == (RunPhase.SUCCESS, 2)
    result = json.loads((world.out_dir / "result.json").read_text())
    assert (result["usage"]["tokens"], result["usage"]["cost_usd"], result["usage"]["unreported"]) == (2468, 1, 0)
    assert [(one["tokens"], one["cost_usd"]) for one in result["stories"]] == [(1234, 0.5), (1234, 0.5)]


def test_an_agent_is_told_what_is_left_to_spend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(packet: Packet, stop: Stop) -> AgentEnding:
        good(packet)
        return ending(tokens=300)

    world = World(tmp_path, monkeypatch, play, run_max_tokens=1000, run_max_cost_usd=Usd.of(2))
    assert world.run().phase is RunPhase.SUCCESS
    assert [packet.budget_tokens for packet in world.agent.packets] == [1000, 700]
    assert [packet.budget_micro_usd for packet in world.agent.packets] == [2_000_000, 1_500_000]


def test_a_refusal_is_no_critique_of_the_work_and_the_next_attempt_hears_of_the_failure_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(packet: Packet, stop: Stop) -> AgentEnding:
        if packet.attempt == 2 and packet.story.id == "S1":
            return ending(Reason.AGENT_RATE_LIMITED, wait_seconds=0, message="slow down")
        good(packet, "bad\n" if packet.attempt == 1 else "good\n")
        return ending()

    monkeypatch.setattr("santiago.executor.waiting.MARGIN_MS", 0)
    world = World(tmp_path, monkeypatch, play)
    assert world.run().phase is RunPhase.SUCCESS
    third = next(packet for packet in world.agent.packets if packet.attempt == 3)
    assert [text.splitlines()[0] for text in third.critiques] == ["# story_verification_failed"]
    assert "slow down" in world.critique(2)
    assert world.of(EventKind.WAIT_STARTED)
