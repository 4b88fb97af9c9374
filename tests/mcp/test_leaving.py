"""What the server starts and puts onto the board: only what its owner allowed, by commands that ask for every consent themselves."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from santiago.app.loading import load
from santiago.contract.phases import RunPhase
from santiago.mcp.telling import BEGUN
from tests.board.desk import Desk
from tests.cli import greeter
from tests.cli.inside import inside
from tests.cli.test_units import RIVALS
from tests.mcp.asking import MODES, Asked, beside, contents

SETTINGS = (
    '[agent]\nmode = "scripted"\nplaybook = "playbook.yaml"\n[verification]\nstory_commands = ["test -f README"]\n'
)
PRD = "# PRD: Greeter\n\n### R1: Say hello\n\n**Files:** `hello.txt`\n\n- [ ] hello.txt says hello\n"
OWN = '[mcp]\nstart = true\n[limits]\nrun_max_cost_usd = 5\n[policy]\nunproven = "accept"\n'


def test_a_run_is_started_only_where_its_owner_allowed_it_and_nothing_is_left_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "prd.md": PRD,
        "rival.md": RIVALS,
        "playbook.yaml": greeter.GOOD,
        "santiago.toml": SETTINGS,
        "README": "Hello\n",
    }
    repo = greeter.committed(tmp_path / "repo", files)
    for name, value in {**greeter.place(repo), "XDG_CONFIG_HOME": str(tmp_path / "config")}.items():
        monkeypatch.setenv(name, value)
    own = tmp_path / "config" / "santiago" / "santiago.toml"
    own.parent.mkdir(parents=True)

    async def refused(asked: Asked, said: str, told: str, document: str = "prd.md") -> None:
        own.write_text(said)
        before = contents(repo)
        found = await asked.tool("start", document=document)
        assert (told in found, f"santiago run {document}" in found, contents(repo) == before) == (True, True, True), (
            found
        )

    async def all_of_it() -> str:
        async with beside(MODES[0], repo) as asked:
            await refused(asked, OWN.replace("true", "false"), "A person starts it")
            await refused(asked, OWN, "not trusted yet")
            monkeypatch.setenv("SANTIAGO_MCP_START", "true")
            assert "unknown setting" in await asked.tool("start", fails=True, document="prd.md")
            monkeypatch.delenv("SANTIAGO_MCP_START")
            inside("doctor", cwd=repo, env=dict(os.environ))  # which is told to trust the settings
            await refused(asked, OWN, "the plan is a proposal", "rival.md")
            await refused(asked, OWN.replace("run_max_cost_usd = 5", ""), "no limit of money")
            await refused(asked, OWN.replace("[policy]\n", '[policy]\nsandbox = "off"\n'), "the sandbox is off")
            own.write_text(OWN)
            run = (await asked.tool("start", document="prd.md")).split()[0]
            os.waitid(os.P_PID, BEGUN[run].pid, os.WEXITED | os.WNOWAIT)
            await refused(asked, OWN, f"{run} is a run of this document already")
            assert run in await asked.tool("status")
            return run

    run = load(repo / ".santiago" / "runs" / asyncio.run(all_of_it()))
    assert (run.state.phase, run.history.start["sandbox"] != "off") == (RunPhase.SUCCESS, True)
    (repo / "santiago.toml").write_text("[mcp]\nstart = true\n")
    assert (
        "[mcp] cannot be set by a repository" in inside("config", "show", cwd=repo, env=dict(os.environ), code=2).stderr
    )


def test_a_ticket_is_claimed_and_verified_as_the_queue_commands_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    for name, value in {**desk.env, "USER": "ann"}.items():
        monkeypatch.setenv(name, value)

    async def all_of_it() -> None:
        async with beside(MODES[1], desk.repo) as asked:
            assert "this project has no board" in await asked.tool("enqueue", fails=True, title="More")
            desk.ok("queue", "init")
            assert json.loads(await asked.tool("enqueue", title="--more", document="prd.md"))["source"] == "doc:prd.md"
            desk.add("T1", "developer-todo", "--verify", "grep hello hello.txt")
            assert "nobody has claimed it" in await _verified(asked, desk)
            assert json.loads(await asked.tool("claim"))["ticket"]["id"] == "T1"
            desk.commit(hello_txt="hello\n")
            assert "queue: planner-review" in await _verified(asked, desk)
            assert "is in planner-review" in await asked.tool("claim", fails=True, ticket="T1")

    asyncio.run(all_of_it())
    assert {event.actor for event in desk.events("T1")} >= {"ann by way of MCP"}


async def _verified(asked: Asked, desk: Desk) -> str:
    """Have the latest commit judged, and see that the answer does not wait for it."""
    name = (await asked.tool("verify", ticket="T1")).split()[0]
    assert name == f"T1@{greeter.git(desk.repo, 'rev-parse', 'HEAD')[:12]}"
    os.waitid(os.P_PID, BEGUN[name].pid, os.WEXITED | os.WNOWAIT)
    return await asked.tool("status", ticket="T1")
