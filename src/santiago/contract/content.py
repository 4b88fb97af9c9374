"""The digest of what a story asks for. It does not depend on the story's id, nor on its place in the document."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.plan import Plan, Requirement, Story


def contents_of(plan: Plan) -> dict[str, str]:
    """Return the digest of each story of a plan: its words, its criteria and its own checks, however they are wrapped."""
    known = {requirement.id: requirement for requirement in plan.requirements}
    return {
        story.id: _digest(story, [known[name] for name in story.requirements if name in known])
        for story in plan.stories
    }


def content_of(plan: Plan, story: Story) -> str:
    """Return the digest of one story; nothing for a substep, which no document asks for."""
    if not any(one.id == story.id for one in plan.stories):
        return ""
    known = {one.id: one for one in plan.requirements if one.id in story.requirements}
    return _digest(story, [known[name] for name in story.requirements if name in known])


def _digest(story: Story, requirements: Sequence[Requirement]) -> str:
    said = [text for one in requirements for text in (one.title, one.text, *(each.text for each in one.criteria))]
    parts = (story.title, story.description, *said, "", *story.verify)
    return sha256("\0".join(" ".join(part.split()) for part in parts).encode()).hexdigest()
