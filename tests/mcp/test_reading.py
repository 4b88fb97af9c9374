"""What the server tells: the pages of every front end, in parts that a model can take."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from santiago import __version__
from santiago.app.loading import load
from santiago.report import tasks
from tests.cli.inside import inside
from tests.docs.pages import ROOT
from tests.mcp.asking import ASKED, MODES, Asked, beside, contents, made
from tests.tui.made import RUN

READING = ["status", "plan", "questions", "task_mirror"]
LEAVING = {
    "answer": {"question": "S7-agent-1"}, "start": {"document": "docs/prd.md"}, "enqueue": {"title": "More"}, "claim": {},
    "verify": {"ticket": "T1"},
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_inside_a_run_it_only_reads(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(tmp_path)
    before = contents(tmp_path)
    monkeypatch.setenv("SANTIAGO_RUN", "r_of_an_agent")

    async def all_of_it() -> None:
        async with beside(mode, run.out_dir) as asked:
            assert [tool.name for tool in (await asked.client.list_tools()).tools] == READING
            for name, needed in LEAVING.items():
                assert f"Unknown tool: {name}" in await asked.tool(name, fails=True, **needed)
            await _reads(asked, run.out_dir)

    asyncio.run(all_of_it())
    assert contents(tmp_path) == before


async def _reads(asked: Asked, out_dir: Path) -> None:
    """Read everything that there is, and nothing beyond this repository."""
    story = f"S{ASKED.index('agent') + 1}"
    assert RUN in await asked.tool("status")
    assert "About agent?" in await asked.tool("status", run=RUN, story=story)
    assert f"santiago answer {story}-agent-1" in await asked.tool("questions")
    assert "R1" in await asked.tool("plan", document="docs/prd.md")
    assert json.loads(await asked.tool("plan", document="docs/prd.md", data=True))["stories"][0]["id"] == "S1"
    for name, words, refused in (
        ("plan", {"document": "/etc/passwd"}, "outside of this repository"),
        ("status", {"run": str(out_dir)}, "there is no run"),
        ("status", {"ticket": "T1"}, "no board"),
    ):
        assert refused in await asked.tool(name, fails=True, **words)
    assert json.loads(await asked.resource(f"santiago://runs/{RUN}/plan"))["chunks"][0]["stories"][0] == "S1"
    for part, told in (("", "R1#1: Part detail works"), ("/critique", "It says helo."), ("/evidence", "return 409")):
        assert told in await asked.resource(f"santiago://runs/{RUN}/stories/S1{part}")


def test_a_task_list_says_what_the_log_bears_out(tmp_path: Path) -> None:
    run = made(tmp_path)
    true = tasks.document(load(run.out_dir))

    async def all_of_it() -> None:
        async with beside(MODES[0], run.out_dir) as asked:
            for call, arguments, told in (
                ("TaskList", {}, json.dumps(true["tasks"][0])),
                ("TaskCreate", {"subject": "Something else"}, "Not created"),
                ("TaskCreate", {"subject": "Part result"}, '"id": "S2"'),
                (
                    "TaskUpdate",
                    {"taskId": "S2", "status": "completed"},
                    "Not taken: the log does not bear out 'completed'",
                ),
                ("TaskUpdate", {"taskId": "S2", "status": "pending"}, "The log bears it out"),
                (
                    "update_plan",
                    {"plan": [{"step": "Part detail", "status": "completed"}]},
                    "Not taken where it differs",
                ),
                ("update_plan", true["update_plan"], "The log bears it out"),
            ):
                assert told in await asked.tool("task_mirror", call=call, arguments=arguments)

    before = contents(tmp_path)
    asyncio.run(all_of_it())
    assert contents(tmp_path) == before


def test_answers_come_in_parts_that_a_model_can_take(tmp_path: Path) -> None:
    run = made(
        tmp_path, Many=tuple(f'Part {number} "with" a longer name, so that there is more' for number in range(500))
    )

    async def all_of_it() -> None:
        async with beside(MODES[0], run.out_dir) as asked:
            listed = await asked.client.list_tools()
            assert len(listed.model_dump_json(by_alias=True, exclude_none=True)) < 8_000
            assert {tool.name for tool in listed.tools if tool.annotations and tool.annotations.read_only_hint} == {
                *READING
            }
            reads: tuple[tuple[str, dict[str, Any], str], ...] = (
                ("task_mirror", {}, r'"id": "(S[0-9]+)"'),
                ("status", {"run": RUN}, r"(?m)^. (S[0-9]+) "),
                ("plan", {"document": "docs/prd.md", "data": True}, r'"id": "(S[0-9]+)"'),
            )
            for name, words, each in reads:
                whole = await _whole(asked, name, words)
                assert {*re.findall(each, whole)} == {f"S{number}" for number in range(1, 501)}

    asyncio.run(all_of_it())


async def _whole(asked: Asked, name: str, words: dict[str, Any]) -> str:
    """Read all parts, as each says how to get the next."""
    parts, at = [], 1
    while True:
        parts.append(await asked.tool(name, **words, from_line=at))
        if not (more := re.search(r"from_line=([0-9]+)\]$", parts[-1])):
            return "\n".join(parts)
        at = int(more[1])


def test_the_plug_in_starts_this_server_and_has_this_version() -> None:
    server = json.loads((ROOT / "plugin/.mcp.json").read_text())["mcpServers"]["santiago"]
    assert [server["command"], *server["args"]] == ["santiago", "mcp"]
    assert json.loads((ROOT / "plugin/.claude-plugin/plugin.json").read_text())["version"] == __version__
    (listed,) = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text())["plugins"]
    assert (ROOT / listed["source"] / "skills" / listed["name"] / "SKILL.md").is_file()


def test_without_its_library_one_line_says_how_to_install_it(tmp_path: Path) -> None:
    with patch.dict(sys.modules, {"santiago.mcp.server": None}):
        assert "pip install 'santiago[mcp]'" in inside("mcp", cwd=tmp_path, code=2).stderr
