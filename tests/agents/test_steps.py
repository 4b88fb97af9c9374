"""A real agent step by step: its plan is adjusted, approved, carried out and validated, all through the real command."""

import json
from pathlib import Path

import pytest

from santiago.app.loading import load
from santiago.contract.phases import RunPhase
from santiago.process import sandbox
from tests.agents import story
from tests.agents.homes import home
from tests.agents.install import chosen, is_whole
from tests.agents.model import Model
from tests.agents.running import SECONDS, surroundings
from tests.agents.script import Acts, Read, Say, Shell, Write
from tests.cli.greeter import git, out_dir
from tests.cli.santiago import santiago

WISH = "greet politely"


def plays(prompt: str) -> Acts:
    """Write a plan where one is asked for, a longer one after a person's wish, and carry out what was approved."""
    if "plan it in detail" in prompt:
        actions = ["change greet.py", *([WISH] if WISH in prompt else [])]
        plan = {"objective": "Greet by name", "modify": ["greet.py"], "actions": actions}
        return [Shell(f"printf '%s' '{json.dumps(plan)}' > \"$SANTIAGO_DETAIL\""), Say("Planned.")]
    assert f"2. {WISH}" in prompt, "what was approved is in the prompt of the attempt"
    return [Read("greet.py"), Write("greet.py", story.RIGHT), Say("Done.")]


@pytest.mark.parametrize("agent", chosen() if is_whole() else ["codex"], indirect=True)
def test_a_real_agents_plan_is_adjusted_approved_carried_out_and_validated(agent: str, tmp_path: Path) -> None:
    repo = story.make(tmp_path / "repo")
    with Model(plays) as model, home(agent, model.url) as folders:
        env = surroundings(agent, folders, tmp_path / "cache")
        fence = "off" if sandbox.detect("auto", env).kind == "none" else "auto"
        first = ("step", "prd.md", "--agent", agent, "--trust-commands", "--sandbox", fence)
        for words, question, answer in (
            (first, "S1-detail-1", WISH),
            (("step", "--sandbox", fence), "S1-detail-2", "looks good"),
            (("step", "--sandbox", fence), "S1-result-1", "ok"),
        ):
            ran = santiago(*words, cwd=repo, env=env, seconds=SECONDS)
            assert ran.returncode == 10, ran.stderr
            assert [one.id for one in load(out_dir(repo)).state.open_questions()] == [question], ran.stderr
            told = santiago("answer", question, answer, "--actor", "ann", cwd=repo, env=env)
            assert told.returncode == 0, told.stderr
        ran = santiago("step", "--sandbox", fence, cwd=repo, env=env, seconds=SECONDS)
        assert ran.returncode == 0, ran.stderr
    run = load(out_dir(repo))
    assert (run.state.phase, run.state.stories["S1"].attempts, run.state.stories["S1"].proposals) == (
        RunPhase.SUCCESS, 1, 2,
    )  # fmt: skip
    assert run.state.tokens == model.spent > 0, "what plans cost counts like work"
    assert git(repo, "show", f"{run.state.branch}:greet.py") == story.RIGHT.strip()
