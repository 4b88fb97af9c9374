"""Google's generateContent."""

from tests.agents.conversation import Conversation, Json
from tests.agents.dialects import Answer, Complaint, Dialect, Events

_ERRORS = {
    400: (
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    402: ("FAILED_PRECONDITION", "Billing is not enabled for this project."),
    403: ("PERMISSION_DENIED", "The caller does not have permission"),
    404: ("NOT_FOUND", "models/gemini-of-tomorrow is not found for API version v1beta."),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    500: ("INTERNAL", "An internal error has occurred. Please retry."),
    529: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}
_ENDS = {"limit": "MAX_TOKENS", "refusal": "SAFETY"}


def hear(body: Json) -> Conversation:
    asked = Conversation()
    asked.hear((body.get("systemInstruction") or {}).get("parts"))
    for group in body.get("tools") or ():
        for tool in group.get("functionDeclarations") or ():
            asked.declare(tool.get("name", ""), tool.get("parametersJsonSchema") or tool.get("parameters"))
    for content in body.get("contents") or ():
        if content.get("role") != "model":
            parts = content.get("parts") or []
            asked.hear(parts)
            asked.results += sum("functionResponse" in part for part in parts)
    settings = body.get("generationConfig") or {}
    asked.schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
    return asked


def whole(answer: Answer) -> Json:
    parts: list[Json] = [{"text": answer.text}] if answer.text else []
    parts += [
        {"functionCall": {"id": f"call_{answer.ident}_{number}", "name": use.name, "args": use.arguments}}
        for number, use in enumerate(answer.uses)
    ]
    candidate = {
        "index": 0,
        "content": {"role": "model", "parts": parts},
        "finishReason": _ENDS.get(answer.ends, "STOP"),
    }
    return {
        "candidates": [candidate],
        "modelVersion": answer.model,
        "responseId": answer.ident,
        "usageMetadata": {
            "promptTokenCount": answer.usage.fresh + answer.usage.cached,
            "cachedContentTokenCount": answer.usage.cached,
            "candidatesTokenCount": answer.usage.output,
            "totalTokenCount": answer.usage.total,
        },
    }


def stream(answer: Answer) -> Events:
    body = whole(answer)
    candidate = body["candidates"][0]
    opening = {"index": 0, "content": {"role": "model", "parts": [{"text": "", "thought": True}]}}
    yield "", {**body, "candidates": [opening]}
    yield "", {**body, "candidates": [candidate]}


def complain(status: int, wait: int | None) -> Complaint:
    word, message = _ERRORS[status]
    error: Json = {"code": status, "message": message, "status": word}
    if wait is not None:
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait}s"}
        error = {**error, "message": f"{message} Please retry in {wait}s.", "details": [info]}
    return Complaint({"error": error})


GEMINI = Dialect("gemini", hear, whole, stream, complain)
