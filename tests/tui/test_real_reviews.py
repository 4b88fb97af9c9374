"""The review over real sessions: every arrow of the planning state machine, walked by keys, with scripts as agents."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from santiago.app.loading import load as load_run
from santiago.app.loading import working
from santiago.app.planning.planning_sessions import load_session
from santiago.contract.phases import RunPhase, SessionPhase
from santiago.report.following_session import execution_screen
from santiago.tui.review import ReviewScreen
from santiago.tui.watch import RunScreen
from santiago.tui.windows import Deciding, Picking
from tests.cli import greeter, words
from tests.cli.inside import inside
from tests.cli.santiago import santiago
from tests.tui.driving import stand_in, waited
from tests.tui.reviewing import Agents, Reader, review
from tests.util.restored import restored

pytestmark = pytest.mark.xdist_group("tui-reviews")  # its world is made once


@pytest.fixture(scope="module")
def planned_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Agents, Path]:
    with pytest.MonkeyPatch.context() as patched:
        repo = words.make(tmp_path_factory.mktemp("planned"))
        stand_in(repo, patched)
        agents = Agents(repo)
        return agents, agents.plan("One", agents=1)


@pytest.fixture
def planned(planned_once: tuple[Agents, Path], monkeypatch: pytest.MonkeyPatch) -> tuple[Agents, Path]:
    """Stand in a repository with a session whose plan of one story waits for a word."""
    agents, folder = restored(planned_once, planned_once[0].repo.parent)
    stand_in(agents.repo, monkeypatch)
    return agents, folder


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agents:
    repo = words.make(tmp_path)
    stand_in(repo, monkeypatch)
    return Agents(repo)


def test_lines_50_and_63_every_arrow_is_walked_and_what_was_said_is_recorded(agents: Agents) -> None:
    folder = agents.plan("One", "Two", chunks=2)
    seen: list[str] = []

    async def walks(reader: Reader) -> None:
        def at(state: str) -> None:
            assert reader.screen.following.screen == state
            seen.append(state)

        at("PLAN_REVIEW_READY")
        agents.draft("One", "Two", "Three", chunks=2)
        agents.told("wait")
        await reader.press("c")
        await reader.type("add a third")
        await reader.press("enter")
        await reader.until(lambda: "python3: drafts" in reader.page() and "python3-2: drafts" in reader.page())
        at("PLANNING_ACTIVE")
        assert reader.actions() == []
        assert "held by process" in reader.text()
        started = reader.screen.started
        assert started is not None
        assert os.getsid(started.pid) == started.pid
        agents.told("wait", on=False)
        await reader.rests(2)
        at("PLAN_REVIEW_READY")
        assert "revision 2: 1 new, 0 changed, 0 removed" in reader.text()
        assert any("+ S3  Three" in line for line in reader.list())
        agents.draft("One", "Two", "Third", chunks=2)
        await reader.click("e")
        await reader.type("rename it")
        await reader.click("enter")
        await reader.rests(3)
        at("PLAN_REVIEW_READY")
        said = json.loads((folder / "session.json").read_text())["planning_feedback_history"][-1]
        assert {**said, "at": ""} == {"revision": 2, "mode": "single", "text": "rename it", "actor": "ann", "at": ""}
        await _cancels(reader)
        at("NORMAL")
        await reader.press("t")
        await reader.until(lambda: "finalize" in reader.screen.offered)
        at("PLAN_REVIEW_READY")
        await _executes(reader, agents)
        seen.append("EXECUTION_ACTIVE")

    review(folder, walks)
    planning = load_session(folder)
    run_dir = greeter.out_dir(agents.repo)
    assert planning.state.run == run_dir.name
    assert inside("stop", "--now", cwd=agents.repo).returncode == 0
    agents.told("hold", on=False)
    waited(lambda: not working(run_dir))
    assert execution_screen(run_dir) == "EXECUTION_RESUMABLE"

    async def goes_on(reader: Reader) -> None:
        assert "frozen rev 3" in reader.text()
        assert "stopped (resumable)" in reader.text()
        assert reader.actions() == ["c", "w"]
        await reader.press("w")
        await reader.press("r", "enter")
        await reader.until(lambda: load_run(run_dir).state.phase is RunPhase.SUCCESS)
        await reader.until(lambda: working(run_dir) is None)
        await reader.press("b")
        assert "success" in reader.text()
        assert reader.screen.following.screen == "NORMAL"

    review(folder, goes_on)
    assert "EXECUTION_ACTIVE" in seen
    assert inside("audit", cwd=agents.repo).returncode == 0


async def _cancels(reader: Reader) -> None:
    await reader.press("x", "enter")
    assert isinstance(reader.app.screen, Deciding)
    await reader.press("y")
    await reader.until(lambda: reader.screen.following.review.state == "cancelled review")
    await reader.until(lambda: "take_up" in reader.screen.offered)


async def _executes(reader: Reader, agents: Agents) -> None:
    agents.told("hold")
    await reader.press("f")
    text = reader.text()
    for part in (
        "3 stories in 2 chunks",
        "agent    python3 does the work",
        "3 commands run as checks; y approves them",
        "$ test -f S1.txt",
        "$ test -f S3.txt",
        "20 attempts",
    ):
        assert part in text
    await reader.press("enter", "space")
    assert isinstance(reader.app.screen, Deciding)
    await reader.click("y")
    await reader.until(lambda: isinstance(reader.app.screen, RunScreen))
    run_dir = greeter.out_dir(agents.repo)
    await reader.until(lambda: bool(load_run(run_dir).state.running))
    assert execution_screen(run_dir) == "EXECUTION_ACTIVE"


def test_lines_56_and_58_finalized_without_a_start_the_plan_is_read_only(planned: tuple[Agents, Path]) -> None:
    agents, folder = planned

    async def finalizes(reader: Reader) -> None:
        await reader.press("f", "n")
        await reader.until(lambda: "run" in reader.screen.offered)
        assert reader.closed
        assert "frozen rev 1" in reader.text()
        run = reader.screen.following.review.run
        for key in ("c", "e"):
            await reader.press(key)
            assert reader.closed
            assert f"santiago plan --with AGENT .santiago/runs/{run}/plan.json" in reader.text().replace("\n", " ")
        await reader.press("f", "x", "t")
        assert reader.closed

    review(folder, finalizes)
    run_dir = greeter.out_dir(agents.repo)
    assert not load_run(run_dir).state.running
    assert execution_screen(run_dir) == "NORMAL"
    assert load_session(folder).state.phase is SessionPhase.FINALIZED


def test_line_56_a_newer_revision_is_not_finalized_by_who_looked_at_an_older_one(planned: tuple[Agents, Path]) -> None:
    agents, folder = planned

    async def is_late(reader: Reader) -> None:
        await reader.press("f")
        reader.screen.tick = lambda: None  # type: ignore[method-assign]
        reader.screen.following.look = lambda: False  # type: ignore[method-assign]
        reader.screen.following.ask_worker = lambda: False  # type: ignore[method-assign]
        agents.draft("One", "Two")
        assert santiago("review", "--edit", "one more", cwd=agents.repo).returncode == 0
        await reader.press("y")
        assert "revision 2 has replaced revision 1: + S2" in reader.text()

    review(folder, is_late)
    assert load_session(folder).state.phase is SessionPhase.REVIEW


def test_line_80_a_base_that_moved_is_said_with_its_choices(planned: tuple[Agents, Path]) -> None:
    agents, folder = planned
    greeter.git(agents.repo, "commit", "-q", "--allow-empty", "-m", "More")

    async def finalizes(reader: Reader) -> None:
        await reader.press("f")
        assert "the repository has new commits since this was planned" in reader.text()
        await reader.press("v")
        await reader.press("enter")
        await reader.rests(2)
        assert load_session(folder).state.turns[-1].text == "check the plan against the commits that came since"
        await reader.press("f")
        assert "new commits" not in reader.text()
        await reader.press("escape")
        greeter.git(agents.repo, "commit", "-q", "--allow-empty", "-m", "Even more")
        await reader.press("f", "n")
        await reader.until(lambda: "run" in reader.screen.offered)

    review(folder, finalizes)


def test_lines_47_and_54_a_question_of_an_agent_is_answered_and_the_turn_taken_up(agents: Agents) -> None:
    agents.told("ask")
    folder = agents.plan("One", agents=1)

    async def answers(reader: Reader) -> None:
        assert "no plan yet" in reader.text()
        assert reader.screen.following.screen == "NORMAL"
        assert reader.actions() == ["t", "a"]
        await reader.press("a")
        assert "which currency?" in reader.text()
        await reader.type("Euro")
        await reader.press("enter")
        assert reader.actions() == ["t"]
        agents.told("ask", on=False)
        await reader.press("t")
        await reader.rests(1)

    review(folder, answers)
    (prompt,) = (folder / "drafts" / "0002").glob("*.prompt.md")
    assert "Euro" in prompt.read_text()


def test_line_57_and_the_picker_leads_to_sessions_and_runs(agents: Agents) -> None:
    first = agents.plan("One", agents=1)
    assert santiago("review", "--finalize", "--revision", "1", "--no-start", cwd=agents.repo).returncode == 0
    second = agents.plan("One", "Two", agents=1)
    assert first != second

    async def picks(reader: Reader) -> None:
        await reader.press("o")
        await reader.until(lambda: not reader.closed)
        await reader.press("down", "enter")
        assert reader.screen.following.folder == first
        assert "frozen rev 1" in reader.text()
        await reader.press("o")
        await reader.until(lambda: not reader.closed)
        await reader.press("end", "enter")
        assert isinstance(reader.app.screen, RunScreen)
        await reader.press("o")
        await reader.until(lambda: isinstance(reader.app.screen, Picking))
        await reader.press("end", "enter")
        await reader.until(lambda: isinstance(reader.app.screen, ReviewScreen))
        reader.app.pop_screen()
        await reader.press("b")
        assert reader.closed

    review(second, picks)


def test_lines_53_and_77_where_all_turns_are_used_more_can_be_allowed(agents: Agents) -> None:
    settings = agents.repo / "santiago.toml"
    settings.write_text(f"{settings.read_text()}[limits]\nplanning_max_turns = 1\n")
    folder = agents.plan("One", agents=1)

    async def allows(reader: Reader) -> None:
        assert reader.actions() == ["f", "x", "m"]
        await reader.sees("all turns are used; m allows more, f makes it final")
        await reader.press("c", "e")
        assert reader.closed
        await reader.press("m")
        await reader.type("0")
        await reader.press("enter")
        await reader.sees("a number from 1 to 1000, please")
        await reader.press("backspace", "2", "enter")
        await reader.until(lambda: "continue" in reader.screen.offered)
        assert "1 of 3 turns" in reader.text()

    review(folder, allows)
    assert load_session(folder).state.raised == {"planning_max_turns": 2}


async def _asks_to_leave(reader: Reader) -> int:
    """Finalize, and ask to leave while the run is not made yet; return the process that makes it, which is held."""
    await reader.press("f", "y")
    assert reader.screen.started is not None
    os.kill(reader.screen.started.pid, signal.SIGSTOP)
    await reader.press("q")
    await reader.sees("Leave before the run begins?")
    return reader.screen.started.pid


def test_line_56_who_leaves_before_the_run_begins_is_asked_and_finds_its_start_offered(
    planned: tuple[Agents, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    agents, folder = planned
    stand_in(agents.repo, monkeypatch, real=True)

    async def leaves(reader: Reader) -> None:
        process = await _asks_to_leave(reader)
        await reader.press("enter")
        assert reader.app.return_value is None
        await reader.press("q")
        await reader.until(lambda: reader.app.return_value is not None)
        os.kill(process, signal.SIGCONT)

    reader = review(folder, leaves)
    assert f"`santiago review {folder.name}` offers to begin it" in (reader.app.return_value or "")
    waited(lambda: not working(folder) and load_session(folder).state.phase is SessionPhase.FINALIZED)

    async def begins(reader: Reader) -> None:
        assert reader.actions() == ["c", "r", "w"]
        await reader.sees("the run is made and has not begun; r begins it")
        await reader.press("r")
        await reader.sees("Run these commands?")  # nobody has agreed to them in this screen
        await reader.press("y")
        await reader.until(lambda: isinstance(reader.app.screen, RunScreen))
        run_dir = greeter.out_dir(agents.repo)
        await reader.until(lambda: load_run(run_dir).state.phase is RunPhase.SUCCESS)
        await reader.until(lambda: working(run_dir) is None)
        await reader.press("b")
        assert reader.actions() == ["c", "w"]

    review(folder, begins)


def test_line_79_a_start_from_the_review_asks_for_consents(
    planned: tuple[Agents, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    agents, folder = planned
    stand_in(agents.repo, monkeypatch, real=True)
    shutil.rmtree(agents.repo.parent / "state" / "santiago" / "trust")

    async def begins(reader: Reader) -> None:
        process = await _asks_to_leave(reader)
        os.kill(process, signal.SIGCONT)
        await reader.until(lambda: isinstance(reader.app.screen, Deciding) and "Trust these settings" in reader.text())
        assert sum(isinstance(one, Deciding) for one in reader.app.screen_stack) == 1
        await reader.press("y")
        await reader.until(lambda: isinstance(reader.app.screen, RunScreen))
        run_dir = greeter.out_dir(agents.repo)
        await reader.until(lambda: load_run(run_dir).state.phase is RunPhase.SUCCESS)

    review(folder, begins)


def test_line_79_leaving_while_a_turn_runs_lets_it_go_on(planned: tuple[Agents, Path]) -> None:
    agents, folder = planned
    agents.draft("One", "Two")
    agents.told("wait")

    async def leaves(reader: Reader) -> None:
        await reader.press("e")
        await reader.type("more")
        await reader.press("enter")
        await reader.until(lambda: reader.screen.following.review.state == "drafting")
        await reader.press("q")

    reader = review(folder, leaves)
    assert f"{folder.name} goes on" in (reader.app.return_value or "")
    agents.told("wait", on=False)
    waited(lambda: load_session(folder).state.phase is not SessionPhase.DRAFTING and not working(folder))
    assert load_session(folder).state.revision == 2
