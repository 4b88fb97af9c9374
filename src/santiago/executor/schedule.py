"""Who must wait for whom beyond what the document declares: stories that touch the same files keep the plan's order.

With this, parallel equals serial: a story starts only when every earlier one whose files it may see changed is verified.
A story that names no files may touch any, so it waits for all before it, and all after it wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from fnmatch import fnmatchcase

from santiago.contract.plan import Plan, Story
from santiago.contract.record import lean

_SIGNS = "*?[{"


def followed(plan: Plan, *, optimistic: bool = False) -> dict[str, tuple[str, ...]]:
    """Return for each story the earlier stories of its chunk that it must not overtake. Takes linear time without patterns."""
    found: dict[str, tuple[str, ...]] = {}
    by_id = {story.id: story for story in plan.stories}
    for chunk in plan.chunks:
        found |= _in_chunk([by_id[name] for name in chunk.stories], optimistic=optimistic)
    return found


def _in_chunk(stories: list[Story], *, optimistic: bool) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    last_wide: str | None = None
    since_wide: list[str] = []
    named = _Named()
    for story in stories:
        if not story.files and not optimistic:
            found[story.id] = (*((last_wide,) if last_wide else ()), *since_wide)
            last_wide, since_wide, named = story.id, [], _Named()
            continue
        paths = [_plain(path) for path in story.files]
        behind = {name for path in paths for name in named.meeting(path)}
        if last_wide:
            behind.add(last_wide)
        found[story.id] = tuple(sorted(behind))
        since_wide.append(story.id)
        for path in paths:
            named.note(path, story.id)
    return found


@lean()
class _Named:
    """For each path, the story that last named it. A path may be a file, a folder, or a pattern."""

    at: dict[str, str] = field(default_factory=dict)
    below: dict[str, dict[str, str]] = field(default_factory=dict)
    """Folder → the named paths below it, each with the story that last named it."""
    patterns: dict[str, str] = field(default_factory=dict)

    def note(self, path: str, story: str) -> None:
        if _is_pattern(path):
            self.patterns[path] = story
            return
        self.at[path] = story
        for folder in _above(path):
            self.below.setdefault(folder, {})[path] = story

    def meeting(self, path: str) -> Iterator[str]:
        """Yield the stories that last named this path, a path below or above it, or a pattern that matches it."""
        if _is_pattern(path):
            yield from (story for other, story in self.at.items() if overlap(path, other))
        else:
            yield from (self.at[near] for near in (path, *_above(path)) if near in self.at)
            yield from self.below.get(path, {}).values()
        yield from (story for other, story in self.patterns.items() if overlap(path, other))


def overlap(a: str, b: str) -> bool:
    """Tell whether two file hints can mean the same file; true if that is not certain."""
    a, b = _plain(a), _plain(b)
    if a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/"):
        return True
    if _is_pattern(a) and _is_pattern(b):
        return _stem(a).startswith(_stem(b)) or _stem(b).startswith(_stem(a))
    return (_is_pattern(a) and _meets(a, b)) or (_is_pattern(b) and _meets(b, a))


def _meets(pattern: str, path: str) -> bool:
    stem = _stem(pattern)
    may_be_folder = "." not in path.rpartition("/")[2]
    if may_be_folder or "{" in pattern:
        return path.startswith(stem) or stem.startswith(f"{path}/")
    return fnmatchcase(path, pattern)


def _plain(path: str) -> str:
    return path.strip().removeprefix("./").rstrip("/")


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in _SIGNS)


def _stem(pattern: str) -> str:
    return pattern[: min(pattern.find(sign) % (len(pattern) + 1) for sign in _SIGNS)]


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
