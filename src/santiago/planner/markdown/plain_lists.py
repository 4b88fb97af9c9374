"""Lists that ids do not make: headings with criteria, chains, As-a sentences, numbered requirements, tables; and loose lists.

Loose lists may be the work but are not marked as it: steps of phases, numbered headings, numbered lines, bullets under
Features. They are planned only if the user names one of them. Beside the chosen list they are its rivals.
Tables of requirements have rows with ids, rows of features with a priority, or rows that form an As-a sentence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.planner import hints, ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.draft import DraftCriterion, Status, Unit, by_key
from santiago.planner.markdown import carriers, labels
from santiago.planner.markdown.carriers import carrier, indexes, is_group, label, section_chunks
from santiago.planner.markdown.harvest import Carrier, status_of
from santiago.planner.markdown.id_lists import UnitList, View, extents, grouped, is_listlike, kind_of
from santiago.planner.markdown.labels import cell_of, clean, columns_of
from santiago.planner.markdown.outline import Block, Kind, any_within
from santiago.planner.source import Source, Zone

_GROUP_NUMBER = pattern(r"^[\W_]*[^\W\d_]+\s*(\d+[\w.]*?)[*_]*\s*[:：.)\-–—]+\s*(.*)$")

_VERSION = pattern(r"[\W_]*v\d+\.\d")


def numbered_lists(view: View) -> list[UnitList]:
    """Return the headings that have a criteria label, with their siblings if at least half have one."""
    if not view.criteria_marks:
        return []
    starts = _headings(view)
    if all((lead := view.source.leads[at]) and kind_of(lead) in ("story", "requirement") for at in starts):
        return []  # their ids make them a list already
    return [_as_list(view, Evidence.JUDGED_HEADINGS, starts)]


def requirement_lists(view: View) -> list[UnitList]:
    """Return the numbered items under a heading Requirements or Steps, or under a part of such a section."""
    outer = [index for index in _numbered_items(view) if not view.source.under_criteria[index]]
    paths = {index: view.source.outline.path(index)[-2:] for index in outer}
    required = {index for index, path in paths.items() if any(_says_required(view, at) for at in path)}
    starts = [at for at, path in paths.items() if at in required or (path and _says_steps(view, path[-1]))]
    starts = [index for index in starts if _is_list(view, view.blocks[index].section, starts)]
    return [_as_list(view, Evidence.REQUIRED_ITEMS, starts)] if len(starts) > 1 else []


def _numbered_items(view: View) -> list[int]:
    """Return the outermost items with a number."""
    items = [(index, view.blocks[index]) for index in indexes(view.source, Kind.ITEM)]
    return [index for index, item in items if item.box is None and item.marker[0].isdigit() and item.level == 0]


def _says_required(view: View, heading: int) -> bool:
    return words.matches(view.blocks[heading].text, words.REQUIREMENT_SECTIONS)


def _says_steps(view: View, heading: int) -> bool:
    """Tell whether a heading announces the steps of the work. Beside phases, such a list is only a summary."""
    phases = sum(block.kind is Kind.HEADING and is_group(block.text) for block in view.blocks)
    return phases < 2 and words.matches(view.blocks[heading].text, words.STEP_SECTIONS)


def _is_list(view: View, section: int, starts: list[int]) -> bool:
    """Tell whether a section is the list, or one of the parts of Requirements, at least half of which are such lists."""
    if _says_required(view, section) or _says_steps(view, section):
        return True
    around = view.blocks[section].section
    parts = [i for i in view.source.outline.inside(around) if view.blocks[i].kind is Kind.HEADING]
    held = {view.blocks[index].section for index in starts}
    return len(held.intersection(parts)) * 2 >= len(parts)


def _headings(view: View) -> list[int]:
    above = {view.blocks[index].section for index in view.criteria_marks if view.blocks[index].parent < 0} - {-1}
    owners = {at for at in above if _may_be_unit(view, at, view.blocks[at])}  # with a criteria label directly below
    parents = {view.blocks[owner].section for owner in owners}
    heads = [(at, b) for at, b in enumerate(view.blocks) if b.kind is Kind.HEADING and b.section in parents]
    siblings = by_key(((block.section, block.level), at) for at, block in heads if _may_be_unit(view, at, block))
    kept = [index for members in siblings.values() for index in _units_of(view, members, owners)]
    return _of_one_level(view, sorted(kept), owners)


def _units_of(view: View, members: list[int], owners: set[int]) -> list[int]:
    """Return which headings of one level are units: the numbered ones, all, or only those with criteria."""
    own = [index for index in members if index in owners]
    numbered = [index for index in members if _number(view, index) is not None]
    if set(own) <= set(numbered) and len(own) * 2 >= len(numbered):
        return numbered if own else []
    return members if len(own) * 2 >= len(members) > 1 else own


def _may_be_unit(view: View, index: int, block: Block) -> bool:
    if view.source.zones[index] == Zone.NEVER or (block.level == 1 and view.source.outline.tops < 3):
        return False
    if is_group(block.text) and view.holds_work(index):
        return False
    return words.concept(block.text) is None and words.normal(block.text) not in words.STORY_SECTIONS


def _number(view: View, index: int) -> ids.Found | None:
    lead = view.source.leads[index]
    if lead is not None and lead.only_counts:
        return lead
    found = _GROUP_NUMBER.match(view.blocks[index].text) if is_group(view.blocks[index].text) else None
    return ids.Found(found[1], "number", found[2]) if found and found[2] else None


def _of_one_level(view: View, kept: list[int], owners: set[int]) -> list[int]:
    """Keep the heading level with the most criteria. A single heading with criteria must be numbered to be a unit."""
    levels = Counter(view.blocks[index].level for index in kept if index in owners)
    if not levels:
        return []
    level = max(levels, key=lambda level: (levels[level], -level))
    found = [index for index in kept if view.blocks[index].level == level]
    return found if levels[level] > 1 or (len(found) == 1 and _number(view, found[0])) else []


def _as_list(view: View, evidence: Evidence, starts: list[int]) -> UnitList:
    numbers = [_heading_number(view, index) for index in starts]
    titles = [found.rest if found else view.blocks[at].lines[0] for at, found in zip(starts, numbers, strict=True)]
    places = zip(extents(view, starts), _as_ids(numbers), titles, strict=True)
    carriers = [carrier(view.source, at, end=end, found=found, title=title) for (at, end), found, title in places]
    carriers = grouped(view, carriers)
    what = "headings" if view.blocks[starts[0]].kind is Kind.HEADING else "list items"
    is_required = evidence is Evidence.REQUIRED_ITEMS
    under = f"the numbered items under {label(view.blocks[view.blocks[starts[0]].section].text)}"
    phases = sum(is_group(view.blocks[index].text) for index in starts) * 2 > len(starts)
    kind = "phase" if phases else "numbered"
    keys = frozenset({kind, what.removeprefix("list ").removesuffix("s")})
    name = under if is_required else f"{what} with acceptance criteria"
    return UnitList(view, evidence, kind, name, tuple(carriers), keys, not is_required)


def _as_ids(numbers: list[ids.Found | None]) -> list[ids.Found | None]:
    """Keep numbers as ids if no number occurs twice. Lists that begin again at 1 give no ids."""
    plain = [found.id for found in numbers if found and found.kind == "number"]
    if len(set(map(ids.fold, plain))) == len(plain):
        return numbers
    return [found if found and found.kind == "dotted" else None for found in numbers]


def _heading_number(view: View, index: int) -> ids.Found | None:
    block = view.blocks[index]
    if block.kind is Kind.HEADING:
        return _number(view, index)
    lead = view.source.leads[index]
    if lead is not None and lead.kind == "dotted":
        return lead
    number = _list_number(view, index)
    return ids.Found(number, "number", block.lines[0]) if number.isdigit() else None


def chain_lists(view: View) -> list[UnitList]:
    """Return the list with the most items that depend on each other by number. Each list has numbers of its own."""
    sections = by_key((view.blocks[index].section, index) for index in _numbered_items(view))
    chains = [(linked, members) for members in sections.values() if (linked := _count_linked(view, members)) > 1]
    if not chains:
        return []
    _, members = max(chains, key=lambda chain: chain[0])
    numbers = [ids.Found(_list_number(view, index), "number", view.blocks[index].text) for index in members]
    places = zip(members, numbers, strict=True)
    carriers = tuple(carrier(view.source, index, found=number) for index, number in places)
    keys = frozenset({"chain", "item", "numbered"})
    return [UnitList(view, Evidence.JUDGED_ITEMS, "chain", "items of a dependency chain", carriers, keys)]


def _count_linked(view: View, members: list[int]) -> int:
    """Return how many items depend on other items of the same list, by number."""
    numbers = {_list_number(view, index) for index in members}
    if len(numbers) < len(members):
        return 0
    found = [{dep.target for dep in hints.inline_deps(view.blocks[at]) if dep.carrier == "inline"} for at in members]
    return sum(bool(targets) and targets <= numbers for targets in found)


def _list_number(view: View, index: int) -> str:
    return view.blocks[index].marker.rstrip(".):")


def as_a_lists(view: View) -> list[UnitList]:
    """Return the As-a sentences as one list. If a heading has just one of them, the heading is the unit."""
    if not view.stories:
        return []
    per_section = Counter(view.blocks[index].section for index in view.stories)
    starts = sorted({_story_place(view, index, per_section) for index in view.stories})
    made = []
    for at, end in extents(view, starts):
        lead = view.source.leads[at] if view.blocks[at].kind is Kind.HEADING else None
        made.append(carrier(view.source, at, end=end, title=lead.rest or None if lead and lead.only_counts else None))
    carriers = tuple(grouped(view, made))
    keys, explicit = frozenset({"as-a", "story", "stories"}), view.explicit(carriers)
    return [UnitList(view, Evidence.SENTENCES, "as-a", "As-a sentences", carriers, keys, explicit)]


def _story_place(view: View, index: int, per_section: Counter[int]) -> int:
    """Return the heading directly above a sentence if it names that one story, else the sentence itself."""
    block = view.blocks[index]
    section = block.section
    if block.kind is Kind.HEADING or section < 0 or per_section[section] > 1 or block.parent >= 0:
        return index
    heading = view.blocks[section]
    if words.concept(heading.text) == "description" and heading.section >= 0 and section == heading.section + 1:
        section, heading = heading.section, view.blocks[heading.section]  # `Overview` is a part of the story above it
    if heading.level == 1 or is_group(heading.text) or words.normal(heading.text) in words.STORY_SECTIONS:
        return index
    if words.concept(heading.text) is not None:
        return index
    judged = any_within(view.criteria_marks, view.ends[index], view.ends[section])
    return index if block.kind is Kind.ITEM and not judged else section


_WORD = pattern(r"[\w-]+")
_PLANS = pattern(
    r"(?i)\b(?:plan|planning|steps?|tasks?|to-?dos?|order|issues|bugs|fixes|improvements|changes|ideas|next)\b",
)
"""Words in headings whose numbered lines may be work."""


def loose_lists(view: View) -> list[UnitList]:
    return [_loose_list(view, starts, name, keys) for starts, name, keys in _loose(view) if len(starts) > 1]


def _loose(view: View) -> Iterator[tuple[list[int], str, set[str]]]:
    """Yield the places of each list, its name, and the values of `--units` that select it."""
    source, blocks = view.source, view.blocks
    stages = phases(source)
    inside = {index for heading in stages for index in _plain_items(source, source.outline.inside(heading))}
    steps = sorted(index for index in inside if _is_free(view, index))
    yield steps, f"the steps of {count(len(stages), 'phase')}", {"phase", "phases"}
    numbered = [index for index in numbered_heads(source) if not is_group(blocks[index].text)]
    yield numbered, f"the {len(numbered)} numbered headings", {"numbered", "headings"}
    features, taken = set(feature_sections(source)), set(steps)
    free = [index for index in loose_items(source) if index not in taken and _is_free(view, index)]
    for section, starts in by_key((blocks[index].section, index) for index in free).items():
        if not features & {section, blocks[section].section}:
            planned = _PLANS.search(blocks[section].text)
            starts = [index for index in starts if planned and blocks[index].marker[0].isdigit()]
        name = label(blocks[section].text)
        yield starts, f"the list under {name}", {" ".join(_WORD.findall(name.lower()))}


def _is_free(view: View, index: int) -> bool:
    """Tell whether an item is in no other kind of list: it has no box and no id."""
    lead = view.source.leads[index]
    return view.blocks[index].box is None and (lead is None or lead.only_counts)


def _loose_list(view: View, starts: list[int], name: str, keys: set[str]) -> UnitList:
    places = zip(extents(view, starts), section_chunks(view.source, starts), strict=True)
    heads = {at: lead.rest for at in starts if (lead := view.source.leads[at]) and view.blocks[at].kind is Kind.HEADING}
    carriers = [carrier(view.source, at, end=end, title=heads.get(at), chunk=chunk) for (at, end), chunk in places]
    keys.add(f"line {view.blocks[starts[0]].line}")
    return UnitList(view, Evidence.LOOSE, "loose", name, tuple(carriers), frozenset(keys))


def _plain_headings(source: Source) -> list[tuple[int, Block]]:
    places = enumerate(zip(source.outline.blocks, source.zones, strict=True))
    return [(index, block) for index, (block, zone) in places if block.kind is Kind.HEADING and zone == Zone.PLAIN]


def feature_sections(source: Source) -> list[int]:
    """Return the headings that name features, requirements, scope or a roadmap. Excluded sections do not count."""
    is_title = source.outline.tops == 1
    named = [(index, block) for index, block in _plain_headings(source) if block.level > 1 or not is_title]
    return [index for index, block in named if words.FEATURES.search(block.text) and not is_group(block.text)]


def phases(source: Source) -> list[int]:
    """Return the headings that name a phase, a milestone, a version or the like and have list items."""
    blocks = source.outline.blocks
    groups = [index for index, block in _plain_headings(source) if is_group(block.text) or _VERSION.match(block.text)]
    return [index for index in groups if any(blocks[i].kind is Kind.ITEM for i in source.outline.inside(index))]


def numbered_heads(source: Source) -> list[int]:
    """Return the numbered headings of the level that has most of them, unless they are chapters."""
    heads = _plain_headings(source)
    levels = by_key((block.level, index) for index, block in heads if carriers.is_numbered(source, index))
    level = max(levels, key=lambda level: (len(levels[level]), -level), default=0)
    found = levels.get(level, [])
    chapters = [words.matches(b.text, words.CHAPTERS) for at, b in heads if b.level == level and at not in found]
    # One or two numbered headings among others may just as well be chapters.
    is_mixed = len(found) < 3 and not all(chapters)
    return [] if is_mixed or carriers.are_chapters(source, level) else found


def loose_items(source: Source) -> list[int]:
    """Return the outermost list items outside sections that are chapters of a text."""
    blocks = source.outline.blocks
    items = [index for index in _plain_items(source, range(len(blocks))) if blocks[index].section >= 0]
    names = {index: blocks[blocks[index].section].text for index in items}
    free = [index for index, name in names.items() if not words.matches(name, words.CHAPTERS)]
    return [index for index in free if words.concept(names[index]) in (None, "work")]


def _plain_items(source: Source, places: range) -> list[int]:
    outer = [index for index in places if source.outline.blocks[index].kind is Kind.ITEM]
    outer = [index for index in outer if source.outline.blocks[index].level == 0]
    return [index for index in outer if source.zones[index] == Zone.PLAIN and not source.under_criteria[index]]


# Tables

_BRACKETED = pattern(r"[(\[][^()\[\]]*[)\]]")
_BREAKS = pattern(r"<br\s*/?>|;|；|•|\n")


def table_lists(view: View) -> list[UnitList]:
    """Return the tables whose rows are units, one list per kind."""
    found: dict[str, list[Carrier]] = defaultdict(list)
    explicit: Counter[str] = Counter()
    repeated: dict[str, list[int]] = defaultdict(list)
    for rows in _tables(view):
        columns = columns_of(view.blocks[rows[0]].header)
        kind = _kind(view, rows, columns)
        if kind is None:
            continue
        made = list(filter(None, (_carrier(view, index, columns) for index in rows)))
        kind = "story" if kind == "other" and view.tells_stories(made) else kind
        known = {ids.fold(one.id) for one in found[kind] if one.id}
        again = [one.at for one in made if one.id and ids.fold(one.id) in known]
        # If most rows repeat units, the table is about the list, such as its progress.
        again = again if len(again) * 2 > len(made) else []
        made = [one for one in made if one.at not in again]
        repeated[kind] += again
        found[kind] += made
        explicit[kind] += len(made) if "criteria" in columns else 0
    return [
        _table_list(view, kind, carriers, explicit=explicit[kind] * 2 >= len(carriers), repeated=repeated[kind])
        for kind, carriers in found.items()
    ]


def _table_list(view: View, kind: str, carriers: list[Carrier], *, explicit: bool, repeated: list[int]) -> UnitList:
    named = kind not in ("table", "status") and carriers[0].id
    prefixes = {ids.prefix_of(made.id).lower() for made in carriers if made.id} - {""}
    evidence = Evidence.PROGRESS_ROWS if kind == "status" else Evidence.ROWS
    name = f"{carriers[0].id} to {carriers[-1].id}" if named else "table rows"
    made, keys = tuple(grouped(view, carriers)), frozenset({"table", "row", kind, *prefixes})
    kind = "table" if kind == "status" else kind
    return UnitList(view, evidence, kind, name, made, keys, explicit, tuple(repeated))


def _tables(view: View) -> list[list[int]]:
    """Return the rows of each table, except in sections that never hold units."""
    blocks = view.blocks  # a block that is no row has neither cells nor a header, so these are equal, too
    runs = groupby(range(len(blocks)), lambda at: blocks[at].cells != blocks[at].header and id(blocks[at].header))
    tables = [list(rows) for header, rows in runs if header]
    return [rows for rows in tables if view.source.zones[rows[0]] != Zone.NEVER]


def _kind(view: View, rows: list[int], columns: dict[str, int]) -> str | None:
    """Return the kind of list that a table is, or None if its rows are no units."""
    header = view.blocks[rows[0]].header
    names, says_what = {words.normal(cell) for cell in header}, labels.lists_work(header)
    if names & words.OTHER_COLUMNS and not says_what:
        return None
    weighed = not columns.keys().isdisjoint(("priority", "criteria"))
    leads = [lead for index in rows if (lead := view.source.named.get(index)) and lead.kind == "prefix"]
    if leads:
        return _kind_by_ids(view, rows, columns, leads, sure=says_what and weighed)
    if {"role", "title"} <= columns.keys():
        return "table"
    kept = "table" if weighed else "status" if names & words.STATE_COLUMNS else None
    return kept if "title" in columns and says_what and len(rows) > 1 else None


def _kind_by_ids(
    view: View, rows: list[int], columns: dict[str, int], leads: list[ids.Found], *, sure: bool
) -> str | None:
    """Return the kind of most ids. If `sure`, the header says that the rows are units, so even an `SC` is one."""
    same = {None: None, "nfr": "requirement", "side": "other" if sure else None}
    kinds = [same.get(kind, kind) for kind in map(kind_of, leads)]
    named = list(filter(None, kinds))
    if len(named) * 2 < len(rows) or _only_refers(view, rows):
        return None
    kind = max(sorted(set(named)), key=named.count)
    has_names = not columns.keys().isdisjoint(("id", "title"))
    counted = has_names and len(rows) > 1 and is_listlike([lead.id for lead in leads])
    return kind if kind != "other" or counted else None


def _only_refers(view: View, rows: list[int]) -> bool:
    """Tell whether this is a traceability table: its other cells hold only ids and ticks."""
    texts = [[cell for cell in view.blocks[i].cells[1:] if cell.strip(" -–—✓✔✅❌xX")] for i in rows]
    return sum(all(hints.targets(cell)[1] for cell in cells) for cells in texts) * 2 > len(rows)


def _carrier(view: View, index: int, columns: dict[str, int]) -> Carrier | None:
    block = view.blocks[index]
    lead = view.source.leads[index]
    named = lead if lead is not None and lead.kind == "prefix" and kind_of(lead) is not None else None
    title = _title(block, columns, named)
    if not title:
        return None
    made = carrier(view.source, index, end=index + 1, found=named, title=title)
    if named is None and (number := clean(cell_of(block, "id"))):
        made = replace(made, id=number if re.fullmatch(r"[\d.]+[A-Za-z]?", number) else None)
    return made if made.status is not Status.OPEN else replace(made, status=_status(block) or Status.OPEN)


def _status(row: Block) -> Status | None:
    return status_of(cell_of(row, "status").lstrip("-* "))


def _title(block: Block, columns: dict[str, int], lead: ids.Found | None) -> str:
    if {"role", "title"} <= columns.keys():
        who, what = (f"{block.header[columns[m]].strip(' .…')} {cell_of(block, m)}" for m in ("role", "title"))
        return f"{who}, {what}"
    first = 0 if lead is None and "id" not in columns else 1
    named = cell_of(block, "title") if columns.get("title", -1) >= first else ""
    rest = lead.rest if lead and _BRACKETED.sub("", lead.rest).strip() else ""
    return next(filter(None, (named, rest, *_other_cells(block, first), *block.cells[first:])), "")


def _other_cells(block: Block, first: int) -> list[str]:
    """Return the cells from this column on whose header is a title or unknown."""
    at = columns_of(block.header).get("id", 0)
    cells = list(enumerate(zip(block.cells, block.header, strict=False)))[first:]
    return [cell for place, (cell, name) in cells if place != at and labels.column(name) in (None, "title")]


def with_columns(view: View, units: list[Unit], carriers: tuple[Carrier, ...]) -> list[Unit]:
    """Return the units with what the columns of their rows say: criteria, dependencies, priority, status."""
    rows = [view.blocks[made.at] for made in carriers]
    return [_with_cells(unit, row) if row.kind is Kind.ROW else unit for unit, row in zip(units, rows, strict=True)]


def _with_cells(unit: Unit, row: Block) -> Unit:
    declares = "depends" in columns_of(row.header)
    deps = hints.field_deps(cell_of(row, "depends"), row.line, "table") if declares else unit.deps
    waiting = hints.field_deps(cell_of(row, "blocks"), row.line, "blocks")
    told = [(name, cell) for name, cell in zip(row.header, row.cells, strict=False) if cell]
    others = [f"{name}: {cell}" for name, cell in told if clean(cell) not in (unit.title, unit.id)]
    parts = [part.strip().lstrip("-*•– ").strip() for part in _BREAKS.split(cell_of(row, "criteria"))]
    criteria = [DraftCriterion(text=clean(part), line=row.line) for part in parts if part.strip("-–— ")]
    return replace(
        unit,
        criteria=tuple(criteria),
        deps=(*deps, *(dep for dep in waiting if dep.carrier != "unclear")),
        status=(_status(row) or unit.status) if unit.status is Status.OPEN else unit.status,
        priority=clean(cell_of(row, "priority")) or unit.priority,
        text="\n".join(others),
    )
