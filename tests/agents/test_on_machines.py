"""Real agents at two workers, each with a home of its own, under a coordinator that has no agent at all."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from santiago.contract.reasons import ExitCode
from santiago.process import sandbox
from tests.agents import story
from tests.agents.homes import KEY, home
from tests.agents.model import Model
from tests.agents.running import SECONDS, alive, surroundings
from tests.agents.script import Acts, Say, Write
from tests.cli.greeter import git, out_dir
from tests.engine.machines import Program
from tests.engine.servers import Engine

pytestmark = pytest.mark.xdist_group("queues")
PART = """\

### R2: Say goodbye

**Files:** `parting.py`

- [ ] `say_goodbye()` returns `Bye!`

**Verification:** `python3 -m unittest test_parting`
"""


def _plays(prompt: str) -> Acts:
    """Two stories: the first is wrong until the critique, which was put together on another machine, says what is."""
    if "say_goodbye" not in prompt:
        return story.plays(prompt)
    return [Write("parting.py", 'def say_goodbye():\n    return "Bye!"\n'), Say("Done.")]


def _repository(folder: Path) -> Path:
    repo = story.make(folder)
    document = story.PRD.replace("python3 -m unittest", "python3 -m unittest test_greet")
    (repo / "prd.md").write_text(document + PART)
    test = story.TEST.replace("greet import greet", "parting import say_goodbye").replace(
        'greet("Ann")', "say_goodbye()"
    )
    (repo / "test_parting.py").write_text(test.replace("Hello, Ann!", "Bye!"))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Two stories")
    git(repo, "init", "-q", "--bare", str(folder.parent / "remote.git"))
    return repo


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_two_workers_carry_out_a_run_with_real_agents(agent: str, engine: Engine, tmp_path: Path) -> None:
    """The remote is empty before. The critique travels with the next order; usage, prompts and logs come back."""
    repo, place = _repository(tmp_path / "repo"), ["--engine", engine.url, "--remote", str(tmp_path / "remote.git")]
    fence = "auto" if sandbox.detect("auto").kind != "none" else "off"
    unfenced = [] if fence == "auto" else ["--no-sandbox"]
    with Model(_plays) as model, ExitStack() as stack:
        git(repo, "push", "-q", str(tmp_path / "remote.git"), "HEAD:main")
        homes = [stack.enter_context(home(agent, model.url)) for _ in range(2)]
        workers = []
        for number, folders in enumerate(homes):
            env = surroundings(agent, folders, tmp_path / f"cache-{number}")
            workers.append(
                Program(
                    ["work", *place, *unfenced, "--pool", "default"], tmp_path, env, tmp_path / f"worker-{number}.log"
                )
            )
            stack.callback(workers[-1].kill)
        for worker in workers:
            worker.says(f"agent {agent}")
        own = {**surroundings(agent, {"HOME": str(tmp_path / "home")}, tmp_path / "cache"), "PATH": "/usr/bin:/bin"}
        words = [
            "run",
            "prd.md",
            *place,
            "--agent",
            agent,
            "--trust-commands",
            "--plain",
            "--jobs",
            "2",
            "--sandbox",
            fence,
        ]
        run = Program([*words, "--no-input"], repo, own, tmp_path / "run.log")
        stack.callback(run.kill)
        run.process.wait(SECONDS)
        said = run.ends(ExitCode.OK)
        for worker in workers:
            worker.process.terminate()
            worker.ends(ExitCode.OK)
        left = [line for folders in homes for line in alive(folders["HOME"], "")]
    result = json.loads((out_dir(repo) / "result.json").read_text())
    assert result["usage"]["attempts"] == 3, said
    assert result["usage"]["tokens"] == model.spent > 0
    assert git(repo, "show", f"{result['branch']}:greet.py") == story.RIGHT.strip()
    assert all("begins" in worker.said for worker in workers)
    assert {path.parts[-3] for path in (out_dir(repo) / "attempts").glob("*/*/agent.log")} == {"S1", "S2"}
    assert left == []
    assert [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []
    assert git(tmp_path / "remote.git", "for-each-ref", "--format=%(refname)") == "refs/heads/main"
