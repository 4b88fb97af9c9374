"""Labels such as `**Acceptance Criteria:**`, `Depends on: T001`, `_Requirements: 1.1_`, and the concept that each stands for; and columns of tables."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import POOL
from santiago.planner import hints, ids, words
from santiago.planner.markdown.outline import Block, Kind, Outline

_LABEL = pattern(
    r"^\s*(?:[-*]\s+)?(?P<open>[*_`]*+)(?P<label>[^:*：`|]{1,60}?)(?P<close>[*_`]*+)\s*(?:\([^()]{1,60}\)\s*)?[:：](?:[*_`]++(?=\s|$))?\s*[*_]*+\s*(?P<rest>.*)"
)
_BRACKETED = pattern(r"^\s*[*_]*【(?P<label>[^】]{1,40})】[*_]*\s*[:：]?\s*(?P<rest>.*)")
"""`【验收标准】`: labels in Chinese and Japanese texts that use no bold."""
_BOLD_ONLY = pattern(r"^\s*\*\*(?P<label>[^*]{1,60})\*\*\s*(?P<rest>\([^)]*\))?\s*$")
_BOLD_LEAD = pattern(r"^\s*\*\*(?P<label>[^*]{1,60}?)\*\*\s*(?:[-–—]\s*)?(?P<rest>.*)$")
_MARKED = pattern(r"^\s*[*_]")
_BOLD_FIELDS = frozenset({"depends", "files", "touched", "verify", "priority", "status"})
_ITALIC = pattern(r"^\s*_[^_:：]{2,40}[:：][^_]+_\s*$")
"""A whole line in italics with a colon. In every language this is a field of a task list."""
_IDS = pattern(
    r"^\[?(?:\d+|\d+(?:\.\d+)+|[A-Z]+-?\d+(?:\.\d+)*)(?:\s*[,、，]\s*(?:\d+(?:\.\d+)*|[A-Z]+-?\d+(?:\.\d+)*))*\]?$"
)
_STEP_LABELS = {
    **dict.fromkeys(("action", "actions", "action items"), "actions"),
    **dict.fromkeys(
        ("result", "results", "expected result", "expected results", "validation", "validations"), "judged"
    ),
}
_SLUG = pattern(r"[A-Za-z][\w-]{0,60}")
_EMPHASIS = pattern(r"(?P<code>`[^`]*`)|\*\*|__")
_STRIKE = pattern(r"~~")
TICK_LAST = pattern(
    r"(?i)\s{0,8}[✅☑✔✓🟢]️?\s{0,8}(?:(?:completed?|done|shipped|implemented)\b\s{0,8}(?:\([^()]*\))?)?$"
)
"""A mark behind a title that claims that it is done."""
_LAST_PART = pattern(r"[^:：(\[—–]*$")


class Label(NamedTuple):
    """What a line says: the concept of its label, and the text behind the label."""

    concept: str | None
    """The concept that the label stands for, or None if the label is unknown or there is none."""
    rest: str
    """The text behind the label; the whole line if there is no label."""
    is_label: bool
    marked: bool = False
    """In bold or italics: the author means it as a label, it is not a sentence with a colon."""


def split_label(text: str) -> tuple[str, str] | None:
    """Return (label, rest) of `**Label:** rest`, `Label: rest`, `_Label: rest_` and the like."""
    if "【" in text and (found := _BRACKETED.match(text)):
        return found["label"].strip(), found["rest"].strip()
    if (":" in text or "：" in text) and (found := _LABEL.match(text)):
        return found["label"].strip(), found["rest"].rstrip("*_ \t").strip()
    if "**" in text and (found := _BOLD_ONLY.match(text)):
        return found["label"].strip(" :："), ""
    return None


@lru_cache(maxsize=4096)
def read_label(text: str) -> Label:
    """Return the label of a line, its concept, and the text behind it."""
    marked = bool(_MARKED.match(text))
    parts = split_label(text)
    if parts is None:
        return _without_colon(text, marked=marked)
    label, rest = parts
    concept = words.concept(label)
    if concept == "profile" and not _SLUG.fullmatch(rest):
        concept = None  # a sentence about profiles, not the name of one
    if concept == "depends" and words.normal(label) == "needs" and POOL.fullmatch(rest) and not ids.mentioned(rest):
        concept = concept if rest in words.NONE_WORDS else "pool"
    if words.normal(label) == "blocks" and all(hints.targets(rest)):  # it names units, and nothing else
        concept = "blocks"
    if concept is None and _ITALIC.match(text):
        concept = "covers" if _IDS.match(rest) else "other"
    if concept is not None:
        return Label(concept, rest, is_label=True, marked=marked)
    return Label(None, rest, is_label=not rest, marked=marked)


def step_label(text: str, *, heading: bool = False) -> Label | None:
    """Return a label that only steps have: Result and Validation judge a step, Actions say what to do."""
    name, rest = split_label(text) or (text if heading else "", "")
    concept = _STEP_LABELS.get(words.normal(name))
    return Label(concept, rest, is_label=True, marked=True) if concept else None


def _without_colon(text: str, *, marked: bool) -> Label:
    lead = _BOLD_LEAD.match(text) if "**" in text else None
    if lead and (concept := words.concept(lead["label"])) in _BOLD_FIELDS:
        return Label(concept, lead["rest"], is_label=True, marked=True)
    if len(text) < 60 and (concept := words.concept(text)) == "criteria":
        return Label(concept, "", is_label=True, marked=marked)
    return Label(None, text, is_label=False)


def says_done(heading: str) -> bool:
    """Tell whether a heading claims that all of its section is done: `Phase 1 ✅`, `Setup (completed)`, `Done`."""
    last = _LAST_PART.search(heading)
    return bool(TICK_LAST.search(heading[-120:]) or (last and words.normal(last[0]) in words.DONE_SECTIONS))


def is_struck(text: str) -> bool:
    """Tell whether a text begins struck through: `~~Teleport~~ (too far)`."""
    return text.lstrip(" *_").startswith("~~")


def clean(text: str) -> str:
    if "*" not in text and "_" not in text and "~" not in text:
        return text.strip()
    return _EMPHASIS.sub(lambda mark: mark["code"] or "", _STRIKE.sub("", text)).strip().strip("*_").strip()


_ENOUGH = 2
"""A row is the real header if it has this many known column names and the written header has fewer."""


def mended(outline: Outline) -> Outline:
    """Give the rows of such tables their real header. The row with the header then equals its own header."""
    blocks = outline.blocks
    for index, block in enumerate(blocks):
        first = block.kind is Kind.ROW and (index == 0 or blocks[index - 1].header is not block.header)
        if first and len(columns_of(block.header)) < _ENOUGH <= len(columns_of(block.cells)):
            written, real = block.header, block.cells
            at = index
            while at < len(blocks) and blocks[at].header is written:
                blocks[at].header = real
                at += 1
    return outline


@lru_cache(maxsize=256)
def columns_of(header: tuple[str, ...]) -> dict[str, int]:
    """Return the first column of each meaning in a header."""
    meanings = reversed([(column(cell), at) for at, cell in enumerate(header)])
    return {meaning: at for meaning, at in meanings if meaning is not None}


@lru_cache(maxsize=256)
def lists_work(header: tuple[str, ...]) -> bool:
    """Tell whether a header says that its rows are units. Priorities and criteria outweigh columns that other tables have, too."""
    names = {words.normal(cell) for cell in header}
    is_weighed = not columns_of(header).keys().isdisjoint(("priority", "criteria"))
    said = names & words.NAME_COLUMNS - words.VAGUE_COLUMNS - words.OTHER_COLUMNS
    return bool(said) and (is_weighed or not names & words.OTHER_COLUMNS)


def cell_of(row: Block, meaning: str) -> str:
    """Return the cell of a row in the column of this meaning; an empty text if there is none."""
    at = columns_of(row.header).get(meaning, len(row.cells))
    return row.cells[at] if at < len(row.cells) else ""


@lru_cache(maxsize=1024)
def column(cell: str) -> str | None:
    """Return what a column with this header says about a unit: `id`, `title`, `role`, `priority`, … or None."""
    name = words.normal(cell) or cell.strip()
    if len(name) > 60:
        return None
    concept = words.concept(cell)
    if name in words.ID_COLUMNS or name.split(" ")[-1] in ("id", "number"):
        return "id"
    if concept in ("priority", "criteria", "depends", "status") or name == "blocks":
        return concept or name
    if words.opens_story(f"{name} x"):
        return "role"
    named = not words.NAME_COLUMNS.isdisjoint((name, name.split(" ")[0]))
    return "title" if named or concept == "title" or words.WISH_COLUMN.match(name) else None
