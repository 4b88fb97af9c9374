"""Refusals: which documents are refused, and whether the message tells the author what to do.

Every code that a plan can carry is explained.
"""

import json
import re
from pathlib import Path
from textwrap import dedent

import santiago.planner
import santiago.sessions
from santiago.contract.plan import Finding
from santiago.planner import findings, refusals
from santiago.planner.findings import CATALOGUE
from santiago.planner.reading import read_document
from santiago.planner.source import Options, Source
from tests.util.each import each


def source(text: str) -> Source:
    return Source(dedent(text).lstrip("\n"), path="prd.md")


def refusal(text: str) -> Finding:
    document = read_document(source(text))
    assert document.units == []
    (error,) = [finding for finding in document.findings if finding.level == "error"]
    return error


def test_a_template_is_refused_with_its_placeholders_and_their_lines() -> None:
    error = refusal("""
        # Tasks: [FEATURE NAME]

        ## Phase 3: User Story 1 - [Title] (Priority: P1)

        - [ ] T001 [P] [US1] Create [Entity1] model in src/models/[entity1].py
        - [ ] T002 [US1] Implement [Service]
    """)
    assert error.code == "template"
    assert "[FEATURE NAME] (line 1)" in error.message
    assert "[Title] (line 3)" in error.message
    assert error.line == 1


def test_a_checklist_of_spec_kit_judges_a_specification_and_is_no_plan() -> None:
    head = "# {0} Checklist: Login\n\n**Purpose**: Validate it\n**Created**: 2026-01-01\n**Feature**: [spec.md](../spec.md)\n\n"
    boxes = "## Content Quality\n\n- [ ] {0}No implementation details\n- [x] {0}Written for people\n"
    for kind, mark in (("Specification Quality", ""), ("Security", "CHK001 ")):
        error = refusal(head.format(kind) + boxes.format(mark))
        assert (error.code, "tasks.md" in error.hint) == ("no_units", True)
    assert len(read_document(source("# Launch checklist\n\n" + boxes.format(""))).units) == 2


def test_a_refusal_names_the_option_that_plans_a_list_that_was_seen() -> None:
    text = "# Ask\n\n## 1. A caller sees it\n\nIt shows.\n\n## 2. Nobody else does\n\nIt hides.\n"
    error = refusal(text)
    assert "the 2 numbered headings" in error.message
    (option,) = re.findall("`santiago plan [^`]* --units ([^`]*)`", error.hint)
    assert len(read_document(Source(text, path="prd.md", options=Options(units=option))).units) == 2


def test_brief_titles_angle_brackets_and_empty_ids_are_placeholders_too() -> None:
    brief = "### US-{0}: [Brief Title]\n**Acceptance Criteria:**\n- [ ] [Specific, verifiable criterion]\n"
    error = refusal("# PRD\n\n" + brief.format("001") + brief.format("002"))
    assert (error.code, "[Brief Title]" in error.message) == ("template", True)
    angles = "# <title>\n\n<short description>\n\n## Goal\n\n<what to reach>\n\n- FR-1: <describe it>\n"
    assert refusal(angles).code == "template"
    error = refusal("# Requirements\n\n## List\n\n- R1:\n- R2:\n- R3:\n")
    assert (error.code, "3 of 3 ids" in error.message) == ("template", True)


def test_a_document_that_needs_clarification_or_has_one_stray_placeholder_is_no_template() -> None:
    text = "# Login\n### US-1: Sign in\n- [ ] By mail [NEEDS CLARIFICATION: or by phone?]\n### US-2: Sign out\n- [ ] Session ends [TBD]\n"
    document = read_document(source(text))
    assert len(document.units) == 2
    assert "needs_clarification" in {finding.code for finding in document.findings}
    text = "# Login\n\n### US-1: Sign in\n- [ ] By mail\n### US-2: Sign out\n- [ ] Ends\n\n## Agent Model\n\n{{agent_model_name_version}}\n"
    assert len(read_document(source(text)).units) == 2


