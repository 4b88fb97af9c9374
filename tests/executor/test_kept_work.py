"""An agent's work outlives what is none of its fault: a broken repository, a full folder, a copy of the run; and what git cannot keep is named."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from santiago.artifacts.attempts import ROOM
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind
from santiago.contract.outcomes import AgentEnding
from santiago.contract.phases import RunPhase
from santiago.contract.ports.agent import Packet
from santiago.contract.ports.run import Stop
from santiago.contract.reasons import Reason
from tests.cli.inside import inside
from tests.cli.santiago import santiago
from tests.executor.test_endings import Play, World, ending, good
from tests.util.each import each


def once(harm: Callable[[Packet], None]) -> Play:
    """An agent that does its work, and harm beside it the first time."""
    times: list[str] = []

    def play(packet: Packet, stop: Stop) -> AgentEnding:
        good(packet)
        if not times:
            times.append(packet.story.id)
            harm(packet)
        return ending()

    return play


def sh(script: str, repo: Path) -> None:
    subprocess.run(["sh", "-ec", script], cwd=repo, check=True)


BREAK, MEND = "printf '[core\nbroken' >.git/config", "printf '[core]\nrepositoryformatversion = 0\n' >.git/config"
AWAY, BACK = "mv .git .moved", "mv .moved .git"
WAY = "git update-ref refs/santiago/run-1/S1 HEAD"


@each(
    ("harm", "mend", "words"),
    [
        (BREAK, MEND, "bad config"),
        (AWAY, BACK, "Put it back where it was"),
        (f"{AWAY}; git init -q .", f"rm -rf .git; {BACK}", "Put it back where it was"),
        (WAY, "git update-ref -d refs/santiago/run-1/S1", "git update-ref -d refs/santiago/run-1/S1"),
    ],
)
def test_a_repository_that_breaks_under_an_agent_costs_nothing_of_its_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str, mend: str, words: str
) -> None:
    repo = tmp_path / "repo"
    world = World(tmp_path, monkeypatch, once(lambda _: sh(harm, repo)), story_max_attempts=1)
    with pytest.raises(SantiagoError) as caught:
        world.run()
    assert words in f"{caught.value} {caught.value.hint}"
    assert "git init" not in caught.value.hint
    if harm == AWAY:
        with pytest.raises(SantiagoError) as caught:
            world.run()
        assert ("put it back" in caught.value.hint, "git init" in caught.value.hint) == (True, False)
    assert (repo / ".git/santiago").exists() is (harm in (BREAK, WAY)), "nothing is put elsewhere"
    sh(mend, repo)
    state = world.run()
    assert (state.phase, state.attempts) == (RunPhase.SUCCESS, 2), "one attempt for each story"
    assert [packet.story.id for packet in world.agent.packets] == ["S1", "S2"]
    subjects = world.git("log", "--format=%s|%(trailers:key=Santiago-Story,valueonly)", "main..santiago/run-1")
    assert [line for line in subjects.splitlines() if line] == ["S2: Title S2|S2", "S1: Title S1|S1"]


def test_after_a_start_of_the_machine_what_was_never_synced_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch, once(lambda _: sh(BREAK, tmp_path / "repo")))
    with pytest.raises(SantiagoError):
        world.run()
    sh(MEND, tmp_path / "repo")
    (note,) = tmp_path.glob("cache/**/own/S1-1/boot")
    note.write_text("another start of the machine")
    assert world.run().phase is RunPhase.SUCCESS
    (interrupted,) = (e for e in world.of(EventKind.ATTEMPT_ENDED) if e.status != "ok")
    assert interrupted.context["reason"] == Reason.INTERRUPTED
    assert world.git("show", f"{interrupted.context['commit']}:S1.py").strip() == "good", "but it is kept"
    assert [packet.story.id for packet in world.agent.packets] == ["S1", "S1", "S2"]


def test_there_is_room_for_the_ending_however_full_an_agent_makes_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def play(packet: Packet, stop: Stop) -> AgentEnding:
        good(packet)
        attempt = tmp_path / "out/attempts" / packet.story.id / "1"
        sizes.append((attempt / ".ending.json.tmp").stat().st_size)
        assert not (attempt / "ending.json").exists()
        return ending()

    world = World(tmp_path, monkeypatch, play)
    assert world.run().phase is RunPhase.SUCCESS
    assert sizes == [ROOM, ROOM]
    assert not list(world.out_dir.rglob("*.tmp"))


def test_a_copy_of_a_running_runs_folder_is_refused_by_name_and_spoils_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[subprocess.CompletedProcess[str]] = []

    def copy(packet: Packet) -> None:
        shutil.copytree(tmp_path / "out", tmp_path / "out2")
        told.append(santiago("resume", tmp_path / "out2", "--no-input", cwd=tmp_path / "repo"))
        told.append(santiago("clean", "--run", "run-1", "--yes", "--force", cwd=tmp_path / "repo"))

    world = World(tmp_path, monkeypatch, once(copy))
    assert world.run().phase is RunPhase.SUCCESS
    resumed, cleaned = told
    assert resumed.returncode == 20
    assert f"process {os.getpid()} on" in resumed.stderr
    assert f"in {world.out_dir}" in resumed.stderr
    assert cleaned.returncode in (2, 20)
    assert not list((tmp_path / "repo/.git/santiago").rglob("*.held")), "the lock goes with its holder"


def test_a_lock_that_a_killed_run_left_in_the_repository_stops_nobody_and_goes_with_a_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch, once(lambda _: None))
    lock = tmp_path / "repo/.git/santiago/runs/run-1.held"
    lock.parent.mkdir(parents=True)
    lock.write_text("left behind")
    assert world.run().phase is RunPhase.SUCCESS
    lock.write_text("left behind again")
    assert inside("clean", "--run", "run-1", "--yes", cwd=tmp_path / "repo").returncode == 0
    assert not lock.exists()


def test_files_that_git_cannot_keep_are_named_in_log_outcome_critique_and_on_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(packet: Packet, stop: Stop) -> AgentEnding:
        good(packet, "good\n" if packet.attempt > 1 or packet.story.id != "S1" else "bad\n")
        if packet.story.id == "S1":
            for number in range(5):
                (place := Path(packet.folder, f"sub{number}")).mkdir()
                (place / ".GIT").write_text("x")
        return ending(message="All is well.")

    world = World(tmp_path, monkeypatch, play)
    assert world.run().phase is RunPhase.SUCCESS
    failed, passed, other = world.of(EventKind.ATTEMPT_ENDED)
    for event in (failed, passed):
        assert "could not keep 5 of" in event.context["message"]
        assert "sub0/.GIT" in event.context["message"]
        assert "2 more" in event.context["message"]
    assert "message" not in other.context
    outcome = json.loads((world.out_dir / "attempts/S1/2/outcome.json").read_text())
    assert len(outcome["left_out"]) == 5
    assert "could not keep 5 of" in world.critique(1)
    for words in (("show", "S1"), ("show", "S1", "--attempt", "1"), ("log",)):
        assert "could not keep 5 of" in inside(*words, cwd=tmp_path / "repo").stdout


def test_an_agent_that_left_nothing_but_what_git_cannot_keep_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(packet: Packet, stop: Stop) -> AgentEnding:
        Path(packet.folder, ".GIT").write_text("x")
        return ending()

    world = World(tmp_path, monkeypatch, play, story_max_attempts=1)
    assert world.run().phase is RunPhase.FAILED
    ended = world.of(EventKind.ATTEMPT_ENDED)[0]
    assert ended.context["reason"] == Reason.AGENT_NO_CHANGE
    assert ".GIT" in ended.context["message"]


def test_a_flood_of_requests_fills_no_log_and_hides_no_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox = tmp_path / "out/inbox"

    def play(packet: Packet, stop: Stop) -> AgentEnding:
        good(packet)
        if not inbox.is_dir():
            inbox.mkdir()
            for number in range(2500):
                (inbox / f"x{number}.json").write_text("{")
            assert inside("stop", tmp_path / "out", cwd=tmp_path / "repo").returncode == 0
            while not stop.soon():  # heard in time, whatever else waits there
                time.sleep(0.01)
        return ending()

    world = World(tmp_path, monkeypatch, play)
    assert world.run().phase is RunPhase.PAUSED
    assert world.run().phase is RunPhase.SUCCESS
    notes = world.of(EventKind.NOTE)
    assert 4 <= len(notes) <= 400, "a few for each look, however many letters there are"
    assert len(world.of(EventKind.STOP_REQUESTED)) == 1
