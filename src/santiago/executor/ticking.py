"""Ticks for finished stories, written back into the plan's document: on which lines, and when not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract import ticks

if TYPE_CHECKING:
    from collections.abc import Collection

    from santiago.contract.plan import Plan


def lines_of(plan: Plan, done: Collection[str]) -> list[int]:
    """Return the lines of the boxes that belong to finished stories: the stories' own boxes and those of their criteria."""
    stories = [story for story in plan.stories if story.id in done]
    met = {name for story in stories for name in story.criteria}
    criteria = (one.line for requirement in plan.requirements for one in requirement.criteria if one.id in met)
    return sorted({*criteria, *(story.origin.line for story in stories)})


def refusal(plan: Plan, path: str, content: bytes | None) -> str:
    """Return why nothing may be written into a document; empty if it is the planned document, apart from ticks."""
    if content is None:
        return f"{path} is not on the run's branch, so no ticks were written"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return f"{path} is not UTF-8, so no ticks were written"
    if ticks.digest_of(text.replace("\r\n", "\n").replace("\r", "\n")) != plan.source.sha256:
        return f"{path} has changed since it was planned, so no ticks were written"
    return ""
