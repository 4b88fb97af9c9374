"""OpenAI's responses."""

import json
from itertools import count

from tests.agents.conversation import Conversation, Json
from tests.agents.dialects import Answer, Dialect, Events
from tests.agents.dialects.chat import complain

_ENDS = {"limit": "max_output_tokens", "refusal": "content_filter"}


def hear(body: Json) -> Conversation:
    asked = Conversation()
    asked.hear(body.get("instructions"))
    for tool in body.get("tools") or ():
        if tool.get("type") in ("function", "custom"):
            asked.declare(tool.get("name", ""), tool.get("parameters"), tool["type"])
    for item in body.get("input") or ():
        asked.results += str(item.get("type")).endswith("_output")
        if item.get("type", "message") == "message" and item.get("role") != "assistant":
            asked.hear(item.get("content"))
    asked.schema = ((body.get("text") or {}).get("format") or {}).get("schema")
    return asked


def _items(answer: Answer) -> list[Json]:
    items: list[Json] = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        items.append({"type": "message", "id": f"msg_{answer.ident}", "role": "assistant", "content": [part]})
    for number, use in enumerate(answer.uses):
        call = {"id": f"fc_{answer.ident}_{number}", "call_id": f"call_{answer.ident}_{number}", "name": use.name}
        if use.kind == "custom":
            items.append({"type": "custom_tool_call", **call, "input": use.arguments.get("input", "")})
        else:
            items.append({"type": "function_call", **call, "arguments": json.dumps(use.arguments)})
    return [{**item, "status": "completed"} for item in items]


def whole(answer: Answer) -> Json:
    return {
        "id": f"resp_{answer.ident}",
        "object": "response",
        "created_at": 1,
        "model": answer.model,
        "status": "incomplete" if answer.ends else "completed",
        "error": None,
        "incomplete_details": {"reason": _ENDS[answer.ends]} if answer.ends else None,
        "output": _items(answer),
        "usage": {
            "input_tokens": answer.usage.fresh + answer.usage.cached,
            "input_tokens_details": {"cached_tokens": answer.usage.cached},
            "output_tokens": answer.usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.usage.total,
        },
    }


def stream(answer: Answer) -> Events:
    response = whole(answer)
    numbers = count()

    def event(kind: str, **more: object) -> tuple[str, Json]:
        return kind, {"type": kind, "sequence_number": next(numbers), **more}

    begun = {**response, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    yield event("response.created", response=begun)
    for index, item in enumerate(response["output"]):
        opened = {**item, "status": "in_progress", **({"content": []} if item["type"] == "message" else {})}
        yield event("response.output_item.added", output_index=index, item=opened)
        if item["type"] == "message":
            where = {"output_index": index, "item_id": item["id"], "content_index": 0}
            yield event("response.output_text.delta", **where, delta=answer.text)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event(f"response.{response['status']}", response=response)


RESPONSES = Dialect("responses", hear, whole, stream, complain)
