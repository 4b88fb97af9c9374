"""An agent that speaks ACP by the protocol's own library, and does what its first argument says. The tests start it."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import acp
from acp import schema
from acp.schema import PermissionOption, ToolCallUpdate

CASE = sys.argv[1]
TOKENS = 6150


class Agent:
    client: Any

    def on_connect(self, conn: Any) -> None:
        self.client = conn
        self.cancelled = asyncio.Event()

    async def initialize(
        self, protocol_version: int, client_capabilities: Any = None, **_: Any
    ) -> acp.InitializeResponse:
        assert not client_capabilities.terminal
        assert not (
            client_capabilities.fs and (client_capabilities.fs.read_text_file or client_capabilities.fs.write_text_file)
        )
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        if CASE == "unsigned":
            raise acp.RequestError(-32000, "Authentication required")
        assert cwd == str(Path.cwd())
        return acp.NewSessionResponse(session_id="one")

    async def cancel(self, **_: Any) -> None:
        self.cancelled.set()

    async def say(self, update: Any) -> None:
        await self.client.session_update(session_id="one", update=update)

    async def may(self, *kinds: str) -> Any:
        options = [PermissionOption(option_id=f"o-{kind}", name=kind, kind=kind) for kind in kinds]  # type: ignore[arg-type]
        asked = ToolCallUpdate(tool_call_id="t1", title="Write hello.txt")
        return (await self.client.request_permission(session_id="one", tool_call=asked, options=options)).outcome

    async def prompt(self, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        if CASE == "rate":
            raise acp.RequestError(-32603, "Internal error", {"errorKind": "rate_limit"})
        if CASE == "dies":
            os._exit(3)
        if CASE == "garbage":
            sys.stdout.write("no json\n" * 3)
            sys.stdout.flush()
        if CASE == "flood":
            for number in range(300):
                await self.say(acp.update_agent_message_text(f"{number} " + "x" * 100))
        if CASE == "silent":
            await self.cancelled.wait()
            return acp.PromptResponse(stop_reason="cancelled")
        if CASE == "asks":
            form = schema.ElicitationFormSessionMode(
                session_id="one", requested_schema=schema.ElicitationSchema(properties={})
            )
            answer = await self.client.create_elicitation(message="Which of the two?", mode=form)
            assert answer.action == "cancel"
            return acp.PromptResponse(stop_reason="cancelled")
        if CASE == "refuses":
            return acp.PromptResponse(stop_reason="refusal")
        return await self.work(prompt[0].text)

    async def work(self, prompt: str) -> acp.PromptResponse:
        always = await self.may("allow_always", "reject_once")
        assert always.outcome == "cancelled", "nothing is allowed for always"
        once = await self.may("reject_once", "allow_always", "allow_once")
        assert once.option_id == "o-allow_once"
        await self.say(acp.update_plan([acp.plan_entry("write it", status="in_progress")]))
        await self.say(acp.start_tool_call("t1", "Write hello.txt", kind="edit"))
        if "hello.txt" in prompt:
            Path("hello.txt").write_text("hello\n")
        await self.say(
            schema.UsageUpdate(
                used=5, size=10, cost=schema.Cost(amount=0.25, currency="USD"), session_update="usage_update"
            )
        )
        for piece in ("All ", "done."):
            await self.say(acp.update_agent_message_text(piece))
        usage = schema.Usage(total_tokens=TOKENS, input_tokens=6000, output_tokens=150)
        return acp.PromptResponse(stop_reason="end_turn", usage=usage)


if __name__ == "__main__":
    agent: Any = Agent()
    asyncio.run(acp.run_agent(agent))
