"""Ids that last: a new plan keeps the ids of an old one, and says what was kept, changed, added and removed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from santiago.contract.plan import Plan, Requirement, Story
from santiago.planner import ids
from santiago.planner.requirements import Planned


@dataclass(frozen=True, slots=True)
class Diff:
    """What a new plan does to the stories of an old one, by id."""

    kept: tuple[str, ...]
    changed: tuple[tuple[str, str], ...]
    """(id, what changed)."""
    new: tuple[str, ...]
    removed: tuple[str, ...]


def fresh_ids(count: int) -> list[str]:
    return [f"S{number}" for number in range(1, count + 1)]


def kept_ids(ordered: Sequence[Planned], old: Plan, *, again: bool = False) -> list[str]:
    """Return an id for each unit: the old story's where it is the same one, else the next free number.

    The same one is, in this order: the same origin id; the same content; the same title. Where several are alike they
    are matched in order, so that a story inserted among them takes none of their ids. A plan that is read `again` says by
    its own ids which is which.
    """
    texts = {requirement.id: requirement for requirement in old.requirements}
    found: list[str | None] = [None] * len(ordered)
    taken: set[str] = set()
    ways: tuple[tuple[Callable[[Planned], str], Callable[[Story], str]], ...] = (
        *([(lambda item: item.unit.id or "", lambda story: story.id)] if again else []),
        (_origin_key, _story_origin),
        (_content_key, lambda story: _story_content(story, texts)),
        (_title_key, lambda story: _normal(story.title)),
    )
    for key_of_new, key_of_old in ways:
        waiting: dict[str, list[str]] = defaultdict(list)
        for story in old.stories:
            key = key_of_old(story)
            if key and story.id not in taken:
                waiting[key].append(story.id)
        for position, item in enumerate(ordered):
            key = key_of_new(item)
            if found[position] is None and key and waiting[key]:
                found[position] = waiting[key].pop(0)
                taken.add(found[position] or "")
    return _filled(found, old)


def _filled(found: list[str | None], old: Plan) -> list[str]:
    numbers = [int(match[1]) for story in old.stories if (match := re.match(r"S(\d+)", story.id))]
    free = max(numbers, default=0)
    result = []
    for name in found:
        if name is None:
            free += 1
            name = f"S{free}"
        result.append(name)
    return result


def _origin_key(item: Planned) -> str:
    return ids.fold(item.key) if item.unit.id else ""


def _story_origin(story: Story) -> str:
    return ids.fold(story.requirements[0]) if story.origin.id and story.requirements else ""


def _content_key(item: Planned) -> str:
    return _content(item.requirement)


def _story_content(story: Story, texts: dict[str, Requirement]) -> str:
    requirement = texts.get(story.requirements[0]) if story.requirements else None
    return _content(requirement) if requirement else ""


def _content(requirement: Requirement) -> str:
    parts = [requirement.title, requirement.text, *(criterion.text for criterion in requirement.criteria)]
    return sha256("\0".join(map(_normal, parts)).encode()).hexdigest()


def _title_key(item: Planned) -> str:
    return _normal(item.unit.title)


def _normal(text: str) -> str:
    return " ".join(text.lower().split())


def difference(old: Plan, new: Plan) -> Diff:
    """Return what became of each story of the old plan."""
    before = {story.id: story for story in old.stories}
    after = {story.id: story for story in new.stories}
    kept, changed = [], []
    old_criteria, new_criteria = _criteria(old), _criteria(new)
    for name in (story.id for story in new.stories if story.id in before):
        says = _changes(before[name], after[name])
        says += ["criteria"] if old_criteria[name] != new_criteria[name] else []
        if says:
            changed.append((name, ", ".join(says)))
        else:
            kept.append(name)
    return Diff(
        kept=tuple(kept),
        changed=tuple(changed),
        new=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
    )


def _changes(a: Story, b: Story) -> list[str]:
    """Name the fields in which two versions of one story differ; lines and provenance do not matter."""
    return [
        label
        for label, x, y in (
            ("title", a.title, b.title),
            ("text", a.description, b.description),
            ("dependencies", (a.depends_on, a.external_depends_on), (b.depends_on, b.external_depends_on)),
            ("chunk", a.chunk, b.chunk),
            ("files", a.files, b.files),
            ("checks", a.verify, b.verify),
            ("role", (a.role, a.profile), (b.role, b.profile)),
            ("priority", a.priority, b.priority),
            ("claim", a.claimed_done, b.claimed_done),
        )
        if x != y
    ]


def _criteria(plan: Plan) -> dict[str, list[str]]:
    """Return the texts of every story's criteria, in the order of its requirements in the document."""
    places = {requirement.id: place for place, requirement in enumerate(plan.requirements)}
    found = {}
    for story in plan.stories:
        wanted = sorted(places[name] for name in set(story.requirements) if name in places)
        found[story.id] = [one.text for place in wanted for one in plan.requirements[place].criteria]
    return found
