"""The text of a document, and the views of it that all readers share. Each view is computed once.

Front matter is read line by line. It need not be valid YAML: ids keep their leading zeros, and `@name` is a plain value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record
from santiago.planner import ids, sniff, words
from santiago.planner.markdown import labels
from santiago.planner.markdown.labels import says_done
from santiago.planner.markdown.outline import Block, Kind, Outline, scan
from santiago.planner.structured import json_tree
from santiago.planner.structured.tree import Node


@record
class Options:
    """What the user asked for; the same for every format."""

    units: str | None = None
    """Which of several lists to plan: an id prefix (`fr`, `us`) or a kind (`story`, `table`, `box`); several with commas."""


class Zone:
    """The kind of section that a block is in."""

    PLAIN = 0
    NEVER = 1
    """Metrics, sign-off, glossary and the like: the ids and boxes in it are not units."""
    EXCLUDED = 2
    """Out of scope, future or deferred: the units in it are reported and not planned."""


class Source:
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
        return sniff.looks_like(self.text, front_matter=bool(read_front_matter(self.text)[1]))

    @cached_property
    def parsed(self) -> tuple[Node, list[int]]:
        """A JSON or YAML document as a tree of values, and its lines that are not quite valid. Raises DocumentError if it cannot be read."""
        if self.looks_like == "yaml":
            from santiago.planner.structured import yaml_tree  # other formats do not need it

            return yaml_tree.parse_mended(self.text)
        return json_tree.parse_lines(self.text) if json_tree.is_lines(self.text) else json_tree.parse(self.text), []

    @property
    def tree(self) -> Node:
        return self.parsed[0]

    @cached_property
    def front_matter(self) -> dict[str, Entry]:
        """The entries of the front matter, see `read_front_matter`."""
        return read_front_matter(self.text)[0]

    @cached_property
    def outline(self) -> Outline:
        body_at = read_front_matter(self.text)[1]
        body = self.text.split("\n", body_at)[-1] if body_at else self.text
        if "plan" in self.front_matter:
            body = _TAGGED.sub(lambda tag: f"**{tag[1].replace('_', ' ')}:**", body)
        return labels.mended(scan(body, body_at + 1, _begins_unit))

    @cached_property
    def leads(self) -> list[ids.Found | None]:
        """For each block of the outline, the id at its beginning, or None."""
        return [_lead_of(block) for block in self.outline.blocks]

    @cached_property
    def named(self) -> dict[int, ids.Found]:
        """The blocks that begin with an id, each with that id."""
        return {index: lead for index, lead in enumerate(self.leads) if lead is not None}

    @cached_property
    def zones(self) -> list[int]:
        """For each block, the Zone of its section. A section inside another has at least the outer one's Zone."""
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
        if named and named != self.first_version:
            return Zone.EXCLUDED
        first = below.text if below and below.section == index and below.kind is Kind.PARA else ""
        if len(first) < 200 and _PUT_OFF.match(first):  # it says that all of the section is for later
            return Zone.EXCLUDED
        return Zone.PLAIN if index == self._title_at else _zone_of(blocks[index].text, self.leads[index])

    @cached_property
    def first_version(self) -> str:
        """The number in GSD's first heading `v1 Requirements`, or nothing."""
        versions = (_version(block.text) for block in self.outline.blocks if block.kind is Kind.HEADING)
        return min(filter(None, versions), default="")

    @cached_property
    def _title_at(self) -> int | None:
        """The heading above all others. It names the document, so an app for notes may be called `Notes`."""
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
    def is_under_done(self) -> list[bool]:
        """For each block, whether a heading around it says that its section is done. Neither the title nor a unit counts."""
        found: list[bool] = []
        inside: list[bool] = []
        for block, lead in zip(self.outline.blocks, self.leads, strict=True):
            counts = block.kind is Kind.HEADING and (block.level > 1 or self.outline.tops > 1)
            counts = counts and (lead is None or lead.only_counts)
            around = block.section >= 0 and inside[block.section]
            found.append(around)
            inside.append(around or (counts and says_done(block.text)))
        return found

    @cached_property
    def underway(self) -> frozenset[str]:
        """The box characters that the document's own legend explains as work in progress."""
        return frozenset(_LEGEND.findall(self.text))

    @cached_property
    def title(self) -> str:
        """The title in the front matter, else the first heading."""
        if "title" in self.front_matter:
            return self.front_matter["title"].value
        headings = [block for block in self.outline.blocks if block.kind is Kind.HEADING and block.text]
        first = next((block for block in headings if block.level == 1), headings[0] if headings else None)
        return re.sub(r"[*_`]{1,2}", "", first.text).strip() if first else ""


