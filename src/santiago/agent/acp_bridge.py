"""A separate program, run by its path inside the fence: drives one turn of an agent that speaks ACP, and prints it as JSON lines.

Its arguments are the agent's command line, its input is the prompt. Each update of the session is one line, the turn's result or its
error is the last one, so that a profile's rules read it like any agent's stream. It offers the agent no files and no terminal. It
allows what is asked for once, never for always. A question to a person ends the turn. It imports nothing of santiago, which
need not be reachable in there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from acp import (
    PROTOCOL_VERSION,
    CancelElicitationResponse,
    RequestError,
    RequestPermissionResponse,
    spawn_agent_process,
    text_block,
)
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    Implementation,
)

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one message. A longer one ends the turn."""
ENDED_BADLY = 1


class Client:
    """The end that an agent talks to. Whatever it does not have here, such as files, the agent hears is not offered."""

    def __init__(self) -> None:
        self.agent: Any = None
        self.session = ""
        self.asked = ""

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    async def session_update(self, update: Any, **_: Any) -> None:
        say(update.model_dump(mode="json", by_alias=True, exclude_none=True))

    async def request_permission(self, tool_call: Any, options: list[Any], **_: Any) -> RequestPermissionResponse:
        once = next((one.option_id for one in options if one.kind == "allow_once"), None)
        say({"type": "permission", "tool": tool_call.title, "allowed": once is not None})
        if once is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=once))

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> CancelElicitationResponse:  # noqa: ARG002
        """Keep a question for a person, and end the turn: nobody is there to answer."""
        self.asked = self.asked or " ".join(message.split())
        asyncio.get_running_loop().create_task(self.cancel())
        return CancelElicitationResponse(action="cancel")

    async def cancel(self) -> None:
        with suppress(Exception):
            await self.agent.cancel(session_id=self.session)

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore what the protocol does not know."""


def say(document: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(document)}\n")
    sys.stdout.flush()


async def turn(argv: list[str], prompt: str) -> int:
    """Start the agent, drive its one turn, and return the exit code."""
    client: Any = Client()
    starting = spawn_agent_process(
        client, *argv, env=dict(os.environ), cwd=Path.cwd(), use_unstable_protocol=True,
        transport_kwargs={"limit": LONGEST_LINE, "stderr": None},
    )  # fmt: skip
    # Whoever ends this program signals the agent as well. It inherits that it ignores this, so that it hears the cancellation first.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    async with starting as (agent, process):
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, lambda: asyncio.ensure_future(client.cancel()))
        try:
            return await _work(client, agent, prompt)
        except RequestError as error:
            say({"type": "error", "message": str(error), "code": error.code, "data": error.data})
        except (ConnectionError, EOFError):
            say({"type": "error", "message": f"the agent went away: it ended with exit code {await process.wait()}"})
    return ENDED_BADLY


async def _work(client: Client, agent: Any, prompt: str) -> int:
    can = ClientCapabilities(elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()))
    about = Implementation(name="santiago", version="1")
    await agent.initialize(protocol_version=PROTOCOL_VERSION, client_capabilities=can, client_info=about)
    client.session = (await agent.new_session(cwd=str(Path.cwd()), mcp_servers=[])).session_id
    say({"type": "session", "session": client.session})
    result = await agent.prompt(session_id=client.session, prompt=[text_block(prompt)])
    told = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    if client.asked:
        say({"type": "question", "text": f"SANTIAGO_QUESTION: {client.asked}"})
        told["stopReason"] = "asked"
    say({"type": "result", **told})
    return 0


if __name__ == "__main__":
    logging.disable()  # the library would print its own view of a line that is no message
    sys.exit(asyncio.run(turn(sys.argv[1:], sys.stdin.read())))
