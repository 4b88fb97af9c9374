"""A document before a reader has chosen it: its text, and the views of it that readers share, each made once."""

from __future__ import annotations

import re
from functools import cached_property

from santiago.contract.patterns import pattern
from santiago.contract.record import record
from santiago.planner import front_matter, ids, sniff, words
from santiago.planner.front_matter import Entry
from santiago.planner.markdown import table_heads
from santiago.planner.markdown.outline import Block, Kind, Outline, scan
from santiago.planner.structured import json_tree
from santiago.planner.structured.tree import Node


@record
class Options:
    """What the user asked of the reading; the same for every format."""

    allow_fallback: bool = False
    """Phases and feature bullets may become stories where nothing better is found."""
    units: str | None = None
    """Which of several lists to plan: an id prefix (`fr`, `us`) or a kind (`story`, `table`, `box`); several with commas."""


class Zone:
    """What kind of section a block stands in."""

    PLAIN = 0
    NEVER = 1
    """Metrics, sign-off, glossary, …: its ids and boxes are not units."""
    EXCLUDED = 2
    """Out of scope, future, deferred: units there are reported and not planned."""


class Source:
    """The text of one document and what can be seen in it."""

    def __init__(self, text: str, *, path: str = "", options: Options | None = None) -> None:
        self.path = path
        self.options = options or Options()
        self.text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @cached_property
    def looks_like(self) -> str:
        """`json`, `csv`, `gherkin`, `yaml` or `markdown`, by content alone."""
        return sniff.looks_like(self.text, front_matter=bool(front_matter.read(self.text)[1]))

    @cached_property
    def tree(self) -> Node:
        """A JSON document as a value tree; raises DocumentError where it is broken."""
        return json_tree.parse_lines(self.text) if json_tree.is_lines(self.text) else json_tree.parse(self.text)

    @cached_property
    def front_matter(self) -> dict[str, Entry]:
        """The front matter, read leniently line by line: ids keep their zeros, `@name` is a value."""
        return front_matter.read(self.text)[0]

    @cached_property
    def outline(self) -> Outline:
        body_at = front_matter.read(self.text)[1]
        body = self.text.split("\n", body_at)[-1] if body_at else self.text
        if "plan" in self.front_matter:
            body = _TAGGED.sub(lambda tag: f"**{tag[1].replace('_', ' ')}:**", body)
        return table_heads.mended(scan(body, body_at + 1, _begins_unit))

    @cached_property
    def leads(self) -> list[ids.Found | None]:
        """For each block of the outline, the id that stands first in it."""
        return [_lead_of(block) for block in self.outline.blocks]

    @cached_property
    def named(self) -> dict[int, ids.Found]:
        """The blocks that open with an id, each with that id."""
        return {index: lead for index, lead in enumerate(self.leads) if lead is not None}

    @cached_property
    def zones(self) -> list[int]:
        """For each block, the Zone of its section; inner sections inherit."""
        found: list[int] = []
        label_zone, label_section = Zone.PLAIN, -2
        for index, block in enumerate(self.outline.blocks):
            outer = found[block.section] if block.section >= 0 else Zone.PLAIN
            if block.kind is Kind.HEADING:
                found.append(max(outer, self._zone_of_heading(index)))
                continue
            if block.section != label_section:
                label_zone, label_section = Zone.PLAIN, block.section
            if block.kind is Kind.PARA and block.parent < 0 and _is_label(block.lines[-1]):
                names_files = words.concept(block.lines[-1]) == "files"
                label_zone = Zone.PLAIN if names_files else _zone_of(block.lines[-1], None)
            found.append(max(outer, label_zone))
        return found

    def _zone_of_heading(self, index: int) -> int:
        blocks = self.outline.blocks
        named = _version(blocks[index].text)
        below = blocks[index + 1] if index + 1 < len(blocks) else None
        if (named and named != self._first_version) or (below and below.section == index and _puts_off(below)):
            return Zone.EXCLUDED
        return Zone.PLAIN if index == self._title_at else _zone_of(blocks[index].text, self.leads[index])

    @cached_property
    def _first_version(self) -> str:
        versions = (_version(block.text) for block in self.outline.blocks if block.kind is Kind.HEADING)
        return min(filter(None, versions), default="")

    @cached_property
    def _title_at(self) -> int | None:
        """The heading that all others stand under: it names the document, so an app for notes may be called `Notes`."""
        heads = [(block.level, index) for index, block in enumerate(self.outline.blocks) if block.kind is Kind.HEADING]
        if not heads or [level for level, _ in heads].count(heads[0][0]) > 1 or heads[0] != min(heads):
            return None
        return heads[0][1]

    @cached_property
    def under_criteria(self) -> list[bool]:
        """For each block, whether a heading, label or item around it announces criteria or gates."""
        found: list[bool] = []
        labelled, label_section = False, -2
        for block in self.outline.blocks:
            if block.section != label_section:
                labelled, label_section = False, block.section
            if block.parent >= 0:
                parent = self.outline.blocks[block.parent]
                found.append(found[block.parent] or _announces_criteria(parent.lines[0]))
                continue
            if block.kind is Kind.PARA and _is_label(block.lines[-1]):
                labelled = _announces_criteria(block.lines[-1])
            own = _announces_criteria(block.text) if block.kind is Kind.HEADING else labelled
            found.append(own or (block.section >= 0 and found[block.section]))
        return found

    @cached_property
    def underway(self) -> frozenset[str]:
        """The box characters that this document's own legend explains as work in progress."""
        return frozenset(_LEGEND.findall(self.text))

    @cached_property
    def title(self) -> str:
        """The front matter's title, or the first heading."""
        if "title" in self.front_matter:
            return self.front_matter["title"].value
        headings = [block for block in self.outline.blocks if block.kind is Kind.HEADING and block.text]
        first = next((block for block in headings if block.level == 1), headings[0] if headings else None)
        return re.sub(r"[*_`]{1,2}", "", first.text).strip() if first else ""


