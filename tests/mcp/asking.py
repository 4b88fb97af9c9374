"""A run that asks every kind of question, and the library's own client that speaks to the real server about it."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, chdir
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult, ListRootsResult, Root

from mcp import Client, StdioServerParameters
from santiago.artifacts import registry
from santiago.artifacts.names import INPUT
from santiago.artifacts.run_locations import RUNS
from santiago.contract import codec
from santiago.contract.answers import KINDS
from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase
from santiago.contract.policy import RunInput
from santiago.mcp.server import Repository, server
from tests.cli import greeter
from tests.tui.made import NOW, PATCH, RUN, Made, document

ASKED = [kind for kind in KINDS if kind != "plan"]
"""Every kind of question that a run asks."""
MODES = ("legacy", "2026-07-28")
"""The handshake of the older protocols, and the newest one without any."""


def made(folder: Path, **chunks: tuple[str, ...]) -> Made:
    """Make a repository with a run at rest that asks one question of each kind."""
    text = document(chunks or {"All": tuple(f"Part {kind}" for kind in ASKED)})
    repo = greeter.committed(folder / "repo", {"docs/prd.md": text})
    run = Made(repo / RUNS / RUN, text)
    path = run.out_dir / INPUT
    run_input = codec.decode(RunInput, path.read_bytes(), "input")
    path.write_bytes(codec.canonical(replace(run_input, repo_path=str(repo))))
    common = registry.common_git_dir(repo)
    assert common is not None
    registry.register(common, RUN, run.out_dir, NOW)
    run.kept_back = True
    run.begin()
    run.chunk(0)
    run.fails("S1", 1)
    for number, kind in enumerate(() if chunks else ASKED, 1):
        asks: Any = {"kind": kind, "text": f"About {kind}?", "round": 1, "options": ["S1", "S2"]}
        run.add(EventKind.QUESTION_ASKED, f"S{number}", question=f"S{number}-{kind}-1", **asks)
    run.kept_back = False
    run.add(EventKind.RUN_ENDED, None, RunPhase.BLOCKED, status="blocked", reason="agent_asked")
    run.files("S1", 1, changes_patch=PATCH, critique_md="# story_verification_failed\n\nIt says helo.\n")
    return run


def contents(folder: Path) -> dict[str, str]:
    """Return a digest of every file."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in found}


class Person:
    """What a client says of every form. This one accepts them all, unless told otherwise."""

    def __init__(self) -> None:
        self.action, self.text = "accept", ""
        self.shown: list[str] = []

    async def fill(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.shown.append(params.message)
        content: dict[str, Any] | None = {"text": self.text} if self.action == "accept" else None
        return ElicitResult(action=self.action, content=content)  # type: ignore[arg-type]


class Asked:
    """An open connection."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def tool(self, name: str, *, fails: bool = False, **arguments: Any) -> str:
        """Call a tool, and return its text; see it fail or not."""
        result = await self.client.call_tool(name, arguments)
        (content,) = result.content
        assert content.type == "text"
        assert bool(result.is_error) is fails, content.text
        assert len(result.model_dump_json(by_alias=True)) < 20_000
        return content.text

    async def resource(self, address: str) -> str:
        (content,) = (await self.client.read_resource(address)).contents
        return getattr(content, "text", "")


@asynccontextmanager
async def connected(mode: str, person: Person, *folders: Path) -> AsyncIterator[Asked]:
    """Start the real server as a client does: somewhere else, with folders of the client."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SANTIAGO_")}
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "santiago", "mcp"], env={**clean, "USER": "ann"}, cwd="/"
    )

    async def roots(context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=folder.as_uri()) for folder in folders])  # type: ignore[arg-type]

    async with Client(program, mode=mode, elicitation_callback=person.fill, list_roots_callback=roots) as client:
        yield Asked(client)


@asynccontextmanager
async def beside(mode: str, repo: Path) -> AsyncIterator[Asked]:
    """Speak to a server in this process, for what needs no process of its own. Its client shows no forms."""
    with chdir("/"), patch.object(Repository, "is_found", False):
        Repository.enter([repo])
        async with Client(server(), mode=mode) as client:
            yield Asked(client)
