"""Refusals that help the author: what was looked for, what the document has instead, and what to do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from shlex import quote

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.contract.record import lean
from santiago.planner import ids, words
from santiago.planner.choosing import offered
from santiago.planner.findings import error, few
from santiago.planner.markdown.carriers import label
from santiago.planner.markdown.id_lists import kind_of, side_lists, span_of
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.plain_lists import loose_items
from santiago.planner.markdown.unit_list import view_of
from santiago.planner.readers import unit_lists
from santiago.planner.source import Source, labelled_id
from santiago.planner.structured import record_words
from santiago.planner.structured.tree import fold_key

_CONFLICT = pattern(r"^<{7} \S", re.MULTILINE)
_CONFIGURATION = record_words.CONFIGURATION.union(
    record_words.keys(
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
    close = _close(source)
    listed = f" Seen: {few(close, 4)}." if close else ""
    message = f"no requirement units found, by ids, check boxes or headings ({_shape(source)}).{listed}"
    return error("no_units", 0, message, _draft(source))


def _draft(source: Source) -> str:
    return f"`santiago draft {quote(source.path)} --with AGENT` has an agent structure it, and you review the draft."


def _is_sentence(source: Source) -> bool:
    """Tell whether a document has a few lines and nothing else."""
    blocks = source.outline.blocks
    return 0 < len(blocks) < 4 and all(block.kind is Kind.PARA and len(block.text) < 400 for block in blocks)


def _no_such_list(source: Source) -> Finding:
    every = unit_lists.lists(source)
    named = [f"{offer.units} ({offer.name})" for offer in (offered(each, every) for each in every)]
    message = (
        f'the document has no list called "{source.options.units}"; the lists that it has: {"; ".join(named) or "none"}'
    )
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


def _close(source: Source) -> list[str]:
    """Return what the document has that is close to units, each with its line, the most useful first."""
    offers = [each.offer for each in islice(unit_lists.lists(source), 4)]
    loose = [f"{offer.name} ({count(offer.count, 'unit')}, line {offer.lines[0]})" for offer in offers]
    others = [*islice(_tables(source), 3), *_boxes(source), *islice(_side(source), 4), *_ranges(source)]
    found = others if loose else [*_bullets(source), *others]
    return [*loose, *(f"{what} (line {line})" for what, line in found)]


def _bullets(source: Source) -> list[tuple[str, int]]:
    found = loose_items(source)
    return [(count(len(found), "bullet"), source.outline.blocks[found[0]].line)] if found else []


def _boxes(source: Source) -> Iterator[tuple[str, int]]:
    blocks = source.outline.blocks
    if boxes := [block for block in blocks if block.box is not None]:
        where = f' under "{label(blocks[boxes[0].section].text)[:40]}" and the like' if boxes[0].section >= 0 else ""
        many = count(len(boxes), "check box", "check boxes")
        yield f"{many}{where}, about how the whole is judged or out of scope", boxes[0].line


def _side(source: Source) -> Iterator[tuple[str, int]]:
    for members in side_lists(view_of(source)).values():
        many = f"{span_of(members)} ({len(members)} goals, metrics, decisions or the like)"
        yield many, source.outline.blocks[members[0].at].line


def _tables(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the tables with a column such as Status or Severity: they list work or bugs, without ids."""
    blocks = source.outline.blocks
    rows = [block for block in blocks if block.kind is Kind.ROW and block.cells != block.header]
    for header in dict.fromkeys(row.header for row in rows):
        if not {words.normal(cell) for cell in header}.isdisjoint(words.STATE_COLUMNS | words.SEVERITY_COLUMNS):
            found = [row.line for row in rows if row.header == header]
            yield f"{count(len(found), 'row')} of the table {' | '.join(header[:4])}", found[0]


def _ranges(source: Source) -> Iterator[tuple[str, int]]:
    texts = [block for block in source.outline.blocks if block.kind is not Kind.CODE and ids.is_range(block.text)]
    if texts:
        many = count(len(texts), "range of ids", "ranges of ids")
        yield f"{many} whose members are not defined, such as {texts[0].text[:40]}", texts[0].line


_CODE = pattern(r"`[^`\n]*`")
_BRACKET = pattern(r"(?<![\[\]!\w)])\[([^\[\]\n]{2,160})\](?![\[(:\w])")
_ANGLE = pattern(
    r"<([a-z][a-z0-9]*(?:[ _-][a-z0-9/'…]+)+|title|name|date|feature|role|action|benefit|goal|todo|placeholder)>",
    re.IGNORECASE,
)
_BRACES = pattern(r"\{\{\s*[\w .-]+\s*\}\}")
_NO_PLACEHOLDER = pattern(
    r"^(?:x|p|✓|✔|needs clarification|tbd|todo|wip|draft|optional|done|new|deprecated|source|refs?|see|affects|issue"
    r"|bug|fix|cite|note|link|mvp|must|should|could|high|medium|low|critical|us\d+|[a-z]{1,4}-?\d+[\w.-]*"
    r"|\d[\d.,/ -]*|\^.*|v?\d+(?:\.\d+)*|https?:.*|@.*|#\d+)\b\W*(?::.*)?$"
    r"|^(?:needs clarification|source|ref|see|affects|cite)\b|[\w-]+/[\w./-]+$|\.(?:md|py|ts|js|json|ya?ml)\b",
    re.IGNORECASE,
)


