"""Only with `--allow-fallback`: plan the steps of phases, else numbered headings, else the bullets under features or scope."""

from __future__ import annotations

from collections.abc import Iterator

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner.draft import Document
from santiago.planner.findings import criteria_shared, warning
from santiago.planner.markdown import assemble
from santiago.planner.markdown.carriers import carrier, label, section_chunks
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.lists import loose as near_misses
from santiago.planner.markdown.lists.definitions import extents
from santiago.planner.markdown.lists.model import View
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    if not source.options.allow_fallback:
        return None
    ways = (_phases, _headings, _bullets, _loose)
    starts, what = next((found for find in ways if (found := find(source))[0]), ([], ""))
    if not starts:
        return None
    places = zip(extents(View(source), starts), section_chunks(source, starts), strict=True)
    carriers = [carrier(source, at, end=end, title=_title(source, at), chunk=chunk) for (at, end), chunk in places]
    document = assemble.document(source, "fallback", (what,), carriers)
    document.findings += _shared_criteria(source, carriers)
    document.findings.insert(
        0,
        warning(
            "fallback_units",
            source.outline.blocks[carriers[0].at].line,
            f"the document names no requirements; {count(len(carriers), 'story was', 'stories were')} made from {what}. Read the plan before you run it",
            'Give each requirement an id, e.g. "### FR-1: User registration", and acceptance criteria.',
        ),
    )
    return document


def _title(source: Source, index: int) -> str | None:
    lead = source.leads[index]
    return lead.rest if lead is not None and source.outline.blocks[index].kind is Kind.HEADING else None


def _phases(source: Source) -> tuple[list[int], str]:
    """Return the steps of all phases as units. Each phase is a chunk."""
    headings = near_misses.phases(source)
    return _items(source, headings), f"the steps of {count(len(headings), 'phase')}"


def _headings(source: Source) -> tuple[list[int], str]:
    """Return the numbered headings, unless some section of features lies outside them."""
    found = near_misses.numbered_heads(source)
    around = {heading for index in found for heading in source.outline.path(index)}
    says_more = not set(near_misses.feature_sections(source)) <= {*found, *around}
    return ([] if says_more else found), count(len(found), "numbered heading")


def _bullets(source: Source) -> tuple[list[int], str]:
    sections = near_misses.feature_sections(source)
    named = ", ".join(f'"{label(source.outline.blocks[heading].text)}"' for heading in sections[:3])
    return _items(source, sections), f"the bullets under {named}"


def _loose(source: Source) -> tuple[list[int], str]:
    starts = near_misses.loose_items(source)
    return starts, count(len(starts), "bullet")


def _items(source: Source, headings: list[int]) -> list[int]:
    return sorted({index for heading in headings for index in near_misses.items_under(source, heading)})


def _shared_criteria(source: Source, carriers: list[Carrier]) -> Iterator[Finding]:
    """Yield a note for each phase whose criteria were given to its last step."""
    for made in carriers:
        if made.chunk and made.end > source.outline.ends[made.at]:
            yield criteria_shared(made.chunk, source.outline.blocks[made.at].line)
