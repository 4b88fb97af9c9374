"""A start after one whose workers may still be at it: whoever goes on must ask the engine, whatever the disk says."""

from pathlib import Path

import pytest

from santiago.app.start.compose import execute
from santiago.app.start.request import Request
from santiago.artifacts.reader import read_log
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import EventKind
from santiago.contract.outcomes import AgentEnding
from santiago.contract.phases import RunPhase
from santiago.contract.ports.agent import Packet
from santiago.contract.ports.run import Stop
from santiago.contract.state import RunState
from santiago.simulation.fleet import URL
from tests.executor.test_endings import World, ending, good


class Killed(BaseException):
    """The coordinator dies."""


def start(world: World, engine: str) -> RunState:
    """Start as if attempts went out to this engine, though they are carried out here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Request, "engine", engine)
        return execute(
            Request(
                out_dir=world.out_dir, run_input=world.run_input, plan=world.plan,
                listeners=[lambda events, _: world.events.extend(events)],
            )
        )  # fmt: skip


def test_a_run_whose_workers_may_still_have_attempts_goes_on_only_with_their_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaths = [Killed()]

    def play(packet: Packet, stop: Stop) -> AgentEnding:
        if deaths:
            raise deaths.pop()
        good(packet)
        return ending()

    world = World(tmp_path, monkeypatch, play)
    with pytest.raises(Killed):
        start(world, URL)
    (began,) = world.of(EventKind.RUN_STARTED)
    assert began.context["engine"] == URL
    before = list(read_log(world.out_dir / "progress.ndjson"))
    for other in ("", "temporal://elsewhere:7233/default"):
        with pytest.raises(SantiagoError) as refused:
            start(world, other)
        assert refused.value.kind is Kind.BLOCKED
        assert URL in refused.value.message
        assert "$SANTIAGO_ENGINE" in refused.value.hint
    assert list(read_log(world.out_dir / "progress.ndjson")) == before
    assert start(world, URL).phase is RunPhase.SUCCESS


def test_what_ended_on_this_disk_needs_no_engine_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(packet: Packet, stop: Stop) -> AgentEnding:
        good(packet)
        return ending()

    world = World(tmp_path, monkeypatch, play)
    assert start(world, URL).phase is RunPhase.SUCCESS
    assert start(world, "").phase is RunPhase.SUCCESS
