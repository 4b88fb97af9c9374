"""Documents as people write them: which lines are the units, what is only said, and what is never taken silently."""

import json
from textwrap import dedent

from santiago.contract.plan import Plan
from santiago.planner.compile import Compilation, compile_plan
from santiago.planner.source import Options, Source
from tests.util.each import each


def compiled(text: str, *, units: str | None = None, name: str = "x.md") -> Compilation:
    options = Options(units=units)
    return compile_plan(Source(dedent(text).lstrip("\n"), path=name, options=options))


def plan(text: str, *, units: str | None = None) -> Plan:
    made = compiled(text, units=units).plan
    assert made is not None
    return made


def names(made: Plan) -> list[str]:
    return [story.origin.id or story.title for story in made.stories]


def said(made: Compilation | Plan, code: str) -> list[int]:
    return [finding.line for finding in made.findings if finding.code == code]


def test_a_plan_without_stories_is_refused_and_what_was_put_off_never_wins() -> None:
    put_off = "## Out of Scope\n- FR-1: Teleport\n- FR-2: Fly\n"
    made = compiled("# App\n" + put_off)
    assert made.plan is None
    assert "nothing is left to plan" in made.errors[0].message
    assert names(plan("## Features\n### Feature 1: Log in\n### Feature 2: Log out\n" + put_off)) == ["1", "2"]
    assert names(plan("## To do\n- [ ] Log in\n- [ ] Log out\n" + put_off)) == ["Log in", "Log out"]


PARTS = "### P1-0: Base\n#### P1-0-A: Model\n- a\n#### P1-0-B: Store\n- b\n### P1-1: Shell\n#### P1-1-A: Parser\n- c\n"


