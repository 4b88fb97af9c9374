"""What belongs to a unit: its criteria in order of precedence, its fields, its status."""

from santiago.planner.draft import Status, Unit
from santiago.planner.markdown.harvest import Carrier, Harvester, status_of
from santiago.planner.markdown.outline import scan
from tests.util.each import each


def unit(text: str, *, status: Status = Status.OPEN) -> Unit:
    """Harvest a text whose first block is the carrier."""
    outline = scan(text)
    return Harvester(outline).unit(Carrier(at=0, end=len(outline.blocks), title="title", status=status))


def texts(found: Unit) -> list[str]:
    return [criterion.text for criterion in found.criteria]


@each(
    ("text", "expected"),
    [
        # scenarios win over boxes, boxes over bullets, and bullets count where there is nothing else
        ("- [ ] a box\n#### Scenario: Night\n- **GIVEN** dark\n- **THEN** light", ["3 Scenario: Night GIVEN dark THEN light"]),
        ("- a bullet\n- [ ] a box", ["3 a box"]),
        ("- one\n  - detail\n- two", ["2 one detail", "4 two"]),
        # success criteria serve where no acceptance criteria stand, and checks before plain bullets
        ("- a bullet\n\n**Success Criteria**:\n- fast", ["5 fast"]),
        ("**Deliverables:**\n- a module\n**Verification:**\n- it starts\n- `npm test`", ["5 it starts"]),
        # a definition of done, metrics, gates and a form of key and value never serve
        ("**Definition of Done:**\n- [ ] reviewed\n**Success Metrics:**\n- 99 %\n**Quality Gates:**\n- [ ] `npm test`", []),
        ("- Class: core\n- Status: active\n- Description: it validates\n- Source: spec", []),
        # but a remark, a word for files without a file, and a field below the label for criteria are criteria
        ("- one\n- Note: two", ["2 one", "3 Note: two"]),
        ("- Update: the user sees it\n- Tests: cover the parser", ["2 Update: the user sees it", "3 Tests: cover the parser"]),
        ("**Acceptance Criteria:**\n- Status: shows green\n- Files: can be sent", ["3 Status: shows green", "4 Files: can be sent"]),
        # one line of criteria is split at semicolons even when wrapped
        ("- **Acceptance criteria:** a;\n  b goes\n  on; c", ["2 a", "3 b goes on", "4 c"]),
        # a Given opens a criterion and the rest continues it; so do named criteria; lines of EARS stand alone
        (
            "**Acceptance Criteria:**\n\n**Given** a user\n**Then** it opens\n\n**Given** nobody\n**Then** shut\n**And** silent",
            ["4 Given a user Then it opens", "7 Given nobody Then shut And silent"],
        ),
        (
            "## Acceptance Criteria\n1. **Login**\n   - Given a user\n   - Then it works\n2. **Logout**\n   - Given one",
            ["3 Login Given a user Then it works", "6 Logout Given one"],
        ),
        (
            "#### Acceptance Criteria\n1. WHEN pressed THEN it SHALL react\n2. WHEN held THEN it SHALL repeat\n3. IF broken THEN it SHALL beep",
            [
                "3 WHEN pressed THEN it SHALL react",
                "4 WHEN held THEN it SHALL repeat",
                "5 IF broken THEN it SHALL beep",
            ],
        ),
        # words that only look like a Then begin a criterion
        ("**Acceptance Criteria:**\n- Given x, when y, then z\n- E-mail is sent", ["3 Given x, when y, then z", "4 E-mail is sent"]),
        ("**Acceptance Criteria:**\n- Given x, when y, then z\n- I see it", ["3 Given x, when y, then z", "4 I see it"]),
        # headings below divide criteria and do not end them, and criteria may be paragraphs
        ("#### Acceptance Criteria\n##### Functional\n- a\n##### Speed\n- b\n#### Technical Notes\n- c", ["4 a", "6 b"]),
        ("Criterios de Aceptación\n\nEl usuario existe.\n\nDebe verse el total.", ["4 El usuario existe.", "6 Debe verse el total."]),
    ],
)  # fmt: skip
def test_the_criteria_of_a_unit_are_its_best_and_have_their_lines(text: str, expected: list[str]) -> None:
    assert [f"{criterion.line} {criterion.text}" for criterion in unit(f"### U\n{text}\n").criteria] == expected


