"""Troubleshooting and the glossary: every code and every message that they name is one of the program, and none that matters is missing."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from santiago.contract.reasons import ExitCode, Reason
from santiago.planner.findings import CATALOGUE
from tests.docs.pages import ROOT

TROUBLE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
REFUSALS = list(CATALOGUE)[: list(CATALOGUE).index("dropped")]
"""Findings that keep a document from being planned: the first part of the catalogue."""
LEAST = 8
"""Letters that a part of a message has at least which is looked for by itself."""

JOINED = {
    "is not installed: there is no": ("is not installed:", "there is no"),
    "commands of the document wait for approval": ("commands of the", "for approval:"),
    "is not finished; going on with it": ("is not finished", "; going on with it"),
}
"""Parts of messages that the program puts together from several texts."""


def tables(text: str, head: str) -> list[str]:
    """Return the first cells of all tables whose first column is called so."""
    found: list[str] = []
    for table in re.findall(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE):
        found += [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()]
    return found


def codes(head: str) -> list[str]:
    return [code for cell in tables(TROUBLE, head) for code in re.findall(r"`([^`]+)`", cell)]


@cache
def texts() -> str:
    """Return all literal texts of the program."""
    return "\n".join(text for path in sorted((ROOT / "src").rglob("*.py")) for text in _constants(path.read_text()))


def _constants(source: str) -> Iterator[str]:
    """Yield the literal texts of a module; of an f-string each part between two values is one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())


def test_every_reason_has_a_row() -> None:
    assert sorted(codes("reason")) == sorted(reason for reason in Reason if reason is not Reason.UNTRUSTED_PROJECT)
    assert "`untrusted_project`" in TROUBLE, "it is told with its message"


def test_every_exit_code_has_a_row() -> None:
    exits = [
        int(code)
        for table in [TROUBLE.split("## Exit codes")[1].split("\n## ")[0]]
        for code in re.findall(r"^\| `(\d+)`", table, re.MULTILINE)
    ]
    assert exits == sorted(int(code) for code in ExitCode)


def test_findings_that_are_named_exist_and_every_refusal_is_named() -> None:
    named = set(codes("code")) - {str(int(code)) for code in ExitCode}
    assert named - set(CATALOGUE) == set()
    assert set(REFUSALS) - named == set()


@pytest.mark.parametrize("message", [cell.strip("`") for cell in tables(TROUBLE, "message")])
def test_a_message_that_is_named_is_one_of_the_program(message: str) -> None:
    parts = [part.strip(" .,:`") for part in message.split("…")]
    pieces = [piece for part in parts for piece in JOINED.get(part, (part,))]
    assert [piece for piece in pieces if len(piece) >= LEAST and piece not in texts()] == []


def test_the_first_words_of_lines_are_in_the_glossary() -> None:
    source = (ROOT / "src/santiago/cli/view/lines.py").read_text(encoding="utf-8")
    words = set(re.findall(r'label="([a-z][a-z ]*)"', source))
    assert len(words) > 20
    assert words - set(re.findall(r"`([a-z ]+)`", GLOSSARY.split("## The first word of a line")[1])) == set()


def test_no_word_of_the_glossary_is_explained_twice() -> None:
    words = [word for cell in tables(GLOSSARY, "word") for word in re.findall(r"\*\*(.+?)\*\*", cell)]
    assert len(words) == len(set(words))
