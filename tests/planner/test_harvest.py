"""What belongs to a unit: its criteria in order of precedence, its fields, its status."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from santiago.planner.draft import Status
from santiago.planner.markdown.harvest import Carrier, Harvester, status_of
from santiago.planner.markdown.outline import scan
from tests.util.each import each

if TYPE_CHECKING:
    from santiago.planner.draft import Unit


def unit(text: str, *, status: Status = Status.OPEN) -> Unit:
    """Harvest a text whose first block is the carrier."""
    outline = scan(dedent(text).lstrip("\n"))
    return Harvester(outline).unit(Carrier(at=0, end=len(outline.blocks), title="title", status=status))


def lines(found: Unit) -> list[int]:
    return [criterion.line for criterion in found.criteria]


def texts(found: Unit) -> list[str]:
    return [criterion.text for criterion in found.criteria]


# Which criteria count


def test_a_label_wins_over_scenarios_boxes_and_bullets() -> None:
    found = unit("""
        ### U
        - a bullet
        - [ ] a box
        **Acceptance Criteria:**
        - the criterion
        #### Scenario: extra
        - **WHEN** x
    """)
    assert "the criterion" in texts(found)
    assert "a box" not in texts(found)


def test_scenarios_win_over_boxes() -> None:
    found = unit("""
        ### U
        - [ ] a box
        #### Scenario: Night
        - **GIVEN** dark
        - **THEN** light
    """)
    assert lines(found) == [3]
    assert texts(found) == ["Scenario: Night GIVEN dark THEN light"]


def test_boxes_win_over_bullets() -> None:
    assert texts(unit("### U\n- a bullet\n- [ ] a box\n")) == ["a box"]


def test_bullets_are_criteria_where_there_is_nothing_else() -> None:
    assert texts(unit("### U\n- one\n  - detail\n- two\n")) == ["one detail", "two"]


def test_success_criteria_of_a_unit_serve_where_no_acceptance_criteria_stand() -> None:
    assert texts(unit("### U\n- a bullet\n\n**Success Criteria**:\n- fast\n")) == ["fast"]


def test_definition_of_done_metrics_and_gates_never_serve() -> None:
    found = unit("""
        ### U
        **Definition of Done:**
        - [ ] reviewed
        **Success Metrics:**
        - 99 %
        **Quality Gates:**
        - [ ] `npm test`
    """)
    assert texts(found) == []
    assert [hint.value for hint in found.verify] == ["npm test"]


def test_a_verification_list_serves_before_plain_bullets() -> None:
    found = unit("""
        ### U
        **Deliverables:**
        - a module
        **Verification:**
        - it starts
        - `npm test`
    """)
    assert texts(found) == ["it starts"]
    assert [hint.value for hint in found.verify] == ["npm test"]


def test_a_form_of_key_and_value_is_no_list_of_criteria() -> None:
    found = unit("""
        ### R001
        - Class: core
        - Status: active
        - Description: it validates
        - Source: spec
    """)
    assert texts(found) == []


def test_a_remark_among_bullets_is_one_of_them() -> None:
    assert texts(unit("- [ ] 1.1 T\n  - one\n  - Note: two\n")) == ["one", "Note: two"]


def test_an_unknown_label_above_a_list_is_remembered() -> None:
    outline = scan("### U\n\n**Villkor:**\n- one\n")
    harvester = Harvester(outline)
    found = harvester.unit(Carrier(at=0, end=len(outline.blocks), title="U"))
    assert texts(found) == ["one"]
    assert harvester.unknown_labels == [(3, "Villkor")]


# How criteria are written


def test_one_line_of_criteria_is_split_at_semicolons_even_when_wrapped() -> None:
    found = unit("### U\n- **Acceptance criteria:** a;\n  b goes\n  on; c\n")
    assert texts(found) == ["a", "b goes on", "c"]
    assert lines(found) == [2, 3, 4]


def test_a_given_opens_a_criterion_and_the_rest_continues_it() -> None:
    found = unit("""
        ### U
        **Acceptance Criteria:**

        **Given** a user
        **When** they click
        **Then** it opens

        **Given** nobody
        **Then** it stays shut
        **And** silent
    """)
    assert lines(found) == [4, 8]
    assert texts(found)[1] == "Given nobody Then it stays shut And silent"


def test_ears_lines_are_criteria_of_their_own() -> None:
    found = unit("""
        ### U
        #### Acceptance Criteria
        1. WHEN a key is pressed THEN the system SHALL react
        2. WHEN it is held THEN the system SHALL repeat
        3. IF it is broken THEN the system SHALL beep
    """)
    assert lines(found) == [3, 4, 5]


@each("line", ["E-mail is sent", "I see a message"])
def test_words_that_only_look_like_a_then_begin_a_criterion(line: str) -> None:
    assert len(unit(f"### U\n**Acceptance Criteria:**\n- Given x, when y, then z\n- {line}\n").criteria) == 2


def test_named_criteria_take_their_nested_steps() -> None:
    found = unit("""
        ### U
        ## Acceptance Criteria
        1. **Login**
           - Given a user
           - Then it works
        2. **Logout**
           - Given a session
    """)
    assert lines(found) == [3, 6]
    assert texts(found)[0] == "Login Given a user Then it works"


def test_sub_headings_divide_criteria_and_do_not_end_them() -> None:
    found = unit("""
        ## U
        ### Acceptance Criteria
        #### Functional
        - a
        #### Speed
        - b
        ### Technical Notes
        - c
    """)
    assert texts(found) == ["a", "b"]


def test_criteria_may_be_paragraphs() -> None:
    found = unit("""
        ### HU-01
        Criterios de Aceptación

        El usuario debe estar autenticado.

        Debe verse el total.
    """)
    assert lines(found) == [4, 6]


def test_a_criterion_keeps_its_own_id() -> None:
    found = unit("### U\n**Acceptance Criteria:**\n- [x] #1 one\n- **AC-2:** two\n")
    assert [(criterion.id, criterion.text) for criterion in found.criteria] == [("#1", "one"), ("AC-2", "two")]


def test_a_colon_inside_a_criterion_makes_it_no_field() -> None:
    found = unit("### U\n**Acceptance Criteria:**\n- Status: shows green\n- Files: can be uploaded\n")
    assert texts(found) == ["Status: shows green", "Files: can be uploaded"]


# Fields


def test_fields_are_read_in_line_as_items_and_as_headings() -> None:
    found = unit("""
        ### U
        **Priority:** High
        **Depends on:** T001
        - Files: `src/a.py`
        - Role: scientist
        ## Status: Done
    """)
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


def test_a_files_word_without_a_file_is_a_plain_bullet() -> None:
    assert texts(unit("- [ ] T\n  - Update: the user sees it\n  - Tests: cover the parser\n")) == [
        "Update: the user sees it",
        "Tests: cover the parser",
    ]


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


# Status


def test_a_ticked_unit_with_open_boxes_is_open() -> None:
    assert unit("- [x] T\n  - [x] a\n  - [ ] b\n", status=Status.DONE).status is Status.OPEN


def test_a_unit_whose_boxes_are_all_ticked_claims_to_be_done() -> None:
    assert unit("### U\n- [x] a\n- [X] b\n").status is Status.DONE


def test_a_status_that_says_work_goes_on_outweighs_the_ticks() -> None:
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
        ("In Progress", None),
        ("Not done", None),
        ("", None),
    ],
)
def test_status_words(word: str, expected: Status | None) -> None:
    assert status_of(word) is expected
