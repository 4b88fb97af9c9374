"""Tests first in whole runs with real git and real checks: what a stop leaves, stories side by side, tests that collide."""

import threading
from pathlib import Path

import pytest

from santiago.contract.codec import sealed
from santiago.contract.events import EventKind
from santiago.contract.outcomes import AgentEnding, Proof
from santiago.contract.phases import RunPhase
from santiago.contract.plan import Story
from santiago.contract.policy import Policy
from santiago.contract.ports.agent import Packet
from santiago.contract.ports.run import Stop
from santiago.contract.reasons import Reason
from santiago.simulation.random_plans import plan_of, story
from tests.executor.test_endings import Play, World, ctrl_c, ending

TEST = """\
import unittest
from pathlib import Path

class {name}(unittest.TestCase):
    def test_it(self):
        self.assertTrue(Path("{name}.txt").exists())
"""


def write(packet: Packet, path: str, text: str, mode: str = "w") -> None:
    place = Path(packet.folder, path)
    place.parent.mkdir(exist_ok=True)
    with place.open(mode) as file:
        file.write(text)


def honest(packet: Packet, stop: Stop) -> AgentEnding:
    """Each story is about a file of its own, and so are its tests."""
    name = packet.story.id
    if packet.tests_only:
        write(packet, f"tests/test_{name}.py", TEST.format(name=name))
    else:
        write(packet, f"{name}.txt", "here\n")
    return ending()


def side_by_side(packet: Packet, begun: threading.Event) -> None:
    """Have the first story wait until the second one has begun, too."""
    if packet.story.id == "S2":
        begun.set()
    assert begun.wait(60)


def world_of(folder: Path, monkeypatch: pytest.MonkeyPatch, play: Play, *stories: Story, jobs: int = 1) -> World:
    """One repository, some stories, and one agent that writes tests as well as work."""
    return World(
        folder, monkeypatch, play, sealed(plan_of(stories)), jobs=jobs, policy=Policy(sandbox="off", tests_first="same"),
        check="python3 -m unittest discover -q -s tests -t .",
        files={"tests/__init__.py": "", "tests/test_old.py": TEST.format(name="old"), "old.txt": ""},
    )  # fmt: skip


def test_tests_whose_agent_had_ended_at_a_stop_are_judged_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(packet: Packet, stop: Stop) -> AgentEnding:
        if packet.tests_only:
            ctrl_c(stop)
        return honest(packet, stop)

    world = world_of(tmp_path, monkeypatch, play, story("S1"))
    assert world.run().phase is RunPhase.PAUSED
    state = world.run()
    assert (state.phase, state.attempts, state.stories["S1"].proof) == (RunPhase.SUCCESS, 2, Proof.PROVED)
    assert [packet.tests_only for packet in world.agent.packets] == [True, False]


def test_tests_that_were_being_written_at_a_crash_are_interrupted_like_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(packet: Packet, stop: Stop) -> AgentEnding:
        made = honest(packet, stop)
        if packet.attempt == 1:
            raise KeyboardInterrupt
        return made

    world = world_of(tmp_path, monkeypatch, play, story("S1"))
    with pytest.raises(KeyboardInterrupt):
        world.run()
    state = world.run()
    assert (state.phase, state.counted, state.stories["S1"].proof) == (RunPhase.SUCCESS, 3, Proof.PROVED)
    assert [packet.tests_only for packet in world.agent.packets] == [True, True, False]
    (first, *_) = (event for event in world.events if event.event is EventKind.ATTEMPT_ENDED)
    assert first.context["reason"] == Reason.INTERRUPTED
    assert "tests/test_S1.py" in world.git("show", "--stat", "refs/santiago/run-1/S1/1")


def test_stories_side_by_side_end_as_one_after_the_other_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stories = (story("S1"), story("S2"), story("S3", needs=["S2"]))
    world = world_of(tmp_path, monkeypatch, honest, *stories, jobs=3)
    state = world.run()
    assert state.phase is RunPhase.SUCCESS
    assert {one.proof for one in state.stories.values()} == {Proof.PROVED}
    subjects = world.git("log", "--format=%s", "santiago/run-1").splitlines()
    assert subjects == ["S3: Title S3", "S2: Title S2", "S1: Title S1", "Files", "Begin"]
    made = world.git("diff", "--name-only", "main", "santiago/run-1").split()
    assert made == [f"S{n}.txt" for n in (1, 2, 3)] + [f"tests/test_S{n}.py" for n in (1, 2, 3)]


def test_tests_that_collide_with_those_of_another_story_are_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def play(packet: Packet, stop: Stop) -> AgentEnding:
        """All tests go into one file: the later of two stories has to begin again on the tests of the first."""
        name = packet.story.id
        if not packet.tests_only:
            return honest(packet, stop)
        side_by_side(packet, begun)
        write(packet, "tests/test_all.py", TEST.format(name=name), "a")
        return ending()

    world = world_of(tmp_path, monkeypatch, play, story("S1"), story("S2"), jobs=2)
    state = world.run()
    assert state.phase is RunPhase.SUCCESS
    assert {one.proof for one in state.stories.values()} == {Proof.PROVED}
    tests = world.git("show", "santiago/run-1:tests/test_all.py")
    assert [line[:8] for line in tests.splitlines() if line.startswith("class")] == ["class S1", "class S2"]


def test_work_that_does_not_fit_is_done_again_on_the_same_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def play(packet: Packet, stop: Stop) -> AgentEnding:
        if not packet.tests_only:
            side_by_side(packet, begun)
            write(packet, "shared.txt", f"{packet.story.id}\n")
        return honest(packet, stop)

    world = world_of(tmp_path, monkeypatch, play, story("S1"), story("S2"), jobs=2)
    state = world.run()
    assert state.phase is RunPhase.SUCCESS
    assert world.git("show", "santiago/run-1:shared.txt") == "S2\n"
    of_second = [packet.tests_only for packet in world.agent.packets if packet.story.id == "S2"]
    assert of_second == [True, False, False]
    assert {one.proof for one in state.stories.values()} == {Proof.PROVED}
