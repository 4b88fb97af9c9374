"""Line 79: what a start without a terminal cannot ask becomes a question of the screen, and only what was shown is agreed to."""

from pathlib import Path

import pytest

from santiago.app.loading import load
from santiago.artifacts.trust import Trust
from santiago.contract.phases import RunPhase
from santiago.contract.policy import Agent, RunInput
from santiago.contract.reasons import ExitCode
from santiago.process.sandbox import Sandbox
from santiago.report.consents import unfenced
from santiago.tui import review as review_screen
from tests.board.desk import Desk
from tests.cli import greeter
from tests.cli.inside import inside
from tests.tui.driving import Browser, browse, stand_in
from tests.tui.made_session import reviewed
from tests.tui.reviewing import Reader, review
from tests.util.restored import restored


@pytest.fixture(scope="module")
def planned_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = Desk(tmp_path_factory.mktemp("planned")).repo
    assert inside("plan", "prd.md", cwd=repo, env=greeter.place(repo)).returncode == 0
    return repo


@pytest.fixture
def planned(planned_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run is planned whose settings nobody has trusted, and whose commands nobody has approved."""
    repo = restored(planned_once, planned_once.parent)
    stand_in(repo, monkeypatch)
    return greeter.out_dir(repo)


def test_line_79_a_start_asks_for_each_consent_in_the_screen(planned: Path) -> None:
    async def agrees(browser: Browser) -> None:
        await browser.press("r", "enter")
        await browser.sees("Trust these settings in this repository?")
        await browser.sees('agent.playbook = "playbook.yaml"   (what the scripted agent plays)')
        await browser.sees(f"$ santiago resume {planned.name} --trust-project")
        await browser.press("enter")  # nothing is the default
        await browser.sees("Trust these settings in this repository?")
        await browser.press("y")
        await browser.sees("Run these commands?")
        await browser.sees("    grep hello hello.txt")
        await browser.press("y")
        await browser.until(lambda: browser.screen.current.state.phase is RunPhase.SUCCESS)

    browse(planned, agrees)
    told = inside("log", planned, "--json", cwd=planned).stdout
    assert '"commands_approved"' in told
    assert Trust(planned.parents[2]).latest() is not None


def test_line_79_who_does_not_agree_starts_nothing(planned: Path) -> None:
    async def refuses(browser: Browser) -> None:
        await browser.press("r", "enter")
        await browser.sees("Trust these settings")
        await browser.press("y")
        await browser.sees("Run these commands?")
        await browser.press("escape")
        assert f"not agreed to, so {planned.name} was not started" in browser.said()
        assert browser.screen.started is None

    browse(planned, refuses)
    assert not load(planned).begun
    assert Trust(planned.parents[2]).latest() is None


def test_line_79_settings_that_change_after_they_were_shown_are_asked_about_anew(planned: Path) -> None:
    settings = planned.parents[2] / "santiago.toml"

    async def is_deceived(browser: Browser) -> None:
        await browser.press("r", "enter")
        await browser.sees("Trust these settings")
        settings.write_text(f"{settings.read_text()}keep_going = true\n")
        await browser.press("y")
        await browser.sees("Run these commands?")
        await browser.press("y")
        await browser.sees("policy.keep_going = true")
        await browser.press("escape")

    browse(planned, is_deceived)
    assert not load(planned).begun


def test_line_79_what_else_stops_a_start_is_told_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Desk(tmp_path).repo
    stand_in(repo, monkeypatch)
    settings = (repo / "santiago.toml").read_text()
    (repo / "santiago.toml").write_text(f'{settings}[verification]\nstory_commands = ["./uncommitted.sh"]\n')
    (repo / "uncommitted.sh").touch()
    assert inside("plan", "prd.md", cwd=repo).returncode == 0

    async def agrees(browser: Browser) -> None:
        await browser.press("r", "enter")
        await browser.sees("Trust these settings")
        await browser.press("y")
        await browser.sees("Run these commands?")
        await browser.press("y")
        await browser.sees("It did not start")
        await browser.sees("`uncommitted.sh` checks S1 and is not in the last commit")

    browse(greeter.out_dir(repo), agrees)


def test_line_79_an_agent_without_a_sandbox_needs_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = RunInput(contract_version=1, repo_path=".", prd_path="prd.md")
    real, scripted = Agent(), Agent(mode="scripted")
    monkeypatch.setattr("santiago.process.sandbox.detect", lambda *_: Sandbox())
    (asked,) = unfenced(settings, scripted, real)
    assert asked.said == ("--sandbox", "off")
    assert unfenced(settings, scripted, None) == []
    monkeypatch.setattr("santiago.process.sandbox.detect", lambda *_: Sandbox(kind="bubblewrap"))
    assert unfenced(settings, real) == []


def test_line_79_a_turn_without_a_sandbox_is_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = reviewed(tmp_path)
    begun: list[list[str]] = []

    class Refused:
        pid, command = 1, ("santiago",)

        def __init__(self, _: Path, words: list[str]) -> None:
            begun.append(words)

        def ended(self) -> int:
            return ExitCode.BLOCKED

        def said(self, _: int) -> list[str]:
            return ["no sandbox works on this machine"]

    monkeypatch.setattr(review_screen, "Detached", Refused)
    monkeypatch.setattr("santiago.process.sandbox.detect", lambda *_: Sandbox())

    async def plans_on(reader: Reader) -> None:
        await reader.press("e")
        await reader.type("more")
        await reader.press("enter")
        await reader.sees("Go on without a sandbox?")
        await reader.sees("--take-up --sandbox off")
        await reader.press("y")
        await reader.sees("It was not carried out")

    review(made.folder, plans_on)
    assert [words[3:] for words in begun] == [[], ["--sandbox", "off"]]
