"""What a reader returns to the compiler: the document as a list of units. Stories, their ids and their order come later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum
from typing import TypeVar

from santiago.contract.plan import Finding, Offer, Role
from santiago.contract.record import lean, record


class Status(StrEnum):
    """What the document says about a unit's state. It is a claim that santiago has not checked."""

    OPEN = "open"
    DONE = "done"
    """Ticked, or `passes: true`: the story is marked as claimed done."""
    OPTIONAL = "optional"
    """Planned like any other unit, with a note."""
    DROPPED = "dropped"
    """Dropped, cancelled or removed by the author: reported and not planned."""
    FUTURE = "future"
    """In a section that is out of scope or deferred: reported and not planned."""


PLANNED = frozenset({Status.OPEN, Status.DONE, Status.OPTIONAL})


@record
class DraftCriterion:
    text: str
    line: int
    id: str | None = None


EXTERNAL = "external"
"""The carrier of a dependency that a plan file lists as external, on something outside the plan."""


@record
class Dep:
    """A dependency: on the unit with this id, or on all units of a group or tag."""

    target: str
    line: int
    carrier: str
    """The kind of text that declares it. `prose`: the id is only mentioned. `unclear`: the words name no id. `blocks`: the target waits."""

    @property
    def is_declared(self) -> bool:
        return self.carrier not in ("prose", "unclear", "blocks")


@record
class Hint:
    """A file or a command that the document names."""

    value: str
    line: int
    carrier: str
    """The kind of text that names it, such as `field`, `table` or `text` (a sentence)."""


def unique(found: Iterable[Hint]) -> tuple[Hint, ...]:
    """Return hints without repetition. The first mention counts, but a mention in a field goes before one in a sentence."""
    first: dict[str, Hint] = {}
    for hint in found:
        if first.setdefault(hint.value, hint).carrier == "text" != hint.carrier:
            first[hint.value] = hint
    return tuple(first.values())


K = TypeVar("K")
V = TypeVar("V")


def by_key(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key. Keys and values keep the order in which they first come."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


@record
class Unit:
    """One requirement, story or task as the document defines it."""

    title: str
    line: int
    end: int = 0
    """The last line that belongs to it; 0 if the reader does not tell."""
    id: str | None = None
    text: str = ""
    status: Status = Status.OPEN
    chunk: str | None = None
    """The phase, epic, milestone or group that the unit belongs to."""
    tags: tuple[str, ...] = ()
    """Other names that a dependency may use for this unit: `US1`, the parent task, a former id."""
    priority: str | None = None
    rank: int = 0
    """The order that the document itself gives, such as a numeric priority. It sorts before the id."""
    role: Role = "developer"
    profile: str | None = None
    """The agent profile that the document asks for."""
    criteria: tuple[DraftCriterion, ...] = ()
    deps: tuple[Dep, ...] = ()
    covers: tuple[Hint, ...] = ()
    files: tuple[Hint, ...] = ()
    verify: tuple[Hint, ...] = ()
    unread: tuple[Hint, ...] = ()
    """Texts in a list of checks or files that look like a command or a path but were not used."""


@record
class GroupEdge:
    """A dependency between groups or tags: every unit of `group` waits for every unit of `target`."""

    group: str
    target: str
    line: int


@lean(kw_only=True)
class Document:
    """A document as one reader understood it."""

    format: str
    evidence: tuple[str, ...] = ()
    title: str = ""
    units: list[Unit] = field(default_factory=list)
    edges: list[GroupEdge] = field(default_factory=list)
    run_verify: list[Hint] = field(default_factory=list)
    unread: list[Hint] = field(default_factory=list)
    """As `Unit.unread`, for the text outside all units."""
    findings: list[Finding] = field(default_factory=list)
    by_program: bool = False
    """A program or an agent wrote it: duplicate ids, unknown dependencies and missing chunks are errors."""
    known: bool = False
    """A known format's reader made it, so that there is no doubt about which list is the work."""
    chosen: Offer | None = None
    """The list that the units were made from."""
    rivals: tuple[Offer, ...] = ()
    """Other lists that could be the work."""


class DocumentError(Exception):
    """The document is not valid JSON, YAML or Markdown, so nothing in it can be relied on."""

    def __init__(self, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        """1-based; 0 if the error concerns the whole document."""
        self.message = message
        """One line, without the line number."""
        self.hint = hint
