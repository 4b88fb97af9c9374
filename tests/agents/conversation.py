"""What a request tells, whatever its dialect: the tools that it declares, the words so far, how far the script has got."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

_FOLDER = re.compile(r"(?:<cwd>|(?i:working (?:in the )?director(?:y|ies))(?: is)?:\s+[`\"'\-\s]*)(/[^\s`\"'<>\\,]+)")
"""How the known programs tell their model where it works."""


@dataclass(frozen=True)
class Tool:
    name: str
    schema: Json
    kind: str = "function"
    """`custom` takes free text instead of arguments."""


@dataclass
class Conversation:
    tools: dict[str, Tool] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    """Everything that is not the model's own, in order."""
    results: int = 0
    """Tool results so far: the place in the script, which no retry and no side question moves."""
    schema: Json | None = None
    """A form that the answer must have; only side questions ask for one."""

    @property
    def prompt(self) -> str:
        return "\n".join(self.words)

    @property
    def folder(self) -> str:
        """Return the agent's working folder, for tools that want absolute paths."""
        found = _FOLDER.search(self.prompt)
        return found[1].rstrip(".") if found else "."

    def declare(self, name: str, schema: Json | None, kind: str = "function") -> None:
        self.tools[name] = Tool(name, schema or {}, kind)

    def hear(self, content: object) -> None:
        """Take in text, or the texts in a list of parts."""
        if isinstance(content, str):
            self.words.append(content)
        elif isinstance(content, list):
            for part in content:
                self.hear(part.get("text") if isinstance(part, Mapping) else part)


def smallest(schema: Json) -> Any:
    """Return the smallest value of a schema."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "object")
    kind = (kind[0] if isinstance(kind, list) else str(kind)).lower()
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: smallest(properties[name]) for name in schema.get("required", ()) if name in properties}
    return {"string": "scripted", "boolean": False, "array": [], "integer": 1, "number": 1}.get(kind)
