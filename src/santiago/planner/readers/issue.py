"""Files that are one unit: Backlog.md and ccpm tasks, known by their front matter; BMAD stories and `# Task:` files, by their title;
BMAD's quick specifications, by the tag around what a person approved.

A ccpm epic is different: it lists its tasks as `- [ ] #396 - Title (parallel: true)`, and these tasks are the units.
"""

from __future__ import annotations

from dataclasses import replace

from santiago.contract.lazy_regex import pattern
from santiago.planner import ids, words
from santiago.planner.draft import Dep, Document, Hint, Status, Unit, by_key, unique
from santiago.planner.findings import note, warning
from santiago.planner.markdown import assemble, carriers
from santiago.planner.markdown.harvest import Carrier, status_of
from santiago.planner.markdown.id_lists import kind_of
from santiago.planner.markdown.labels import clean, read_label
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Entry, Source, Zone

_CHILD = pattern(r"(?i)^#?(?P<id>[\w./-]+?)(?:\.md)?\s+-\s*(?P<title>.*?)\s*\(parallel:\s*(?P<parallel>[^)]*)\)")
_TITLE = pattern(r"(?i)^[\W_]*(?:user story|story|task|issue|ticket|bug|code task)\s*[:：]\s*(?P<title>\S.*)$")
_ID_KEYS = ("id", "task_number", "task_id", "story_id", "issue_id", "key", "plan")
_DEP_KEYS = ("depends_on", "dependencies", "depends", "dependson", "depends-on", "blocked_by", "blockedby")
_FILE_KEYS = ("files", "modified_files", "files_modified", "files_to_modify", "files_to_create")
_STATUS_KEYS = ("status", "state")
_TITLE_KEYS = ("title", "name")
_CHUNK_KEYS = ("epic", "milestone", "phase", "sprint")
_WITHOUT_CRITERIA = 150
"""A task file without criteria has at most this many lines; longer files are specifications or reports."""


def read(source: Source) -> Document | None:
    return _children(source) or _single(source)


def bmad_quick(source: Source) -> Document | None:
    """Read a specification of BMAD's quick flow. Its boxes are the steps of one change."""
    if not {"title", "type", "status"} <= source.front_matter.keys():
        return None
    carrier = _carrier(source)
    lead = ids.lead(carrier.title)
    if lead is not None and kind_of(lead) in ("task", "story"):
        carrier = replace(carrier, id=lead.id, title=lead.rest)
    document = assemble.document(source, "bmad-quick-spec", ["a part that is frozen after approval"], [carrier])
    return assemble.with_units(document, [_with_front_matter(source, document.units[0])])


def _children(source: Source) -> Document | None:
    """Read an epic that lists its tasks."""
    blocks = source.outline.blocks
    boxed = [(i, block) for i, block in enumerate(blocks) if block.box is not None]
    found = [(i, match) for i, block in boxed if (match := _CHILD.match(block.text))]
    if not found:
        return None
    made = []
    for index, match in found:
        lead = ids.Found(match["id"], "prefix", clean(match["title"]))
        tags = ["[P]"] if match["parallel"].strip() == "true" else []
        made.append(carriers.carrier(source, index, found=lead, tags=tags))
    document = assemble.document(source, "ccpm-epic", [f"{len(found)} child tasks with a parallel mark"], made)
    document.findings += [
        warning("no_title", blocks[one.at].line, f"{one.id} has no title", "Write what the task is behind its number.")
        for one in made
        if one.title == one.id
    ]
    return document


def _single(source: Source) -> Document | None:
    """Read a document that is one unit as a whole."""
    evidence = [*_by_front_matter(source), *_by_heading(source)]
    if not evidence or _has_other_units(source):
        return None
    sections = _criteria_sections(source)
    if sections > 1 or (not sections and not _is_bare_task(source)):
        return None
    evidence.append(f"{sections} section of criteria" if sections else "no other unit and no list of boxes")
    document = assemble.document(source, "issue", evidence, [_carrier(source)])
    if names := [name for name, _ in values(source.front_matter.get("conflicts_with"))]:
        message = f"conflicts with {', '.join(names)}: such tasks must not run at the same time"
        line = source.front_matter["conflicts_with"].line
        document.findings.append(note("conflicts_with", line, message, "Plan them in one document to order them."))
    return assemble.with_units(document, [_with_front_matter(source, document.units[0])])


def _by_front_matter(source: Source) -> list[str]:
    keys = source.front_matter.keys()
    named = [key for key in (*_ID_KEYS, *_DEP_KEYS) if key in keys]
    if not named:
        return []
    beside = _TITLE_KEYS if named[0] in _DEP_KEYS else (*_TITLE_KEYS, *_DEP_KEYS, *_STATUS_KEYS, "phase")
    lead = ids.lead(source.front_matter[named[0]].value)
    is_side = lead is not None and lead.kind == "prefix" and lead.prefix in ids.SIDE
    return [] if is_side or keys.isdisjoint(beside) else [f"front matter with {named[0]}"]


def _by_heading(source: Source) -> list[str]:
    first = _first_heading(source)
    if first < 0 or source.outline.blocks[first].level != 1:
        return []
    lead = source.leads[first]
    if (lead is not None and kind_of(lead) in ("task", "story")) or _TITLE.match(source.outline.blocks[first].text):
        return [f'title "{source.outline.blocks[first].text[:40]}"']
    return []


def _first_heading(source: Source) -> int:
    return next((i for i, block in enumerate(source.outline.blocks) if block.kind is Kind.HEADING), -1)