@each(
    "line",
    [
        "- [ ] a box",
        "- see [the guide](https://example.org) and [RFC][rfc]",
        "- [P] [US1] parallel",
        "- Uses tmux [Source: architecture.md#Stack]",
        "- `[placeholder]` and `<name of it>` in code",
        "- footnote[^1] and [1] and [v1.2]",
    ],
)
def test_links_boxes_tags_and_sources_are_no_placeholders(line: str) -> None:
    assert refusals.template(source("# A title\n\n" + "\n".join([line] * 12))) is None


def test_the_message_says_what_was_seen_and_who_can_structure_it() -> None:
    error = refusal("""
        # Todo app

        ## Core Features
        - Add a todo
        - Delete a todo

        ## Phase 1: Base
        1. Make it
        2. Test it

        ## Phase 2: Top
        1. Ship it

        ```python
        print()
        ```
    """)
    assert error.code == "no_units"
    for words in ("(markdown, ", "4 headings", "5 list items", "1 code fence)"):
        assert words in error.message
    assert (
        "It has the steps of 2 phases (3 units, line 8), the list under Core Features (2 units, line 4)"
        in error.message
    )
    assert "`santiago draft prd.md --with AGENT`" in error.hint
    assert "`santiago plan --with AGENT prd.md`" in refusal("Add refunds for orders.\n").hint


@each(
    ("text", "seen"),
    [
        ("# Shop\n\n## v0.1 (Base)\n- Sell\n- Buy\n\n## v0.2\n- Ship\n", "the steps of 2 phases (3 units, line 4)"),
        ("# A\n\n## Q1\n\nWhat?\n\n## Metrics\n\n- KPI-1: 98 %\n- KPI-2: 99 %\n", "KPI-1 to KPI-2"),
        ("# A\n\nText.\n\n## Definition of Done\n\n- [ ] Tests\n- [ ] Docs\n", '2 check boxes under "Definition of Done"'),
    ],
)  # fmt: skip
def test_what_a_text_has_instead_of_units_is_named_as_seen(text: str, seen: str) -> None:
    assert seen in refusal(text).message


@each(
    ("headings", "sibling"),
    [
        (("Why", "What Changes", "Impact"), "tasks.md and specs/**/spec.md"),
        (("Technical Context", "Constitution Check", "Project Structure"), "tasks.md"),
        (("Overview", "Architecture", "Components and Interfaces", "Data Models", "Error Handling"), "tasks.md or requirements.md"),
        (("Context", "Decision", "Consequences"), "PRD or task list"),
    ],
)  # fmt: skip
def test_a_document_beside_the_plan_says_which_file_holds_the_units(headings: tuple[str, ...], sibling: str) -> None:
    error = refusal("# Something\n\n" + "\n\n".join(f"## {heading}\n\nText." for heading in headings))
    assert error.code == "no_units"
    assert sibling in error.message


def test_configuration_is_called_configuration() -> None:
    yaml = refusal("environment:\n  A: 1\nsecrets:\n  - B\nservices:\n  web: x\n")
    assert yaml.code == "configuration"
    assert "environment" in yaml.message
    package = refusal(
        json.dumps({"name": "x", "version": "1", "scripts": {"a": "b"}, "dependencies": {"c": "1"}}, indent=2)
    )
    assert package.code == "configuration"


def test_a_list_nested_too_deep_is_refused_with_its_line() -> None:
    text = "\n".join("  " * depth + "- x" for depth in range(200))
    error = refusal("# A\n\n" + text)
    assert error.line > 100


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


def test_every_code_is_in_the_catalogue_with_a_sentence_and_nothing_else_is() -> None:
    marks = {code for code, _, _ in findings._SAID.values()}
    assert {code: where for code, where in used().items() if code not in CATALOGUE} == {}
    assert CATALOGUE.keys() - used().keys() - marks == set()
    assert {"no_units", "cycle", "duplicate_id", "external_dependency", "no_criteria", "missing_chunk"} <= used().keys()
    assert all(text[0].isupper() and text.endswith(".") for text in CATALOGUE.values())