_DEFINED = pattern(r"[*_`\[]*[^\W\d_][^:：*]{0,40}?\d[\w.\-]*[*_`\]]*\s*[:：.)\]\-–—*]")


_TAGGED = pattern(r"(?m)^<(acceptance_criteria|verify|read_first|action)>$")
"""Tags that GSD puts around the parts of a task. They are read as labels."""
_VERSION = pattern(r"(?i)[\W_]*v(\d)(?:\.\d+)?\s+requirements\b")
"""`v2 Requirements`: those are for later, if the document also has requirements of v1."""


def _version(heading: str) -> str:
    """Return the number in `v2 Requirements`, or nothing."""
    found = _VERSION.match(heading) if "equirements" in heading else None
    return found[1] if found else ""


_LONE = pattern(r"(?i)[*_`]*(?:ID[*_`]*\s*[:：]\s*)?[*_`]*[A-Z]{1,8}[-_]\d{1,5}[*_`]*$")
_UNFINISHED = pattern(r"(?i)(?:[,、，&+]|\s(?:and|und|et|y|e|en|och))\s*$")
_STEP_LABEL = pattern(r"(?i)(?:Actions?|(?:Expected )?Results?|Validations?)[:：]")
_ID_LABEL = pattern(
    r"(?i)[*_`\s]*(?:(?:user[ _-]?)?(?:story|task|requirement|req|feature|issue|ticket)[ _-]?)?ID[*_`]*\s*[:：][*_`\s]*",
)


def _begins_unit(before: Sequence[str], line: str) -> bool:
    """Tell whether a line inside a paragraph begins the next unit: `FR2: …` under `FR1: …`, or one As-a sentence under another.

    `before` is the paragraph so far. It is empty if the line follows a list directly; then only an id alone on its line, or
    the label of a step, begins a unit. An id alone ends a list of ids that was not finished: `Depends on: T-1 and`.
    """
    if _LONE.match(line):
        return not (before and _UNFINISHED.search(before[-1]))
    if not before:
        return bool(_STEP_LABEL.match(line))
    if _DEFINED.match(line):
        found = ids.lead(line)
        return found is not None and found.kind not in ("number", "dotted", "step") and bool(found.rest)
    return words.is_story(line) and words.is_story(before[0])


def _zone_of(text: str, lead: ids.Found | None) -> int:
    if lead is not None and not lead.only_counts:
        return Zone.PLAIN
    if words.is_excluded(text):
        return Zone.EXCLUDED
    if words.OF_DONE.search(text[:300]) or _JUDGES.match(words.normal(text)):
        return Zone.NEVER
    if group := _NUMBERED_GROUP.match(text):
        # `Phase 4: Notes` may build the notes of an app; a section `Notes` holds no work.
        return Zone.NEVER if _JUDGES.match(words.normal(text[group.end() :])) else Zone.PLAIN
    files = words.concept(text) == "files"
    return Zone.NEVER if files or words.matches(text, words.NEVER_UNIT_SECTIONS) else Zone.PLAIN


_NUMBERED_GROUP = pattern(rf"(?i)^[\W_]*(?:{words.any_of(words.GROUP_WORDS)})\s*\d+[\w.]*\s*[:：\-–—.]")
_JUDGES = pattern(
    r"(?:success (?:criteria|metrics)|sign-?off|key metrics)\b"
    r"|.*\b(?:qa|quality|acceptance|accessibility|a11y|testing|test|security|review|verification|validation|pre-?launch|launch|pre-?deploy(?:ment)?|deployment|release|compliance|pre-?merge|go-live)\b.*\bchecklists?\b"
)
"""Names of sections about the whole product, whatever follows: `Success criteria by phase`, `Final QA checklist`."""
_LEGEND = pattern(
    r"(?i)(?<![-*+] )\[([^\sxX\]])\]`?\*{0,2}\s*(?:=|:|：|-|–|—|→|->)?\s*\(?(?:in[- ]?progress|wip|work in progress|partial|partly|started|ongoing|doing"
    r"|under way|en cours|in arbeit|en progreso|em andamento|pågår|in corso|в работе|в процесі|в процессе|進行中|作業中|进行中|진행)",
)
"""A line that explains a box character as work in progress: `[~] = in progress`."""
_GATES = words.table(
    "quality gates | quality gate | validation commands | verification commands | verification | final verification | how to verify"
)
"""Names of sections whose boxes say how the work is checked, not what the work is."""


