"""Plan a changed document again: stories keep the ids that they had, and the difference to the old plan is listed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import count
from typing import NamedTuple

from santiago.contract.plan import Plan, Requirement, Story
from santiago.contract.record import record
from santiago.planner import ids
from santiago.planner.draft import by_key
from santiago.planner.requirements import Planned


@record
class Diff:
    """How a new plan differs from an old one, by story id."""

    kept: tuple[str, ...]
    changed: tuple[tuple[str, str], ...]
    """(id, the names of the changed fields)."""
    new: tuple[str, ...]
    removed: tuple[str, ...]


def kept_ids(ordered: Sequence[Planned], old: Plan, *, again: bool = False) -> list[str]:
    """Return an id for each unit: that of the old story if it is the same story, else the next free number.

    It is the same story if it has the same origin id; else the same content; else the same title. If several stories are
    alike, they are matched in order, so that a story inserted among them takes none of their ids.
    `again` says that the units come from a plan.json, whose own ids tell which story is which.
    """
    texts = {requirement.id: requirement for requirement in old.requirements}
    marks = []
    for item in ordered:
        name, content = item.unit.id or "", _content(item.requirement)
        origin = ids.fold(item.key) if name else ""
        marks.append(_Marks(name if again else "", origin, content, _normal(item.unit.title)))
    known = {}
    for story in old.stories:
        first = story.requirements[0] if story.requirements else ""
        content = _content(texts[first]) if first in texts else ""
        known[story.id] = _Marks(story.id, ids.fold(first) if story.origin.id else "", content, _normal(story.title))
    found: list[str | None] = [None] * len(ordered)
    for way in range(len(_Marks._fields)):
        waiting = by_key((own[way], name) for name, own in known.items())
        for position, own in enumerate(marks):
            if found[position] is None and own[way] and waiting.get(own[way]):
                found[position] = name = waiting[own[way]].pop(0)
                del known[name]
    numbers = [int(match[1]) for story in old.stories if (match := re.match(r"S(\d+)", story.id))]
    free = count(max(numbers, default=0) + 1)
    return [name or f"S{next(free)}" for name in found]


class _Marks(NamedTuple):
    """What identifies a story, the surest first. An empty text identifies nothing."""

    own: str
    origin: str
    content: str
    title: str


def _content(requirement: Requirement) -> str:
    parts = [requirement.title, requirement.text, *(criterion.text for criterion in requirement.criteria)]
    return sha256("\0".join(map(_normal, parts)).encode()).hexdigest()


def _normal(text: str) -> str:
    return " ".join(text.lower().split())


def difference(old: Plan, new: Plan) -> Diff:
    """Return what happened to each story of the old plan."""
    before = {story.id: story for story in old.stories}
    after = {story.id: story for story in new.stories}
    old_criteria, new_criteria = _criteria(old), _criteria(new)
    says = {name: _changes(before[name], after[name]) for name in after if name in before}
    for name, fields in says.items():
        fields += ["criteria"] if old_criteria[name] != new_criteria[name] else []
    return Diff(
        kept=tuple(name for name, fields in says.items() if not fields),
        changed=tuple((name, ", ".join(fields)) for name, fields in says.items() if fields),
        new=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
    )


_TOLD = {
    "title": ["title"], "text": ["description"], "dependencies": ["depends_on", "external_depends_on"], "chunk": ["chunk"], "files": ["files"],
    "checks": ["verify"], "role": ["role", "profile"], "priority": ["priority"], "claim": ["claimed_done"],
}  # fmt: skip


def _changes(a: Story, b: Story) -> list[str]:
    """Return the names of the fields in which two versions of a story differ. Line numbers and provenance do not count."""
    return [told for told, fields in _TOLD.items() if any(getattr(a, name) != getattr(b, name) for name in fields)]


def _criteria(plan: Plan) -> dict[str, list[str]]:
    """Return the criteria texts of every story, in the order of the plan's requirements."""
    places = {requirement.id: place for place, requirement in enumerate(plan.requirements)}
    found = {}
    for story in plan.stories:
        wanted = sorted(places[name] for name in set(story.requirements) if name in places)
        found[story.id] = [one.text for place in wanted for one in plan.requirements[place].criteria]
    return found
