"""Documents that are a list of units: Kiro's requirements, spec-kit's user stories, BMAD's epics, PRDs for ralph; and those of no known format.

The known ones are told apart by their headings. Spec-kit adds the tag `US1`, BMAD makes the epic the chunk.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import islice

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Finding
from santiago.planner import choosing, ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.draft import PLANNED, Document, Status, Unit, by_key
from santiago.planner.findings import note
from santiago.planner.markdown import assemble
from santiago.planner.markdown.carriers import group_names, is_group, label
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.id_lists import UnitList, View, named_lists, view_of
from santiago.planner.markdown.labels import clean, read_label
from santiago.planner.markdown.outline import Kind, any_within
from santiago.planner.markdown.plain_lists import (
    as_a_lists,
    chain_lists,
    loose_lists,
    numbered_lists,
    requirement_lists,
    table_lists,
    with_columns,
)
from santiago.planner.readers import plans
from santiago.planner.source import Source

_FORMATS = {
    Evidence.ROWS: "requirement-tables",
    Evidence.SENTENCES: "user-stories",
    Evidence.REQUIRED_ITEMS: "numbered-requirements",
    Evidence.PROGRESS_ROWS: "status-tables",
    Evidence.LOOSE: "loose-list",
}
"""The names of documents that are nothing but such a list. Others are called `prd`."""
_SURE = ("story", "requirement", "feature", "task")
"""Kinds of lists whose boxes are criteria or steps, and never units."""
_PRIORITY = pattern(r"\s*[(（][^()（）]*\bP\d\b[^()（）]*[)）]\s*[\W_]*(?:MVP)?\s*$")
_SPECKIT = pattern(
    r"(?i)\*\*(?:Independent Test|Acceptance Scenarios|Why this priority)\*\*|[(（][^()（）\n]{0,20}[:：]\s*P\d[)）]",
)
_EPIC = pattern(
    r"(?i)^[\W_]*(?:epic|épica|épico|epos|эпик|епік|エピック|史诗|史詩|에픽)\s*[#№]?\s*([A-Za-z]{0,3}\d+(?:\.\d+)*)(?!\w)",
)


@lru_cache(maxsize=1)
def lists(source: Source) -> list[UnitList]:
    """Return every list that a document offers. Boxes, steps and criteria with ids are lists, too."""
    view = view_of(source)
    return [*offers(view), *plans.lists(view), *plans.criteria_lists(view), *plans.box_lists(view), *loose_lists(view)]


MOST_RIVALS = 100
"""How many lists beside the chosen one are named. Nobody reads more, and naming each takes a look at all."""


def read(source: Source) -> Document | None:
    """Read a document of no known format: its strongest list, or the one that the user named."""
    every = lists(source)
    found = choosing.choose(every, source.options.units)
    if not found:
        return None
    taken = as_one(found)
    made = taken.build() if taken.build else document(taken, _FORMATS.get(taken.evidence, "prd"))
    if not made.known:
        made.chosen = choosing.offered(found[0], every) if len(found) == 1 else taken.offer
        rivals = (each for each in every if each not in found and is_rival(each, taken))
        made.rivals = tuple(choosing.offered(each, every) for each in islice(rivals, MOST_RIVALS))
    return made


def is_rival(other: UnitList, taken: UnitList) -> bool:
    """Tell whether at least two units of another list stand outside the chosen one, and do not only group its units.

    Boxes below headings count as well, unless the headings are plainly stories, requirements, features or tasks.
    """
    if taken.is_inside(other):
        return False
    cover, blocks, ends = taken.cover, taken.view.blocks, taken.view.ends
    places = [made.at for made in taken.carriers]
    open_ = [made.at for made in other.carriers if made.status in PLANNED and made.at not in taken.repeated]
    outside = sum(not cover[at] and not any_within(places, at, ends[at]) for at in open_)
    doubtful = taken.kind not in _SURE and not (taken.kind == "plan" and taken.explicit)
    below = other.kind == "box" and doubtful and blocks[taken.carriers[0].at].kind is Kind.HEADING
    return outside > 1 or (below and len(open_) > 1)


def kiro(source: Source) -> Document | None:
    """Read `### Requirement 1` (要件1, 需求 1, Требование 1) with a user story and numbered EARS lines."""
    taken = choose(source)
    if taken is None or taken.kind != "requirement" or not taken.explicit:
        return None
    numbered = _worded(taken, "requirement")
    if taken.evidence is not Evidence.NAMED_HEADINGS or len(numbered) * 2 <= len(taken.carriers):
        return None
    return document(taken, "kiro-requirements", (f"{count(len(numbered), 'heading')} of the form Requirement 1",))


def _worded(taken: UnitList, kind: str) -> list[ids.Found]:
    """Return the ids of the list that have this word in front of a number: Story 1, Requirement 1."""
    leads = [taken.view.source.leads[made.at] for made in taken.carriers]
    return [lead for lead in leads if lead is not None and lead.kind == kind]


def speckit(source: Source) -> Document | None:
    """Read `### User Story 1 - Title (Priority: P1)` with Given/When/Then scenarios.

    A specification also lists requirements (FR-001) and success criteria (SC-001) without linking them to the stories.
    `--units fr` plans the requirements instead.
    """
    taken = choose(source)
    if taken is None or taken.kind != "story" or taken.evidence is not Evidence.NAMED_HEADINGS:
        return None
    numbered = sum("." not in lead.id for lead in _worded(taken, "story"))
    marks = len(_SPECKIT.findall(source.text))
    if numbered != len(taken.carriers) or marks < numbered:
        return None
    evidence = (f"{count(numbered, 'heading')} of the form User Story 1", count(marks, "spec-kit label"))
    found = document(taken, "spec-kit-spec", evidence)
    found.units = [
        replace(unit, title=_PRIORITY.sub("", unit.title) or unit.title, tags=(*unit.tags, f"US{unit.id}"))
        for unit in found.units
    ]
    return found


def ralph(source: Source) -> Document | None:
    """Read `### US-001: Title` with a description and criteria, as the skill that writes PRDs for ralph does.

    Its functional requirements (FR-1) say the same as the stories, seen from the system. `--units fr` plans them instead.
    """
    taken = choose(source)
    if taken is None or taken.evidence is not Evidence.NAMED_HEADINGS or not taken.explicit:
        return None
    if any(ids.prefix_of(made.id or "") != "US" for made in taken.carriers):
        return None
    blocks, first = source.outline.blocks, taken.carriers[0].at
    level = blocks[blocks[first].section].level if blocks[first].section >= 0 else 0
    heads = ((at, block) for at, block in enumerate(blocks) if block.kind is Kind.HEADING)
    sections = {at: block.text for at, block in heads if block.level == level}
    homes = {blocks[made.at].section for made in taken.carriers}
    required = {at for at, text in sections.items() if words.normal(text) in words.REQUIREMENT_SECTIONS}
    described = sum(read_label(blocks[made.at + 1].lines[0]).concept == "description" for made in taken.carriers)
    foreign = [text for at, text in sections.items() if at not in homes | required and not words.fate(text)]
    if not required or foreign or described < len(taken.carriers):
        return None
    evidence = f"{count(described, 'heading')} of the form US-001 with a description"
    return document(taken, "ralph-prd", (evidence, "functional requirements"))


def bmad(source: Source) -> Document | None:
    """Read `Epic 1` with `Story 1.1` inside, as headings, bold paragraphs or list items."""
    epics, taken = _epics(source), choose(source)
    if taken is None or taken.kind != "story":
        return None
    dotted = sum("." in (made.id or "") for made in taken.carriers)
    if not epics and dotted * 2 <= len(taken.carriers):
        return None
    stories = f"{count(len(taken.carriers), 'story', 'stories')}: {taken.name}"
    found = document(taken, "bmad", (stories, count(len(epics), "epic")))
    found.units = [_in_epic(unit, epics) for unit in found.units]
    return found


def _epics(source: Source) -> dict[str, str]:
    """Return the label of each epic by its number. If an epic is in a list and is a heading, the heading counts."""
    named = [
        (block.kind is Kind.HEADING, match[1], label(block.lines[0]))
        for block in source.outline.blocks
        if block.kind in (Kind.HEADING, Kind.PARA, Kind.ITEM) and (match := _EPIC.match(block.lines[0]))
    ]
    listed = {number: text for is_heading, number, text in reversed(named) if not is_heading}
    return listed | {number: text for is_heading, number, text in named if is_heading}


def _in_epic(unit: Unit, epics: dict[str, str]) -> Unit:
    """Return the unit with the epic around it as its chunk, else the epic that its number names: 2.3.1 is in 2.3, not 2."""
    if unit.chunk is not None and _EPIC.match(unit.chunk):
        return unit
    number = unit.id or ""
    while "." in number:
        number = number.rpartition(".")[0]
        if number in epics:
            return replace(unit, chunk=epics[number], tags=(*unit.tags, *group_names(epics[number])))
    return unit


MAX_TITLE = 120
"""A title made of a sentence is cut to this many characters."""

_IMPROVED = pattern(
    r"(?i)(?:improved|revised|rewritten|corrected|better|final)(?: requirement| version| wording| statement)?\s*[:：]\s*(.+)",
)
_OTHER_LABEL = pattern(r"(?i)^(?:original requirement|user story|story|description|requirement)\s*[:：]\s*")


def document(taken: UnitList, format_: str, evidence: tuple[str, ...] = ()) -> Document:
    view = taken.view
    evidence = evidence or (f"{count(len(taken.carriers), 'unit')}: {taken.name}",)
    found = assemble.document(view.source, format_, evidence, list(taken.carriers), repeated=taken.repeated)
    found.units, joined = _without_sections([*map(titled, with_columns(view, found.units, taken.carriers))])
    found.findings += joined
    return found


def titled(unit: Unit) -> Unit:
    """Give a unit that has only an id a title: its improved wording if it has one, else its first line."""
    if unit.title != unit.id:
        return unit
    lines = [clean(line) for line in unit.text.split("\n") if line.strip()]
    improved = next((found[1] for line in lines if (found := _IMPROVED.match(line))), None)
    title = improved or (_OTHER_LABEL.sub("", lines[0]) if lines else "")
    if len(title) > MAX_TITLE:
        title = title[: MAX_TITLE - 1].rstrip() + "…"
    return replace(unit, title=title) if title else unit


def _without_sections(units: list[Unit]) -> tuple[list[Unit], list[Finding]]:
    """If a unit depends on a unit of a later section, use only phases and epics as chunks, and no mere sections."""
    place = {chunk: number for number, chunk in enumerate(dict.fromkeys(unit.chunk for unit in units))}
    chunk_of = {ids.fold(unit.id): unit.chunk for unit in units if unit.id}
    for unit, dep in [(one, dep) for one in units for dep in one.deps if dep.is_declared]:
        chunks = [unit.chunk, chunk_of.get(ids.fold(dep.target), unit.chunk)]
        if place[chunks[1]] > place[chunks[0]] and not all(is_group(chunk or "") for chunk in chunks):
            message = f"{unit.id or unit.title} depends on {dep.target} of a later section; so sections are not used as chunks"
            hint = "Put the sections into the order of their dependencies, or call them phases, if they are stages."
            joined = note("chunks_joined", dep.line, message, hint)
            return [replace(one, chunk=one.chunk if is_group(one.chunk or "") else None) for one in units], [joined]
    return units, []


@lru_cache(maxsize=1)
def offers(view: View) -> list[UnitList]:
    """Return every list that could be the document's units, without tables that repeat another list."""
    found = [
        *named_lists(view),
        *numbered_lists(view),
        *table_lists(view),
        *chain_lists(view),
        *as_a_lists(view),
        *requirement_lists(view),
    ]
    titles = {at for at, block in enumerate(view.blocks) if block.kind is Kind.HEADING and block.level == 1}
    # A list whose only unit is a heading of the first level names the document.
    return _joined(view, [offer for offer in found if len(offer.carriers) > 1 or offer.carriers[0].at not in titles])


