"""Real agents carry out a story through the real command: what they do, what it cost, and that nothing of them stays."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from santiago.contract.reasons import ExitCode
from tests.agents import story
from tests.agents.faults import WAIT
from tests.agents.homes import KEY
from tests.agents.install import PROGRAMS, is_whole
from tests.agents.model import Model
from tests.agents.running import carry_out
from tests.agents.script import Fault, Shell
from tests.cli.greeter import git

_SLEEPS = "python3 -c 'import time; time.sleep(3600)'"


def test_an_agent_repairs_its_work_after_the_critique_and_its_usage_is_known(agent: str, tmp_path: Path) -> None:
    """Proof, not promise: the first attempt says that it is done, and is not believed."""
    repo = story.make(tmp_path / "repo")
    with Model(story.plays) as model:
        ran = carry_out(agent, repo, model)
    assert ran.code == ExitCode.OK, ran.said
    assert ran.outcome(1)["reason"] == "story_verification_failed"
    assert ran.outcome(2)["verdict"]["proof"] == "proved"
    assert ran.result["usage"]["attempts"] == 2
    assert ran.result["usage"]["tokens"] == model.spent > 0
    assert git(repo, "show", f"{ran.result['branch']}:greet.py") == story.RIGHT.strip()
    assert ran.left == []
    assert _files_with(KEY, ran.out_dir) == []


def test_nothing_of_an_agent_that_was_ended_in_its_shell_tool_is_alive(all_agents: list[str], tmp_path: Path) -> None:
    """Bounded: time is up while the tool runs; also what it started in a session of its own is dead, fence or no fence."""
    fences = ("auto", "off")
    every = [(agent, fence) for agent in all_agents for fence in fences]
    with ThreadPoolExecutor(2) as pool:  # they mostly wait
        ends = [
            pool.submit(_ended_in_its_tool, agent, tmp_path / agent / fence / "repo", fence)
            for agent, fence in (every if is_whole() else zip(all_agents, fences, strict=False))
        ]
        for end in ends:
            end.result()


def _ended_in_its_tool(agent: str, place: Path, fence: str) -> None:
    word = uuid.uuid4().hex
    tool = Shell(f"setsid -f {_SLEEPS} {word}; echo {word} > started; {_SLEEPS} {word}")
    repo = story.make(place, story_max_attempts=1, attempt_timeout_minutes=PROGRAMS[agent].seconds / 60)
    with Model([tool]) as model:  # again and again, where an agent does not wait for the end of its tool
        ran = carry_out(agent, repo, model, word=word, fence=fence)
    assert ran.outcome(1)["reason"] == "agent_timeout", ran.said
    assert git(repo, "show", f"{ran.outcome(1)['commit']}:started") == word, "the tool did not run when time was up"
    assert ran.outcome(1)["ending"]["usage"]["tokens"] != 0, "unknown is not zero"
    assert ran.left == []


def test_an_agent_that_is_not_signed_in_blocks_the_run_and_spends_no_attempt(agent: str, tmp_path: Path) -> None:
    """Every stop has a name, and this one says the command that helps."""
    repo = story.make(tmp_path / "repo")
    with Model(story.plays, Fault(status=401)) as model:
        ran = carry_out(agent, repo, model)
    assert ran.code == ExitCode.BLOCKED, ran.said
    assert ran.result["stories"][0]["reason"] == "agent_not_signed_in"
    assert ran.result["usage"]["attempts"] == 0
    assert "then `santiago resume`" in ran.said
    assert ran.left == []


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_rate_limit_is_waited_for_and_spends_no_attempt(agent: str, tmp_path: Path) -> None:
    repo = story.make(tmp_path / "repo")
    with Model(story.REPAIRS, Fault(status=429, wait=2, times=2)) as model:
        ran = carry_out(agent, repo, model)
    assert ran.code == ExitCode.OK, ran.said
    assert ran.outcome(1)["reason"] == "agent_rate_limited"
    assert 0 < ran.outcome(1)["ending"]["wait_seconds"] <= 2
    assert ran.result["usage"]["attempts"] == 1


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_rate_limit_beyond_the_bound_rests_the_run_at_once(agent: str, tmp_path: Path) -> None:
    """Bounded: what lasts longer than anybody wants to wait is not waited for."""
    repo = story.make(tmp_path / "repo", wait_max_minutes=WAIT / 60 / 2)
    with Model(story.plays, Fault(status=429, wait=WAIT)) as model:
        ran = carry_out(agent, repo, model)
    assert ran.code == ExitCode.TRANSIENT, ran.said
    assert ran.outcome(1)["reason"] == "agent_rate_limited"


def _files_with(secret: str, folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
