"""The dialects of model services, one file each: reading a request, and saying the answer as JSON or as events."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.agents.conversation import Conversation, Json
from tests.agents.script import Usage
from tests.agents.tools import Use

Events = Iterator[tuple[str, Json | str]]
"""Names of events, empty where the dialect has none, and their data."""


@dataclass(frozen=True)
class Answer:
    """One turn of the model, before it is put into a dialect."""

    ident: str
    model: str
    text: str = ""
    uses: tuple[Use, ...] = ()
    ends: str = ""
    """`limit` or `refusal`, where the model did not simply stop."""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Complaint:
    """An error as the service words it."""

    body: Json
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Dialect:
    name: str
    hear: Callable[[Json], Conversation]
    whole: Callable[[Answer], Json]
    """The answer to a request that does not want a stream."""
    stream: Callable[[Answer], Events]
    complain: Callable[[int, int | None], Complaint]
    """The answer to a refused request: status, and seconds to wait where they are said."""
