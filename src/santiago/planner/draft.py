"""What a reader hands to the compiler: a document as units, before there are stories, ids or an order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from santiago.contract.plan import Finding, Role
from santiago.contract.record import record


class Status(StrEnum):
    """What the document says about a unit; a claim, never a fact."""

    OPEN = "open"
    DONE = "done"
    """Ticked or `passes: true`: imported as claimed."""
    OPTIONAL = "optional"
    """A story like any other, with a note."""
    DROPPED = "dropped"
    """Cut, cancelled or removed by the author: reported, not planned."""
    FUTURE = "future"
    """Stands in a section that is out of scope or deferred: reported, not planned."""


PLANNED = frozenset({Status.OPEN, Status.DONE, Status.OPTIONAL})


@record
class DraftCriterion:
    text: str
    line: int
    id: str | None = None


EXTERNAL = "external"
"""Carrier of a dependency of which a plan itself says that it lies outside."""


@record
class Dep:
    """A declared dependency: on a unit's id, or on everything in a group or under a tag."""

    target: str
    line: int
    carrier: str
    """What declared it; `prose` where its id is only mentioned, `unclear` where the target is words that name nothing."""

    @property
    def is_declared(self) -> bool:
        return self.carrier not in ("prose", "unclear")


@record
class Hint:
    """A file or a command, with the place that named it."""

    value: str
    line: int
    carrier: str


def unique(found: Iterable[Hint]) -> tuple[Hint, ...]:
    """Return hints without repetition, the first mention of each kept, and that of a field before that of a sentence."""
    first: dict[str, Hint] = {}
    for hint in found:
        if first.setdefault(hint.value, hint).carrier == "text" != hint.carrier:
            first[hint.value] = hint
    return tuple(first.values())


@record
class Unit:
    """One requirement, story or task as the document defines it."""

    title: str
    line: int
    id: str | None = None
    text: str = ""
    status: Status = Status.OPEN
    chunk: str | None = None
    """Label of the phase, epic, milestone or group that the unit stands in."""
    tags: tuple[str, ...] = ()
    """Further names that a dependency may address it by: `US1`, the parent task, a former id."""
    priority: str | None = None
    rank: int = 0
    """Order that the document itself declares (a numeric priority); decides before the natural id."""
    role: Role = "developer"
    profile: str | None = None
    """Agent that should carry it out; only a plan file says so."""
    criteria: tuple[DraftCriterion, ...] = ()
    deps: tuple[Dep, ...] = ()
    covers: tuple[Hint, ...] = ()
    files: tuple[Hint, ...] = ()
    verify: tuple[Hint, ...] = ()
    unread: tuple[Hint, ...] = ()
    """What stands under a label for checks and looks like a command, but was not taken."""


@record
class GroupEdge:
    """A declared dependency between groups or tags: everything in `group` waits for everything in `target`."""

    group: str
    target: str
    line: int


@dataclass(slots=True, kw_only=True)
class Document:
    """A document as one reader understood it."""

    format: str
    evidence: tuple[str, ...] = ()
    title: str = ""
    units: list[Unit] = field(default_factory=list)
    edges: list[GroupEdge] = field(default_factory=list)
    run_verify: list[Hint] = field(default_factory=list)
    unread: list[Hint] = field(default_factory=list)
    """As for a unit, but outside all of them."""
    findings: list[Finding] = field(default_factory=list)
    by_program: bool = False
    """Written by a program or an agent: duplicate ids, unknown dependencies and a missing chunk are refused."""
