"""Units written as a form of fields, tables with a title for a header, and other dress that many documents wear."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from santiago.planner.reading import read_document
from santiago.planner.source import Source
from tests.util.each import each

if TYPE_CHECKING:
    from santiago.planner.draft import Document

LONE = """
    # PRD
    ## 5. User Stories

    US-001
    Title: Register
    Description: As a user I want to register.
    Acceptance criteria:
    - one
    - two
    US-002
    Title: Log in
    Acceptance criteria:
    - three

    ## 6. Success metrics
    - 75% of users
"""
INDENTED = """
    ## Historyjki użytkowników

    - US-001
      Tytuł: Register
      Opis: Jako użytkownik chcę się zarejestrować.
      Kryteria akceptacji:

      - one
      - two

    - US-002
      Tytuł: Log in
      Kryteria akceptacji:
      - three
"""
SIBLINGS = """
    ## Historyjki użytkowników
    ### Konto
    - ID: US-001
    - Tytuł: Register
    - Kryteria akceptacji:
      - one
      - two

    - ID: US-002
    - Tytuł: Log in
    - Kryteria akceptacji:
      1. three
"""
NUMBERED = """
    ## Stories

    1) ID: US-001
    Title: Register
    Acceptance criteria:
    - one
    - two

    2) ID: US-002
    Title: Log in
    Acceptance criteria:
    - three
"""
BROKEN_LINES = LONE.replace("US-00", "ID: US-00").replace("Register\n", "Register\\\n")
UNDER_HEADINGS = """
    ## User stories
    ### Register
    - **ID:** US-001
    - **Acceptance Criteria:**
      - one
      - two
    ### Log in
    - **ID:** US-002
    - **Acceptance Criteria:**
      - three
"""


def document(text: str) -> Document:
    return read_document(Source(dedent(text).lstrip("\n"), path="prd.md"))


@each("text", [LONE, INDENTED, SIBLINGS, NUMBERED, BROKEN_LINES, UNDER_HEADINGS])
def test_an_id_above_its_fields_is_a_unit(text: str) -> None:
    units = document(text).units
    assert [(unit.id, unit.title) for unit in units] == [("US-001", "Register"), ("US-002", "Log in")]
    assert [[criterion.text for criterion in unit.criteria] for unit in units] == [["one", "two"], ["three"]]


def test_a_list_of_ids_is_no_list_of_units() -> None:
    assert document("# Notes\n\nRelated:\n\nUS-001\n\nUS-002\n").units == []


def test_labels_may_stand_in_brackets_and_dotted_ids_may_occur_twice() -> None:
    text = """
        # 文档
        ## 1. 产品概述
        说明
        ## 2. 前端
        * **1.1. 登录**
            * 【功能描述】用户登录
            * 【验收标准】
                * 一
                * 二
        ## 3. 后端
        * **1.1. 接口**
            * 【功能描述】接口
            * 【验收标准】
                * 三
    """
    units = document(text).units
    assert [(unit.id, unit.line, len(unit.criteria)) for unit in units] == [("1.1", 5, 2), ("1.1", 11, 1)]


def test_the_header_of_a_table_may_be_its_first_row() -> None:
    text = """
        |     |       | Historias de usuario |       |
        | --- | ----- | -------------------- | ----- |
        | Id: | Cómo: | Quiero:              | Para: |
        | 5   | Vendedor | registrar una venta | llevar cuentas |
        | 6   | Vendedor | ver las ventas      | llevar cuentas |
    """
    units = document(text).units
    assert [(unit.id, unit.line) for unit in units] == [("5", 4), ("6", 5)]


def test_a_table_about_the_list_adds_nothing_to_it() -> None:
    text = """
        # SRS
        | Requirement | Status |
        |---|---|
        | FR-1 login | open |
        | Refresh token | open |
        | FR-2 logout | done |

        ## Functional
        ### FR-1: Login
        - **Business Rules:**
          - five attempts
        ### FR-2: Logout
        - **Business Rules:**
          - ends the session
    """
    units = document(text).units
    assert [(unit.id, unit.line, [c.line for c in unit.criteria]) for unit in units] == [
        ("FR-1", 9, [11]),
        ("FR-2", 12, [14]),
    ]


def test_an_unfinished_merge_is_refused() -> None:
    text = "<<<<<<< HEAD\n### US-1: a\n=======\n### US-1: b\n>>>>>>> other\n"
    (finding,) = document(text).findings
    assert (finding.level, finding.code, finding.line) == ("error", "merge_conflict", 1)
    assert document(f"### US-1: Explain merges\n\n```\n{text}```\n").units


def test_front_matter_may_use_equals_signs() -> None:
    text = "---\nid=002\ntitle=Mean\nstate=COMPLETED\n---\n\n## Acceptance Criteria\n- [x] returns the mean\n"
    (unit,) = document(text).units
    assert (unit.id, unit.title, unit.status) == ("002", "Mean", "done")


def test_all_of_a_group_is_no_unit() -> None:
    text = """
        ## Tasks
        - [ ] **T1.1** a
        - [ ] **T1.2** b
        ## 技术依赖
        - T1.1 → T1.2
        - T4.* 最后进行
    """
    assert [unit.id for unit in document(text).units] == ["T1.1", "T1.2"]


def test_an_order_section_may_say_do_after() -> None:
    text = """
        ## Phase 1: Setup
        - [ ] T001 a
        - [ ] T002 b
        - [ ] T003 c
        ## Dependencies & Execution Order
        - T002, T003 are sequential (same file) — do after T001
    """
    units = document(text).units
    assert [[dep.target for dep in unit.deps] for unit in units] == [[], ["T001"], ["T001"]]
