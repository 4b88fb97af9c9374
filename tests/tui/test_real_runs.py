"""The browser over real runs: what it starts goes on without it, and what is asked of a run reaches it."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from santiago.app.loading import load, working
from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase
from santiago.report.evidence import AttemptEvidence
from tests.cli import greeter, stepwise, words
from tests.cli.inside import inside
from tests.tui.driving import Browser, browse, program, stand_in, waited

WAITS = 'while [ ! -e "{}" ]; do sleep 0.05; done\n' + words.WRITES
"""An agent that goes on when somebody lets it."""
SECONDS = 60


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = words.make(tmp_path)
    stand_in(made, monkeypatch)
    return made


def at_work(out_dir: Path) -> bool:
    return (out_dir / "plan.json").exists() and bool(load(out_dir).state.running)


@contextmanager
def begun(repo: Path, agent: str) -> Iterator[Path]:
    """Begin a run that another process holds, until its agents see the file `go`."""
    (repo.parent / "agent.sh").write_text(agent)
    named = ("--agent", f"sh {repo.parent / 'agent.sh'}", "--verify", words.THERE)
    process = subprocess.Popen(
        [program(), "run", "--trust-project", "prd.md", *named, "--no-input"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        waited(lambda: process.poll() is not None or any(map(at_work, repo.glob(".santiago/runs/*"))))
        assert process.poll() is None
        yield greeter.out_dir(repo)
    finally:
        (repo.parent / "go").touch()
        process.wait(SECONDS)


@pytest.fixture
def held(repo: Path) -> Iterator[Path]:
    with begun(repo, WAITS.format(repo.parent / "go")) as out_dir:
        yield out_dir


def test_lines_65_66_and_79_a_range_runs_whole_in_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = words.make(tmp_path)
    stand_in(repo, monkeypatch, real=True)
    assert words.run(repo, words.WRITES, "--only", "S1").returncode == 0
    out_dir = greeter.out_dir(repo)
    started: list[int] = []

    async def runs(browser: Browser) -> None:
        await browser.select("2-1")
        assert browser.said() == "will run 2 chunks, 2 stories: Phase 1: Apart, Phase 2: Together; enter runs it"
        await browser.press("c", "enter")
        assert browser.screen.started is not None
        started.append(browser.screen.started.pid)
        assert os.getsid(started[0]) == started[0]
        await browser.until(lambda: browser.screen.current.state.phase is RunPhase.SUCCESS)
        await browser.until(lambda: browser.screen.started is None)
        assert all("completed" in line for line in browser.list() if "Phase" in line)

    browse(out_dir, runs)
    assert "success" in (out_dir / "started.log").read_text()
    assert inside("audit", cwd=repo).returncode == 0


def test_lines_68_70_79_and_81_a_run_of_another_process_is_named_and_outlives_the_screen(held: Path) -> None:
    async def looks(browser: Browser) -> None:
        await browser.until(lambda: "held by" in browser.text())
        await browser.select("1")
        assert "is running; stop it (s) before another selection runs" in browser.said()
        await browser.press("enter")
        assert browser.screen.started is None
        await browser.select("")
        await browser.press("r")
        assert "is running already" in browser.said()
        await browser.press("f", "h")
        await browser.type("mind it")
        await browser.press("enter", "enter")
        await browser.until(lambda: browser.screen.current.state.stories["S1"].notes == ("mind it",))
        assert browser.screen.current.state.stories["S1"].attempts == 1
        assert "S1" in browser.screen.current.state.running
        await browser.press("q")
        assert "goes on without this screen" in browser.text()
        await browser.press("escape", "q", "q")

    browser = browse(held, looks, size=(120, 40))
    assert browser.app.return_value is not None
    assert "goes on; `santiago watch` shows it again" in browser.app.return_value
    assert working(held) is not None
    (held.parents[2].parent / "go").touch()
    waited(lambda: not working(held))
    assert load(held).state.phase is RunPhase.SUCCESS
    assert EventKind.HINT_ADDED in inside("log", held, "--json", cwd=held.parents[2]).stdout


def test_line_68_stop_once_is_safe_and_twice_is_at_once(held: Path) -> None:
    async def stops(browser: Browser) -> None:
        await browser.press("s")
        assert "was asked to stop at the next safe boundary" in browser.said()
        await browser.until(lambda: browser.screen.current.state.stop_requested)
        await browser.until(lambda: "stopping" in browser.text())
        await browser.press("s")
        assert "was asked to stop at once" in browser.said()
        await browser.until(lambda: browser.screen.current.worker is None)
        assert browser.screen.current.state.phase is RunPhase.PAUSED

    browse(held, stops)


def test_line_69_a_running_run_is_told_to_rest_after_each_chunk(held: Path) -> None:
    async def switches(browser: Browser) -> None:
        assert "pause after each chunk: off" in browser.text()
        await browser.press("p")
        await browser.until(lambda: "pause after each chunk: on" in browser.text())
        (held.parents[2].parent / "go").touch()
        await browser.until(lambda: browser.screen.current.worker is None)
        assert browser.screen.current.state.phase is RunPhase.PAUSED
        assert [chunk.left for chunk in browser.screen.current.state.chunks.values()] == [0, 1]
        await browser.press("r")
        assert "$ santiago resume" in browser.text()
        assert "--gate chunk" in browser.text()
        await browser.press("enter")
        await browser.until(lambda: browser.screen.current.state.phase is RunPhase.SUCCESS)

    browse(held, switches)


@pytest.mark.parametrize("off", [False, True])
def test_line_69_the_command_switches_the_same(held: Path, off: bool) -> None:
    repo = held.parents[2]
    assert "was asked to pause after each chunk" in inside("pause", cwd=repo).stderr
    if off:
        assert "was asked to go on by itself" in inside("pause", "--off", cwd=repo).stderr
    waited(lambda: load(held).state.pauses == (not off))
    (repo.parent / "go").touch()
    waited(lambda: not working(held))
    state = load(held).state
    assert state.phase is (RunPhase.SUCCESS if off else RunPhase.PAUSED)


def test_line_64_what_an_attempt_changes_is_seen_while_it_runs(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracked and new files, as they grow; no secret, nothing that git ignores, and nothing of the attempt is touched."""
    secret, go = "correct-horse-battery-staple-4711", repo.parent / "go"
    monkeypatch.setenv("SERVICE_TOKEN", secret)
    writes = (
        f"echo more >> prd.md; mkdir new __pycache__; echo 'key {secret}' > new/file.txt; echo x > __pycache__/x.pyc\n"
    )
    with begun(repo, writes + WAITS.format(go)) as out_dir:

        async def looks(browser: Browser) -> None:
            await browser.press("f")
            place = _checkout(out_dir)
            index = (place.parents[1] / "own" / place.name / "index").read_bytes()
            await browser.press("4")
            await browser.until(lambda: "+more" in browser.page() and "new/file.txt" in browser.page())
            assert "attempt 1 is under way; what it has changed so far" in browser.page()
            assert "pyc" not in browser.page()
            assert "+key " in browser.page()
            assert secret not in browser.page()
            (place / "prd.md").write_text("another\n")
            await browser.until(lambda: "+another" in browser.page())
            assert (place.parents[1] / "own" / place.name / "index").read_bytes() == index

        browse(out_dir, looks)
        assert "+another" in inside("show", out_dir, "S1", "--patch", cwd=repo).stdout
    assert "+another" in AttemptEvidence(out_dir, "S1", 1).patch(), "it is kept as ever"


