"""Every code that a plan can carry is explained."""

from __future__ import annotations

import re
from pathlib import Path

import santiago.planner
import santiago.sessions
from santiago.planner import findings
from santiago.planner.findings import CATALOGUE

PLANNING = (santiago.planner, santiago.sessions)
SOURCES = sorted(path for one in PLANNING for path in Path(str(one.__file__)).parent.rglob("*.py"))
CODE = re.compile(r"""code=\(?\s*"(\w+)\"""")
CALL = re.compile(
    r"""\b(?:note|warning|error|_error|_about)\(\s*(?:[\w.]+,\s*|\[[^\]]*\],\s*|"(?:warning|note)",\s*)*"(\w+)\""""
)


def used() -> dict[str, str]:
    """Return every code that stands in the planner or in planning sessions, with a file that uses it."""
    found: dict[str, str] = {}
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        found |= dict.fromkeys([*CODE.findall(text), *CALL.findall(text)], path.name)
    return found


def test_every_code_is_in_the_catalogue() -> None:
    assert {code: where for code, where in used().items() if code not in CATALOGUE} == {}


def test_the_catalogue_holds_nothing_else() -> None:
    marks = {code for code, _, _ in findings._SAID.values()}
    assert CATALOGUE.keys() - used().keys() - marks == set()


def test_the_search_finds_codes() -> None:
    assert {"no_units", "cycle", "duplicate_id", "external_dependency", "no_criteria", "missing_chunk"} <= used().keys()


def test_explanations_are_sentences() -> None:
    assert all(text[0].isupper() and text.endswith(".") for text in CATALOGUE.values())
