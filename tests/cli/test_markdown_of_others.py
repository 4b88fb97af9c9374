"""Texts of a document in Markdown: letter by letter for readers of both the page and the file."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from santiago.report.markdown import code, prose

RENDER = MarkdownIt("gfm-like", {"html": True})


@pytest.mark.parametrize(
    "text",
    [
        "hello.txt says hello (twice), or 100 %", "own_tests, __init__ and *stars*", "<b>bold</b> & <script>", "[a](b) ![c](d)",
        "1. a list", "- a list", "+ a list", "# no heading", "a | b", "~~gone~~ $x$ {y} ^z", "a \\ b \\* c",
        "see https://example.org and www.example.org", "a ` alone", "&amp; stays", "| a |", "> quoted",
    ],
)  # fmt: skip
def test_prose_is_shown_letter_by_letter(text: str) -> None:
    shown = RENDER.render(f"- {prose(text)}\n")
    plain = RENDER.renderInline("".join(f"&#{ord(sign)};" for sign in text))
    assert shown == f"<ul>\n<li>{plain}</li>\n</ul>\n"


def test_what_a_reader_of_the_file_sees_is_close_to_what_was_written() -> None:
    text = "the total of own_tests (in EUR), e.g. `total([1], x)`, is 3.50: see docs/prd.md"
    assert prose(text) == text


@pytest.mark.parametrize("text", ["npm test", "a `b` c", "``", "`x`", "grep '<b>' *.md"])
def test_code_is_shown_letter_by_letter(text: str) -> None:
    inner = text.replace("<", "&lt;").replace(">", "&gt;")
    assert RENDER.render(f"- {code(text)}\n") == f"<ul>\n<li><code>{inner}</code></li>\n</ul>\n"
