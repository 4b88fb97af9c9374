"""Refusals that help the author: what was looked for, what the document has instead, and what to do.

Templates that were never filled in are recognised by counting their placeholders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise
from shlex import quote
from typing import NamedTuple

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Finding
from santiago.planner import ids, words
from santiago.planner.choosing import offered
from santiago.planner.draft import by_key
from santiago.planner.findings import error, few
from santiago.planner.markdown.carriers import label
from santiago.planner.markdown.id_lists import kind_of, side_lists, span_of, view_of
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.plain_lists import loose_items
from santiago.planner.readers import unit_lists
from santiago.planner.source import Source, labelled_id
from santiago.planner.structured import record_words
from santiago.planner.structured.tree import fold_key

_CONFLICT = pattern(r"(?m)^<{7} \S")
_OFTEN_SET = "environments dependencies version config settings server database logging packages steps stages variables metadata repository license"
_CONFIGURATION = record_words.CONFIGURATION.union(record_words.keys(_OFTEN_SET))
"""Keys of configuration files of all kinds."""
_JSON_KEY = pattern(r'(?m)^[ \t]{0,4}"([\w.-]+)"[ \t]*:')
_YAML_KEY = pattern(r"(?m)^([A-Za-z][\w.-]*)[ \t]*:")
_CHECKLIST = pattern(r"\s*# [^\n]*\bChecklist: [^\n]*\s+\*\*Purpose\*\*: [^\n]*\s+\*\*Created\*\*: ")
_HTML = pattern(r"(?i)\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b")


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


def no_plan(source: Source) -> Finding | None:
    """Return a refusal of what cannot be a plan, whatever is in it."""
    if _CHECKLIST.match(source.text):
        message = "this is a checklist of spec-kit, which judges a specification"
        return error("no_units", 1, message, "Give the tasks.md or the spec.md that belongs to it.")
    if not _HTML.match(source.text):
        return None
    name = source.name.rpartition(".")[0] or "document"
    message = "this is HTML, which is not read"
    return error("no_units", 1, message, f"Convert it and plan that: `pandoc {source.name} -t gfm -o {name}.md`.")


def template(source: Source) -> Finding | None:
    """Return a refusal if the document is a template that nobody filled in."""
    if source.looks_like != "markdown":
        return None
    found, lines = _placeholders_of(source)
    heads, empty = [block for block in source.outline.blocks if block.kind is Kind.HEADING], _are_empty(source)
    marked, in_headings = len({p.line for p in found}), len({p.line for p in found if p.in_heading})
    is_filled = marked < 3 or not any(map(_in_block, heads[:1]))
    is_filled = is_filled and in_headings < max(2, len(heads) / 4) and marked < max(5, lines / 5)
    if is_filled and sum(empty) < max(2, len(empty) / 2):
        return None
    message = f"an unfilled template: {sum(empty)} of {count(len(empty), 'id')} without text behind them"
    first = {placeholder.text: placeholder.line for placeholder in reversed(found)}
    if first:
        texts = {text: text if len(text) <= 40 else text[:38] + "…" + text[-1] for text in first}
        names = few([f"{texts[text]} (line {first[text]})" for text in dict.fromkeys(each.text for each in found)])
        message = f"an unfilled template: {count(len(found), 'placeholder')} such as {names}"
    hint = "Fill in the placeholders, or give the document that was made from this template."
    return error("template", min(first.values(), default=0), message, hint)


def nothing_found(source: Source) -> Finding:
    """Return the refusal of a document in which no reader found a unit."""
    if not source.text.strip():
        message = "no stories, requirements or tasks found: the document is empty"
        hint = 'Write what is wanted, e.g. "### FR-1: User registration" with "**Acceptance Criteria:**" bullets.'
        return error("no_units", 0, message, hint)
    if source.looks_like in ("json", "yaml"):
        return _no_records(source)
    if source.options.units is not None:
        every = unit_lists.lists(source)
        offers = [offered(each, every) for each in every]
        named = "; ".join(f"{offer.units} ({offer.name})" for offer in offers) or "none"
        message = f'the document has no list called "{source.options.units}"; the lists that it has: {named}'
        return error("unknown_units", 0, message, "Name one of these with --units, or leave it out.")
    return _no_list(source)


def _no_list(source: Source) -> Finding:
    """Return the refusal that says what the document is or has, and who can make a plan of it."""
    blocks = source.outline.blocks
    names = {words.normal(block.text) for block in blocks if block.kind is Kind.HEADING}
    for enough, *said, what in map(words.split, words.COMPANIONS.strip().splitlines()):
        if len(names.intersection(said)) >= int(enough):
            message = f"no stories, requirements or tasks found ({_shape(source)}): this is {what}"
            return error("no_units", 0, message, "Give that file instead.")
    if 0 < len(blocks) < 4 and all(block.kind is Kind.PARA and len(block.text) < 400 for block in blocks):
        message = "no stories, requirements or tasks found: this is a sentence"
        return error("no_units", 0, message, f"`santiago plan --with AGENT {quote(source.path)}` has an agent plan it.")
    seen = few(_close(source), 4)
    message = f"no stories, requirements or tasks found by an id, a check box or a heading such as `Task 1` ({_shape(source)})."
    message += f" It has {seen}." if seen else ""
    lists = unit_lists.lists(source)
    units = offered(lists[0], lists).units if lists else ""
    command = f"`santiago plan {quote(source.path)} --units {quote(units)}`"
    named = f"Name the list that is the work: {command}. Or " if units else ""
    hint = f"{named}{_draft(source)} Or write an id into each heading, such as `## R1: Title`."
    return error("no_units", 0, message, hint)


def _draft(source: Source) -> str:
    return f"`santiago draft {quote(source.path)} --with AGENT` has an agent structure it, and you review the draft."


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
        f"no stories, requirements or tasks found (format: {source.looks_like}, {lines}, keys {top or 'none'}). Looked for: "
        "arrays of objects with id, title, name or description under userStories, stories, requirements, features, tasks, issues or phases",
        f'{_draft(source)} Or put the units into one array, e.g. {{"userStories": [{{"id": "US-001", "title": "..."}}]}}.',
    )


def _shape(source: Source) -> str:
    """Return the format of the document and what it has, such as 3 headings."""
    blocks = source.outline.blocks
    kinds = [block.kind for block in blocks]
    heads = [block.header for block in blocks if block.kind is Kind.ROW]
    tables = sum(above is not header for above, header in pairwise([None, *heads]))
    parts = {
        "line": _lines(source), "heading": kinds.count(Kind.HEADING), "list item": kinds.count(Kind.ITEM),
        "table": tables, "code fence": kinds.count(Kind.CODE),
    }  # fmt: skip
    return ", ".join((source.looks_like, *(count(number, what) for what, number in parts.items() if number)))


def _lines(source: Source) -> int:
    return source.text.removesuffix("\n").count("\n") + 1


def _close(source: Source) -> list[str]:
    """Return what the document has that is close to units, each with its line, the most useful first."""
    blocks = source.outline.blocks
    offers = [each.offer for each in islice(unit_lists.lists(source), 4)]
    loose = [f"{offer.name} ({count(offer.count, 'unit')}, line {offer.lines[0]})" for offer in offers]
    found = [] if loose else [(count(len(items), "bullet"), items[0]) for items in [loose_items(source)] if items]
    found += [*islice(_tables(source), 3), *_beside(source)]
    return [*loose, *(f"{what} (line {blocks[at].line})" for what, at in found)]


def _beside(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the check boxes, the lists that are never units, and the ranges of ids."""
    blocks = source.outline.blocks
    if boxes := [at for at, block in enumerate(blocks) if block.box is not None]:
        section = blocks[boxes[0]].section
        where = f' under "{label(blocks[section].text)[:40]}" and the like' if section >= 0 else ""
        many = count(len(boxes), "check box", "check boxes")
        yield f"{many}{where}, about how the whole is judged or out of scope", boxes[0]
    for members in islice(side_lists(view_of(source)).values(), 4):
        yield f"{span_of(members)} ({len(members)} goals, metrics, decisions or the like)", members[0].at
    if ranges := [at for at, block in enumerate(blocks) if block.kind is not Kind.CODE and ids.is_range(block.text)]:
        many = count(len(ranges), "range of ids", "ranges of ids")
        yield f"{many} whose members are not defined, such as {blocks[ranges[0]].text[:40]}", ranges[0]