_SET_OFF = pattern(
    r"\[(?![^\]]*\b(?:your|name|title|insert|placeholder|feature|brief|description|example|todo|tbd)\b)[^\[\]]{3,40}\]",
    re.IGNORECASE,
)
"""A heading that is in brackets as a whole. `## [Overview]` names its section and is no placeholder."""
_OFTEN = 4
"""A word in brackets that occurs this often is a tag and no placeholder."""


@lean(frozen=True)
class Placeholder:
    text: str
    line: int
    in_heading: bool


@lean(frozen=True)
class Survey:
    """The placeholders of a document, with the counts that tell whether it is a template."""

    found: tuple[Placeholder, ...]
    lines: int
    """Non-empty lines outside code."""
    headings: int
    empty_ids: int
    """Definitions such as `- R1:` without any text."""
    ids: int
    titled: bool
    """The document's title is a placeholder."""

    @property
    def is_template(self) -> bool:
        marked = len({p.line for p in self.found})
        in_headings = len({p.line for p in self.found if p.in_heading})
        return (
            (self.titled and marked >= 3)
            or in_headings >= max(2, self.headings / 4)
            or marked >= max(5, self.lines / 5)
            or self.empty_ids >= max(2, self.ids / 2)
        )


def survey(source: Source) -> Survey:
    """Return the placeholders of a document. Code, comments and check boxes have none."""
    found: list[Placeholder] = []
    lines = headings = empty = defined = 0
    titled: bool | None = None
    for index, block in enumerate(source.outline.blocks):
        if block.kind is Kind.CODE:
            continue
        here = _in_block(block)
        found += here
        lines += len(block.lines)
        if block.kind is Kind.HEADING:
            headings += 1
            titled = bool(here) if titled is None else titled
        lead = source.leads[index]
        if lead is not None and block.kind is not Kind.HEADING and kind_of(lead) is not None:
            defined += 1
            empty += (
                not lead.rest.strip()
                and len(block.lines) == 1
                and labelled_id(block.lines[0]) is None
                and source.outline.ends[index] == index + 1
                and not block.cells
            )
    alone = _on_own_line(source)
    found = sorted([*_without_tags(found), *alone], key=lambda placeholder: placeholder.line)
    return Survey(tuple(found), lines + len(alone), headings, empty, defined, bool(titled))


def _without_tags(found: list[Placeholder]) -> list[Placeholder]:
    """Leave out words that mark line after line (`[REQUIRED] …`). They are tags, which nobody fills in."""
    times = Counter(placeholder.text for placeholder in found)
    return [p for p in found if times[p.text] < _OFTEN or " " in p.text or p.in_heading]


def _on_own_line(source: Source) -> list[Placeholder]:
    """Return the placeholders alone on their line, such as `<feature name>`. The outline takes them for tags."""
    if "<" not in source.text:
        return []
    code = {
        line for block in source.outline.blocks if block.kind is Kind.CODE for line in range(block.line, block.end + 1)
    }
    return [
        Placeholder(text, number, in_heading=False)
        for number, raw in enumerate(source.text.split("\n"), 1)
        if (text := raw.strip()).startswith("<")
        and _ANGLE.fullmatch(text)
        and number not in code
        and f"</{text[1:]}" not in source.text
    ]


def _in_block(block: Block) -> list[Placeholder]:
    heading = block.kind is Kind.HEADING
    if heading and _SET_OFF.fullmatch(block.text.strip()):
        return []
    return [
        Placeholder(text, block.line + offset, heading)
        for offset, raw in enumerate(block.lines)
        for text in _placeholders(raw)
    ]


def _placeholders(raw: str) -> list[str]:
    """Return the placeholders in one line."""
    if "[" not in raw and "<" not in raw and "{{" not in raw:
        return []
    text = _CODE.sub(" ", raw)
    brackets = [match for match in _BRACKET.finditer(text) if any(map(str.isalpha, match[1]))]
    marks = [match[0] for match in brackets if not _NO_PLACEHOLDER.search(match[1].strip())]
    return [*marks, *(match[0] for kind in (_ANGLE, _BRACES) for match in kind.finditer(text))]
