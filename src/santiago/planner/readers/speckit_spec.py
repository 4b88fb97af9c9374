"""spec-kit's spec.md: `### User Story 1 - Title (Priority: P1)` with Given/When/Then scenarios.

The specification keeps a second list (FR-001) and a third (SC-001) beside the stories without tying them together;
they are reported, and `--units fr` plans from the requirements instead.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner.findings import note
from santiago.planner.markdown.lists.choice import choose

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.source import Source

_PRIORITY = pattern(r"\s*[(（][^()（）]*\bP\d\b[^()（）]*[)）]\s*[\W_]*(?:MVP)?\s*$")
_MARK = pattern(
    r"\*\*(?:Independent Test|Acceptance Scenarios|Why this priority)\*\*|[(（][^()（）\n]{0,20}[:：]\s*P\d[)）]",
    re.IGNORECASE,
)


def read(source: Source) -> Document | None:
    choice = choose(source)
    if choice is None or choice.taken.kind != "story" or choice.taken.rule != 8:
        return None
    leads = [source.leads[made.at] for made in choice.taken.carriers]
    numbered = sum(1 for lead in leads if lead is not None and lead.kind == "story" and "." not in lead.id)
    marks = len(_MARK.findall(source.text))
    if numbered != len(leads) or marks < numbered:
        return None
    document = choice.document("spec-kit-spec")
    document.evidence = (f"{numbered} headings of the form User Story 1", f"{marks} spec-kit labels")
    document.units = [
        replace(unit, title=_PRIORITY.sub("", unit.title) or unit.title, tags=(*unit.tags, f"US{unit.id}"))
        for unit in document.units
    ]
    document.findings = _one_side_list(document.findings)
    return document


def _one_side_list(findings: list[Finding]) -> list[Finding]:
    """Join what is said about the lists beside the stories: every specification of this kind has them."""
    side = [finding for finding in findings if finding.code == "side_list"]
    if not side:
        return findings
    names = ", ".join(finding.message.split(" are ")[0] for finding in side)
    joined = note(
        "side_list",
        min(finding.line for finding in side),
        f"the specification also lists {names}; the user stories were planned",
        "Plan from the requirements instead with --units fr.",
    )
    return [*(finding for finding in findings if finding.code != "side_list"), joined]