_DEFINED = pattern(r"[*_`\[]*[^\W\d_][^:：*]{0,40}?\d[\w.\-]*[*_`\]]*\s*[:：.)\]\-–—*]")


_TAGGED = pattern(r"(?m)^<(acceptance_criteria|verify|read_first|action)>$")
"""How GSD sets off the parts of a task; such a tag says what a label does."""
_VERSION = pattern(r"[\W_]*v(\d)(?:\.\d+)?\s+requirements\b", re.IGNORECASE)
"""`v2 Requirements`: for later, where there are those of v1."""


def _version(heading: str) -> str:
    """Return the number of `v2 Requirements`, or nothing."""
    found = _VERSION.match(heading) if "equirements" in heading else None
    return found[1] if found else ""


_LONE = pattern(r"[*_`]*(?:ID[*_`]*\s*[:：]\s*)?[*_`]*[A-Z]{1,8}[-_]\d{1,5}[*_`]*$", re.IGNORECASE)
_STEP_LABEL = pattern(r"(?:Actions?|(?:Expected )?Results?|Validations?)[:：]", re.IGNORECASE)
_ID_LABEL = pattern(r"[*_`\s]*ID[*_`]*\s*[:：][*_`\s]*", re.IGNORECASE)


def _begins_unit(first: str, line: str) -> bool:
    """Tell whether a line inside a paragraph defines the next unit: `FR2: …` under `FR1: …`, an As-a under an As-a.

    `first` is empty where the line stands right under a list; there an id alone on its line, or a label of a step, ends it.
    """
    if _LONE.match(line):
        return True
    if not first:
        return bool(_STEP_LABEL.match(line))
    if _DEFINED.match(line):
        found = ids.lead(line)
        return found is not None and found.kind not in ("number", "dotted", "step") and bool(found.rest)
    return words.is_story(line) and words.is_story(first)


def _zone_of(text: str, lead: ids.Found | None) -> int:
    if lead is not None and lead.kind == "prefix":
        return Zone.PLAIN
    if words.matches(text, words.EXCLUDED_SECTIONS):
        return Zone.EXCLUDED
    if _JUDGES.match(words.normal(text)):
        return Zone.NEVER
    if group := _NUMBERED_GROUP.match(text):
        # The phase that builds the notes of an app is called `Phase 4: Notes`, and holds work.
        return Zone.NEVER if _JUDGES.match(words.normal(text[group.end() :])) else Zone.PLAIN
    files = words.concept(text) == "files"
    return Zone.NEVER if files or words.matches(text, words.NEVER_UNIT_SECTIONS) else Zone.PLAIN


