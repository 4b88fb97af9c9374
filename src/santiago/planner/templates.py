"""Recognise templates that were never filled in, by counting their placeholders."""

from __future__ import annotations

import re
from collections import Counter

from santiago.contract.patterns import pattern
from santiago.contract.record import lean
from santiago.planner.markdown.lists.definitions import kind_of
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source, labelled_id

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
