"""The readers of task-like Markdown: which units each takes, how they hang together, and what is only reported."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from santiago.planner import ids, readers
from santiago.planner.draft import Status
from santiago.planner.source import Source

if TYPE_CHECKING:
    from santiago.contract.plan import Finding
    from santiago.planner.draft import Document, Unit


def read(text: str) -> Document:
    document = readers.read(Source(dedent(text).lstrip("\n"), path="tasks.md"))
    assert document is not None
    return document


def names(document: Document) -> list[str | None]:
    return [unit.id for unit in document.units]


def by_id(document: Document, name: str) -> Unit:
    return next(unit for unit in document.units if unit.id == name)


def needs(unit: Unit) -> list[str]:
    return [dep.target for dep in unit.deps if dep.carrier != "prose"]


def criteria(unit: Unit) -> list[str]:
    return [criterion.text for criterion in unit.criteria]


def found(document: Document, code: str) -> list[Finding]:
    return [finding for finding in document.findings if finding.code == code]


# spec-kit task lists


def test_marks_of_a_task_become_tags_and_leave_its_title() -> None:
    document = read("""
        ## Phase 1: Setup
        - [ ] T001 Create project
        ## Phase 3: User Story 1 - Sign up (Priority: P1)
        - [ ] T012 [P] [US1] Add the form in src/form.ts
    """)
    task = by_id(document, "T012")
    assert task.title == "Add the form in src/form.ts"
    assert {"[P]", "US1"} <= set(task.tags)
    assert task.priority == "P1"
    assert [hint.value for hint in task.files] == ["src/form.ts"]
    assert not task.deps


def test_a_phase_of_a_story_lends_its_tag_to_tasks_without_one() -> None:
    document = read("""
        ## Phase 1: Setup
        - [ ] T001 Create project
        ## Phase 2: User Story 7 — Search
        - [ ] T002 Index
    """)
    assert "US7" in by_id(document, "T002").tags


def test_phases_without_a_number_keep_their_place() -> None:
    document = read("""
        ## Phase 1: Setup
        - [ ] T001 Create
        ## Phase N: Polish
        - [ ] T002 Docs
        ## Final Phase: Release
        - [ ] T003 Ship
    """)
    assert [unit.chunk for unit in document.units] == ["Phase 1: Setup", "Phase N: Polish", "Final Phase: Release"]


def test_the_format_section_holds_examples_and_no_tasks() -> None:
    document = read("""
        ## Format: `[ID] [P?] Description`
        - [ ] T001 [P] like this
        ## Phase 1: Setup
        - [ ] T001 Create project
        - [ ] T002 Add linter
    """)
    assert [unit.line for unit in document.units] == [4, 5]
    assert found(document, "boxes_left_out")


def test_dependencies_behind_a_task_are_read_in_english_and_swedish() -> None:
    document = read("""
        ## Phase 1: Bygg
        - [ ] T008 Grund
        - [ ] T012 [P] Vy. Beroende: T008, T013.
        - [ ] T013 Modell (depends on T008)
    """)
    assert needs(by_id(document, "T012")) == ["T008", "T013"]
    assert needs(by_id(document, "T013")) == ["T008"]


def test_a_story_that_depends_on_a_later_one_becomes_an_edge_between_stories() -> None:
    document = read("""
        ## Phase 1: User Story 2 - Pay
        - [ ] T001 [US2] Pay
        ## Phase 2: User Story 7 - Cart
        - [ ] T002 [US7] Cart
        ## Dependencies & Execution Order
        - US2 depends on US7
    """)
    assert [(edge.group, edge.target) for edge in document.edges] == [("US2", "US7")]


def test_a_declared_order_that_the_phases_keep_anyway_makes_no_edge() -> None:
    document = read("""
        ## Phase 1: Setup
        - [ ] T001 Create
        ## Phase 2: Foundational
        - [ ] T002 Base
        ## Dependencies & Execution Order
        - **Foundational (Phase 2)**: Depends on Setup completion - BLOCKS all user stories
    """)
    assert not document.edges
    assert not needs(by_id(document, "T002"))


def test_a_range_that_must_finish_before_another_is_spelled_out() -> None:
    document = read("""
        ## Phase 1: All
        - [ ] T006 a
        - [ ] T007 b
        - [ ] T012 c
        - [ ] T013 d
        ## Dependencies
        - T006..T007 before T012..T013
    """)
    assert needs(by_id(document, "T012")) == ["T006", "T007"]
    assert needs(by_id(document, "T013")) == ["T006", "T007"]


def test_place_before_turns_the_dependency_round() -> None:
    document = read("""
        ## Phase 1: All
        - [ ] T023 Screen
        - [ ] T030 Tokens (place before T023)
    """)
    assert needs(by_id(document, "T023")) == ["T030"]
    assert not needs(by_id(document, "T030"))


def test_tasks_called_parallel_that_wait_for_each_other_are_reported() -> None:
    document = read("""
        ## Phase 1: All
        - [ ] T012 a
        - [ ] T013 b (depends on T012)
        ## Parallel Opportunities
        - T012 and T013 can run in parallel
    """)
    assert needs(by_id(document, "T013")) == ["T012"]
    assert "T013" in found(document, "parallel_contradiction")[0].message


def test_an_order_in_prose_is_reported_and_never_guessed() -> None:
    document = read("""
        ## Phase 1: All
        - [ ] T001 a
        - [ ] T002 b
        ## Dependencies & Execution Order
        - Start T001 early, T002 when there is time
    """)
    assert not any(unit.deps for unit in document.units)
    assert found(document, "mentioned_id")[0].line == 5


def test_letter_suffixes_are_ids_of_their_own() -> None:
    document = read("""
        ## Phase 1: All
        - [x] T105 a
        - [ ] T105a b
        - [ ] T106 c
    """)
    assert sorted(filter(None, names(document)), key=ids.natural) == ["T105", "T105a", "T106"]


# OpenSpec


def test_an_id_in_two_sections_is_two_units() -> None:
    document = read("""
        ## 6. Backend
        - [ ] 6.1 Route
        - [ ] 6.2 Store
        ## 7. Frontend
        - [ ] 6.1 Page
        - [ ] 6.2 Form
    """)
    assert names(document) == ["6.1", "6.2", "6.1", "6.2"]
    assert [unit.chunk for unit in document.units] == ["6. Backend"] * 2 + ["7. Frontend"] * 2


def test_gaps_are_not_filled_and_comments_are_dropped() -> None:
    document = read("""
        ## 3. Work
        - [ ] 3.3 One <!-- was 3.2 -->
        - [ ] 3.5 Two
    """)
    assert names(document) == ["3.3", "3.5"]
    assert document.units[0].title == "One"


def test_wrapped_lines_belong_to_the_title_and_bullets_are_criteria() -> None:
    document = read("""
        ## 1. Work
        - [ ] 1.1 Create the table
              with all columns
          - id
          - name
        - [ ] 1.2 Index
    """)
    assert document.units[0].title == "Create the table with all columns"
    assert criteria(document.units[0]) == ["id", "name"]


def test_a_deferred_group_is_reported_and_not_planned() -> None:
    document = read("""
        ## 1. Work
        - [ ] 1.1 Now
        ## 2. Integration (Deferred)
        - [ ] 2.1 Later
    """)
    assert [unit.status for unit in document.units] == [Status.OPEN, Status.FUTURE]
    assert found(document, "out_of_scope")[0].line == 4


def test_dotted_boxes_under_stories_are_their_details() -> None:
    document = read("""
        # Epics
        ### Story 1.1: Login
        **Acceptance Criteria:**
        - Works
        - [ ] 1.1.1 Form
        - [ ] 1.1.2 Check
        ### Story 1.2: Logout
        **Acceptance Criteria:**
        - Works
        - [ ] 1.2.1 Button
        - [ ] 1.2.2 Session
    """)
    assert names(document) == ["1.1", "1.2"]


def test_removed_requirements_are_dropped_and_renamed_ones_reported() -> None:
    document = read("""
        ## ADDED Requirements
        ### Requirement: Dark mode
        The app SHALL be dark.
        - not a criterion
        #### Scenario: Night
        - **WHEN** it is night
        - **THEN** it is dark
        ## REMOVED Requirements
        ### Requirement: Sepia
        **Reason**: unused
        ## RENAMED Requirements
        - FROM: `### Requirement: Old`
        - TO: `### Requirement: New`
    """)
    assert [(unit.title, unit.status) for unit in document.units] == [
        ("Dark mode", Status.OPEN),
        ("Sepia", Status.DROPPED),
    ]
    assert [criterion.line for criterion in document.units[0].criteria] == [5]
    assert "it is dark" in document.units[0].criteria[0].text
    assert "New" in found(document, "renamed")[0].message


# Kiro


def test_leaves_are_units_and_the_parent_is_the_chunk() -> None:
    document = read("""
        - [ ] 1. Set up
          - [x] 1.1 Repository
            - with a licence
            - _Requirements: 1.1, 2.3_
          - [ ] 1.2. Pipeline
            - _Depends: 1.1_
        - [ ] 2. Checkpoint
    """)
    assert names(document) == ["1.1", "1.2", "2"]
    assert [unit.chunk for unit in document.units] == ["1. Set up", "1. Set up", "2. Checkpoint"]
    assert [hint.value for hint in document.units[0].covers] == ["1.1", "2.3"]
    assert criteria(document.units[0]) == ["with a licence"]
    assert needs(document.units[1]) == ["1.1"]


def test_children_at_the_left_margin_still_belong_to_their_parent() -> None:
    document = read("""
        - [ ] 2. API
        - [ ] 2.1 Routes
          - _Requirements: 1.1_
        - [ ] 2.2 Errors
    """)
    assert names(document) == ["2.1", "2.2"]
    assert {unit.chunk for unit in document.units} == {"2. API"}


def test_a_first_level_of_whole_numbers_groups_the_rest() -> None:
    document = read("""
        ## Tasks
        - [ ] 1.0 Base
          - [ ] 1.1 Schema
          - [ ] 1.2 Seed
        - [ ] 2.0 Pages
          - [ ] 2.1 Home
    """)
    assert names(document) == ["1.1", "1.2", "2.1"]


def test_a_ticked_parent_with_open_children_is_not_done() -> None:
    document = read("""
        - [x] 8. Sync (partially complete, 50 %)
          - [x] 8.1 Pull
          - [ ] 8.2 Push
    """)
    assert [unit.status for unit in document.units] == [Status.DONE, Status.OPEN]
    assert found(document, "partly_done")[0].line == 1


def test_a_star_behind_the_box_is_optional() -> None:
    document = read("""
        - [ ] 9. Core
          - [ ] 9.1 Work
          - [ ]* 9.2 Property tests
        - [ ]\\* 10. Extras
    """)
    assert [unit.status for unit in document.units] == [Status.OPEN, Status.OPTIONAL, Status.OPTIONAL]
    assert len(found(document, "optional")) == 2


def test_a_summary_list_and_its_details_are_the_same_tasks() -> None:
    document = read("""
        ## 概要
        - [ ] 1. 基盤
        - [ ] 2. 画面
        ## 詳細
        - [ ] 1. 基盤
          - [ ] 1.1 設定
            - _要件: 7.1, 10全体_
        - [ ] 2. 画面
          - [ ] 2.1 一覧
    """)
    assert names(document) == ["1.1", "2.1"]
    assert [hint.value for hint in document.units[0].covers] == ["7.1", "10"]
    assert found(document, "merged")


def test_a_field_in_italics_is_no_criterion_in_any_language() -> None:
    document = read("""
        - [ ] 1. Основа
          - [ ] 1.1 Модель
            - Поля
            - _Требования: 1.1, 7.1_
            - _Оценка: 5ч_
    """)
    assert criteria(document.units[0]) == ["Поля"]
    assert [hint.value for hint in document.units[0].covers] == ["1.1", "7.1"]


def test_what_a_parent_depends_on_is_lifted_to_its_children() -> None:
    document = read("""
        - [ ] 1. Base
          - [ ] 1.1 Schema
        - [ ] 2. Pages
          - _Depends: 1.1_
          - [ ] 2.1 Home
    """)
    assert [(edge.group, edge.target) for edge in document.edges] == [("2. Pages", "1.1")]


# Plans of headings


def test_task_headings_own_their_boxes_and_boxes_elsewhere_are_reported() -> None:
    document = read("""
        # Plan: Errors
        ## Validation Commands
        - `go test ./...`
        ### Task 1: Add type
        **Files:**
        - Modify: `pkg/a.go`
        - [x] Write it
        - [ ] Test it
        ## Success criteria
        - [ ] Deploy
    """)
    assert names(document) == ["1"]
    assert criteria(document.units[0]) == ["Write it", "Test it"]
    assert document.units[0].status is Status.OPEN
    assert [hint.value for hint in document.units[0].files] == ["pkg/a.go"]
    assert [hint.value for hint in document.run_verify] == ["go test ./..."]
    assert found(document, "boxes_left_out")[0].line == 10


def test_a_checklist_on_top_adds_its_ticks_to_the_steps() -> None:
    document = read("""
        # Waves
        - [x] Step 1: Model
        - [ ] Step 2: Tracker
        ## Step 1: Model
        - Add the fields
        ## Step 2: Tracker
        - Add the machine
    """)
    assert names(document) == ["1", "2"]
    assert [unit.line for unit in document.units] == [4, 6]
    assert [unit.status for unit in document.units] == [Status.DONE, Status.OPEN]


STEPS = """
    # Euros
    ## Step 1: Currency
    **Objective**: one place for it
    **Actions**:
    1. Create `currency.py`
    2. Add a class

    **Result**: A class Currency exists,
    and is used nowhere yet
    **Validation**: `pytest -q tests/currency.py` passes
    ## Step 2: Invoices
    ### Step 2.1: Totals
    Actions:
    - Sum up in cents

    Result:

    - Totals are in Euros
    ### Step 2.2: Lines
    - **Actions**:
      - [ ] Format each line
    - **Result**: Each line ends with a sign
    - **Validation**:
      - Old invoices look as before
        - also in Swiss Francs
      - `make check`
    ### Acceptance criteria
    - All of it is shown
    ## Step 3: Documentation
    Depends on: Step 2.2
    - README says Euros
