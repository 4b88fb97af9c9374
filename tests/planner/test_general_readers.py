"""Loose documents: what an author struck out, ticked, repeated or ran is read as it is meant, and nothing else is a unit."""

from santiago.contract.plan import Offer
from santiago.planner import commands
from santiago.planner.compile import compile_plan
from santiago.planner.reading import read_document
from santiago.planner.source import Options, Source
from tests.planner.told import cases, told
from tests.util.each import each

CASES = """
== what is struck through is dropped, wherever it is written
# App
- FR-1: Log in
  - ~~with a fax~~
  - with a password
- ~~FR-2: Teleport~~
- **~~FR-3~~**: Fly
- FR-4: ~~Swim~~
- FR-5: Log out
=> ids, status: FR-1, open | FR-2, dropped | FR-3, dropped | FR-4, dropped | FR-5, open
=> criteria: with a password | - | - | - | -
=> dropped: 5 | 6 | 7
== a box that is ticked and struck is done
- [x] ~~Log in~~
- [ ] ~~Teleport~~
- [ ] Log out
=> status: done | dropped | open
== a mark in a heading speaks for its items and not for boxes, units that say more, or a title
# Plan ✅
## Phase 1: Base ✅ Completed
- FR-1: Model
- FR-2: Store
  - Status: In progress
## Phase 2: Pages (done)
- FR-3: Form
## Phase 3: Complete the API
- FR-4: Routes
=> ids, status: FR-1, done | FR-2, open | FR-3, done | FR-4, open
== a definition of done is no list of units, wherever its heading says so
# Shop
## Sprint 1: Definition of Done
- [ ] reviewed
- [ ] merged
## Work
- [ ] Sell
- [ ] Buy
## Our definition of done for all stories
- [ ] tested
- [ ] shipped
=> titles: Sell | Buy
== a title of the document is never the only unit
# PRD-7: The shop
It sells.
## Goals
- money
=> refused: no_units
== one story as a file is a unit
# US-7: Log in
## Acceptance Criteria
- a password is asked
=> format, ids, titles: US-7, Log in
== a range of ids defines none of them
# Sistema
### RF-01 a RF-20: tudo o que o sistema faz
- uma coisa
### RF-21 até RF-30
- outra
=> refused: no_units
=> no_units says: 2 ranges of ids whose members are not defined
== a table with a status or a severity is named where nothing is planned
# Bugs
| Bug | Severity | Seen |
|---|---|---|
| It crashes | high | Monday |
| It hangs | low | Tuesday |
=> refused: no_units
=> no_units says: 2 rows of the table Bug | Severity | Seen (line 4)
== a field with an id belongs to the story around it
# App
### Log in
- Priority: high
- **ID:** US-001
- **Acceptance Criteria:** it works
### Story 2: Log out
**story_id:** US-002

Depends on: US-001
=> ids, titles, needs: US-001, Log in, - | US-002, Log out, US-001
=> tags: - | 2
== the name of a part is no title
# 商店
## 登录
### Story概览
作为用户，我想登录，以便购物
### 验收标准
- 能登录
## 세부
작업자로서, 나는 로그아웃하고 싶다
=> titles: 登录 | 작업자로서, 나는 로그아웃하고 싶다
== the graph of Kiro orders its tasks, and parents that it mixes are no stages
# Implementation Plan
- [ ] 1. Base
  - [ ] 1.1 Model
    - _Requirements: 1.1_
  - [ ] 1.2 Store
- [ ] 2. Page
  - [ ] 2.1 Form
- [ ] 3. Docs
## Task Dependency Graph
```json
{"waves": [{"id": 0, "tasks": ["1.1", "2"]}, {"id": 1, "tasks": ["1.2"]}, {"id": 2, "tasks": ["3"], "depends_on": [0]}]}
```
=> ids, needs: 1.1, - | 1.2, 1.1 + 2.1 | 2.1, - | 3, 1.1 + 2.1
=> chunks: - | - | - | -
== a graph that keeps the order of the parents leaves them as stages
- [ ] 1. Base
  - [ ] 1.1 Model
    - _Requirements: 1.1_
- [ ] 2. Page
  - [ ] 2.1 Form
## Task Dependency Graph
```json
{"waves": [["1.1"], ["2.1"]]}
```
=> ids, chunks, needs: 1.1, 1. Base, - | 2.1, 2. Page, 1.1
== a step ends the list of files, and what stays red or finds nothing is no check of its task
### Task 1: Runner
**Files:**
- Modify: `src/run.py`

**Step 1: Update it**

In the runner:

- Remove the import of `old`

**Step 2: Run the tests**

Run: `pytest tests`
Expected: tests of the old code will fail, fixed in the next task
### Task 2: Clean
**Files:**
- Modify: `src/old.py`

**Step 1: Run the tests**

Run: `pytest tests`
Expected: PASS

**Step 2: Look for remains**

Run: `grep -r old src`
Expected: no matches
=> files, verify: src/run.py, - | src/old.py, pytest tests
=> criteria: Remove the import of `old` | `pytest tests`: PASS
== a plan of steps says what is run and what it must show
### Task 1: Model
- [ ] **Step 1: Write the failing test**
- [ ] **Step 2: Run test to verify it fails**

Run: `pytest tests/test_model.py -v`
Expected: FAIL with "no model"

- [ ] **Step 3: Write the model**
- [ ] **Step 4: Run test to verify it passes**

Run: `pytest tests/test_model.py`
Expected: PASS

- [ ] **Step 5: Commit**
### Task 2: Page
- [ ] **Step 1: Run — expect FAIL**

```
npm test -- old
```

- [ ] **Step 2: Run tests**

```bash
npm test -- page
```

Expected: 2 passed
### Task 3: Docs
- [ ] Write them
- [ ] Commit the changes
- [ ] Login fails with a wrong password
=> verify: pytest tests/test_model.py | npm test -- page | -
=> criteria: `pytest tests/test_model.py`: PASS | `npm test -- page`: 2 passed | Write them + Login fails with a wrong password
"""


