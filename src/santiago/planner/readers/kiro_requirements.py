"""Kiro's requirements.md: `### Requirement 1` (要件1, 需求 1, Требование 1) with a user story and numbered EARS lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.planner.markdown.lists.choice import choose

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.source import Source

_EARS = pattern(r"\b(?:SHALL|WHEN|WHILE|WHERE)\b|なければならない|するものとする")


def read(source: Source) -> Document | None:
    choice = choose(source)
    if choice is None or choice.taken.rule != 8 or choice.taken.kind != "requirement" or not choice.taken.explicit:
        return None
    words = [source.leads[made.at] for made in choice.taken.carriers]
    numbered = sum(1 for lead in words if lead is not None and lead.kind == "requirement")
    if numbered * 2 <= len(words):
        return None
    document = choice.document("kiro-requirements")
    ears = sum(1 for unit in document.units for criterion in unit.criteria if _EARS.search(criterion.text))
    document.evidence = (f"{numbered} headings of the form Requirement 1", f"{ears} criteria in EARS form")
    return document
