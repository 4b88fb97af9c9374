"""Anthropic's messages."""

import json
import time

from tests.agents.conversation import Conversation, Json
from tests.agents.dialects import Answer, Complaint, Dialect, Events

_ERRORS = {
    400: ("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "model: claude-of-tomorrow"),
    429: ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
    500: ("api_error", "Internal server error"),
    529: ("overloaded_error", "Overloaded"),
}
_ENDS = {"limit": "max_tokens", "refusal": "refusal"}


def hear(body: Json) -> Conversation:
    asked = Conversation()
    asked.hear(body.get("system"))
    for tool in body.get("tools") or ():
        asked.declare(tool.get("name", ""), tool.get("input_schema"))
    for message in body.get("messages") or ():
        if message.get("role") == "assistant":
            continue
        asked.hear(message.get("content"))
        parts = message.get("content")
        asked.results += sum(part.get("type") == "tool_result" for part in parts) if isinstance(parts, list) else 0
    asked.schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
    return asked


def _blocks(answer: Answer) -> list[Json]:
    said = [{"type": "text", "text": answer.text}] if answer.text else []
    used = [
        {"type": "tool_use", "id": f"toolu_{answer.ident}_{number}", "name": use.name, "input": use.arguments}
        for number, use in enumerate(answer.uses)
    ]
    return said + used


def whole(answer: Answer) -> Json:
    return {
        "id": f"msg_{answer.ident}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": _blocks(answer),
        "stop_reason": _ENDS.get(answer.ends) or ("tool_use" if answer.uses else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": answer.usage.fresh,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": answer.usage.cached,
            "output_tokens": answer.usage.output,
        },
    }


def stream(answer: Answer) -> Events:
    message = whole(answer)
    opening = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": opening}
    for index, block in enumerate(message["content"]):
        place = {"index": index}
        if block["type"] == "text":
            begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield "content_block_start", {"type": "content_block_start", **place, "content_block": begun}
        yield "content_block_delta", {"type": "content_block_delta", **place, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", **place}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": ended, "usage": message["usage"]}
    yield "message_stop", {"type": "message_stop"}


def complain(status: int, wait: int | None) -> Complaint:
    kind, message = _ERRORS[status]
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}
    if wait is None:
        return Complaint(body)
    reset = str(int(time.time()) + wait)
    unified = (("anthropic-ratelimit-unified-status", "rejected"), ("anthropic-ratelimit-unified-reset", reset))
    return Complaint(body, (("retry-after", str(wait)), *unified))


ANTHROPIC = Dialect("anthropic", hear, whole, stream, complain)
