"""Removes secrets from what a run writes: from whole texts, and from the strings in JSON and events."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from santiago.contract.events import Event
    from santiago.process.redact import Redactor


def file(redactor: Redactor, path: str, content: bytes) -> bytes:
    """Return the content of a file without secrets; what is JSON stays JSON."""
    cleaned = redactor.whole(content)
    if cleaned == content or not path.endswith(".json"):
        return cleaned
    try:
        data = json.loads(content)
    except ValueError:
        return cleaned
    text = json.dumps(_clean(redactor, data), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def event(redactor: Redactor, told: Event) -> Event:
    """Return an event as it may be recorded."""
    context: Any = {name: _clean(redactor, value) for name, value in told.context.items()}
    return told if context == told.context else replace(told, context=context)


def _clean(redactor: Redactor, value: Any) -> Any:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, dict):
        return {name: _clean(redactor, item) for name, item in value.items()}
    return [_clean(redactor, item) for item in value] if isinstance(value, list) else value
