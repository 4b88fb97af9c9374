"""JSON Schemas of the public documents, generated from the contract's own types."""

from __future__ import annotations

from typing import Any

from santiago.contract.board import Ticket
from santiago.contract.events import LogLine
from santiago.contract.plan import Detail, Plan
from santiago.contract.policy import RunInput
from santiago.contract.record import CONFIG
from santiago.contract.result import Result, Session

SCHEMAS: dict[str, type] = {
    "run-input": RunInput,
    "plan": Plan,
    "detail": Detail,
    "event": LogLine,
    "result": Result,
    "session": Session,
    "ticket": Ticket,
}


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one document, with the docstrings of its fields as descriptions."""
    from pydantic import TypeAdapter

    CONFIG["use_attribute_docstrings"] = True
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(SCHEMAS[name])
    finally:
        del CONFIG["use_attribute_docstrings"]
    schema = adapter.json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"santiago:{name}:1", **schema}
