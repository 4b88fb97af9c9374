"""The stories of a run with their substeps. Substeps are not in the plan; their parents' detailed plans describe them."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.artifacts.details import DETAILS
from santiago.artifacts.files import read_bytes
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.plan import Detail
from santiago.executor.detailed_plan import substep, substep_ids
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.plan import Plan, Story
    from santiago.contract.state import DetailState, RunState, StoryState

LARGEST = 2**21
"""Largest detailed plan, in bytes. An agent's own text is shorter, and grows a little when it is stored."""
UNREADABLE = "(its detailed plan is missing or changed)"


def with_substeps(plan: Plan, state: RunState, out_dir: Path) -> tuple[Story, ...]:
    """Return all stories in plan order, each followed by its substeps."""
    if len(state.stories) == len(plan.stories):
        return plan.stories
    return tuple(one for story in plan.stories for one in (story, *_parts(story, state.stories[story.id], out_dir)))


def titles_of(plan: Plan, state: RunState, out_dir: Path) -> dict[str, str]:
    """Return the titles of all stories, each on one line and harmless."""
    return {story.id: flat(story.title) for story in with_substeps(plan, state, out_dir)}


def _parts(story: Story, state: StoryState, out_dir: Path) -> Iterator[Story]:
    detail = detail_of(state.id, state.detail, out_dir) if state.parts else None
    names = substep_ids(story.id, detail) if detail else ()
    for name in state.parts:
        if detail and name in names:
            yield substep(story, detail, names.index(name) + 1)
        else:  # the run can still be shown; a start refuses it, and `audit` says why
            yield replace(
                story, id=name, title=UNREADABLE, description="", files=(), verify=(), criteria=(), depends_on=()
            )


def detail_of(story: str, latest: DetailState | None, out_dir: Path) -> Detail | None:
    """Return a story's latest detailed plan; None if there is none, or if the file differs from the log."""
    if latest is None or not latest.digest:
        return None
    path = out_dir / DETAILS / story / f"{latest.revision}.json"
    try:
        content = read_bytes(path, LARGEST)
        return codec.decode(Detail, content, str(path)) if sha256(content).hexdigest() == latest.digest else None
    except SantiagoError:
        return None