@each(
    ("text", "expected"),
    [
        # functional and other requirements are one list
        ("## Functional\n- F-1: Log in\n- F-2: Log out\n## Other\n- NF-1: Fast\n- NF-2: Small\n", "F-1 F-2 NF-1 NF-2"),
        # the boxes of a legend are no tasks, nor are lists of files and of what is accepted in the end
        ("# Tasks\n## Status Legend\n- [ ] Pending\n- [x] Done\n## First\n- [ ] In\n- [ ] Out\n", "In Out"),
        ("## Work\n- [ ] a\n- [ ] b\n## Files to Change\n- [ ] `a.py`\n## Final Acceptance Checklist\n- [ ] all green\n", "a b"),
        ("## Work\n- [ ] a\n- [ ] b\n## Phase 1 exit criteria\n- [ ] it runs\n", "a b"),
        # an id that begins with the word for a unit is one of its own
        ("## Users\n- [ ] **USER-01**: In\n- [ ] **USER-02**: Out\n## Tasks\n- [ ] **TASKS-01**: Add\n", "USER-01 USER-02 TASKS-01"),
        # a part with a letter of its own is the unit and the rest its group, whatever list or table comes before
        ("# Plan\n" + PARTS, "P1-0-A P1-0-B P1-1-A"),
        ("# Plan\n- P1-0: Base\n- P1-1: Shell\n" + PARTS, "P1-0-A P1-0-B P1-1-A"),
        ("# Plan\n| Step | Feature |\n|---|---|\n| P1-0 | Base |\n| P1-1 | Shell |\n" + PARTS, "P1-0-A P1-0-B P1-1-A"),
        ("## Users\n**R1. Accounts**\n\n- R1.1: stored\n- R1.2: deleted\n\n**R2. Roles**\n\n- R2.1: admin\n- R2.2: guest\n", "R1.1 R1.2 R2.1 R2.2"),
        # headings that are priorities are no ids
        ("### P0 CRITICAL\n- [ ] a\n- [ ] b\n### P1 HIGH\n- [ ] c\n", "a b c"),
        # a header says what rows are, whatever their prefix means elsewhere; ids may stand in any column
        ("| ID | Requirement | Priority |\n|---|---|---|\n| SC-01 | Keys | Must |\n| SC-02 | Tokens | Must |\n", "SC-01 SC-02"),
        ("| Priority | Backlog ID | Feature |\n|---|---|---|\n| P0 | MVP-1 | In |\n| P1 | MVP-2 | Out |\n", "MVP-1 MVP-2"),
        ("| Priority | Backlog ID | Feature |\n|---|---|---|\n| P0 | MVP-1 | In |\n| P1 |\n| P1 | MVP-2 | Out |\n", "MVP-1 MVP-2"),
        # dotted boxes under stories are their details, and a first level of whole numbers groups the rest
        ("### Story 1.1: In\n- a\n- [ ] 1.1.1 b\n- [ ] 1.1.2 c\n### Story 1.2: Out\n- d\n- [ ] 1.2.1 e\n- [ ] 1.2.2 f\n", "1.1 1.2"),
        ("## Tasks\n- [ ] 1.0 a\n  - [ ] 1.1 b\n  - [ ] 1.2 c\n- [ ] 2.0 d\n  - [ ] 2.1 e\n", "1.1 1.2 2.1"),
        # a front matter with an id does not make a list one unit, nor a chapter with a box
        ("---\nid: DOC-005\ntitle: Plan\nstatus: validated\n---\n# Backlog\n## A\n- [ ] a\n- [ ] b\n## C\n- [ ] c\n", "a b c"),
        ("## 1. Overview\n- [ ] a\n## 2. Goals\n- fast\n## 3. Timeline\n- [ ] b\n", "a b"),
        # a mark on every line is no placeholder
        ("- [ ] **[REQUIRED]** a\n" * 6, "[REQUIRED] [REQUIRED] [REQUIRED] [REQUIRED] [REQUIRED] [REQUIRED]"),
        ("# A\n- FR1: a\n- FR2: b\n\n## Non Functional\n- NFR1: c\n- NFR2: d\n", "FR1 FR2 NFR1 NFR2"),
        # a heading around headings that continue its id is a group
        ("# A\n## F1: A\n### F1.1: B\n- c\n### F1.2: D\n- e\n## F2: F\n### F2.1: G\n- h\n", "F1.1 F1.2 F2.1"),
        # an id may have a space, and stages that own criteria are units
        ("# SRS\n### RF 01: Entrar\n- a\n### RF 02: Sair\n- b\n", "RF 01 RF 02"),
        ("# P\n### Stage 0: A\nAcceptance criteria:\n- b\n### Stage 1: C\nAcceptance criteria:\n- d\n", "0 1"),
        # a table that traces requirements is no list
        ("# A\n- FR-1: a\n- FR-2: b\n\n| FR | Story |\n|---|---|\n| FR-1 | US-1 |\n| FR-2 | US-2 |\n", "FR-1 FR-2"),
        # a line that only refers to ids defines nothing
        ("# A\n- FR-1: log in\n- FR-2: log out\n## Milestones\n- FR-1: FR-2\n- FR-1, FR-2\n", "FR-1 FR-2"),
        # all of a group is no unit
        ("## Tasks\n- [ ] **T1.1** a\n- [ ] **T1.2** b\n## 技术依赖\n- T1.1 → T1.2\n- T4.* 最后进行\n", "T1.1 T1.2"),
    ],
)  # fmt: skip
def test_these_and_no_other_lines_are_the_units(text: str, expected: str) -> None:
    assert " ".join(names(plan(text))) == expected


@each("heading", ["Requirements", "2. Functional Requirements", "Anforderungen", "Build steps"])
def test_numbered_lines_under_requirements_are_units(heading: str) -> None:
    made = plan(f"# Export\n## {heading}\n1. It exports CSV.\n2. It exports JSON.\n## Notes\n1. none\n2. none\n")
    assert [story.title for story in made.stories] == ["It exports CSV.", "It exports JSON."]


def test_a_title_keeps_the_back_ticks_that_it_opens_with_and_stands_in_the_column_of_titles() -> None:
    assert names(plan("# Tasks\n- [ ] 1. `log.py` writes lines\n- [ ] 2. b\n"))[0] == "`log.py` writes lines"
    table = "| Priority | Backlog ID | Feature | Acceptance criteria |\n|---|---|---|---|\n"
    rows = "| P0 | MVP-1 | Log in | works |\n| P1 | MVP-2 | Log out | ends |\n"
    assert [story.title for story in plan(table + rows).stories] == ["Log in", "Log out"]


def test_several_lists_can_be_named() -> None:
    text = "### US-1: Buy\n- a\n### US-2: Sell\n- b\n## Rules\n- FR-1: Fast\n- FR-2: Small\n"
    assert names(plan(text)) == ["US-1", "US-2"]
    assert names(plan(text, units="us,fr")) == ["US-1", "US-2", "FR-1", "FR-2"]
    assert compiled(text, units="us,zz").plan is None