def _lead_of(block: Block) -> ids.Found | None:
    match block.kind:
        case Kind.HEADING:
            return ids.heading_lead(block.lines[0])
        case Kind.ITEM | Kind.PARA:
            return labelled_id(block.lines[0]) or ids.lead(block.lines[0])
        case Kind.ROW:
            at = labels.columns_of(block.header).get("id", 0)  # the ids are there, or first
            return ids.lead(block.cells[at] if at < len(block.cells) else block.lines[0])
        case _:
            return None


def labelled_id(line: str) -> ids.Found | None:
    """Return the id in a field such as `ID: US-001`."""
    label = _ID_LABEL.match(line)
    found = ids.lead(line[label.end() :]) if label else None
    return found if found is not None and found.kind == "prefix" else None


_PUT_OFF = pattern(
    r"(?i)[*_>\s]*(?:deferred\b|postponed\b|out of scope\b|not in (?:the )?(?:current )?(?:scope|roadmap)"
    r"|not part of (?:this|the current)|planned for (?:a )?(?:later|future))",
)


def _announces_criteria(text: str) -> bool:
    if words.concept(text) == "criteria" or words.normal(text) in _GATES:
        return True
    return any(part in text for part in _JUDGED_PARTS) and bool(_JUDGED.search(text[-60:]))


_JUDGED_PARTS = ("rit", "RIT", "one", "ONE", "рит", "条", "條", "基", "标", "標", "조", "기")
"""Every name that `_JUDGED` matches contains one of these. Looking for them first saves time."""
_JUDGED = pattern(
    r"(?i)(?<!& )(?<!and )(?<!with )(?:\b(?:acceptance|exit|completion|success|done) criteria|\bdefinition of done|akzeptanzkriterien|abnahmekriterien"
    r"|critères d.acceptation|criterios de aceptación|critérios de aceitação|критерии приемки"
    r"|完了条件|受入基準|受け入れ条件|验收标准|验收条件|驗收標準|완료 조건|수용 기준)[\s*_:：]*$",
)
"""Names of sections that end in the word for criteria: `Phase 1 exit criteria`."""


def _is_label(line: str) -> bool:
    text = line.strip()
    bold = text.startswith(("**", "__")) and text.rstrip(":：").endswith(("**", "__"))
    return bold or (text.endswith((":", "：")) and len(text) < 60)


_ENTRY_KEY = pattern(r"^([\w][\w .-]*?)[ \t]*[:=][ \t]*(.*)$")


class Entry(NamedTuple):
    """One value of a front matter, kept as written."""

    value: str
    line: int
    items: tuple[tuple[str, int], ...]
    """The elements with their lines, if the value is a list. A list may stand in brackets or below its key."""


def read_front_matter(text: str) -> tuple[dict[str, Entry], int]:
    """Return the entries of a front matter, and how many lines it takes."""
    lines = text.split("\n", 400)
    if lines[0].rstrip() != "---":
        return {}, 0
    end = next((i for i, line in enumerate(lines[1:400], 1) if line.rstrip() in ("---", "...")), 0)
    if not end or not any(_ENTRY_KEY.match(line) for line in lines[1:end]):
        return {}, 0
    return entries_of(lines[1:end], 2), end + 1


def entries_of(lines: Sequence[str], first: int) -> dict[str, Entry]:
    """Return the entries in these lines. `first` is the line number of the first of them."""
    entries: dict[str, Entry] = {}
    key = ""
    for number, line in enumerate(lines, first):
        if line[:1] not in (" ", "\t", "-") and (found := _ENTRY_KEY.match(line)):
            key = found[1].lower()
            entries[key] = Entry(_unquoted(found[2]), number, _flow_items(found[2], number))
        elif key and (item := re.match(r"^\s*-\s+(.*)$", line)):
            entry = entries[key]
            entries[key] = entry._replace(items=(*entry.items, (_unquoted(item[1]), number)))
    return entries


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return re.sub(r"\s+#.*$", "", value)


def _flow_items(value: str, line: int) -> tuple[tuple[str, int], ...]:
    value = re.sub(r"\s+#.*$", "", value.strip())
    if not (value.startswith("[") and value.endswith("]")):
        return ()
    return tuple((_unquoted(part), line) for part in value[1:-1].split(",") if part.strip())


_PLAN_ID = pattern(r"(?m)^[ \t]{0,3}(?:[-*] )?id:[ \t]*[\"'`]?([^\s\"'`#][^\n\"'`#]{0,200})")


def plan_id(text: str, name: str) -> str:
    """Return the id of a plan: the value of its `id:` line, else the file name without its ending."""
    found = _PLAN_ID.search(text)
    return found[1].strip() if found else name.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
