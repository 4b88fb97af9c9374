"""Chat completions, as many services speak them."""

import json

from tests.agents.conversation import Conversation, Json
from tests.agents.dialects import Answer, Complaint, Dialect, Events

_ERRORS = {
    400: ("context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input."),
    401: ("invalid_api_key", "Incorrect API key provided: sk-loop****. You can find your API key in your account."),
    402: ("insufficient_quota", "Insufficient credits. Add more to go on."),
    403: ("access_denied", "This project does not have access to the model."),
    404: ("model_not_found", "The model `m-of-tomorrow` does not exist or you do not have access to it."),
    429: ("rate_limit_exceeded", "Rate limit reached on requests per minute: limit 3, used 3, requested 1."),
    500: ("server_error", "The server had an error while processing your request. Sorry about that!"),
    529: ("overloaded", "The engine is currently overloaded, please try again later."),
}
_ENDS = {"limit": "length", "refusal": "content_filter"}


def hear(body: Json) -> Conversation:
    asked = Conversation()
    for tool in body.get("tools") or ():
        function = tool.get("function") or {}
        asked.declare(function.get("name", ""), function.get("parameters"))
    for message in body.get("messages") or ():
        if message.get("role") == "assistant":
            continue
        asked.hear(message.get("content"))
        asked.results += message.get("role") == "tool"
    asked.schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    return asked


def _calls(answer: Answer) -> list[Json]:
    return [
        {
            "index": number,
            "id": f"call_{answer.ident}_{number}",
            "type": "function",
            "function": {"name": use.name, "arguments": json.dumps(use.arguments)},
        }
        for number, use in enumerate(answer.uses)
    ]


def _usage(answer: Answer) -> Json:
    read = answer.usage.fresh + answer.usage.cached
    return {
        "prompt_tokens": read,
        "completion_tokens": answer.usage.output,
        "total_tokens": answer.usage.total,
        "prompt_tokens_details": {"cached_tokens": answer.usage.cached},
    }


def _finish(answer: Answer) -> str:
    return _ENDS.get(answer.ends) or ("tool_calls" if answer.uses else "stop")


def _base(answer: Answer, kind: str) -> Json:
    return {"id": f"chatcmpl-{answer.ident}", "object": kind, "created": 1, "model": answer.model}


def whole(answer: Answer) -> Json:
    message = {"role": "assistant", "content": answer.text or None, "tool_calls": _calls(answer)}
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    return {**_base(answer, "chat.completion"), "choices": [choice], "usage": _usage(answer)}


def stream(answer: Answer) -> Events:
    base = _base(answer, "chat.completion.chunk")

    def piece(delta: Json, finish: str | None = None) -> tuple[str, Json]:
        return "", {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield piece({"role": "assistant", "content": ""})
    if answer.text:
        yield piece({"content": answer.text})
    for call in _calls(answer):
        yield piece({"tool_calls": [call]})
    yield piece({}, _finish(answer))
    yield "", {**base, "choices": [], "usage": _usage(answer)}
    yield "", "[DONE]"


def complain(status: int, wait: int | None) -> Complaint:
    code, message = _ERRORS[status]
    kind = "invalid_request_error" if status < 429 else code
    if wait is None:
        return Complaint({"error": {"message": message, "type": kind, "param": None, "code": code}})
    message = f"{message} Please try again in {wait}s."
    headers = (("retry-after", str(wait)), ("x-ratelimit-reset-requests", f"{wait}s"))
    return Complaint({"error": {"message": message, "type": kind, "param": None, "code": code}}, headers)


CHAT = Dialect("chat", hear, whole, stream, complain)