def test_one_requirement_keeps_the_criteria_of_the_document() -> None:
    made = plan(
        "# App\n### R1: Log in\nThe user logs in.\n## Acceptance Criteria\n- AC-1: checked\n- AC-2: three tries\n"
    )
    assert names(made) == ["R1"]
    assert [criterion.text for criterion in made.requirements[0].criteria] == ["checked", "three tries"]


def test_slugs_are_ids() -> None:
    made = plan("### 01-enums: Enums\n- [ ] a\n### 02-models: Models\nDeps: 01-enums\n- [ ] b\n")
    assert names(made) == ["01-enums", "02-models"]
    assert made.stories[1].depends_on == ("S1",)


def test_a_section_with_one_unit_keeps_its_place() -> None:
    made = plan("# P\n## Setup\n- [ ] a\n## Core\n- [ ] b\n- [ ] c\n## Docs\n- [ ] d\n")
    assert [story.chunk for story in made.stories] == ["Setup", "Core", "Core", "Docs"]


def test_the_order_of_the_document_outweighs_issue_numbers_and_a_second_row_is_the_same() -> None:
    rows = "| #40 | First | open |\n| #12 | Second | open |\n"
    made = plan(
        "| Issue | Title | Status |\n|---|---|---|\n"
        + rows
        + "## Again\n| Issue | Title | Status |\n|---|---|---|\n"
        + rows
    )
    assert names(made) == ["40", "12"]
    assert said(made, "merged")


def test_what_must_pass_for_every_story_is_a_check_of_each() -> None:
    made = plan(
        "### US-1: a\n- x\n### US-2: b\n- y\n## Quality Gates\nThese must pass for every user story:\n- `npm test` - all\n"
    )
    assert [story.verify for story in made.stories] == [("npm test",), ("npm test",)]
    assert made.run_verify == ()


def test_requirements_of_a_later_version_are_put_off() -> None:
    text = "## v1 Requirements\n- [ ] **A-01**: a\n- [ ] **RISK-01**: b\n## v2 Requirements\n- **B-01**: c\n- **B-02**: d\n"
    made = plan(text)
    assert names(made) == ["A-01", "RISK-01"]
    assert [(row.lines, row.why) for row in made.account if row.became == "left_out"] == [((4, 6), "out of scope")]


def test_each_prefix_of_requirements_of_a_version_counts() -> None:
    ids = ["PAY-01", "PAY-02", "RES-01", "RES-02", "TEST-01", "TEST-02"]
    made = plan("## v1 Requirements\n### Shop\n" + "".join(f"- [ ] **{one}**: {one.lower()} works\n" for one in ids))
    assert (sorted(names(made)), made.certain) == (ids, True)


def test_a_table_that_keeps_a_status_is_planned_only_where_nothing_better_stands() -> None:
    table = "\n| Item | Status |\n|---|---|\n| `ls` lists | Implemented |\n| `rm` removes | Planned |\n"
    made = plan("## v0.1\n" + table)
    assert [(story.title, story.claimed_done) for story in made.stories] == [
        ("`ls` lists", True),
        ("`rm` removes", False),
    ]
    assert names(plan("### FR-1: a\n- x\n### FR-2: b\n- y\n## Status\n" + table)) == ["FR-1", "FR-2"]
    overview = "| ID | Feature | Status |\n|---|---|---|\n| F1 | a | ✅ |\n| F2 | b | Planned |\n| F3 | c | ✅ |\n"
    made = plan(f"## Features\n{overview}## Details\n### F1: a\n- x\n### F2: b\n- y\n")
    assert {story.origin.id: story.claimed_done for story in made.stories} == {"F1": True, "F2": False, "F3": True}


def test_an_id_that_is_explained_outside_every_story_is_said() -> None:
    made = plan("""
        # App
        People shop.
        ### FR-1: Log in
        - ok
        ### FR-2: Log out
        - ok
        ## Background
        It also needs FR-7: a report at night.
    """)
    assert names(made) == ["FR-1", "FR-2"]
    assert said(made, "looks_like_a_unit") == [8]