def _has_other_units(source: Source) -> bool:
    """Tell whether the document defines further units, as headings or as several items."""
    first = _first_heading(source)
    places = {index: lead for index, lead in source.named.items() if source.zones[index] != Zone.NEVER}
    others = [(index, lead) for index, lead in places.items() if index != first]
    if any(_is_unit_heading(source, index, lead, first) for index, lead in others):
        return True
    blocks, judged = source.outline.blocks, source.under_criteria
    plain = [lead for index, lead in others if blocks[index].box is None and not judged[index]]
    items = by_key((lead.prefix, lead.id) for lead in plain if carriers.is_unit_prefix(lead))
    return any(len(set(found)) > 2 for found in items.values())


def _is_unit_heading(source: Source, index: int, lead: ids.Found, first: int) -> bool:
    """Tell whether a heading defines another unit. A task of a story, or under the heading Tasks, is a part of the unit."""
    blocks = source.outline.blocks
    if blocks[index].kind is not Kind.HEADING or lead.kind not in ("story", "requirement", "task"):
        return False
    if lead.kind != "task":
        return True
    title = source.leads[first] if first >= 0 else None
    section = blocks[index].section
    own_work = "plan" not in source.front_matter and section >= 0 and words.concept(blocks[section].text) == "work"
    return not own_work and not (title is not None and title.kind == "story")


def _criteria_sections(source: Source) -> int:
    blocks = source.outline.blocks
    headings = sum(block.kind is Kind.HEADING and words.concept(block.text) == "criteria" for block in blocks)
    outer = [block for block in blocks if block.kind in (Kind.PARA, Kind.ITEM) and block.parent < 0]
    labels = [label for block in outer if (label := read_label(block.lines[-1])).concept == "criteria"]
    return headings or sum(label.marked or not label.rest for label in labels)


def _is_bare_task(source: Source) -> bool:
    """Tell whether a file without criteria can still be one task: it has no list of boxes that would be units."""
    blocks = source.outline.blocks
    boxed = [index for index, block in enumerate(blocks) if block.box is not None and block.parent < 0]
    loose = {blocks[index].section for index in boxed if carriers.is_plain(source, index)}
    if loose:
        return len(loose) == 1 and bool(_by_heading(source))
    sections = {blocks[index].section for index in boxed} - {-1}
    judged = "success" in {words.concept(blocks[section].text) for section in sections}
    return judged or source.outline.line_count <= _WITHOUT_CRITERIA


def _carrier(source: Source) -> Carrier:
    blocks = source.outline.blocks
    first = _first_heading(source)
    at = first if first >= 0 and blocks[first].level == 1 else -1
    text, lead = (blocks[at].text, source.leads[at]) if at >= 0 else ("", None)
    is_named = lead is not None and kind_of(lead) in ("task", "story")
    own = _TITLE.match(text)
    title = (lead.rest or text) if lead and is_named else own["title"] if own else text
    lines = [entry.line for key, entry in source.front_matter.items() if key in (*_ID_KEYS, *_TITLE_KEYS)]
    return Carrier(
        at=at,
        end=len(blocks),
        title=clean(_front_matter_value(source, _TITLE_KEYS) or title),
        id=_front_matter_value(source, _ID_KEYS) or (lead.id if lead and is_named else None),
        line=blocks[at].line if at >= 0 else min(lines, default=1),
        chunk=_front_matter_value(source, _CHUNK_KEYS),
        priority=_front_matter_value(source, ("priority",)),
    )


def _front_matter_value(source: Source, keys: tuple[str, ...]) -> str | None:
    """Return the first value that the front matter gives for one of these keys."""
    entries = (source.front_matter.get(key) for key in keys)
    return next((entry.value for entry in entries if entry is not None and entry.value), None)


def _with_front_matter(source: Source, unit: Unit) -> Unit:
    """Add the front matter's fields. Its status overrides the boxes, and its dependencies override those in the text."""
    said = _front_matter_value(source, _STATUS_KEYS)
    files = [Hint(value=name, line=line, carrier="front-matter") for name, line in _listed(source, _FILE_KEYS)]
    scientist = (_front_matter_value(source, ("role",)) or "").lower() == "scientist"
    deps = [Dep(target=name, line=line, carrier="front-matter") for name, line in _listed(source, _DEP_KEYS)]
    known = {ids.fold(dep.target) for dep in deps}
    return replace(
        unit,
        status=unit.status if said is None else status_of(said) or Status.OPEN,
        tags=(*unit.tags, *(name for name, _ in _listed(source, ("tags", "labels")))),
        role="scientist" if scientist else unit.role,
        profile=_front_matter_value(source, ("profile",)) or unit.profile,
        deps=(*deps, *(dep for dep in unit.deps if ids.fold(dep.target) not in known)),
        files=unique((*files, *unit.files)),
    )


def _listed(source: Source, keys: tuple[str, ...]) -> list[tuple[str, int]]:
    return [named for key in keys for named in values(source.front_matter.get(key))]


def values(entry: Entry | None) -> list[tuple[str, int]]:
    """Return the names that a front matter entry lists, each with its line."""
    if entry is None:
        return []
    items = entry.items or tuple((part, entry.line) for part in entry.value.strip("[]").split(","))
    named = [(name.strip(), line) for name, line in items if name.strip(" -[]")]
    return [(name, line) for name, line in named if words.normal(name) not in words.NONE_WORDS]
