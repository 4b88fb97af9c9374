"""Claude Code and Codex plan together: each drafts, one merges, a quick edit follows; all through the real command."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from santiago.app.planning.planning_sessions import load_session
from santiago.process import sandbox
from tests.agents import story
from tests.agents.homes import KEY, home
from tests.agents.install import NO_NPM, PROGRAMS, chosen, have_npm, install
from tests.agents.model import Model
from tests.agents.running import SECONDS, surroundings
from tests.agents.script import Acts, Say, Shell
from tests.cli.santiago import santiago
from tests.sessions.drafters import plan

BOTH = ("claude", "codex")
WISH = "greet politely as well"


def plays(prompt: str) -> Acts:
    """Draft one story, merge into two, and three after a person's wish."""
    titles = ["Greet by name"]
    if "Merge 2 drafts" in prompt:
        titles.append("Say goodbye")
    elif WISH in prompt:
        titles += ["Say goodbye", "Greet politely"]
    return [Shell(f"printf '%s' '{json.dumps(_draft(titles))}' > \"$SANTIAGO_DRAFT\""), Say("Drafted.")]


def _draft(titles: list[str]) -> dict[str, Any]:
    draft = plan(*titles, requirements=[
        {"id": "R1", "title": "Greet by name", "criteria": [{"id": "R1#1", "text": '`greet("Ann")` returns `Hello, Ann!`'}]}
    ])  # fmt: skip
    draft["stories"][0] |= {"requirements": ["R1"], "criteria": ["R1#1"]}
    return draft


def test_two_real_agents_draft_merge_and_edit_a_plan(tmp_path: Path) -> None:
    """Lines 48 and 49 with real programs."""
    if not have_npm():
        pytest.skip(NO_NPM)
    if not set(BOTH) <= set(chosen()):
        pytest.skip("Claude Code and Codex are not both asked for")
    for name in BOTH:
        install(PROGRAMS[name])
    repo = story.make(tmp_path / "repo")
    with Model(plays) as model, home("claude", model.url) as first, home("codex", model.url) as second:
        shutil.copytree(second["HOME"], first["HOME"], dirs_exist_ok=True)
        env = surroundings("claude", {**second, **first}, tmp_path / "cache")
        env["PATH"] = f"{PROGRAMS['codex'].bin}{os.pathsep}{env['PATH']}"
        if sandbox.detect("auto", env).kind == "none":
            (repo / "santiago.toml").write_text('[policy]\nsandbox = "off"\n')
        began = santiago(
            "plan", "prd.md", "--with", ",".join(BOTH), "--trust-project", cwd=repo, env=env, seconds=SECONDS
        )
        assert began.returncode == 0, began.stderr
        edited = santiago("review", "--edit", WISH, "--actor", "ann", cwd=repo, env=env, seconds=SECONDS)
        assert edited.returncode == 0, edited.stderr
    (folder,) = (repo / ".santiago" / "sessions").iterdir()
    session = load_session(folder)
    assert [story.title for story in session.plan(1).stories] == ["Greet by name", "Say goodbye"]
    assert [story.title for story in session.plan(2).stories] == ["Greet by name", "Say goodbye", "Greet politely"]
    assert [(turn.mode, turn.agents) for turn in session.state.turns] == [("multi", BOTH), ("single", BOTH[:1])]
    drafts = {path.name for path in (folder / "drafts/0001").glob("*.json")}
    assert drafts == {"claude.json", "codex.json", "merge-claude.json"}
    assert session.state.tokens == model.spent > 0, "what planning costs is counted"
    assert not [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