def _checkout(out_dir: Path) -> Path:
    (found,) = (out_dir.parents[2].parent / "cache").glob(f"santiago/*/{out_dir.name}/work/S1-1")
    return found


def test_line_67_resume_goes_on_with_a_run_that_was_killed(held: Path) -> None:
    pid = load(held).history.start["pid"]
    os.kill(pid, signal.SIGKILL)
    waited(lambda: not working(held))
    (held.parents[2].parent / "go").touch()

    async def resumes(browser: Browser) -> None:
        assert "interrupted" in browser.text()
        await browser.press("r")
        assert "Go on with" in browser.text()
        await browser.press("enter")
        await browser.until(lambda: browser.screen.current.state.phase is RunPhase.SUCCESS)
        await browser.until(lambda: browser.screen.current.worker is None)
        await browser.press("r")
        assert "is finished; nothing to resume" in browser.said()

    browse(held, resumes)


def test_line_67_where_the_shown_run_is_finished_the_latest_unfinished_one_is_offered(repo: Path) -> None:
    assert words.run(repo, words.WRITES, "--chunks", "1").returncode == 0
    first = greeter.out_dir(repo)
    assert words.run(repo, words.WRITES, "--new").returncode == 0
    (second,) = set((repo / ".santiago" / "runs").iterdir()) - {first}

    async def resumes(browser: Browser) -> None:
        await browser.press("o")
        await browser.until(lambda: "Runs and sessions of this repository" in browser.text())
        options = [str(one) for one in browser.app.screen.query("OptionList").first().options]  # type: ignore[attr-defined]
        assert len(options) == 2
        await browser.press("escape", "r")
        assert f"Go on with {first.name}?" in browser.text()
        await browser.press("escape")
        assert browser.screen.current.out_dir == first

    browse(second, resumes)


def test_line_79_a_start_that_is_refused_is_told_with_its_own_words(repo: Path) -> None:
    limits = "story_max_attempts = 1\n"
    assert words.run(repo, "exit 0\n", limits=limits).returncode == 30
    out_dir = greeter.out_dir(repo)

    async def starts(browser: Browser) -> None:
        await browser.press("r", "enter")
        await browser.sees("It did not start")
        await browser.sees("--add-attempts")
        await browser.press("escape", "g")
        await browser.type("0")
        await browser.press("enter")
        assert "a number from 1 to 1000, please" in browser.text()
        await browser.press("escape")

    browse(out_dir, starts)


def test_lines_70_and_81_questions_are_answered_in_place_and_enter_alone_approves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "repo"
    out_dir = stepwise.begin(place)
    stand_in(place, monkeypatch)

    async def answers(browser: Browser) -> None:
        assert "S1-detail-2 asks, a answers" in browser.text()
        await browser.press("a", "enter")
        assert "nothing is typed yet" in browser.text()
        await browser.type("aprove")
        await browser.press("enter")
        assert "did you mean 'approve'" in browser.text()
        await browser.press(*["backspace"] * 6)
        await browser.type("in two parts")
        await browser.press("enter")
        assert 'understood: adjust "in two parts"' in browser.text()
        assert not load(out_dir).state.questions["S1-detail-2"].answer
        await browser.press("enter")
        assert "S1-detail-2 is answered" in browser.said()
        await browser.press("r", "enter")
        await browser.until(lambda: "S1-detail-3 asks" in browser.text())
        assert browser.screen.current.worker
        await browser.press("a")
        await browser.type("ok")
        await browser.press("enter")
        assert "understood: approve" in browser.text()
        await browser.press("enter")
        await browser.until(lambda: "S1.1" in browser.screen.current.state.stories and bool(browser.screen.asked()))
        await browser.press("s")
        await browser.until(lambda: browser.screen.current.worker is None)

    browse(out_dir, answers, size=(100, 40))
    answered = load(out_dir).state.questions
    assert (answered["S1-detail-2"].answer, answered["S1-detail-2"].actor) == ("adjust", "ann")
