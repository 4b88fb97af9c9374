"""The readers of task-like Markdown: which units each takes, how they hang together, and what is only reported."""

from textwrap import dedent

from santiago.planner import reading
from santiago.planner.compile import compile_plan
from santiago.planner.draft import Document
from santiago.planner.source import Source
from tests.planner.told import cases, told
from tests.util.each import each


def read(text: str) -> Document:
    document = reading.by_readers(Source(dedent(text).lstrip("\n"), path="tasks.md"))
    assert document is not None
    return document


CASES = """
== a task has the marks that leave its title, the tag of its phase, and a number with or without a letter
## Format: `[ID] [P?] Description`
- [ ] T001 [P] like this
## Phase 1: Setup
- [x] T001 Create project
- [ ] T001a Add linter
## Phase 3: User Story 1 - Add (Priority: P1)
- [ ] T012 [P] [US1] Add the form in src/form.ts
## Phase 4: User Story 7 — Search
- [ ] T013 Index
## Phase N: Polish
- [ ] T014 Docs
## Final Phase
- [ ] T015 Ship
=> ids: T001 | T001a | T012 | T013 | T014 | T015
=> titles: Create project | Add linter | Add the form in src/form.ts | Index | Docs | Ship
=> chunks: Phase 1: Setup | Phase 1: Setup | Phase 3: User Story 1 - Add (Priority: P1) | Phase 4: User Story 7 — Search | Phase N: Polish | Final Phase
=> tags, priorities: Phase 1, - | Phase 1, - | [P] + US1 + Phase 3, P1 | US7 + Phase 4, - | -, - | -, -
=> files, needs: -, - | -, - | src/form.ts, - | -, - | -, - | -, -
== marks leave the title of a box below a numbered heading, too, and so does the link around an id
## 1. Core
- [ ] 1.1 Add the port
- [ ] 1.2 (P) Add the adapter
- [ ] [1.3 Add the page](page.md): small
=> ids: 1.1 | 1.2 | 1.3
=> titles: Add the port | Add the adapter | Add the page: small
=> tags: - | [P] | -
== dependencies stand behind a task or under a heading and are never guessed from prose
## Phase 1: Bygg
- [ ] T006 a
- [ ] T007 b
- [ ] T008 Grund
- [ ] T012 [P] Vy. Beroende: T008, T013.
- [ ] T013 Modell (depends on T008)
- [ ] T020 c
- [ ] T021 d
- [ ] T023 Screen
- [ ] T030 Tokens (place before T023)
## Dependencies & Execution Order
- T006..T007 before T020..T021
- Start T006 early, T007 when there is time
## Parallel Opportunities
- T012 and T013 can run in parallel
=> needs: - | - | - | T008 + T013 | T008 | T006 + T007 | T006 + T007 | T030 | -
=> mentioned_id: 13
=> parallel_contradiction: 15
=> parallel_contradiction says: T013
== a declared order makes an edge only where the phases do not keep it anyway
## Phase 1: Setup
- [ ] T001 Create
## Phase 2: Foundational
- [ ] T002 Base
## Phase 3: User Story 2 - Pay
- [ ] T003 [US2] Pay
## Phase 4: User Story 7 - Cart
- [ ] T004 [US7] Cart
## Dependencies & Execution Order
- **Foundational (Phase 2)**: Depends on Setup completion - BLOCKS all user stories
- US2 depends on US7
=> needs: - | - | - | -
=> edges: US2 -> US7
== in OpenSpec an id in two sections is two units, gaps stay, comments go, and a deferred group is not planned
## 3. Work
- [ ] 3.3 One <!-- was 3.2 -->
- [ ] 3.5 Create the table
      with all columns
  - id
  - name
## 4. Frontend
- [ ] 3.3 Page
- [ ] 3.5 Form
## 5. Integration (Deferred)
- [ ] 5.1 Later
=> ids, titles: 3.3, One | 3.5, Create the table with all columns | 3.3, Page | 3.5, Form | 5.1, Later
=> chunks: 3. Work | 3. Work | 4. Frontend | 4. Frontend | 5. Integration (Deferred)
=> criteria, status: -, open | id + name, open | -, open | -, open | -, future
=> out_of_scope: 11
== removed requirements are dropped and renamed ones reported
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
=> titles, status: Dark mode, open | Sepia, dropped
=> criteria, criteria at: Scenario: Night WHEN it is night THEN it is dark, 5 | -, -
=> renamed says: New
== in OpenSpec a box of another section has no part of a box
## 1. Try
### Prepare
- [ ] 1.1 Make a folder
- [ ] 1.2 Make a file
### Scenario 1
- [ ] 1.1.1 Convert it
- [ ] 1.1.2 Convert it again
=> ids: 1.1 | 1.2 | 1.1.1 | 1.1.2
== in Kiro leaves are units, what their parent needs is an edge, and fields in italics are no criteria
- [ ] 1. Set up
  - [x] 1.1 Repository
    - with a licence
    - _Requirements: 1.1, 2.3_
  - [ ] 1.2. Pipeline
    - _Depends: 1.1_
- [ ] 2. Checkpoint
- [ ] 3. Pages
  - _Depends: 1.1_
  - [ ] 3.1 Модель
    - Поля
    - _Требования: 1.1, 7.1_
    - _Оценка: 5ч_
=> ids, chunks: 1.1, 1. Set up | 1.2, 1. Set up | 2, 2. Checkpoint | 3.1, 3. Pages
=> covers, criteria, needs: 1.1 + 2.3, with a licence, - | -, -, 1.1 | -, -, - | 1.1 + 7.1, Поля, -
=> edges: 3. Pages -> 1.1
== a ticked parent with open children is not done and a star behind a box is optional
- [x] 8. Sync (partially complete, 50 %)
  - [x] 8.1 Pull
  - [ ] 8.2 Push
  - [ ]* 8.3 Property tests
- [ ]\\* 10. Extras
=> status: done | open | optional | optional
=> partly_done: 1
=> optional: 4 | 5
== children at the left margin still belong to their parent
- [ ] 2. API
- [ ] 2.1 Routes
  - _Requirements: 1.1_
- [ ] 2.2 Errors
=> ids, chunks: 2.1, 2. API | 2.2, 2. API
== a summary list and its details are the same tasks
## 概要
- [ ] 1. 基盤
- [ ] 2. 画面
## 詳細
- [ ] 1. 基盤
  - [ ] 1.1 設定
    - _要件: 7.1, 10全体_
- [ ] 2. 画面
  - [ ] 2.1 一覧
=> ids, covers: 1.1, 7.1 + 10 | 2.1, -
=> merged: 2
== task headings own their boxes and boxes elsewhere are reported
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
=> ids, criteria, status, files: 1, Write it + Test it, open, pkg/a.go
=> run verify: go test ./...
== a checklist on top adds its ticks to the steps
# Waves
- [x] Step 1: Model
- [ ] Step 2: Tracker
## Step 1: Model
- Add the fields
## Step 2: Tracker
- Add the machine
=> ids, lines, status: 1, 4, done | 2, 6, open
== a label right below a list ends it
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
=> criteria, criteria at: it exists + it is small, 6 + 8 | they are shown, 13
=> text says: Add a class that is small
== a substep without its step is an error with its line
# Euros
## Step 1: Currency
Result: it exists
## Step 3.1: Lines
Result: they are shown
=> errors: substep_without_step
=> substep_without_step: 4
=> substep_without_step says: Step 3
== numbers of steps that count their phases are no substeps
# Euros
## Phase 1: Base
### Step 1.1: Currency
- Add a class
### Step 1.2: Totals
- Sum up
## Checking
### Step 9.1: Round
- Try a cent
=> ids: 1.1 | 1.2 | 9.1
=> substep_without_step: -
== a step is done only with all of its substeps and a cancelled one is reported
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
=> ids, status, criteria: 1, open, it exists + they are read | 2, done, it is shown | 2.2, dropped, it is green
=> dropped: 10
== numbered boxes that hold more than the headings are the units
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
=> ids, chunks, criteria: 1, Phase 1: Base, - | 2, Phase 1: Base, Signs in | 3, Phase 2: More, -
=> files, status: -, done | src/login.ts, open | -, open
== a status at the end of a heading is a claim and equal numbers in two phases are two units
## Phase 1: Input
#### Task 1: Types [DONE]
#### Task 2: Render [PENDING]
- Underline
## Phase 2: B
#### Task 1: Other
- [ ] b
## Phase 3: C
1. Only a list
=> ids, titles, status: 1, Types, done | 2, Render [PENDING], open | 1, Other, open
=> chunks: Phase 1: Input | Phase 1: Input | Phase 2: B
== numbered headings count only where most own boxes
# Plan
### 1. Config
- [x] Parse
### 2. Runner
- [x] Call
=> ids, status: -, done | -, done
== numbers of headings are ids where the document refers to them
### 1. 準備
**依存関係**: なし
**検証**:
- 動く
### 2. 実装
**依存関係**: タスク 1（準備）
**検証**:
- `cargo test` が成功する
=> ids, needs, criteria: 1, -, 動く | 2, 1, `cargo test` が成功する
== gsd roadmap lines give their dependencies
## Slices
- [x] **S01: Parser** `risk:high` `depends:[]`
  > After this: it parses
- [ ] **S02: Writer** `risk:low` `depends:[S01]`
=> ids, titles, needs: S01, Parser, - | S02, Writer, S01
== a table of issues is a list of tasks with their status
### Phase 1: CLI
| Issue | Title | Priority | Status |
|---|---|---|---|
| #51 | Expire sessions | P2 | Open |
| #24 | Write docs | P3 | Closed |
=> ids, titles, status, priorities: 51, Expire sessions, open, P2 | 24, Write docs, done, P3
== ids of a front matter keep their zeros
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
=> titles, needs, criteria: Deploy, 003 + 010, It runs
=> conflicts_with: 6
== a lenient front matter reads what YAML would refuse
---
id: BACK-3
title: "CLI: init"
status: Done
assignee: @someone
dependencies: ["task-2"]
---
## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 Creates folders
- [x] #2 Commits
<!-- AC:END -->
=> ids, titles, lines, status, needs, carriers, criteria ids: BACK-3, CLI: init, 2, done, task-2, front-matter, #1 + #2
== children of an epic are units and a missing title is said
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
=> ids, titles, tags: 362-analysis, 362-analysis, - | 396, Plan the epic, [P]
=> no_title: 9
== a story file keeps its subtasks out of the criteria
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
=> ids, status, criteria: 1.2, open, A form + An error
== success criteria serve a task that has no others
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
=> ids, criteria: 008, Deployed
== house tasks take their id from the field and commands from meta
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
=> ids, needs, criteria: T-001, -, It builds | T-002, T-001, It works | 3, T-002, -
=> files: src/a.ts + tests/a.test.ts | - | -
=> run verify: npm run lint
=> no_id: 19
== a PRD of criteria alone makes each one a unit
# PRD: Loop
## Goals
- **G1:** Fast
## Acceptance Criteria
- **AC-01:** Given a PRD, when planned, then a plan exists
- **AC-02:** Refuses nonsense
- an afterthought
### Phase 1: Plan
- Make AC-01 work
=> ids, lines, criteria at, chunks: AC-01, 5, 5, Phase 1: Plan | AC-02, 6, 6, -
=> no_id: 7
== boxes of metrics, sign-off and done lists are no units, and a phase of such a name still holds work
# Plan
### Phase 1
- [ ] Build
  - [ ] with tests
### Phase 4: Notes
- [ ] Store a note
### Phase 5: Success Metrics
- [ ] 99 % uptime
## Success Criteria by Phase
- [ ] Fast
## Definition of Done
- [ ] Reviewed
## Release Criteria
- [ ] No bugs
## Final QA Checklist
- [ ] Clicked through
## Notes
- [ ] remember the milk
=> titles, criteria: Build, with tests | Store a note, -
== a task under completed as well is one unit and done
## Phase 1
- [ ] Write tests for the parser
- [ ] Ship it
## Completed
- [x] Write tests for the parser (41 tests)
- [x] Set up
=> titles, status: Write tests for the parser, done | Ship it, open | Set up, done
=> merged: 5
== beside other open lists a backlog is put off and what is nice to have is optional
## High Priority
- [ ] Now
## Backlog
- [ ] Some day
## Nice to Have
- [ ] May
=> status: open | future | optional
=> optional: 6
== a backlog alone is the list
## In progress
- [x] Begun
## Backlog
- [ ] Next
## Done
- [x] Long ago
=> status: done | open | done
== odd boxes are dropped or reported, a number of a list is no id, and a date is no box
# TODO
- [~] **09-pure** cut
- [-] gone
- [?] maybe
- [ ] ~~struck~~
- [] sloppy
- [ ] 1. First
- [ ] 3 retries on failure
- [ ] E2E tests
## Log
- [2026-01-29] fixed something
=> ids: - | - | - | - | - | - | - | -
=> titles: 09-pure | gone | maybe | struck | sloppy | First | 3 retries on failure | E2E tests
=> status: dropped | dropped | open | dropped | open | open | open | open
=> unknown_box: 4
== a legend of the document decides what a box means
# TODO
Legend: `[ ]` open, `[~]` in progress, `[x]` done
- [~] Half way
- [ ] Not yet
=> status: open | open
=> unknown_box: -
== dotted headings that own boxes are units with their ids
## Phase 2: Gaps
### 2.4 — Persist
**Files:** `src/a.ts`
**Fix:**
- [ ] Use the store
### 2.7 — Webhooks (depends on 2.4)
- [ ] Emit
=> ids, needs: 2.4, - | 2.7, 2.4
== numbered headings that hold stories are their groups
## 1. Access
- Story 1: As a user, I can sign up
  - Acceptance Criteria:
  - It works
- Story 2: As a user, I can sign in
## 2. Board
- Story 3: As a user, I can see it
  - Acceptance Criteria:
  - It shows
=> ids: 1 | 2 | 3
"""