@each(("name", "text", "expected"), cases(CASES))
def test_a_loose_document_is_read_as_it_is_meant(name: str, text: str, expected: str) -> None:
    assert told(read_document(Source(text, path="x.md")), expected) == expected


def test_a_unit_without_a_title_refuses_the_plan_and_names_its_line() -> None:
    made = compile_plan(Source("- [ ] Log in\n- [ ]\n- [ ] Log out\n", path="x.md"))
    assert made.plan is None
    assert [(error.code, error.line) for error in made.errors] == [("no_title", 2)]


@each(
    "command",
    ["openspec complete x", "openspec archive x", "git diff", "git diff main -- src", "git status", "git log", "ls src", "node --version"],
)  # fmt: skip
def test_commands_that_only_show_something_are_never_checks(command: str) -> None:
    found = commands.behind_label(f"`{command}`", 1, "field")
    assert (found.taken, [hint.value for hint in found.left]) == ([], [command])
    assert commands.commands_in(f"`{command}` passes", 1) == []
    text = f'{{"userStories": [{{"id": "A-1", "title": "One", "verifyCommands": ["{command}", "pytest -q"]}}]}}'
    (unit,) = read_document(Source(text, path="prd.json")).units
    assert [hint.value for hint in unit.verify] == ["pytest -q"]


@each(
    "command", ["openspec validate x", "git diff --exit-code", "git diff | grep -q x", "git ls-files --error-unmatch a"]
)
def test_their_forms_that_can_fail_are_checks(command: str) -> None:
    assert [hint.value for hint in commands.behind_label(f"`{command}`", 1, "field").taken] == [command]


STORIES = "### US-1: Buy\n- a\n### US-2: Sell\n- b\n"
OFFERED = [
    # sections in prose are no lists, and the account names them
    ("# App\n## CSV export\nIt exports.\n## Small stuff\n- [ ] a\n- [ ] b\n", "box 2 5-6: the boxes under Small stuff", ""),
    # boxes, tables, sentences, numbered lines and bullets under features beside ids
    (f"# A\n{STORIES}## Later work\n- [ ] x\n- [ ] y\n", "us 2 2-5: US-1 to US-2", "box 2 7-8: the boxes under Later work"),
    (
        f"# A\n{STORIES}## Rollout plan\n1. x\n2. y\n3. z\n## Core features\n- p\n- q\n",
        "us 2 2-5: US-1 to US-2",
        "rollout plan 3 7-9: the list under Rollout plan; core features 2 11-12: the list under Core features",
    ),
    (
        f"# A\n{STORIES}## Board\n| Task | Status |\n|---|---|\n| x | open |\n| y | done |\n",
        "us 2 2-5: US-1 to US-2",
        "row 2 9-10: table rows",
    ),
    (
        "# A\n- FR-1: x\n- FR-2: y\n## People\n- As a buyer, I want to pay\n- As a seller, I want to be paid\n",
        "fr 2 2-3: FR-1 to FR-2",
        "as-a 2 5-6: As-a sentences",
    ),
    # boxes below headings are asked about, unless the headings are plainly stories
    (
        "# A\n## 1. Shop\n- [ ] x\n- [ ] y\n## 2. Till\n- [ ] z\n",
        "plan 2 2-6: 2 numbered headings with boxes, criteria or dependencies",
        "box 3 3-6: the boxes under 1. Shop and others",
    ),
    ("# A\n### US-1: Buy\n- [ ] a\n### US-2: Sell\n- [ ] b\n", "plan 2 2-5: 2 headings with ids, each with a checklist", ""),
    # goals and metrics with ids, criteria and what is out of scope are no rivals
    (f"# A\n{STORIES}## Goals\n1. x\n2. y\n## Out of scope\n- [ ] p\n- [ ] q\n", "us 2 2-5: US-1 to US-2", ""),
    # lists in JSON and YAML are ranked by the same key
    (
        ('{"features": [{"id": "F1", "name": "Buy it"}, {"id": "F2", "name": "Sell it"}],\n'
        '"tasks": [{"id": "T1", "title": "Do it", "steps": ["a"]}, {"id": "T2", "title": "Do", "steps": ["a"]}]}'),
        "t 2 2-2: tasks",
        "f 2 1-1: features",
    ),
]  # fmt: skip


@each(("text", "chosen", "rivals"), OFFERED)
def test_every_list_beside_the_chosen_one_can_be_chosen_instead(text: str, chosen: str, rivals: str) -> None:
    def shown(offer: Offer) -> str:
        return f"{offer.units} {offer.count} {offer.lines[0]}-{offer.lines[1]}: {offer.name}"

    document = read_document(Source(text, path="x"))
    assert document.chosen is not None
    assert (shown(document.chosen), "; ".join(map(shown, document.rivals))) == (chosen, rivals)
    assert len(document.units) == document.chosen.count
    for offer in (document.chosen, *document.rivals):
        other = read_document(Source(text, path="x", options=Options(units=offer.units)))
        assert other.chosen == offer
        assert len(other.units) == offer.count


def test_a_known_format_has_no_rivals() -> None:
    text = "## Phase 1: Base\n- [ ] T001 [P] Model\n- [ ] T002 Store\n## Features\n- a\n- b\n"
    document = read_document(Source(text, path="tasks.md"))
    assert (document.format, document.known, document.rivals) == ("spec-kit-tasks", True, ())
