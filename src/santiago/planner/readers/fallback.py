"""The last resort, and only on request: phases with steps, else the bullets under features, requirements or scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.plan import Finding
from santiago.planner import sightings
from santiago.planner.findings import note, warning
from santiago.planner.markdown import assemble
from santiago.planner.markdown.carriers import carrier, label, section_chunks
from santiago.planner.markdown.lists.extent import extents
from santiago.planner.markdown.lists.model import View

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.markdown.harvest import Carrier
    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    if not source.options.allow_fallback:
        return None
    for find in (_phases, _headings, _bullets, _loose):
        carriers, what = find(source)
        if carriers:
            break
    else:
        return None
    document = assemble.document(source, "fallback", (what,), carriers)
    document.findings += _shared_criteria(source, carriers)
    document.findings.insert(
        0,
        warning(
            "fallback_units",
            source.outline.blocks[carriers[0].at].line,
            f"the document names no requirements; {len(carriers)} stories were made from {what}. Read the plan before you run it",
            'Give each requirement an id, e.g. "### FR-1: User registration", and acceptance criteria.',
        ),
    )
    return document


def _phases(source: Source) -> tuple[list[Carrier], str]:
    """Return the steps of the phases as units, each phase a chunk."""
    blocks = source.outline.blocks
    headings = sightings.phases(source)
    starts: dict[int, str] = {}
    for heading in headings:
        for index in sightings.items_under(source, heading):
            starts[index] = label(blocks[heading].text)
    made = [carrier(source, at, end=end, chunk=starts[at]) for at, end in extents(View(source), sorted(starts))]
    return made, f"the steps of {len(headings)} phases"


def _headings(source: Source) -> tuple[list[Carrier], str]:
    """Return the numbered headings, unless a section of features says more."""
    found = sightings.numbered_heads(source)
    if not found or not set(sightings.feature_sections(source)) <= {*found, *_around(source, found)}:
        return [], ""
    chunks = section_chunks(source, found)
    places = zip(extents(View(source), found), found, chunks, strict=True)
    made = [
        carrier(source, at, end=end, title=lead.rest if (lead := source.leads[index]) else None, chunk=chunk)
        for (at, end), index, chunk in places
    ]
    return made, f"{len(found)} numbered headings"


def _around(source: Source, found: list[int]) -> set[int]:
    return {heading for index in found for heading in source.outline.path(index)}


def _loose(source: Source) -> tuple[list[Carrier], str]:
    starts = sightings.loose_items(source)
    places = zip(extents(View(source), starts), section_chunks(source, starts), strict=True)
    return [carrier(source, at, end=end, chunk=chunk) for (at, end), chunk in places], f"{len(starts)} bullets"


def _bullets(source: Source) -> tuple[list[Carrier], str]:
    blocks = source.outline.blocks
    sections = sightings.feature_sections(source)
    starts = sorted({index for heading in sections for index in sightings.items_under(source, heading)})
    chunks = section_chunks(source, starts)
    named = ", ".join(f'"{label(blocks[heading].text)}"' for heading in sections[:3])
    made = [
        carrier(source, at, end=end, chunk=chunk)
        for (at, end), chunk in zip(extents(View(source), starts), chunks, strict=True)
    ]
    return made, f"the bullets under {named}"


def _shared_criteria(source: Source, carriers: list[Carrier]) -> list[Finding]:
    """Say where the criteria of a phase went to its last step, which is the one that closes it."""
    return [
        note(
            "criteria_shared",
            source.outline.blocks[made.at].line,
            f'the criteria of "{made.chunk}" were attached to its last story, which closes it',
            "Give each story criteria of its own.",
        )
        for made in carriers
        if made.chunk and made.end > source.outline.ends[made.at]
    ]