@each(("name", "text", "expected"), cases(CASES))
def test_a_list_of_tasks_is_read_as_it_is_meant(name: str, text: str, expected: str) -> None:
    assert told(read(text), expected) == expected


STEPS = """
    # Euros
    ## Step 1: Currency
    **Objective**: one place for it
    **Actions**:
    1. Create `currency.py`
    2. Add a class

    **Result**: A class exists,
    used nowhere
    **Validation**: `pytest -q` passes
    ## Step 2: Invoices
    ### Step 2.1: Totals
    Actions:
    - Sum up in cents

    Result:

    - Totals in Euros
    ### Step 2.2: Lines
    - **Actions**:
      - [ ] Format each line
    - **Result**: Each has a sign
    - **Validation**:
      - Old ones stay
        - also in Francs
      - `make check`
    ### Acceptance criteria
    - All is shown
    ## Step 3: Documentation
    Depends on: Step 2.2
    - README says so
"""


def test_a_substep_is_a_part_of_its_step_and_results_and_validations_are_criteria_but_actions_are_not() -> None:
    document = read(STEPS)
    expected = """\
ids, titles, lines, needs, verify: 1, Currency, 2, -, pytest -q | 2, Invoices, 11, -, make check | 3, Documentation, 29, 2.2, -
criteria: A class exists, used nowhere + `pytest -q` passes | Totals in Euros + Each has a sign + Old ones stay also in Francs + All is shown | README says so
criteria at: 8 + 10 | 18 + 22 + 24 + 28 | 31
unknown_label: -"""
    assert told(document, expected) == expected
    assert "2.2" in document.units[1].tags
    assert document.evidence == ("3 headings Step N", "2 substeps Step N.M")
    told_of = document.units[1].text.split("\n")
    assert told_of.index("Step 2.1: Totals") < told_of.index("Sum up in cents") < told_of.index("Step 2.2: Lines")
    assert "Format each line" in told_of
    assert "Add a class" in document.units[0].text.split("\n")


