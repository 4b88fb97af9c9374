"""Refusals that help the author: what was looked for, what the document has instead, and what to do."""

from __future__ import annotations

import re
from shlex import quote

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import near_misses, words
from santiago.planner.findings import error, few
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Source
from santiago.planner.structured.records import vocabulary
from santiago.planner.structured.tree import fold_key
from santiago.planner.templates import survey

_CONFLICT = pattern(r"^<{7} \S", re.MULTILINE)
_CONFIGURATION = vocabulary.CONFIGURATION.union(
    vocabulary.keys(
        "environments dependencies version config settings server database logging packages steps stages variables metadata"
        " repository license"
    )
)
"""Keys of configuration files of all kinds."""
_SIBLINGS = {
    "an OpenSpec proposal; tasks.md and specs/**/spec.md beside it hold the units": (2, "why | what changes | impact"),
    "an implementation plan of spec-kit; tasks.md beside it holds the tasks, spec.md the user stories": (
        2,
        "technical context | constitution check | project structure | complexity tracking",
    ),
    "a design document; tasks.md or requirements.md beside it holds the units": (
        3,
        "architecture | components and interfaces | data models | error handling | testing strategy | correctness properties | high-level design",
    ),
    "a decision record; the PRD or task list that it belongs to holds the units": (
        3,
        "context | decision | consequences",
    ),
    "a constitution; a PRD, spec.md or tasks.md holds the units": (2, "core principles | governance"),
    "a research document; spec.md or tasks.md beside it holds the units": (
        3,
        "research | findings | alternatives considered | rationale",
    ),
}
"""Documents that accompany a plan: what each is, how many of its usual headings must be there, and these headings."""
_JSON_KEY = pattern(r'(?m)^[ \t]{0,4}"([\w.-]+)"[ \t]*:')
_YAML_KEY = pattern(r"(?m)^([A-Za-z][\w.-]*)[ \t]*:")
_HTML = pattern(r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)


def conflict(source: Source) -> Finding | None:
    """Return a refusal if the document has merge conflict markers: parts of it may be there twice."""
    if "\n>>>>>>> " not in source.text or not (opened := _CONFLICT.search(source.text)):
        return None
    line = source.text.count("\n", 0, opened.start()) + 1
    if source.looks_like == "markdown" and any(
        block.kind is Kind.CODE and block.line <= line <= block.end for block in source.outline.blocks
    ):
        return None
    message = "the document holds the markers of an unfinished merge (<<<<<<<, >>>>>>>)"
    return error("merge_conflict", line, message, "Resolve the conflict and plan again.")


def page(source: Source) -> Finding | None:
    """Return a refusal if the document is HTML, which no reader understands."""
    if not _HTML.match(source.text):
        return None
    name = source.name.rpartition(".")[0] or "document"
    message = "this is HTML, which is not read"
    return error("no_units", 1, message, f"Convert it and plan that: `pandoc {source.name} -t gfm -o {name}.md`.")


def template(source: Source) -> Finding | None:
    """Return a refusal if the document is a template that nobody filled in."""
    if source.looks_like != "markdown":
        return None
    seen = survey(source)
    if not seen.is_template:
        return None
    first: dict[str, int] = {}
    for placeholder in seen.found:
        first.setdefault(placeholder.text, placeholder.line)
    if first:
        names = few([f"{_short(text)} (line {line})" for text, line in first.items()])
        message = f"an unfilled template: {count(len(seen.found), 'placeholder')} such as {names}"
    else:
        message = f"an unfilled template: {seen.empty_ids} of {count(seen.ids, 'id')} without text behind them"
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
    if source.looks_like in ("json", "yaml"):
        return _no_records(source)
    if source.options.units is not None:
        return _no_such_list(source)
    if sibling := _sibling(source):
        message = f"no requirement units found ({_shape(source)}): this is {sibling}"
        return error("no_units", 0, message, "Give that file instead.")
    return _no_list(source)


def _no_list(source: Source) -> Finding:
    """Return the refusal that says what was seen, and who can make a plan of it."""
    if _is_sentence(source):
        message = "no requirement units found: this is a sentence"
        return error("no_units", 0, message, f"`santiago plan --with AGENT {quote(source.path)}` has an agent plan it.")
    seen = near_misses.seen(source)
    listed = f" Seen: {few(seen, 4)}." if seen else ""
    message = f"no requirement units found, by ids, check boxes or headings ({_shape(source)}).{listed}"
    return error("no_units", 0, message, _draft(source))


def _draft(source: Source) -> str:
    return f"`santiago draft {quote(source.path)} --with AGENT` has an agent structure it, and you review the draft."


def _is_sentence(source: Source) -> bool:
    """Tell whether a document has a few lines and nothing else."""
    blocks = source.outline.blocks
    return 0 < len(blocks) < 4 and all(block.kind is Kind.PARA and len(block.text) < 400 for block in blocks)


def _no_such_list(source: Source) -> Finding:
    lists = near_misses.lists(source)
    offered = "; ".join(lists) if lists else "none"
    message = f'the document has no list called "{source.options.units}"; the lists that it has: {offered}'
    return error("unknown_units", 0, message, "Name one of these with --units, or leave it out.")


def _no_records(source: Source) -> Finding:
    """Return the refusal of a JSON or YAML file: it is configuration, or its records have an unknown shape."""
    keys = [key.lower() for pattern in (_JSON_KEY, _YAML_KEY) for key in pattern.findall(source.text)]
    known = [key for key in dict.fromkeys(keys) if fold_key(key) in _CONFIGURATION]
    top = ", ".join(list(dict.fromkeys(keys))[:8])
    lines = count(_lines(source), "line")
    if known and len(known) * 3 >= len(set(keys)):
        message = f"configuration, not a requirements document ({source.looks_like}, {lines}, keys {top})"
        return error("configuration", 0, message, "Give a PRD, a task list or a user-story file.")
    return error(
        "no_units",
        0,
        f"no requirement units found (format: {source.looks_like}, {lines}, keys {top or 'none'}). Looked for: "
        "arrays of objects with id, title, name or description under userStories, stories, requirements, features, tasks, issues or phases",
        f'{_draft(source)} Or put the units into one array, e.g. {{"userStories": [{{"id": "US-001", "title": "..."}}]}}.',
    )


def _sibling(source: Source) -> str:
    """Return what the document is, if its headings show that it only accompanies a plan; else nothing."""
    names = {words.normal(block.text) for block in source.outline.blocks if block.kind is Kind.HEADING}
    return next((what for what, (enough, said) in _SIBLINGS.items() if len(names & words.table(said)) >= enough), "")


def _shape(source: Source) -> str:
    """Return the format of the document and how many headings, items, tables and fences it has."""
    blocks = source.outline.blocks
    kinds = [block.kind for block in blocks]
    tables = sum(
        1
        for i, block in enumerate(blocks)
        if block.kind is Kind.ROW and (i == 0 or blocks[i - 1].header is not block.header)
    )
    return (
        f"format: {source.looks_like}, {count(_lines(source), 'line')}, {count(kinds.count(Kind.HEADING), 'heading')}, "
        f"{count(kinds.count(Kind.ITEM), 'list item')}, {count(tables, 'table')}, {count(kinds.count(Kind.CODE), 'code fence')} skipped"
    )


def _lines(source: Source) -> int:
    return source.text.removesuffix("\n").count("\n") + 1


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:38] + "…" + text[-1]
