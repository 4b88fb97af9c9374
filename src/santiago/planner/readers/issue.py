"""Files that hold one unit: Backlog.md and ccpm tasks by their front matter, BMAD stories and `# Task:` files by their title.

A ccpm epic lists the tasks that were cut from it, `- [ ] #396 - Title (parallel: true)`; there the children are the units.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import ids, words
from santiago.planner.draft import Dep, Document, Hint, Status, Unit
from santiago.planner.findings import note, warning
from santiago.planner.markdown import assemble, carriers
from santiago.planner.markdown.harvest import Carrier, clean, status_of
from santiago.planner.markdown.labels import read_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source, Zone

if TYPE_CHECKING:
    from santiago.planner.front_matter import Entry

_CHILD = pattern(
    r"^#?(?P<id>[\w./-]+?)(?:\.md)?\s+-\s*(?P<title>.*?)\s*\(parallel:\s*(?P<parallel>[^)]*)\)", re.IGNORECASE
)
_TITLE = pattern(
    r"^[\W_]*(?:user story|story|task|issue|ticket|bug|code task)\s*[:：]\s*(?P<title>\S.*)$", re.IGNORECASE
)
_ID_KEYS = ("id", "task_number", "task_id", "story_id", "issue_id", "key", "plan")
_DEP_KEYS = ("depends_on", "dependencies", "depends", "dependson", "depends-on", "blocked_by", "blockedby")
_FILE_KEYS = ("files", "modified_files", "files_modified", "files_to_modify", "files_to_create")
_STATUS_KEYS = ("status", "state")
_CHUNK_KEYS = ("epic", "milestone", "phase", "sprint")
_WITHOUT_CRITERIA = 150
"""Lines up to which a task that labels no criteria counts as one; longer ones are specifications or reports."""


def read(source: Source) -> Document | None:
    return _children(source) or _single(source)


def _children(source: Source) -> Document | None:
    """Read an epic that lists the tasks cut from it."""
    blocks = source.outline.blocks
    found = [
        (i, match)
        for i, b in enumerate(blocks)
        if b.kind is Kind.ITEM and b.box is not None and (match := _CHILD.match(b.text))
    ]
    if not found:
        return None
    made = []
    findings = []
    for index, match in found:
        lead = ids.Found(match["id"], "prefix", clean(match["title"]))
        made.append(
            carriers.carrier(source, index, found=lead, tags=["[P]"] if match["parallel"].strip() == "true" else [])
        )
        if not lead.rest:
            findings.append(_no_title(blocks[index], lead.id))
    document = assemble.document(source, "ccpm-epic", [f"{len(found)} child tasks with a parallel mark"], made)
    document.findings += findings
    return document


def _no_title(block: Block, identifier: str) -> Finding:
    hint = "Write what the task is behind its number."
    return warning("no_title", block.line, f"{identifier} has no title", hint)


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
    document.findings += _conflicts(source)
    return assemble.with_units(document, [_with_front_matter(source, document.units[0])])


def _by_front_matter(source: Source) -> list[str]:
    front = source.front_matter
    named = next((key for key in _ID_KEYS if key in front), None)
    titled = "title" in front or "name" in front
    depends = next((key for key in _DEP_KEYS if key in front), None)
    if named and (lead := ids.lead(front[named].value)) and lead.kind == "prefix" and lead.prefix in ids.SIDE:
        return []
    if named and (titled or depends or any(key in front for key in _STATUS_KEYS)):
        return [f"front matter with {named}"]
    if "plan" in front and "phase" in front:
        return ["front matter with phase and plan"]
    return [f"front matter with {depends}"] if depends and titled else []


def _by_heading(source: Source) -> list[str]:
    first = _first_heading(source)
    if first < 0 or source.outline.blocks[first].level != 1:
        return []
    lead = source.leads[first]
    if (lead is not None and lead.kind in ("task", "story")) or _TITLE.match(source.outline.blocks[first].text):
        return [f'title "{source.outline.blocks[first].text[:40]}"']
    return []


def _first_heading(source: Source) -> int:
    return next((i for i, block in enumerate(source.outline.blocks) if block.kind is Kind.HEADING), -1)


def _has_other_units(source: Source) -> bool:
    """Tell whether headings or several items define units of their own."""
    first = _first_heading(source)
    blocks = source.outline.blocks
    is_story = first >= 0 and (lead := source.leads[first]) is not None and lead.kind == "story"
    items: dict[str, set[str]] = {}
    for index, block in enumerate(blocks):
        lead = source.leads[index]
        if lead is None or index == first or source.zones[index] == Zone.NEVER:
            continue
        if block.kind is Kind.HEADING and lead.kind in ("story", "requirement", "task"):
            own_work = (
                "plan" not in source.front_matter
                and block.section >= 0
                and words.concept(blocks[block.section].text) == "work"
            )
            if lead.kind != "task" or not (is_story or own_work):
                return True
        if (
            lead.kind == "prefix"
            and carriers.is_unit_prefix(lead)
            and block.box is None
            and not source.under_criteria[index]
        ):
            items.setdefault(lead.prefix, set()).add(lead.id)
    return any(len(found) > 2 for found in items.values())


def _criteria_sections(source: Source) -> int:
    headings = [b for b in source.outline.blocks if b.kind is Kind.HEADING and words.concept(b.text) == "criteria"]
    if headings:
        return len(headings)
    return sum(
        1 for b in source.outline.blocks if b.kind in (Kind.PARA, Kind.ITEM) and b.parent < 0 and _labels_criteria(b)
    )


def _labels_criteria(block: Block) -> bool:
    label = read_label(block.lines[-1])
    return label.is_label and label.concept == "criteria" and (label.marked or not label.rest)


def _is_bare_task(source: Source) -> bool:
    """Tell whether a file without a criteria section can still be one task: no list of boxes that would be units."""
    blocks = source.outline.blocks
    boxed = [i for i, b in enumerate(blocks) if b.kind is Kind.ITEM and b.box is not None and b.parent < 0]
    loose = {blocks[i].section for i in boxed if source.zones[i] != Zone.NEVER and not source.under_criteria[i]}
    if loose:
        return len(loose) == 1 and bool(_by_heading(source))
    judged = any(blocks[i].section >= 0 and words.concept(blocks[blocks[i].section].text) == "success" for i in boxed)
    return judged or source.outline.line_count <= _WITHOUT_CRITERIA


def _carrier(source: Source) -> Carrier:
    front = source.front_matter
    first = _first_heading(source)
    blocks = source.outline.blocks
    identity = next((front[key] for key in _ID_KEYS if key in front), None)
    has_title = first >= 0 and blocks[first].level == 1
    lead = source.leads[first] if has_title else None
    heading = blocks[first].text if has_title else ""
    own = _TITLE.match(heading)
    title = lead.rest if lead is not None and lead.kind in ("task", "story") else (own["title"] if own else heading)
    named = front.get("title") or front.get("name")
    line = blocks[first].line if has_title else _line(identity, named)
    return Carrier(
        at=first if has_title else -1,
        end=len(blocks),
        title=clean((named.value if named else "") or title or heading),
        id=(identity.value if identity else None)
        or (lead.id if lead is not None and lead.kind in ("task", "story") else None),
        line=line,
        chunk=next((front[key].value for key in _CHUNK_KEYS if front.get(key) and front[key].value), None),
        priority=front["priority"].value or None if "priority" in front else None,
    )


def _line(*entries: Entry | None) -> int:
    return min((entry.line for entry in entries if entry is not None), default=1)


def _with_front_matter(source: Source, unit: Unit) -> Unit:
    """Add what the front matter says; its status decides over the boxes, its dependencies over a section of prose."""
    front = source.front_matter
    deps = [
        Dep(target=name, line=line, carrier="front-matter")
        for key in _DEP_KEYS
        for name, line in values(front.get(key))
    ]
    known = {ids.fold(dep.target) for dep in deps}
    files = [
        Hint(value=name, line=line, carrier="front-matter")
        for key in _FILE_KEYS
        for name, line in values(front.get(key))
    ]
    listed = {hint.value for hint in files}
    status = unit.status
    said = next((front[key].value for key in _STATUS_KEYS if key in front and front[key].value), None)
    if said is not None:
        status = status_of(said) or Status.OPEN
    return replace(
        unit,
        status=status,
        tags=(*unit.tags, *(name for key in ("tags", "labels") for name, _ in values(front.get(key)))),
        role="scientist" if "role" in front and front["role"].value.lower() == "scientist" else unit.role,
        profile=front["profile"].value or None if "profile" in front else unit.profile,
        deps=(*deps, *(dep for dep in unit.deps if ids.fold(dep.target) not in known)),
        files=(*files, *(hint for hint in unit.files if hint.value not in listed)),
    )


def values(entry: Entry | None) -> list[tuple[str, int]]:
    """Return the names that an entry of a front matter lists, each with its line."""
    if entry is None:
        return []
    items = entry.items or tuple((part, entry.line) for part in entry.value.strip("[]").split(","))
    return [
        (name.strip(), line)
        for name, line in items
        if words.normal(name) not in words.NONE_WORDS and name.strip(" -[]")
    ]


def _conflicts(source: Source) -> list[Finding]:
    names = [name for name, _ in values(source.front_matter.get("conflicts_with"))]
    if not names:
        return []
    line = source.front_matter["conflicts_with"].line
    message = f"conflicts with {', '.join(names)}: such tasks must not run at the same time"
    return [note("conflicts_with", line, message, "Plan them in one document to order them.")]