@lru_cache(maxsize=1)
def choose(source: Source) -> UnitList | None:
    """Return the list with ids, criteria or the like to plan: the one that the user asked for, else the strongest."""
    found = choosing.choose(offers(view_of(source)), source.options.units)
    return as_one(found) if found else None


def as_one(found: list[UnitList]) -> UnitList:
    """Return several lists as one."""
    if len(found) == 1:
        return found[0]
    carriers = sorted((made for offer in found for made in offer.carriers), key=lambda made: made.at)
    return replace(
        found[0],
        evidence=max(offer.evidence for offer in found),
        name=", ".join(offer.name for offer in found),
        carriers=tuple(carriers),
        repeated=tuple(sorted(place for offer in found for place in offer.repeated)),
        build=None,
    )


def _joined(view: View, lists: list[UnitList]) -> list[UnitList]:
    """Leave out tables that repeat a list by id. What only the table has goes into that list: rows, and marks of status."""
    named = {offer.kind: offer for offer in lists if offer.evidence >= Evidence.NAMED_ITEMS}
    kept: list[UnitList] = []
    for offer in lists:
        whole = named.get(offer.kind)
        if offer.evidence is not Evidence.ROWS or whole is None:
            kept.append(offer)
            continue
        marks = {ids.fold(row.id): row.status for row in offer.carriers if row.id and row.status is not Status.OPEN}
        carriers = (
            replace(made, status=marks.get(ids.fold(made.id or ""), made.status))
            if made.status is Status.OPEN
            else made
            for made in whole.carriers
        )
        marked = replace(whole, carriers=tuple(carriers))
        kept[kept.index(whole)] = named[offer.kind] = whole = marked
        inside = whole.cover
        rows = _new_rows(view, offer, {ids.fold(made.id or "") for made in whole.carriers} | whole.headings)
        outside = [made for made in rows if not inside[made.at]]
        if len(outside) * 2 < len(rows):
            kept.append(replace(offer, carriers=tuple(rows)))
        elif outside:
            more = sorted([*whole.carriers, *outside], key=lambda made: made.at)
            joined = replace(whole, carriers=tuple(more))
            kept[kept.index(whole)] = named[offer.kind] = joined
    return kept


def _new_rows(view: View, offer: UnitList, known: set[str]) -> list[Carrier]:
    """Return the rows whose ids are not known yet. Rows without an id count unless most rows of their table have known ids."""
    rows = []
    for members in by_key((id(view.blocks[made.at].header), made) for made in offer.carriers).values():
        new = [made for made in members if ids.fold(made.id or "") not in known]
        about = len(new) * 2 < len(members)
        rows += [made for made in new if made.id or not about]
    return rows