def test_stories_that_nobody_wrote_pages_of_html_and_broken_csv_are_refused() -> None:
    assert compiled("## User Stories\n- As a [user], I want to [action] so that [benefit].\n").plan is None
    page = compiled("<!DOCTYPE html>\n<html><body><ul><li>FR-1: a</li></ul></body></html>", name="prd.html")
    assert "pandoc prd.html -t gfm -o prd.md" in page.errors[0].hint
    broken = compiled("ID,Title,Status\n1," + "x" * 200_000 + ",open\n")
    assert (broken.plan, broken.errors[0].code) == (None, "unreadable")


ISSUES = [
    {
        "number": 11,
        "title": "Log in",
        "state": "OPEN",
        "labels": [{"name": "ui"}],
        "milestone": None,
        "body": "Text\n\n## Acceptance criteria\n- [ ] a form\n- [ ] a check\n\nVerify: `pytest tests/test_login.py`",
    },
    {"number": 9, "title": "Log out", "state": "OPEN", "labels": [], "body": "Blocked by #11\n\n- [ ] a button"},
    {"number": 7, "title": "Old", "state": "CLOSED", "stateReason": "NOT_PLANNED", "labels": [], "body": ""},
]


def test_issues_of_github_are_read_with_their_bodies_and_one_is_one_story() -> None:
    made = plan(json.dumps(ISSUES, indent=1))
    assert [(story.origin.id, len(story.criteria), story.depends_on) for story in made.stories] == [
        ("11", 2, ()),
        ("9", 1, ("S1",)),
    ]
    assert made.stories[0].verify == ("pytest tests/test_login.py",)
    assert said(made, "dropped")
    (alone,) = plan(json.dumps(ISSUES[0])).stories
    assert (alone.title, len(alone.criteria)) == ("Log in", 2)


def test_jira_is_read_by_the_names_of_its_columns() -> None:
    made = plan(
        "Summary,Issue key,Issue Type,Status,Description,Inward issue link (Blocks),Sprint\n"
        '"Log in, with a form",SHOP-1,Story,To Do,"h3. Acceptance criteria\n# a form\n# a check",,Sprint 1\n'
        "Log out,SHOP-2,Story,Done,Bye,SHOP-1,Sprint 2\n"
    )
    first, second = made.stories
    assert (first.title, first.chunk) == ("Log in, with a form", "Sprint 1")
    assert (first.origin.line, len(first.criteria)) == (2, 2)
    assert (second.depends_on, second.claimed_done, second.origin.line) == (("S1",), True, 5)


def test_linear_is_read_by_the_names_of_its_columns() -> None:
    text = "ID,Team,Title,Description,Status,Priority,Blocked by\nE-5,X,Log in,- [ ] form,Todo,High,\nE-3,X,Log out,Bye,Todo,Low,E-5\nE-9,X,No,,Canceled,Low,\n"
    made = plan(text)
    assert [(story.origin.id, story.priority, story.depends_on) for story in made.stories] == [
        ("E-5", "High", ()),
        ("E-3", "Low", ("S1",)),
    ]


def test_an_epic_of_a_tracker_is_a_chunk_and_milestones_that_a_ticket_would_wait_for_backwards_are_none() -> None:
    tickets = "A-1,Shop,Epic,To Do,\nA-2,Buy,Story,To Do,A-1\nA-3,Sell,Story,To Do,A-1\n"
    made = plan("Issue key,Summary,Issue Type,Status,Parent\n" + tickets)
    assert [(story.origin.id, story.chunk) for story in made.stories] == [("A-2", "Shop"), ("A-3", "Shop")]
    assert said(made, "context_list") == [2]
    made = plan("ID,Title,Status,Milestone,Blocked by\n1,a,open,Alpha,2\n2,b,open,Beta,\n")
    assert {story.chunk for story in made.stories} == {"C01"}


def test_a_heading_says_that_it_is_done() -> None:
    made = plan(
        "### Task A-1: Log in ✓ COMPLETE (2026-06-14)\n- [x] a\n### Task A-1b: Log out 🟢 DONE(twice)\n- b\n### Task A-2: Make it done\n- c\n"
    )
    assert [(story.origin.id, story.title, story.claimed_done) for story in made.stories] == [
        ("A-1", "Log in", True),
        ("A-1b", "Log out", True),
        ("A-2", "Make it done", False),
    ]


def test_half_of_a_command_is_no_check() -> None:
    made = plan(
        '### US-1: a\n- x\n### US-2: b\n- y\n## Verification\n```sh\npython -c "\nimport a\n"\nmake check\n```\n'
    )
    assert made.run_verify == ("make check",)