def test_a_document_with_substeps_leaves_nothing_open_and_its_steps_know_their_own_parts() -> None:
    """People 82: what is merged into a step is planned, and no other list could be the work."""
    plan = compile_plan(Source(dedent(STEPS))).plan
    assert plan is not None
    assert (plan.certain, [row.title for row in plan.account if row.became == "left_out"]) == (True, [])
    assert [story.substeps for story in plan.stories] == [(), (("2.1", "Totals"), ("2.2", "Lines")), ()]


def test_steps_that_name_actions_and_results_are_the_plan_of_a_longer_text() -> None:
    overview = "# Plan\n\n## Overview\n\n" + "Much is said before.\n\n" * 40
    steps = (
        "## Step 1: Push\n\nActions:\n- Push\n\nResult: it is there\n\n## Step 2: Wait\n\n**Validation**: it is green\n"
    )
    document = reading.by_readers(Source(overview + steps))
    assert document is not None
    assert told(document, "criteria: ") == "criteria: it is there | it is green"


def test_steps_of_a_procedure_inside_a_longer_text_are_no_units() -> None:
    document = reading.by_readers(
        Source(
            "# PRD\n\n## Features\n\n"
            + "- A feature that matters\n" * 40
            + "\n## Release process\n\n### Step 1: Push\n\n- Push\n\n### Step 2: Wait\n\n- Wait\n"
        )
    )
    assert document is None


def test_ten_thousand_boxes_are_read() -> None:
    """A hundred thousand: `python -m proofs ids`."""
    document = read("# TODO\n" + "- [ ] Do it\n" * 10_000)
    assert len(document.units) == 10_000