def test_a_label_wins_over_scenarios_boxes_and_bullets() -> None:
    found = unit(
        "### U\n- a bullet\n- [ ] a box\n**Acceptance Criteria:**\n- the criterion\n#### Scenario: extra\n- **WHEN** x\n"
    )
    assert "the criterion" in texts(found)
    assert "a box" not in texts(found)


def test_commands_below_a_label_for_checks_or_gates_are_checks_and_no_criteria() -> None:
    for text in ("**Quality Gates:**\n- [ ] `npm test`\n", "**Verification:**\n- it starts\n- `npm test`\n"):
        assert [hint.value for hint in unit("### U\n" + text).verify] == ["npm test"]


def test_an_unknown_label_above_a_list_is_remembered() -> None:
    outline = scan("### U\n\n**Villkor:**\n- one\n")
    harvester = Harvester(outline)
    found = harvester.unit(Carrier(at=0, end=len(outline.blocks), title="U"))
    assert texts(found) == ["one"]
    assert harvester.unknown_labels == [(3, "Villkor")]


def test_a_criterion_keeps_its_own_id() -> None:
    found = unit("### U\n**Acceptance Criteria:**\n- [x] #1 one\n- **AC-2:** two\n")
    assert [(criterion.id, criterion.text) for criterion in found.criteria] == [("#1", "one"), ("AC-2", "two")]


def test_fields_are_read_in_line_as_items_and_as_headings() -> None:
    found = unit(
        "### U\n**Priority:** High\n**Depends on:** T001\n- Files: `src/a.py`\n- Role: scientist\n## Status: Done\n"
    )
    assert (found.priority, found.role, found.status) == ("High", "scientist", Status.DONE)
    assert [dep.target for dep in found.deps] == ["T001"]
    assert [hint.value for hint in found.files] == ["src/a.py"]


@each("label", ["**Files:**", "Files:", "- **Files**:", "Dateien:", "ファイル："])
def test_a_list_of_files_is_taken_whole_and_what_is_no_file_is_said(label: str) -> None:
    """Two stories that name the same file must not run side by side, wherever the file stands."""
    found = unit(f"### U\n{label} app.py, t/one.sh, Makefile, bin/run, the rest\n")
    assert [hint.value for hint in found.files] == ["app.py", "t/one.sh", "Makefile", "bin/run"]
    assert [(hint.value, hint.carrier) for hint in found.unread] == [("the rest", "files")]
    assert "the rest" in found.text
    under = unit("### U\n**Files:**\n- Makefile\n- whatever is needed\n- Modify: `bin/run`\n  - more of it\n")
    assert [hint.value for hint in under.files] == ["Makefile", "bin/run"]
    assert [hint.value for hint in under.unread] == ["whatever is needed"]


def test_a_field_right_under_a_list_is_not_part_of_its_last_item() -> None:
    found = unit("### U\n**Description**:\n- one\n- two\n**Status**: [x]\n")
    assert found.status is Status.DONE
    assert texts(found) == ["one", "two"]


def test_a_table_of_two_columns_holds_fields() -> None:
    found = unit("### U\n\n| Field | Value |\n|---|---|\n| Priority | P1 |\n| Depends on | R2 |\n")
    assert found.priority == "P1"
    assert [dep.target for dep in found.deps] == ["R2"]


def test_no_text_of_the_carrier_is_lost_behind_a_short_title() -> None:
    outline = scan("- [ ] **Login** — with a long explanation of what is meant\n")
    found = Harvester(outline).unit(Carrier(at=0, end=1, title="Login"))
    assert "explanation" in found.text


def test_ticks_claim_that_a_unit_is_done_unless_a_box_or_its_status_says_otherwise() -> None:
    assert unit("### U\n- [x] a\n- [X] b\n").status is Status.DONE
    assert unit("- [x] T\n  - [x] a\n  - [ ] b\n", status=Status.DONE).status is Status.OPEN
    assert unit("### U\n**Status:** In Review\n- [x] a\n").status is Status.OPEN


@each(
    ("word", "expected"),
    [
        ("Done", Status.DONE),
        ("✅ Completed on Monday", Status.DONE),
        ("[x]", Status.DONE),
        ("完了", Status.DONE),
        ("cancelled", Status.DROPPED),
        ("won't do", Status.DROPPED),
        ("implementation-complete", Status.DONE),
        ("In Progress", None),
        ("Not done", None),
        ("", None),
    ],
)
def test_status_words(word: str, expected: Status | None) -> None:
    assert status_of(word) is expected
