"""The files of GSD projects: roadmaps with phases and plans, plans with tasks, requirements by version."""

from textwrap import dedent

from santiago.contract.plan import Plan
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source

ROADMAP = """
# Roadmap: Shop

## Phases
- [x] **Phase 1: Basket** - what people buy
- [ ] **Phase 2: Orders** - what they pay
- [x] **Phase 3: Mail** - what they get

## Phase Details

### Phase 1: Basket
**Goal**: A basket
**Depends on**: Nothing (first phase)
**Requirements**: BASK-01
**Success Criteria** (what must be TRUE):
  1. A product can be added
  2. It stays there
**Plans**: 2 plans

Plans:
- [x] 01-02-PLAN.md — Table of products (wave 1)
- [ ] 01-01: Page of the basket (wave 2)

### Phase 2: Orders
**Goal**: Orders
**Depends on**: Phase 1
**Success Criteria** (what must be TRUE):
  1. An order is made
**Plans**: TBD

### Phase 3: Mail
**Goal**: Mail
**Depends on**: Phase 1, Phase 2
**Success Criteria**:
  1. A mail is sent
"""

TASKS = """
---
phase: 02-orders
plan: 01
depends_on: ["01-02"]
files_modified: [src/orders.py]
---

<objective>Orders</objective>
<tasks>
<task type="auto">
  <name>Task 1: Make an order</name>
  <files>src/orders.py, Makefile</files>
  <action>
Write it. Run `npm run deploy` never.
  </action>
  <verify>
    <automated>cat src/orders.py | grep -q make</automated>
  </verify>
  <done>An order can be made.</done>
</task>
<task type="auto" tdd="true">
  <name>Task 2: Store it</name>
  <action>Store it.</action>
  <verify>`pytest tests/test_store.py` passes</verify>
  <acceptance_criteria>
    - it is stored
    - it is read back
  </acceptance_criteria>
</task>
<task type="checkpoint:human-verify" gate="blocking">
  <what-built>The page</what-built>
</task>
</tasks>

| Threat ID | Category |
|---|---|
| T-01-01 | Spoofing |
| T-01-02 | Tampering |
"""


def plan(text: str) -> Plan:
    made = compile_plan(Source(dedent(text).lstrip("\n"), path="x.md")).plan
    assert made is not None
    return made


def test_phases_are_chunks_that_wait_for_others_and_plans_are_stories_in_the_order_of_the_document() -> None:
    made = plan(ROADMAP)
    assert [(story.origin.id, story.chunk, story.claimed_done) for story in made.stories] == [
        ("01-02", "Phase 1: Basket", True),
        ("01-01", "Phase 1: Basket", False),
        ("Phase 2", "Phase 2: Orders", False),
        ("Phase 3", "Phase 3: Mail", True),
    ]
    assert [story.title for story in made.stories][:2] == ["Table of products (wave 1)", "Page of the basket (wave 2)"]
    assert [story.depends_on for story in made.stories] == [(), (), ("S1", "S2"), ("S1", "S2", "S3")]
    assert [len(story.criteria) for story in made.stories] == [0, 2, 1, 1], "what a phase must reach closes it"
    assert any(finding.code == "criteria_shared" for finding in made.findings)


def test_the_tasks_of_a_plan_are_stories_and_checkpoints_are_said() -> None:
    made = plan(TASKS)
    first, second = made.stories
    assert (first.title, first.files, first.verify) == (
        "Make an order",
        ("src/orders.py", "Makefile"),
        ("cat src/orders.py | grep -q make",),
    )
    assert first.external_depends_on == ("01-02",)
    assert second.verify == ("pytest tests/test_store.py",)
    assert [len(story.criteria) for story in made.stories] == [1, 2]
    assert [finding.line for finding in made.findings if finding.code == "checkpoint"] == [30]


def test_a_plan_without_tasks_is_one_story() -> None:
    made = plan("---\nphase: 11\nplan: 01\n---\n# Doctor\n## Scope\n1. `x doctor` looks\n2. `x doctor --fix` mends\n")
    assert [story.title for story in made.stories] == ["Doctor"]


def test_a_roadmap_that_names_files_of_plans_needs_only_goals() -> None:
    made = plan(
        "## Phase 1: Shell\n- **Goal:** A window\n- **Plans:** 1\n  - [x] 01-shell-ui-01-PLAN.md — Menu\n\n"
        "## Phase 2: Maps\n- **Goal:** Maps\n- **Tasks:**\n  - Draw a map.\n"
    )
    assert [(story.origin.id, story.title, story.claimed_done) for story in made.stories] == [
        ("01-shell-ui-01", "Menu", True),
        ("Phase 2", "Maps", False),
    ]
    assert made.certain
