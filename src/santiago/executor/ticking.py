"""Ticks for what is done, written back into the plan's document: which lines, and when the document is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract import ticks

if TYPE_CHECKING:
    from collections.abc import Collection

    from santiago.contract.plan import Plan


def lines_of(plan: Plan, done: Collection[str]) -> list[int]:
    """Return the lines whose boxes belong to stories that are done: of their criteria, and their own."""
    stories = [story for story in plan.stories if story.id in done]
    met = {name for story in stories for name in story.criteria}
    criteria = (one.line for requirement in plan.requirements for one in requirement.criteria if one.id in met)
    return sorted({*criteria, *(story.origin.line for story in stories)})


def refusal(plan: Plan, path: str, content: bytes | None) -> str:
    """Return why nothing is written into a document; nothing where it is the one that was planned, but for ticks."""
    if content is None:
        return f"{path} is not on the run's branch, so no ticks were written"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return f"{path} is not UTF-8, so no ticks were written"
    if ticks.digest_of(text.replace("\r\n", "\n").replace("\r", "\n")) != plan.source.sha256:
        return f"{path} is not as it was when it was planned, so no ticks were written"
    return ""
