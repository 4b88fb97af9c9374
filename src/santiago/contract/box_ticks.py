"""Ticks in a document: how they are set and written back, and whether two documents differ only in their ticks."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern

if TYPE_CHECKING:
    from santiago.contract.plan import Plan


_BOX = r"[ \t]*(?:[-*+]|[0-9]{1,9}[.):])[ \t]+\["
_TICK = pattern(rf"^({_BOX})[xX](?=\])", re.MULTILINE)
_BLANK = pattern(rb"(?:\xef\xbb\xbf)?" + _BOX.encode() + rb"(?= \])")
_LINE_ENDS = pattern(rb"(\r\n|\r|\n)")
_CLAIMS = "claimed_done"
"""The finding that says which stories the document's ticks claim done."""


def digest_of(text: str) -> str:
    """Return the digest that identifies a document: of its text with LF line ends and every box unticked."""
    return sha256(_TICK.sub(r"\1 ", text).encode()).hexdigest()


def tick(content: bytes, lines: Collection[int]) -> bytes:
    """Return a document with the empty boxes on these lines (1-based) ticked. Only one byte of each box changes."""
    pieces = _LINE_ENDS.split(content)  # a line, its end, the next line, and so on
    for number in lines:
        at = 2 * (number - 1)
        if 0 <= at < len(pieces) and (box := _BLANK.match(pieces[at])):
            pieces[at] = pieces[at][: box.end()] + b"x" + pieces[at][box.end() + 1 :]
    return b"".join(pieces)


def is_same_plan(one: Plan, other: Plan) -> bool:
    """Tell whether two plans differ at most in which stories the document's ticks claim done."""
    return _without_claims(one) == _without_claims(other)


def _without_claims(plan: Plan) -> Plan:
    return replace(
        plan,
        digest="",
        stories=tuple(replace(story, claimed_done=False) for story in plan.stories),
        findings=tuple(finding for finding in plan.findings if finding.code != _CLAIMS),
    )


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
    if digest_of(text.replace("\r\n", "\n").replace("\r", "\n")) != plan.source.sha256:
        return f"{path} has changed since it was planned, so no ticks were written"
    return ""