def _tables(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the tables with a column such as Status or Severity: they list work or bugs, without ids."""
    blocks = enumerate(source.outline.blocks)
    rows = [(block.header, at) for at, block in blocks if block.kind is Kind.ROW and block.cells != block.header]
    for header, found in by_key(rows).items():
        if not {words.normal(cell) for cell in header}.isdisjoint(words.STATE_COLUMNS | words.SEVERITY_COLUMNS):
            yield f"{count(len(found), 'row')} of the table {' | '.join(header[:4])}", found[0]


_CODE = pattern(r"`[^`\n]*`")
_BRACKET = pattern(r"(?<![\[\]!\w)])\[([^\[\]\n]{2,160})\](?![\[(:\w])")
_ANGLE = pattern(
    r"(?i)<([a-z][a-z0-9]*(?:[ _-][a-z0-9/'…]+)+|title|name|date|feature|role|action|benefit|goal|todo|placeholder)>",
)
_BRACES = pattern(r"\{\{\s*[\w .-]+\s*\}\}")
_NO_PLACEHOLDER = pattern(
    r"(?i)^(?:x|p|✓|✔|needs clarification|tbd|todo|wip|draft|optional|done|new|deprecated|source|refs?|see|affects|issue"
    r"|bug|fix|cite|note|link|mvp|must|should|could|high|medium|low|critical|us\d+|[a-z]{1,4}-?\d+[\w.-]*"
    r"|\d[\d.,/ -]*|\^.*|v?\d+(?:\.\d+)*|https?:.*|@.*|#\d+)\b\W*(?::.*)?$"
    r"|^(?:needs clarification|source|ref|see|affects|cite)\b|[\w-]+/[\w./-]+$|\.(?:md|py|ts|js|json|ya?ml)\b",
)


_SET_OFF = pattern(
    r"(?i)\[(?![^\]]*\b(?:your|name|title|insert|placeholder|feature|brief|description|example|todo|tbd)\b)[^\[\]]{3,40}\]",
)
"""A heading that is in brackets as a whole. `## [Overview]` names its section and is no placeholder."""
_OFTEN = 4
"""A word in brackets that occurs this often is a tag and no placeholder."""


class _Placeholder(NamedTuple):
    text: str
    line: int
    in_heading: bool


def _placeholders_of(source: Source) -> tuple[list[_Placeholder], int]:
    """Return the placeholders, and how many lines have text. Code, comments and check boxes have no placeholders."""
    told = [block for block in source.outline.blocks if block.kind is not Kind.CODE]
    found = [placeholder for block in told for placeholder in _in_block(block)]
    times = Counter(placeholder.text for placeholder in found)
    # Words that mark line after line (`[REQUIRED] …`) are tags, which nobody fills in.
    found = [p for p in found if times[p.text] < _OFTEN or " " in p.text or p.in_heading]
    alone = _on_own_line(source)
    lines = sum(len(block.lines) for block in told) + len(alone)
    return sorted([*found, *alone], key=lambda placeholder: placeholder.line), lines


def _are_empty(source: Source) -> list[bool]:
    """Return for each definition of an id whether it has no text behind its id and nothing below it."""
    found = []
    for at, lead in source.named.items():
        block = source.outline.blocks[at]
        if block.kind is not Kind.HEADING and kind_of(lead) is not None:
            alone = len(block.lines) == 1 and not block.cells and source.outline.ends[at] == at + 1
            found.append(alone and not lead.rest.strip() and labelled_id(block.lines[0]) is None)
    return found


def _on_own_line(source: Source) -> list[_Placeholder]:
    """Return the placeholders alone on their line, such as `<feature name>`. The outline takes them for tags."""
    if "<" not in source.text:
        return []
    blocks = source.outline.blocks
    code = {line for block in blocks if block.kind is Kind.CODE for line in range(block.line, block.end + 1)}
    texts = [(number, raw.strip()) for number, raw in enumerate(source.text.split("\n"), 1)]
    return [
        _Placeholder(text, number, in_heading=False)
        for number, text in texts
        if _ANGLE.fullmatch(text) and number not in code and f"</{text[1:]}" not in source.text
    ]


def _in_block(block: Block) -> list[_Placeholder]:
    heading = block.kind is Kind.HEADING
    if heading and _SET_OFF.fullmatch(block.text.strip()):
        return []
    lines = enumerate(block.lines, block.line)
    return [_Placeholder(text, line, heading) for line, raw in lines for text in _placeholders(raw)]


def _placeholders(raw: str) -> list[str]:
    if "[" not in raw and "<" not in raw and "{{" not in raw:
        return []
    text = _CODE.sub(" ", raw)
    brackets = [match for match in _BRACKET.finditer(text) if any(map(str.isalpha, match[1]))]
    marks = [match[0] for match in brackets if not _NO_PLACEHOLDER.search(match[1].strip())]
    return [*marks, *(match[0] for kind in (_ANGLE, _BRACES) for match in kind.finditer(text))]
