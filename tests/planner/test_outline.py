"""The outline against a CommonMark parser: headings, fences and list items agree, save where leniency is meant."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from santiago.planner.draft import DocumentError
from santiago.planner.markdown.outline import MAX_DEPTH, Kind, scan
from santiago.planner.source import Source
from tests.corpus.score import CORPUS
from tests.util.each import each

PARSER = MarkdownIt("commonmark").enable("table")


class Seen(NamedTuple):
    headings: list[tuple[int, int, str]]
    """Level, line, text."""
    fences: list[tuple[int, int]]
    """First and last line."""
    items: list[int]


def ours(text: str) -> Seen:
    seen = Seen([], [], [])
    for block in scan(text).blocks:
        if block.kind is Kind.HEADING:
            seen.headings.append((block.level, block.line, _spaced(block.text)))
        elif block.kind is Kind.CODE and not block.lines[0]:
            seen.fences.append((block.line, block.end))
        elif block.kind is Kind.ITEM:
            seen.items.append(block.line)
    return seen


def theirs(text: str) -> Seen:
    """Read the same off CommonMark; quotes are left out, since a quote holds no units."""
    seen = Seen([], [], [])
    tokens = PARSER.parse(text)
    quotes = 0
    for index, token in enumerate(tokens):
        quotes += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if quotes or token.map is None:
            continue
        first, behind = token.map
        if token.type == "heading_open":
            seen.headings.append((int(token.tag[1]), first + 1, _spaced(tokens[index + 1].content)))
        elif token.type == "fence":
            seen.fences.append((first + 1, behind))
        elif token.type == "list_item_open":
            seen.items.append(first + 1)
    return seen


def _spaced(text: str) -> str:
    """Return a text with its escapes undone and its blanks made one."""
    for char in '[]*_"#`()<>.!+-':
        text = text.replace(f"\\{char}", char)
    return " ".join(text.split())


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the documents are not here: {CORPUS}")
def test_agrees_on_every_real_document() -> None:
    documents = 0
    for path in sorted(CORPUS.rglob("*.md")):
        source = Source(path.read_text(encoding="utf-8-sig"))
        if source.looks_like != "markdown":
            continue
        documents += 1
        lines = source.text.split("\n")
        if lines[0].rstrip() == "---" and source.front_matter:
            end = lines.index("---", 1)
            lines[: end + 1] = [""] * (end + 1)
        text = "\n".join(lines)
        assert ours(text) == theirs(text), path.name
    assert documents > 40


# Made documents

WORDS = st.sampled_from(
    [
        "FR-1: Log in",
        "plain words",
        "a `code` span",
        "**Depends on:** T001",
        "R10 → R2",
        "данные",
        "要件",
        "a | b",
        "x_y",
    ]
)
HEADING = st.builds(lambda level, text: ["#" * level + " " + text], st.integers(1, 6), WORDS)
UNDERLINED = st.builds(
    lambda text, mark: [text, mark * 3], WORDS.filter(lambda text: "|" not in text), st.sampled_from("=-")
)
PARAGRAPH = st.lists(WORDS.filter(lambda text: "|" not in text), min_size=1, max_size=3)
FENCE = st.builds(
    lambda mark, info, body: [mark + info, *body, mark],
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "sh", "json"]),
    st.lists(st.sampled_from(["# no heading", "- no item", "", "  text", "| a |"]), max_size=4),
)
TABLE = st.builds(lambda rows: ["| a | b |", "|---|---|", *rows], st.lists(st.just("| FR-1 | x |"), max_size=3))
BOX = st.sampled_from(["", "[ ] ", "[x] "])
BULLETS = st.builds(
    lambda mark, texts: [f"{mark} {box}{text}" for box, text in texts],
    st.sampled_from("-*+"),
    st.lists(st.tuples(BOX, WORDS), min_size=1, max_size=3),
)
NUMBERS = st.builds(
    lambda texts: [f"{number}. {text}" for number, text in enumerate(texts, 1)], st.lists(WORDS, min_size=1, max_size=3)
)


def _nested(outer: list[str], inner: list[str]) -> list[str]:
    width = len(outer[-1].split(" ", 1)[0]) + 1
    return [*outer, *(" " * width + line for line in inner)]


LISTS = st.recursive(
    st.one_of(BULLETS, NUMBERS), lambda inner: st.builds(_nested, st.one_of(BULLETS, NUMBERS), inner), max_leaves=3
)
BLOCK = st.one_of(HEADING, UNDERLINED, PARAGRAPH, FENCE, TABLE, LISTS)


@given(st.lists(BLOCK, max_size=7))
def test_agrees_on_made_documents(blocks: list[list[str]]) -> None:
    text = "\n\n".join("\n".join(lines) for lines in blocks)
    assert ours(text) == theirs(text)


@given(st.lists(BLOCK, min_size=1, max_size=7))
def test_every_line_that_says_something_is_in_one_block(blocks: list[list[str]]) -> None:
    text = "\n\n".join("\n".join(lines) for lines in blocks)
    held = [line for block in scan(text).blocks for line in range(block.line, block.end + 1)]
    assert len(held) == len(set(held))


@given(st.text(alphabet="#-*+_`~|>=<!1.) \t\n[]x:\\aé", max_size=200))
def test_takes_any_text(text: str) -> None:
    outline = scan(text)
    assert len(outline.ends) == len(outline.blocks)
    assert all(index < end <= len(outline.blocks) for index, end in enumerate(outline.ends))
    assert all(block.parent < index and block.section < index for index, block in enumerate(outline.blocks))


# Where it is lenient, and why


@each(
    ("why", "text", "what", "seen"),
    [
        ("a typed bullet is one", "• a\n• b\n", "items", [1, 2]),
        ("a number with a colon counts", "1: a\n2: b\n", "items", [1, 2]),
        ("a list may be indented under a heading", "# H\n    - a\n", "items", [2]),
        ("a child may be indented too far", "- a\n        - b\n", "items", [1, 2]),
        ("a child needs two columns", "1. a\n  - b\n", "items", [1, 2]),
        ("a lone tag hides nothing", "<PRD>\n# H\n- a\n</PRD>\n", "headings", [(1, 2, "H")]),
        ("a number behind a bullet is part of the text", "- 1. a\n", "items", [1]),
        ("a fence that is never closed takes all", "```\na\n", "fences", [(1, 3)]),
        ("a comment is not read", "<!-- # H -->\n# I\n", "headings", [(1, 2, "I")]),
    ],
)
def test_is_lenient(why: str, text: str, what: str, seen: list[object]) -> None:
    assert getattr(ours(text), what) == seen


def test_a_label_right_under_a_list_ends_it_and_a_backslash_at_the_end_of_a_line_breaks_it() -> None:
    blocks = scan("- a\n**Status:** done\n").blocks
    assert [(block.kind, block.parent) for block in blocks] == [(Kind.ITEM, -1), (Kind.PARA, -1)]
    assert scan("ID: US-001\\\nTitle: x\n").blocks[0].lines == ["ID: US-001", "Title: x"]


def test_lists_may_not_nest_without_end() -> None:
    text = "\n".join("  " * depth + "- a" for depth in range(MAX_DEPTH + 1))
    with pytest.raises(DocumentError) as refused:
        scan(text)
    assert refused.value.line == MAX_DEPTH + 1
