"""Why a document is refused, said so that its author can mend it: what was looked for, what was seen, what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import sightings, words
from santiago.planner.findings import error
from santiago.planner.markdown.outline import Kind
from santiago.planner.templates import survey

if TYPE_CHECKING:
    from santiago.planner.source import Source

LOOKED_FOR = (
    'JSON/YAML story arrays; Gherkin features; "### Requirement:" blocks; T001-style or 1.1-style checkboxes; '
    "headings or list items starting with an id (US-001, FR-1, R1, REQ-001, Story 1.1, Task 1, Requirement 1, AC-1); "
    'numbered headings with acceptance criteria; requirement tables; "As a ..." sentences; plain checkboxes'
)
_CONFLICT = pattern(r"^<{7} \S", re.MULTILINE)
_CONFIGURATION = frozenset(
    re.split(
        r"\s+",
        """environment environments env secrets secret dependencies devdependencies values version image replicas
        apiversion services volumes networks ports resources scripts config settings server database logging hosts
        roles channels packages plugins jobs steps stages on variables metadata repository engines license""",
    )
)
"""Keys of configuration files of every kind."""
_SIBLINGS: tuple[tuple[str, str, frozenset[str], int], ...] = (
    (
        "an OpenSpec proposal",
        "tasks.md and specs/**/spec.md beside it hold the units",
        frozenset({"why", "what changes", "impact"}),
        2,
    ),
    (
        "an implementation plan of spec-kit",
        "tasks.md beside it holds the tasks, spec.md the user stories",
        frozenset({"technical context", "constitution check", "project structure", "complexity tracking"}),
        2,
    ),
    (
        "a design document",
        "tasks.md or requirements.md beside it holds the units",
        frozenset(
            {
                "architecture",
                "components and interfaces",
                "data models",
                "error handling",
                "testing strategy",
                "correctness properties",
                "high-level design",
            }
        ),
        3,
    ),
    (
        "a decision record",
        "the PRD or task list that it belongs to holds the units",
        frozenset({"context", "decision", "consequences"}),
        3,
    ),
    ("a constitution", "a PRD, spec.md or tasks.md holds the units", frozenset({"core principles", "governance"}), 2),
    (
        "a research document",
        "spec.md or tasks.md beside it holds the units",
        frozenset({"research", "findings", "alternatives considered", "rationale"}),
        3,
    ),
)
"""Documents that go with a plan: what they are, where the units stand, their headings, and how many of these tell."""


_HTML = pattern(r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)


def conflict(source: Source) -> Finding | None:
    """Return a refusal where the markers of an unfinished merge stand in the document: it may hold everything twice."""
    if "\n>>>>>>> " not in source.text or not (opened := _CONFLICT.search(source.text)):
        return None
    line = source.text.count("\n", 0, opened.start()) + 1
    if source.looks_like == "markdown" and any(
        block.kind is Kind.CODE and block.line <= line <= block.end for block in source.outline.blocks
    ):
        return None
    return error(
        "merge_conflict",
        line,
        "the document holds the markers of an unfinished merge (<<<<<<<, >>>>>>>)",
        "Resolve the conflict and plan again.",
    )


def page(source: Source) -> Finding | None:
    """Return a refusal where the document is HTML, whose tags no reader looks through."""
    if not _HTML.match(source.text):
        return None
    name = source.name.rpartition(".")[0] or "document"
    return error(
        "no_units",
        1,
        "this is HTML, which is not read",
        f"Convert it and plan that: `pandoc {source.name} -t gfm -o {name}.md`.",
    )


def template(source: Source) -> Finding | None:
    """Return a refusal where the document is a template that nobody filled in."""
    if source.looks_like != "markdown":
        return None
    seen = survey(source)
    if not seen.is_template:
        return None
    first: dict[str, int] = {}
    for placeholder in seen.found:
        first.setdefault(placeholder.text, placeholder.line)
    if first:
        names = ", ".join(f"{_short(text)} (line {line})" for text, line in list(first.items())[:8])
        more = f" and {len(first) - 8} more" if len(first) > 8 else ""
        message = f"an unfilled template: {len(seen.found)} placeholders such as {names}{more}"
    else:
        message = f"an unfilled template: {seen.empty_ids} of {seen.ids} ids have no text behind them"
    line = min(first.values(), default=0)
    return error(
        "template", line, message, "Fill in the placeholders, or give the document that was made from this template."
    )


def nothing_found(source: Source) -> Finding:
    """Return the refusal of a document in which no reader found a unit."""
    if not source.text.strip():
        message = "no requirement units found: the document is empty"
        hint = 'Write what is wanted, e.g. "### FR-1: User registration" with "**Acceptance Criteria:**" bullets.'
        return error("no_units", 0, message, hint)
    match source.looks_like:
        case "json" | "yaml":
            return _no_records(source)
        case "gherkin":
            return _refusal(
                source,
                "a Gherkin file",
                "no feature with a scenario was found",
                "Write a Feature with at least one Scenario.",
            )
    if source.options.units is not None:
        return _no_such_list(source)
    if (sibling := _sibling(source)) is not None:
        what, where = sibling
        return _refusal(source, what, where, "Give that file instead.")
    seen = sightings.seen(source)
    listed = f" Seen but not taken: {'; '.join(str(sighting) for sighting in seen)}." if seen else ""
    fix = 'Add ids, e.g. "### FR-1: User registration" with "**Acceptance Criteria:**" bullets'
    usable = [sighting for sighting in seen if sighting.fallback]
    if usable and not source.options.allow_fallback:
        fix += f", or rerun with --allow-fallback to plan from {usable[0].what}"
    return error(
        "no_units", 0, f"no requirement units found ({_shape(source)}). Looked for: {LOOKED_FOR}.{listed}", f"{fix}."
    )


def _no_such_list(source: Source) -> Finding:
    lists = sightings.lists(source)
    offered = "; ".join(lists) if lists else "none"
    return error(
        "unknown_units",
        0,
        f'the document has no list called "{source.options.units}"; the lists that it has: {offered}',
        "Name one of these with --units, or leave it out.",
    )


def _no_records(source: Source) -> Finding:
    """Tell configuration from records that have another shape."""
    keys = [
        match[1].lower()
        for match in re.finditer(r'^(?:[ \t]{0,4}"([\w.-]+)"|([A-Za-z][\w.-]*))[ \t]*:', source.text, re.MULTILINE)
        if match[1]
    ]
    keys += [match[1].lower() for match in re.finditer(r"^([A-Za-z][\w.-]*)[ \t]*:", source.text, re.MULTILINE)]
    known = [key for key in dict.fromkeys(keys) if key.replace("_", "").replace("-", "") in _CONFIGURATION]
    top = ", ".join(list(dict.fromkeys(keys))[:8])
    lines = _many(_lines(source), "line")
    if known and len(known) * 3 >= len(set(keys)):
        return error(
            "configuration",
            0,
            f"configuration, not a requirements document ({source.looks_like}, {lines}, keys {top})",
            "Give a PRD, a task list or a user-story file.",
        )
    return error(
        "no_units",
        0,
        f"no requirement units found (format: {source.looks_like}, {lines}, keys {top or 'none'}). Looked for: "
        "arrays of objects with id, title, name or description under userStories, stories, requirements, features, tasks, issues or phases",
        'Put the units into one array, e.g. {"userStories": [{"id": "US-001", "title": "...", "acceptanceCriteria": ["..."]}]}.',
    )


def _sibling(source: Source) -> tuple[str, str] | None:
    names = {words.normal(block.text) for block in source.outline.blocks if block.kind is Kind.HEADING}
    for what, where, headings, enough in _SIBLINGS:
        if len(names & headings) >= enough:
            return what, where
    return None


def _refusal(source: Source, what: str, where: str, hint: str) -> Finding:
    return error("no_units", 0, f"no requirement units found ({_shape(source)}): this is {what}; {where}", hint)


def _shape(source: Source) -> str:
    blocks = source.outline.blocks
    kinds = [block.kind for block in blocks]
    tables = sum(
        1
        for i, block in enumerate(blocks)
        if block.kind is Kind.ROW and (i == 0 or blocks[i - 1].header is not block.header)
    )
    return (
        f"format: {source.looks_like}, {_many(_lines(source), 'line')}, {_many(kinds.count(Kind.HEADING), 'heading')}, "
        f"{_many(kinds.count(Kind.ITEM), 'list item')}, {_many(tables, 'table')}, {_many(kinds.count(Kind.CODE), 'code fence')} skipped"
    )


def _lines(source: Source) -> int:
    return source.text.removesuffix("\n").count("\n") + 1


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:38] + "…" + text[-1]
