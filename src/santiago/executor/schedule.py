"""Who must wait for whom beyond what the document declares: stories that touch the same files keep the plan's order.

With this, parallel equals serial: a story starts only when every earlier one whose files it may see changed is verified.
A story that names no files may touch any, so it waits for all before it, and all after it wait for it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from santiago.contract.plan import Plan, Story


def followed(plan: Plan, *, optimistic: bool = False) -> dict[str, tuple[str, ...]]:
    """Return for each story the earlier ones of its chunk that it must not overtake; linear in the plan."""
    found: dict[str, tuple[str, ...]] = {}
    by_id = {story.id: story for story in plan.stories}
    for chunk in plan.chunks:
        found |= _in_chunk([by_id[name] for name in chunk.stories], optimistic=optimistic)
    return found


def _in_chunk(stories: list[Story], *, optimistic: bool) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    last_wide: str | None = None
    since_wide: list[str] = []
    last_on: dict[str, str] = {}
    for story in stories:
        if not story.files and not optimistic:
            found[story.id] = (*((last_wide,) if last_wide else ()), *since_wide)
            last_wide, since_wide, last_on = story.id, [], {}
            continue
        behind = {name for path in story.files for name in _touching(path, last_on)}
        if last_wide:
            behind.add(last_wide)
        found[story.id] = tuple(sorted(behind))
        since_wide.append(story.id)
        last_on |= dict.fromkeys(story.files, story.id)
    return found


def _touching(path: str, last_on: dict[str, str]) -> list[str]:
    """Return the stories that last named this path, or a folder or pattern that meets it."""
    if path in last_on and not _is_wide(path):
        return [last_on[path], *(name for other, name in last_on.items() if _is_wide(other) and overlap(path, other))]
    return [name for other, name in last_on.items() if (_is_wide(path) or _is_wide(other)) and overlap(path, other)]


def _is_wide(path: str) -> bool:
    return path.endswith("/") or any(mark in path for mark in "*?[")


def overlap(a: str, b: str) -> bool:
    """Tell whether two file hints can mean the same file."""
    a, b = a.removeprefix("./"), b.removeprefix("./")
    if a == b:
        return True
    for wide, other in ((a, b), (b, a)):
        if wide.endswith("/") and (other.startswith(wide) or wide.startswith(other.rstrip("*"))):
            return True
        if _is_wide(wide) and fnmatchcase(other, wide):
            return True
    # Two patterns: their fixed beginnings decide; where one contains the other they may meet.
    if _is_wide(a) and _is_wide(b):
        x, y = _stem(a), _stem(b)
        return x.startswith(y) or y.startswith(x)
    return False


def _stem(path: str) -> str:
    for position, letter in enumerate(path):
        if letter in "*?[":
            return path[:position]
    return path