_NUMBERED_GROUP = pattern(rf"^[\W_]*(?:{words.any_of(words.GROUP_WORDS)})\s*\d+[\w.]*\s*[:：\-–—.]", re.IGNORECASE)
_JUDGES = pattern(
    r"(?:success (?:criteria|metrics)|definition of done|sign-?off|key metrics)\b"
    r"|.*\b(?:qa|quality|acceptance|accessibility|a11y|testing|test|security|review|verification|validation|pre-?launch|launch|pre-?deploy(?:ment)?|deployment|release|compliance|pre-?merge|go-live)\b.*\bchecklists?\b"
)
"""Names of sections that judge the whole, however they go on: `Success criteria by phase`, `Final QA checklist`."""
_LEGEND = pattern(
    r"(?<![-*+] )\[([^\sxX\]])\]`?\*{0,2}\s*(?:=|:|：|-|–|—|→|->)?\s*\(?(?:in[- ]?progress|wip|work in progress|partial|partly|started|ongoing|doing"
    r"|under way|en cours|in arbeit|en progreso|em andamento|pågår|in corso|в работе|в процесі|в процессе|進行中|作業中|进行中|진행)",
    re.IGNORECASE,
)
_GATES = words.table(
    "quality gates | quality gate | validation commands | verification commands | verification | final verification | how to verify"
)
"""Names of sections whose boxes say how the work is checked, not what it is."""


def _lead_of(block: Block) -> ids.Found | None:
    match block.kind:
        case Kind.HEADING:
            return ids.heading_lead(block.lines[0])
        case Kind.ITEM | Kind.PARA:
            return labelled_id(block.lines[0]) or ids.lead(block.lines[0])
        case Kind.ROW:
            at = table_heads.id_column(block.header)
            return ids.lead(block.cells[at] if at < len(block.cells) else block.lines[0])
        case _:
            return None


def labelled_id(line: str) -> ids.Found | None:
    """Return the id that a line gives as a field: `ID: US-001`."""
    label = _ID_LABEL.match(line)
    found = ids.lead(line[label.end() :]) if label else None
    return found if found is not None and found.kind == "prefix" else None


def _puts_off(block: Block) -> bool:
    """Tell whether the first sentence of a section says that all of it is for later or never."""
    return block.kind is Kind.PARA and len(block.text) < 200 and bool(_PUT_OFF.match(block.text))


_PUT_OFF = pattern(
    r"[*_>\s]*(?:deferred\b|postponed\b|out of scope\b|not in (?:the )?(?:current )?(?:scope|roadmap)"
    r"|not part of (?:this|the current)|planned for (?:a )?(?:later|future))",
    re.IGNORECASE,
)


def _announces_criteria(text: str) -> bool:
    if words.concept(text) == "criteria" or words.normal(text) in _GATES:
        return True
    return any(part in text for part in _JUDGED_PARTS) and bool(_JUDGED.search(text[-60:]))


_JUDGED_PARTS = ("rit", "RIT", "one", "ONE", "рит", "条", "條", "基", "标", "標", "조", "기")
"""One of these stands in every such name: most headings need no closer look."""
_JUDGED = pattern(
    r"(?<!& )(?<!and )(?<!with )(?:\b(?:acceptance|exit|completion|success|done) criteria|\bdefinition of done|akzeptanzkriterien|abnahmekriterien"
    r"|critères d.acceptation|criterios de aceptación|critérios de aceitação|критерии приемки"
    r"|完了条件|受入基準|受け入れ条件|验收标准|验收条件|驗收標準|완료 조건|수용 기준)[\s*_:：]*$",
    re.IGNORECASE,
)
"""Names of sections that end in what they are: `Phase 1 exit criteria`."""


def _is_label(line: str) -> bool:
    text = line.strip()
    bold = text.startswith(("**", "__")) and text.rstrip(":：").endswith(("**", "__"))
    return bold or (text.endswith((":", "：")) and len(text) < 60)
