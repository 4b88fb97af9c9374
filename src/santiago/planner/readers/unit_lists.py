"""Documents that are a list of units: Kiro's requirements, spec-kit's user stories, BMAD's epics; and those of no known format.

The known ones are told apart by their headings. Each adds something: Kiro counts EARS lines as evidence, spec-kit adds the
tag `US1`, BMAD makes the epic the chunk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import choosing, hints, ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.draft import PLANNED, Document, GroupEdge, Unit
from santiago.planner.findings import note
from santiago.planner.markdown import assemble
from santiago.planner.markdown.carriers import carrier, group_names, indexes, label
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import read_label, split_label
from santiago.planner.markdown.lists import loose
from santiago.planner.markdown.lists.choice import Choice, choose, chosen, offers
from santiago.planner.markdown.lists.model import UnitList, view_of
from santiago.planner.markdown.outline import Kind
from santiago.planner.readers import checklist, house, plan_steps
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
_SILENT = (Evidence.LOOSE, Evidence.BOXES, Evidence.CRITERIA, Evidence.STEPS)
"""Lists that have no finding of their own where another one is planned."""
_EARS = pattern(r"\b(?:SHALL|WHEN|WHILE|WHERE)\b|なければならない|するものとする")
_PRIORITY = pattern(r"\s*[(（][^()（）]*\bP\d\b[^()（）]*[)）]\s*[\W_]*(?:MVP)?\s*$")
_SPECKIT = pattern(
    r"\*\*(?:Independent Test|Acceptance Scenarios|Why this priority)\*\*|[(（][^()（）\n]{0,20}[:：]\s*P\d[)）]",
    re.IGNORECASE,
)
_EPIC = pattern(
    r"^[\W_]*(?:epic|épica|épico|epos|эпик|епік|エピック|史诗|史詩|에픽)\s*[#№]?\s*([A-Za-z]{0,3}\d+(?:\.\d+)*)(?!\w)",
    re.IGNORECASE,
)
_STORIES = words.table("stories | user stories | historias | histórias | истории | ストーリー | 用户故事 | 스토리")
_ESTIMATE = pattern(r"^\([^()]{1,20}\)\s*[-–—:]\s*")
_SLUG = pattern(r"^[*_]*`([\w./-]+)`[*_]*")


@lru_cache(maxsize=1)
def lists(source: Source) -> list[UnitList]:
    """Return every list that a document offers. Boxes, steps and criteria with ids are lists, too."""
    view = view_of(source)
    return [
        *offers(view),
        *plan_steps.lists(view),
        *house.criteria_lists(view),
        *checklist.lists(view),
        *loose.lists(view),
    ]


MOST_RIVALS = 100
"""How many lists beside the chosen one are named. Nobody reads more, and naming each takes a look at all."""


def read(source: Source) -> Document | None:
    """Read a document of no known format: its strongest list, or the one that the user named."""
    every = lists(source)
    found = choosing.choose(every, source.options.units)
    if not found:
        return None
    choice = chosen(found, [each for each in every if each.evidence not in _SILENT])
    taken = choice.taken
    document = taken.build() if taken.build else choice.document(_FORMATS.get(taken.evidence, "prd"))
    if not document.known:
        document.chosen = choosing.offered(found[0], every) if len(found) == 1 else taken.offer
        rivals = (each for each in every if each not in found and is_rival(each, taken))
        document.rivals = tuple(choosing.offered(each, every) for each in islice(rivals, MOST_RIVALS))
    return document


def is_rival(other: UnitList, taken: UnitList) -> bool:
    """Tell whether at least two units of another list stand outside the chosen one.

    Boxes below headings count as well, unless the headings are plainly stories, requirements, features or tasks.
    """
    if taken.is_inside(other):
        return False
    cover, blocks = taken.cover, taken.view.blocks
    open_ = [made.at for made in other.carriers if made.status in PLANNED and made.at not in taken.repeated]
    outside = sum(not cover[at] for at in open_)
    doubtful = taken.kind not in _SURE and not (taken.kind == "plan" and taken.explicit)
    below = other.kind == "box" and doubtful and blocks[taken.carriers[0].at].kind is Kind.HEADING
    return outside > 1 or (below and len(open_) > 1)


def kiro(source: Source) -> Document | None:
    """Read `### Requirement 1` (要件1, 需求 1, Требование 1) with a user story and numbered EARS lines."""
    choice = choose(source)
    if choice is None or choice.taken.kind != "requirement" or not choice.taken.explicit:
        return None
    numbered = _worded(choice, "requirement")
    if choice.taken.evidence is not Evidence.NAMED_HEADINGS or len(numbered) * 2 <= len(choice.taken.carriers):
        return None
    document = choice.document("kiro-requirements")
    ears = sum(bool(_EARS.search(criterion.text)) for unit in document.units for criterion in unit.criteria)
    document.evidence = (
        f"{count(len(numbered), 'heading')} of the form Requirement 1",
        f"{count(ears, 'criterion', 'criteria')} in EARS form",
    )
    return document


def _worded(choice: Choice, kind: str) -> list[ids.Found]:
    """Return the ids of the list that have this word in front of a number: Story 1, Requirement 1."""
    leads = [choice.taken.view.source.leads[made.at] for made in choice.taken.carriers]
    return [lead for lead in leads if lead is not None and lead.kind == kind]


def speckit(source: Source) -> Document | None:
    """Read `### User Story 1 - Title (Priority: P1)` with Given/When/Then scenarios.

    A specification also lists requirements (FR-001) and success criteria (SC-001) without linking them to the stories. These
    lists are reported. `--units fr` plans the requirements instead.
    """
    choice = choose(source)
    if choice is None or choice.taken.kind != "story" or choice.taken.evidence is not Evidence.NAMED_HEADINGS:
        return None
    numbered = sum("." not in lead.id for lead in _worded(choice, "story"))
    marks = len(_SPECKIT.findall(source.text))
    if numbered != len(choice.taken.carriers) or marks < numbered:
        return None
    document = choice.document("spec-kit-spec")
    document.evidence = (f"{count(numbered, 'heading')} of the form User Story 1", count(marks, "spec-kit label"))
    document.units = [
        replace(unit, title=_PRIORITY.sub("", unit.title) or unit.title, tags=(*unit.tags, f"US{unit.id}"))
        for unit in document.units
    ]
    document.findings = _one_side_list(document.findings)
    return document


def _one_side_list(findings: list[Finding]) -> list[Finding]:
    """Join the findings about lists beside the stories into one, since every such specification has these lists."""
    side = [finding for finding in findings if finding.code == "side_list"]
    if not side:
        return findings
    names = ", ".join(finding.message.split(" are ")[0] for finding in side)
    message = f"the specification also lists {names}; the user stories were planned"
    hint = "Plan from the requirements instead with --units fr."
    joined = note("side_list", min(finding.line for finding in side), message, hint)
    return [*(finding for finding in findings if finding.code != "side_list"), joined]


def bmad(source: Source) -> Document | None:
    """Read `Epic 1` with `Story 1.1` inside, as headings, bold paragraphs or list items."""
    epics = _epics(source)
    choice = choose(source)
    if choice is not None:
        document = _stories(choice, epics)
    elif epics and (starts := _listed_stories(source)):
        evidence = (f"{count(len(starts), 'item')} under a Stories label", count(len(epics), "epic"))
        document = assemble.document(source, "bmad", evidence, [_listed(source, at, epics) for at in starts])
    else:
        return None
    if document is not None:
        chunks = {unit.chunk for unit in document.units}
        document.edges += [edge for edge in _epic_edges(source, epics) if {edge.group, edge.target} <= chunks]
    return document


def _stories(choice: Choice, epics: dict[str, str]) -> Document | None:
    dotted = sum("." in (made.id or "") for made in choice.taken.carriers)
    if choice.taken.kind != "story" or (not epics and dotted * 2 <= len(choice.taken.carriers)):
        return None
    document = choice.document("bmad")
    document.evidence = (
        f"{count(len(document.units), 'story', 'stories')}: {choice.taken.name}",
        count(len(epics), "epic"),
    )
    document.units = [_in_epic(unit, epics) for unit in document.units]
    return document


def _epics(source: Source) -> dict[str, str]:
    """Return the label of each epic by its number. If an epic is in a list and is a heading, the heading counts."""
    named = [
        (block.kind is Kind.HEADING, match[1], label(block.lines[0]))
        for block in source.outline.blocks
        if block.kind in (Kind.HEADING, Kind.PARA, Kind.ITEM) and (match := _EPIC.match(block.lines[0]))
    ]
    found: dict[str, str] = {}
    for heading, number, text in named:
        if heading or number not in found:
            found[number] = text
    return found


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


def _listed_stories(source: Source) -> list[int]:
    """Return the items under a Stories label inside an epic: `- **Stories:**` or `**Stories:**` and a list."""
    found, active = [], False
    for index in indexes(source, Kind.HEADING, Kind.PARA, Kind.ITEM):
        block = source.outline.blocks[index]
        if block.kind is Kind.ITEM:
            found += [index] if active and block.level == 0 else []
        elif block.parent < 0:
            active = _is_stories(block.lines[-1])
    return [index for index in found if _epic_of(source, index)]


def _is_stories(text: str) -> bool:
    parts = split_label(text)
    name = parts[0] if parts is not None and not parts[1] else text
    return re.sub(r"\W+", " ", name).strip().lower() in _STORIES


def _epic_of(source: Source, index: int) -> str:
    above = [_EPIC.match(source.outline.blocks[heading].text) for heading in reversed(source.outline.path(index))]
    return next((found[1] for found in above if found), "")


def _listed(source: Source, index: int, epics: dict[str, str]) -> Carrier:
    block = source.outline.blocks[index]
    slug = _SLUG.match(block.lines[0])
    epic = epics[_epic_of(source, index)]
    made = carrier(source, index, chunk=epic)
    if slug is None:
        return made
    title = _ESTIMATE.sub("", block.text[slug.end() :].strip(" -–—:*"))
    return replace(made, id=slug[1], title=title or slug[1])


def _epic_edges(source: Source, epics: dict[str, str]) -> Iterator[GroupEdge]:
    """Yield the dependencies that an epic declares directly under its heading."""
    blocks = source.outline.blocks
    for block in blocks:
        own = _EPIC.match(blocks[block.section].text) if block.parent < 0 <= block.section else None
        if own is None or block.kind not in (Kind.PARA, Kind.ITEM):
            continue
        for offset, line in enumerate(block.lines):
            for name in _needed_epics(line):
                if name in epics and ids.fold(name) != ids.fold(own[1]):
                    yield GroupEdge(group=epics[own[1]], target=epics[name], line=block.line + offset)


def _needed_epics(line: str) -> list[str]:
    field = read_label(line)
    if field.concept != "depends" or not re.search(r"\bepics?\b", field.rest, re.IGNORECASE):
        return []
    return [name.split()[-1] for name in hints.targets(re.sub(r"\([^()]*\)", " ", field.rest))[0]]
