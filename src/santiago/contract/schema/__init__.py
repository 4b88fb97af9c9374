"""JSON Schemas of the public documents, generated from the contract's own types."""

from __future__ import annotations

from typing import Any

from santiago.contract.events import LogLine
from santiago.contract.plan import Plan
from santiago.contract.policy import RunInput
from santiago.contract.result import Result, Session, Ticket

SCHEMAS: dict[str, type] = {
    "run-input": RunInput,
    "plan": Plan,
    "event": LogLine,
    "result": Result,
    "session": Session,
    "ticket": Ticket,
}


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one document."""
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(SCHEMAS[name])
    schema = adapter.json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"santiago:{name}:1", **schema}
