"""An agent that speaks ACP, without any library, so that it starts at once. It does what its first argument says. The tests start it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

CASE = sys.argv[1]
TOKENS = 6150
OWN = "own"
"""The id of each request of its own."""


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def hear() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    heard: dict[str, Any] = json.loads(line)
    return heard


def update(name: str, /, **what: Any) -> None:
    send(method="session/update", params={"sessionId": "one", "update": {"sessionUpdate": name, **what}})


def say(text: str) -> None:
    update("agent_message_chunk", content={"type": "text", "text": text})


def ask(method: str, **params: Any) -> Any:
    send(id=OWN, method=method, params={"sessionId": "one", **params})
    while (heard := hear()).get("id") != OWN:
        pass
    return heard["result"]


def may(*kinds: str) -> Any:
    options = [{"optionId": f"o-{kind}", "name": kind, "kind": kind} for kind in kinds]
    tool = {"toolCallId": "t1", "title": "Write hello.txt"}
    return ask("session/request_permission", toolCall=tool, options=options)["outcome"]


def cancelled() -> dict[str, str]:
    while hear().get("method") != "session/cancel":
        pass
    return {"stopReason": "cancelled"}


def turn(prompt: str) -> dict[str, Any]:
    match CASE:
        case "dies":
            os._exit(3)
        case "silence":
            return cancelled()
        case "refusal":
            return {"stopReason": "refusal"}
        case "question":
            schema = {"type": "object", "properties": {}}
            answer = ask("elicitation/create", mode="form", message="Which of the two?", requestedSchema=schema)
            assert answer["action"] == "cancel"
            return cancelled()
        case "garbage":
            print("no json\n" * 3, flush=True)
        case "flood":
            for number in range(300):
                say(f"{number} " + "x" * 100)
    return work(prompt)


def work(prompt: str) -> dict[str, Any]:
    assert may("allow_always", "reject_once")["outcome"] == "cancelled", "nothing is allowed for always"
    assert may("reject_once", "allow_always", "allow_once")["optionId"] == "o-allow_once"
    update("plan", entries=[{"content": "write it", "status": "in_progress", "priority": "medium"}])
    update("tool_call", toolCallId="t1", title="Write hello.txt", kind="edit")
    if "hello.txt" in prompt:
        Path("hello.txt").write_text("hello\n")
    update("usage_update", used=5, size=10, cost={"amount": 0.25, "currency": "USD"})
    for piece in ("All ", "done."):
        say(piece)
    return {"stopReason": "end_turn", "usage": {"totalTokens": TOKENS, "inputTokens": 6000, "outputTokens": 150}}


def answered(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        can = params["clientCapabilities"]
        assert not can.get("terminal")
        assert not any((can.get("fs") or {}).values())
        return {"protocolVersion": params["protocolVersion"]}
    if method == "session/new":
        assert params["cwd"] == str(Path.cwd())
        return {"sessionId": "one"}
    return turn(params["prompt"][0]["text"])


ERRORS = {
    ("rate limit", "session/prompt"): {
        "code": -32603,
        "message": "Internal error",
        "data": {"errorKind": "rate_limit"},
    },
    ("not signed in", "session/new"): {"code": -32000, "message": "Authentication required"},
}
while True:
    asked = hear()
    if error := ERRORS.get((CASE, asked["method"])):
        send(id=asked["id"], error=error)
    elif "id" in asked:
        send(id=asked["id"], result=answered(asked["method"], asked["params"]))
