"""What the scripted model does: actions, one per tool result that it has seen, and faults in their place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Read:
    path: str


@dataclass(frozen=True)
class Write:
    path: str
    content: str


@dataclass(frozen=True)
class Edit:
    """Replaces the only occurrence of whole lines; agents want the file read before."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Shell:
    command: str


@dataclass(frozen=True)
class Plan:
    """The agent's own to-do list, as (text, status)."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Call:
    """A tool by its exact name, declared or not."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Say:
    """Words without a tool call, which end the agent's turn."""

    text: str
    ends: Literal["", "limit", "refusal"] = ""
    """Why the model stopped where it did not simply finish: cut at the token limit, or it refuses."""


Action = Read | Write | Edit | Shell | Plan | Call | Say


@dataclass(frozen=True)
class Fault:
    """What the server does instead of answering properly."""

    status: int = 0
    """An HTTP status with an error in the dialect's own words."""
    wait: int | None = None
    """Seconds after which requests are welcome again, where the error says so."""
    way: Literal["", "cut", "html", "slow", "stall"] = ""
    """Connection closed in mid-stream, a web page, an answer in slow pieces, silence after the first piece."""
    times: int | None = None
    """How often; for ever where it is not said."""
    at: int = 0
    """After how many tool results."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer, each counted once: `fresh` was read anew, `cached` was read from the cache."""

    fresh: int = 1000
    cached: int = 200
    output: int = 30

    @property
    def total(self) -> int:
        return self.fresh + self.cached + self.output


Acts = Sequence[Action]
Script = Acts | Callable[[str], Acts]
"""Actions, or what chooses them by the prompt."""


def acts(script: Script, prompt: str) -> Acts:
    return script(prompt) if callable(script) else script