"""


def test_a_substep_is_a_part_of_its_step() -> None:
    document = read(STEPS)
    assert names(document) == ["1", "2", "3"]
    step = by_id(document, "2")
    assert (step.line, step.title) == (11, "Invoices")
    told = step.text.split("\n")
    assert told.index("Step 2.1: Totals") < told.index("Sum up in cents") < told.index("Step 2.2: Lines")
    assert needs(by_id(document, "3")) == ["2.2"]
    assert "2.2" in step.tags
    assert document.evidence == ("3 headings Step N", "2 substeps Step N.M")


def test_results_and_validations_of_steps_are_criteria_and_actions_are_not() -> None:
    document = read(STEPS)
    first, second, third = document.units
    assert criteria(first) == [
        "A class Currency exists, and is used nowhere yet",
        "`pytest -q tests/currency.py` passes",
    ]
    assert criteria(second) == [
        "Totals are in Euros",
        "Each line ends with a sign",
        "Old invoices look as before also in Swiss Francs",
        "All of it is shown",
    ]
    assert [criterion.line for criterion in second.criteria] == [18, 22, 24, 28]
    assert criteria(third) == ["README says Euros"]
    assert [hint.value for hint in second.verify] == ["make check"]
    for unit, action in ((first, "Add a class"), (second, "Sum up in cents"), (second, "Format each line")):
        assert action in unit.text.split("\n")
    assert found(document, "unknown_label") == []


def test_a_label_right_below_a_list_ends_it() -> None:
    document = read("""
        # Euros
        ## Step 1: Currency
        Actions:
        - Add a class
          that is small
        Result: it exists
        Validation:
        - it is small
        - `make check`
        Actions:
        - Ship it
        ## Step 2: Lines
        Result: they are shown
    """)
    assert criteria(document.units[0]) == ["it exists", "it is small"]
    assert [criterion.line for criterion in document.units[0].criteria] == [6, 8]
    assert "Add a class that is small" in document.units[0].text


def test_a_substep_without_its_step_is_an_error_with_its_line() -> None:
    document = read("""
        # Euros
        ## Step 1: Currency
        Result: it exists
        ## Step 3.1: Lines
        Result: they are shown
    """)
    (error,) = found(document, "substep_without_step")
    assert (error.level, error.line) == ("error", 4)
    assert "Step 3" in error.message


def test_numbers_of_steps_that_count_their_phases_are_no_substeps() -> None:
    document = read("""
        # Euros
        ## Phase 1: Base
        ### Step 1.1: Currency
        - Add a class
        ### Step 1.2: Totals
        - Sum up
    """)
    assert names(document) == ["1.1", "1.2"]
    assert found(document, "substep_without_step") == []


def test_a_step_is_done_only_with_all_of_its_substeps_and_a_cancelled_one_is_reported() -> None:
    document = read("""
        # Euros
        ## Step 1: Currency [DONE]
        ### Step 1.1: Class [DONE]
        Result: it exists
        ### Step 1.2: Rates
        Result: they are read
        ## Step 2: Lines [DONE]
        ### Step 2.1: Sign [DONE]
        Result: it is shown
        ### Step 2.2: Colour [cancelled]
        Result: it is green
    """)
    assert [by_id(document, name).status for name in ("1", "2")] == [Status.OPEN, Status.DONE]
    assert criteria(by_id(document, "2")) == ["it is shown"]
    assert found(document, "dropped")[0].line == 10


def test_steps_that_name_actions_and_results_are_the_plan_of_a_longer_text() -> None:
    overview = "# Plan\n\n## Overview\n\n" + "Much is said before.\n\n" * 40
    steps = (
        "## Step 1: Push\n\nActions:\n- Push\n\nResult: it is there\n\n## Step 2: Wait\n\n**Validation**: it is green\n"
    )
    document = readers.read(Source(overview + steps))
    assert document is not None
    assert [criteria(unit) for unit in document.units] == [["it is there"], ["it is green"]]


def test_steps_of_a_procedure_inside_a_longer_text_are_no_units() -> None:
    document = readers.read(
        Source(
            "# PRD\n\n## Features\n\n"
            + "- A feature that matters\n" * 40
            + "\n## Release process\n\n### Step 1: Push\n\n- Push\n\n### Step 2: Wait\n\n- Wait\n"
        )
    )
    assert document is None


def test_numbered_boxes_that_hold_more_than_the_headings_are_the_units() -> None:
    document = read("""
        # PRD
        ### Phase 1: Base
        - [x] 1. Repository
        - [ ] 2. Login
        ### Phase 2: More
        - [ ] 3. Search
        ## Success metrics
        - [ ] 99 % uptime
        ## Details
        ### Task 2: Login
        **Files:** `src/login.ts`
        **Acceptance Criteria:**
        - Signs in
    """)
    assert names(document) == ["1", "2", "3"]
    assert [unit.chunk for unit in document.units] == ["Phase 1: Base", "Phase 1: Base", "Phase 2: More"]
    login = document.units[1]
    assert criteria(login) == ["Signs in"]
    assert [hint.value for hint in login.files] == ["src/login.ts"]
    assert document.units[0].status is Status.DONE


def test_a_status_at_the_end_of_a_heading_is_a_claim() -> None:
    document = read("""
        ## Phase 7: Input
        #### Task 1: Types [DONE]
        #### Task 2: Render [PENDING]
        - Underline
    """)
    assert [(unit.title, unit.status) for unit in document.units] == [
        ("Types", Status.DONE),
        ("Render [PENDING]", Status.OPEN),
    ]


def test_equal_task_numbers_in_two_phases_are_two_units() -> None:
    document = read("""
        ## Phase 1: A
        ### Task 1: One
        - [ ] a
        ## Phase 2: B
        ### Task 1: Other
        - [ ] b
        ## Phase 3: C
        1. Only a list
    """)
    assert [(unit.id, unit.chunk) for unit in document.units] == [("1", "Phase 1: A"), ("1", "Phase 2: B")]
    assert found(document, "group_without_units")[0].line == 7


def test_numbered_headings_count_only_where_most_own_boxes() -> None:
    document = read("""
        # Plan
        ### 1. Config
        - [x] Parse
        ### 2. Runner
        - [x] Call
    """)
    assert names(document) == [None, None]
    assert [unit.status for unit in document.units] == [Status.DONE, Status.DONE]


def test_numbers_of_headings_are_ids_where_the_document_refers_to_them() -> None:
    document = read("""
        ### 1. 準備
        **依存関係**: なし
        **検証**:
        - 動く
        ### 2. 実装
        **依存関係**: タスク 1（準備）
        **検証**:
        - `cargo test` が成功する
    """)
    assert names(document) == ["1", "2"]
    assert needs(document.units[1]) == ["1"]
    assert criteria(document.units[1]) == ["`cargo test` が成功する"]


def test_gsd_roadmap_lines_give_their_dependencies() -> None:
    document = read("""
        ## Slices
        - [x] **S01: Parser** `risk:high` `depends:[]`
          > After this: it parses
        - [ ] **S02: Writer** `risk:low` `depends:[S01]`
    """)
    assert [(unit.id, unit.title) for unit in document.units] == [("S01", "Parser"), ("S02", "Writer")]
    assert needs(document.units[1]) == ["S01"]


def test_a_table_of_issues_is_a_list_of_tasks_with_their_status() -> None:
    document = read("""
        ### Phase 1: CLI
        | Issue | Title | Priority | Status |
        |---|---|---|---|
        | #51 | Expire sessions | P2 | Open |
        | #24 | Write docs | P3 | Closed |
    """)
    assert [(unit.id, unit.title, unit.status) for unit in document.units] == [
        ("51", "Expire sessions", Status.OPEN),
        ("24", "Write docs", Status.DONE),
    ]
    assert document.units[0].priority == "P2"


# One unit per file


def test_ids_of_a_front_matter_keep_their_zeros() -> None:
    document = read("""
        ---
        name: Deploy
        status: open
        depends_on: [003, 010]
        parallel: true
        conflicts_with: [005]
        ---
        # Task: Deploy
        ## Acceptance Criteria
        - [ ] It runs
        ## Definition of Done
        - [ ] Reviewed
    """)
    assert len(document.units) == 1
    assert needs(document.units[0]) == ["003", "010"]
    assert criteria(document.units[0]) == ["It runs"]
    assert found(document, "conflicts_with")


def test_a_lenient_front_matter_reads_what_yaml_would_refuse() -> None:
    document = read("""
        ---
        id: BACK-3
        title: "CLI: init"
        status: Done
        assignee: @someone
        dependencies: ["task-2"]
        ---
        ## Description
        Make it.
        ## Acceptance Criteria
        <!-- AC:BEGIN -->
        - [x] #1 Creates folders
        - [x] #2 Commits
        <!-- AC:END -->
    """)
    unit = document.units[0]
    assert (unit.id, unit.title, unit.line, unit.status) == ("BACK-3", "CLI: init", 2, Status.DONE)
    assert [(dep.target, dep.carrier) for dep in unit.deps] == [("task-2", "front-matter")]
    assert [criterion.id for criterion in unit.criteria] == ["#1", "#2"]


def test_a_front_matter_with_an_id_does_not_make_a_list_one_unit() -> None:
    document = read("""
        ---
        id: DOC-005
        title: Plan
        status: validated
        ---
        # Backlog
        ## Texts
        - [ ] Write
        - [ ] Review
        ## Pictures
        - [ ] Draw
    """)
    assert len(document.units) == 3


def test_children_of_an_epic_are_units_and_a_missing_title_is_said() -> None:
    document = read("""
        ---
        name: Bugs
        status: in-progress
        ---
        # Bugs
        ## Task Breakdown Preview
        - [ ] **Task 1**: Analysis
        ## Tasks Created
        - [ ] #362-analysis -  (parallel: )
        - [ ] #396 - Plan the epic (parallel: true)
    """)
    assert [(unit.id, unit.title) for unit in document.units] == [
        ("362-analysis", "362-analysis"),
        ("396", "Plan the epic"),
    ]
    assert "[P]" in document.units[1].tags
    assert found(document, "no_title")[0].line == 9
    assert found(document, "boxes_left_out")[0].line == 7


def test_a_story_file_keeps_its_subtasks_out_of_the_criteria() -> None:
    document = read("""
        # Story 1.2: Log in
        ## Status: Ready for Review
        ## Story
        **As a** user, **I want** to log in
        ## Acceptance Criteria
        1. A form
        2. An error
        ## Tasks / Subtasks
        ### Task 1: Form (AC: 1)
        - [x] Subtask 1.1: Fields
        ## Story DoD Checklist
        - [x] Done
    """)
    assert len(document.units) == 1
    assert (document.units[0].id, document.units[0].status) == ("1.2", Status.OPEN)
    assert criteria(document.units[0]) == ["A form", "An error"]


def test_success_criteria_serve_a_task_that_has_no_others() -> None:
    document = read("""
        ---
        task_number: 008
        title: Deploy
        status: pending
        ---
        # Task 008: Deploy
        ## Success Criteria
        - [ ] Deployed
        ## Success Metrics
        - Fast
        ## Dependencies
        - **Task 004**: must be ready for production
    """)
    assert document.units[0].id == "008"
    assert criteria(document.units[0]) == ["Deployed"]


# House formats


def test_house_tasks_take_their_id_from_the_field_and_commands_from_meta() -> None:
    document = read("""
        # Project: Demo
        ## Meta
        - **Lint Command:** `npm run lint`
        - **Test Framework:** vitest
        ## Tasks
        ### Task 1: Base
        - **ID:** T-001
        - **Depends:** none
        - **Files:** `src/a.ts`
        - **Acceptance Criteria:**
          - It builds
        - **Tests:**
          - `tests/a.test.ts`: builds
        ### Task 2: More
        - **ID:** T-002
        - **Depends:** T-001
        - **Acceptance Criteria:**
          - It works
        ### Task 3: Forgotten
        - **Depends:** T-002
    """)
    assert names(document) == ["T-001", "T-002", "3"]
    assert needs(document.units[1]) == ["T-001"]
    assert criteria(document.units[0]) == ["It builds"]
    assert [hint.value for hint in document.units[0].files] == ["src/a.ts", "tests/a.test.ts"]
    assert [hint.value for hint in document.run_verify] == ["npm run lint"]
    assert found(document, "no_id")[0].line == 19


def test_a_prd_of_criteria_alone_makes_each_one_a_unit() -> None:
    document = read("""
        # PRD: Loop
        ## Goals
        - **G1:** Fast
        ## Acceptance Criteria
        - **AC-01:** Given a PRD, when planned, then a plan exists
        - **AC-02:** Refuses nonsense
        - an afterthought
        ### Phase 1: Plan
        - Make AC-01 work
    """)
    assert names(document) == ["AC-01", "AC-02"]
    assert all(len(unit.criteria) == 1 and unit.criteria[0].line == unit.line for unit in document.units)
    assert [unit.chunk for unit in document.units] == ["Phase 1: Plan", None]
    assert found(document, "no_id")[0].line == 7


# Plain check lists


def test_boxes_of_metrics_sign_off_and_done_lists_are_no_units() -> None:
    document = read("""
        # Plan
        ### Phase 1
        - [ ] Build
          - [ ] with tests
        ## Success Criteria by Phase
        - [ ] Fast
        ## Definition of Done
        - [ ] Reviewed
        ## Release Criteria
        - [ ] No bugs
        ## Final QA Checklist
        - [ ] Clicked through
    """)
    assert [unit.title for unit in document.units] == ["Build"]
    assert criteria(document.units[0]) == ["with tests"]
    assert len(found(document, "boxes_left_out")) == 4


def test_a_task_under_completed_as_well_is_one_unit_and_done() -> None:
    document = read("""
        ## Phase 1
        - [ ] Write tests for the parser
        - [ ] Ship it
        ## Completed
        - [x] Write tests for the parser (41 tests)
        - [x] Set up
    """)
    assert [(unit.title, unit.status) for unit in document.units] == [
        ("Write tests for the parser", Status.DONE),
        ("Ship it", Status.OPEN),
        ("Set up", Status.DONE),
    ]
    assert found(document, "merged")


def test_a_backlog_beside_other_open_lists_is_put_off() -> None:
    document = read("""
        ## High Priority
        - [ ] Now
        ## Backlog
        - [ ] Some day
    """)
    assert [unit.status for unit in document.units] == [Status.OPEN, Status.FUTURE]


def test_a_backlog_alone_is_the_list() -> None:
    document = read("""
        ## In progress
        - [x] Begun
        ## Backlog
        - [ ] Next
        ## Done
        - [x] Long ago
    """)
    assert [unit.status for unit in document.units] == [Status.DONE, Status.OPEN, Status.DONE]


def test_optional_sections_stay_in_the_plan_with_a_note() -> None:
    document = read("""
        ## High Priority
        - [ ] Must
        ## Nice to Have
        - [ ] May
    """)
    assert [unit.status for unit in document.units] == [Status.OPEN, Status.OPTIONAL]
    assert found(document, "optional")


def test_odd_boxes_are_dropped_or_reported() -> None:
    document = read("""
        # TODO
        - [~] **09-pure** cut
        - [-] gone
        - [?] maybe
        - [ ] ~~struck~~
        - [] sloppy
    """)
    assert [unit.status for unit in document.units] == [
        Status.DROPPED,
        Status.DROPPED,
        Status.OPEN,
        Status.DROPPED,
        Status.OPEN,
    ]
    assert found(document, "unknown_box")[0].line == 4


def test_a_legend_of_the_document_decides_what_a_box_means() -> None:
    document = read("""
        # TODO
        Legend: `[ ]` open, `[~]` in progress, `[x]` done
        - [~] Half way
        - [ ] Not yet
    """)
    assert [unit.status for unit in document.units] == [Status.OPEN, Status.OPEN]
    assert not found(document, "unknown_box")


def test_a_number_of_a_list_is_no_id_and_a_count_no_number() -> None:
    document = read("""
        # TODO
        - [ ] 1. First
        - [ ] 3 retries on failure
        - [ ] E2E tests
    """)
    assert names(document) == [None, None, None]
    assert [unit.title for unit in document.units] == ["First", "3 retries on failure", "E2E tests"]


def test_a_date_in_brackets_is_no_box() -> None:
    document = read("""
        # Fix plan
        - [ ] Fix it
        - [ ] Fix that
        ## Log
        - [2026-01-29] fixed something
    """)
    assert len(document.units) == 2


def test_ten_thousand_boxes_are_read() -> None:
    """A hundred thousand: `python -m proofs ids`."""
    document = readers.read(Source("# TODO\n" + "- [ ] Do it\n" * 10_000))
    assert document is not None
    assert len(document.units) == 10_000


def test_a_phase_named_like_a_side_section_still_holds_work() -> None:
    document = read("""
        ## Phase 4: Notes
        - [ ] Store a note
        ## Phase 5: Success Metrics
        - [ ] 99 % uptime
        ## Notes
        - [ ] remember the milk
    """)
    assert [unit.title for unit in document.units] == ["Store a note"]


def test_dotted_headings_that_own_boxes_are_units_with_their_ids() -> None:
    document = read("""
        ## Phase 2: Gaps
        ### 2.4 — Persist
        **Files:** `src/a.ts`
        **Fix:**
        - [ ] Use the store
        ### 2.7 — Webhooks (depends on 2.4)
        - [ ] Emit
    """)
    assert names(document) == ["2.4", "2.7"]
    assert needs(document.units[1]) == ["2.4"]


def test_chapters_of_a_text_are_no_units_however_many_own_boxes() -> None:
    document = read("""
        ## 1. Overview
        - [ ] Read this
        ## 2. Goals
        - fast
        ## 3. Timeline
        - [ ] Ship
    """)
    assert [unit.title for unit in document.units] == ["Read this", "Ship"]


def test_numbered_headings_that_hold_stories_are_their_groups() -> None:
    document = read("""
        ## 1. Access
        - Story 1: As a user, I can sign up
          - Acceptance Criteria:
          - It works
        - Story 2: As a user, I can sign in
        ## 2. Board
        - Story 3: As a user, I can see it
          - Acceptance Criteria:
          - It shows
    """)
    assert names(document) == ["1", "2", "3"]
