"""The readers of prose-like Markdown: which units each takes, what belongs to them, and what is only reported."""

from textwrap import dedent

from santiago.planner.draft import Document
from santiago.planner.reading import read_document
from santiago.planner.source import Options, Source
from tests.planner.told import cases, told
from tests.util.each import each


def read(text: str, *, units: str | None = None) -> Document:
    options = Options(units=units)
    return read_document(Source(dedent(text).lstrip("\n"), path="prd.md", options=options))


def names(document: Document) -> list[str | None]:
    return [unit.id for unit in document.units]


def codes(document: Document) -> set[str]:
    return {finding.code for finding in document.findings}


def refused(document: Document) -> bool:
    return not document.units and any(finding.level == "error" for finding in document.findings)


CASES = """
== ids that read like priorities are units and as a bullets beside them are context
# Reviewers
## User Stories
- As a team lead, I want defaults so that reviews are cheap.
- As a new user, I want today's behaviour.
## Requirements
### Must-Have (P0)
- **P0-1. New key.** A list of strings.
- **P0-2. Flags win.** Always.
### Nice-to-Have (P1)
- **P1-1.** Interactive.
### Future Considerations (P2)
- **P2-1.** Profiles.
=> ids, status: P0-1, open | P0-2, open | P1-1, open | P2-1, future
=> rivals: as-a
== bold words that are a part of a sentence are no title
# Kitchen
## Stories
1. **As a cook,** I want a timer, **so that** nothing burns.
2. **As a guest** I want a menu.
=> titles: As a cook, I want a timer, so that nothing burns. | As a guest I want a menu.
== bold words before a comma are no title
# Kitchen
- [ ] **When it rings,** say why
- [ ] **Menu** as a list
=> titles: When it rings, say why | Menu
== an id may follow the number of its section
# SRS
## 3 Functions
### 3.1 FR-1: Login
Text.
### 3.2 FR-2: Logout
Text.
=> ids, titles: FR-1, Login | FR-2, Logout
== bullets under requirements inside a feature are its criteria
# PRD
## Feature 1: Login
### Requirements
- a form
- a session
## Feature 2: Out
- a button
=> criteria: a form + a session | a button
== requirements on lines of one paragraph are apart
# A
FR1: The first.
FR2: The second,
which is longer.
FR3: The third.
=> ids, lines: FR1, 2 | FR2, 3 | FR3, 5
== ids by area are one list
# Requirements
## Accounts
- [ ] **AUTH-01**: Sign up
- [x] **AUTH-02**: Sign in
## Payment
- [ ] **PAY-01**: Pay by card
=> ids, status: AUTH-01, open | AUTH-02, done | PAY-01, open
== items that continue the id of their heading are its criteria
# A
### R1: Flag
- **R1.1**: a flag
- **R1.2**: no alias
### R2: Help
- **R2.1**: a page
=> ids, criteria: R1, R1.1: a flag + R1.2: no alias | R2, R2.1: a page
== an item that fills a gap between headings is a unit
# A
### US-1: One
text
- US-2: Two is announced here
### US-3: Three
text
=> ids: US-1 | US-2 | US-3
== a summary list of the same stories is no second definition
# Epics
## Epic List
- Story 1.1: Login
- Story 1.2: Logout
## Epic 1: Accounts
### Story 1.1: Login
**Acceptance Criteria:**
1. Works
### Story 1.2: Logout
**Acceptance Criteria:**
1. Works
=> ids, lines: 1.1, 6 | 1.2, 9
== blocked and depends in prose make no edges
# PRD
### FR-1: Sync (blocked on Q1)
This depends on FR-2 in spirit, and blocks FR-3 until Q1 is answered.
- works
### FR-2: Store
Nothing depends on anything here.
- works
=> needs: - | -
== a dependency field takes lists ranges and none
# PRD
### R1: One
Depends on: none
- [ ] a
### R2: Two
Depends on: R1
- [ ] a
### R3: Three
**Depends on:** R1, R2 & Z-9
- [ ] a
### R4: Four
Depends on: R1-R3
- [ ] a
=> needs: - | R1 | R1 + R2 + Z-9 | R1 + R2 + R3
== metrics and sign off give no units and no criteria
# PRD
### FR-1: Login
- a form
### FR-2: Logout
- a button
## Success Metrics
- [ ] 99 % uptime
## Sign-off
- [ ] Product owner
## Definition of Done
- [ ] Tests pass
=> criteria: a form | a button
== numbered headings with criteria are units
# PRD
## Features
### 1. Upload
**Requirements:**
- Any format
**Success Criteria:**
- A file arrives
- An error is shown
### 2. Download
**Acceptance Criteria:**
- A file leaves
## Timeline
### Week 1
- start
=> titles, criteria: Upload, A file arrives + An error is shown | Download, A file leaves
== a dependency chain counts in its own numbers
<PRD>
# Core Features
1. **Shorten:** a form
2. **Show:** a page
# Logical Dependency Chain
1. Project setup.
2. Server.
3. Endpoint (depends on 1 & 2).
4. Page (depends on 3).
</PRD>
=> ids, needs: 1, - | 2, - | 3, 1 + 2 | 4, 3
== table rows with ids are units with criteria and dependencies from their columns
# SRS
| ID | Requirement | Priority | Depends on | Acceptance Criteria |
|----|-------------|----------|------------|---------------------|
| FR-1 | Log in | High | - | form shown<br>session made |
| FR-2 | Log out | Low | FR-1 | session ends |
=> ids, titles, criteria, needs: FR-1, Log in, form shown + session made, - | FR-2, Log out, session ends, FR-1
=> priorities: High | Low
== rows that no heading defines join the list of headings
# SRS
### FR-1: Login
- a form
### FR-2: Logout
- a button
## Further requirements
| ID | Requirement | Priority |
|---|---|---|
| FR-2 | Logout | High |
| FR-3 | Export | Low |
=> ids: FR-1 | FR-2 | FR-3
== an index table of stories that have headings is no second list
# US
| ID | Story |
|--|--|
| US-1 | Login |
| US-2 | Logout |
### US-1: Login
- works
### US-2: Logout
- works
=> lines: 6 | 8
=> rivals: -
== known requirements in a table beat other ids in a list
# SRS
## Requisitos
| ID | Requisito | MoSCoW |
|---|---|---|
| FR-001 | Login | Must |
| FR-002 | Logout | Should |
## Restrições técnicas
- **STK-01** — Python
- **LGL-01** — LGPD
- **LGL-02** — auditoria
=> ids, priorities: FR-001, Must | FR-002, Should
== a form table under a heading holds the criteria of the unit
# SRS
### FR-001: 추적
| 항목 | 내용 |
|---|---|
| **우선순위** | 필수 |
| **수락 기준** | - 30fps 유지<br>- 5방향 판별 |
### FR-002: 알림
| 항목 | 내용 |
|---|---|
| **수락 기준** | - 3초 이내 |
=> criteria, priorities: 30fps 유지 + 5방향 판별, 필수 | 3초 이내, -
== rows whose text is an as a sentence are stories whatever their prefix
# PRD
| ID | Story | Priority |
|---|---|---|
| U01 | As a user, I can add a folder | P0 |
| U02 | As a user, I can remove a folder | P1 |
## Requirements
- FR1: watch folders
- FR2: match rules
=> ids: U01 | U02
== one line of criteria is split and stories without any have none
# Stories
## TS-IAM-001 - Sign in
As a user I want to sign in.
Acceptance criteria: form; session; error; log.
## TS-IAM-002 - Sign out
As a user I want to sign out.
Acceptance criteria: button; session ends; log.
## TS-I18N-001 - Languages
As a user I want my language.
=> ids: TS-IAM-001 | TS-IAM-002 | TS-I18N-001
=> criteria: form + session + error + log. | button + session ends + log. | -
== a fence behind a story is not read
# S
As a user, I want one.
````yaml
- As a user, I want two
```
### US-1: three
```
````
As a user, I want four.
=> lines: 2 | 9
== a heading with one as a paragraph is the story
# User Stories
## Catálogo
Como cliente
Quero ver produtos
Para escolher
## Conta
Como usuário
Quero acessar meus dados
Para gerir
=> titles: Catálogo | Conta
== wishes under user stories are stories and the fences behind them are not read
# User Stories
## CLI
### Examples
- I want to activate shuffle mode
```
play -s
```
- I want to play music from my speakers
````
- I want this never
````
## TUI
- I want to see how long the song is.
=> lines: 4 | 8 | 13
== labels without their accents are understood
# SRS

### FR-01. Cham cong

Nguoi dung:

- xem

Tieu chi chap nhan:

- dung
- du

### FR-02. Luong

Tieu chi chap nhan:

- tinh
=> criteria: dung + du | tinh
== a section that says it is deferred is not planned
# Requirements
## v1 Requirements
- [ ] **AUTH-01**: Sign in
- [x] **AUTH-02**: Sign out
## v2 Requirements
Deferred to future release. Tracked but not in current roadmap.
- **AUTH-05**: Single sign-on
=> ids, status: AUTH-01, open | AUTH-02, done | AUTH-05, future
== a section that says so first is put off, the last one too
# PRD
### R1: One
- a
### R2: Two
Postponed to next year.
=> ids, status: R1, open | R2, future
== improved requirements as plain paragraphs are units
# SRS
## Review
Requirement 1: The system shall log in.

Requirement 2: The system shall log out.

Requirement 4A: The system shall export.

Requirement 4B: The system shall import.
=> ids: 1 | 2 | 4A | 4B
== original requirements yield to improved ones
# SRS
## Requirement 1
**Original Requirement:** The system is fast.

**Improved Requirement:** The system answers in 200 ms.
## Requirement 2
**Original Requirement:** The system is safe.

**Improved Requirement:** The system encrypts at rest.
=> ids, titles: 1, The system answers in 200 ms. | 2, The system encrypts at rest.
== a requirement that was split up is the group of its parts
# SRS
### Requirement 3
**Improved Requirement:** The system shall log.
### Requirement 4
**Original Requirement:** The system does everything.

Requirement 4A: The system shall export.

Requirement 4B: The system shall import.
### Requirement 5
**Improved Requirement:** The system shall end.
=> ids: 3 | 4A | 4B | 5
== a story belongs to the epic around it and keeps its former id
# PRD
## Epic 2: Shop
### Story 2.3: Cart
As a buyer, I want a cart.
### Story 2.4: Pay (formerly 2.2)
As a buyer, I want to pay.
## Epic 2.3: Returns
### Story 2.3.1: Send back
As a buyer, I want my money.
=> ids, chunks: 2.3, Epic 2: Shop | 2.4, Epic 2: Shop | 2.3.1, Epic 2.3: Returns
=> tags: Epic 2 | 2.2 + Epic 2 | Epic 2.3
=> format: bmad
== stories as bold paragraphs and numbered items know their epic and dependencies
# Epics
## Epic M1: Base
**Story M1.1: Setup**

As a developer, I want a repo.

**Acceptance Criteria:**

1. It builds

**Story M1.2: Lint**

**Acceptance Criteria:**

1. It is clean

## Epic M2: Top
1. **Story M2.1: Ship**
   - Depends on: Stories M1.1 and M1.2.
   - **Requirements Covered:** M-FR-1
   - Blocked story of another repository: A2.1
=> ids, needs, covers: M1.1, -, - | M1.2, -, - | M2.1, M1.1 + M1.2, M-FR-1
=> chunks: Epic M1: Base | Epic M1: Base | Epic M2: Top
== a bold paragraph above a list is the group of its items
# Archive
## Requirements
**Status model**
- R1. Add a status.
- R3. Reversible.
- R10. Durable.

**Operations**
- R4. Archive many.
- R5. See R3 and R10 for the rules.
=> ids, chunks: R1, Status model | R3, Status model | R10, Status model | R4, Operations | R5, Operations
=> needs: - | - | - | - | -
== goals metrics questions and decisions are side lists
# PRD
- G-1: grow
- G-2: earn
- KPI-1: 98 %
- KPI-2: 99 %
- ADR-001: use Go
- ADR-002: use SQL
## Requirements
- FR-1: The system logs in.
- FR-2: The system logs out.
=> ids: FR-1 | FR-2
=> rivals: -
== stages with boxes are no units
# P
### Phase 1: Docs
- [ ] write

Acceptance criteria:
- docs exist
### Phase 2: Tools
- [ ] add

Acceptance criteria:
- tests run
=> titles: write | add
== table rows without ids need a priority column
# 需求
| 功能点 | 描述 | 优先级 |
|---|---|---|
| 登录 | 手机号登录 | 高 |
| 注册 | 手机号注册 | 中 |
=> titles: 登录 | 注册
== a table that spells as a sentences is a list of stories
# US
| En tant que... | J'ai besoin de... | afin de... |
|--|--|--|
| visiteur | une page | voir |
| membre | un profil | modifier |
=> lines: 4 | 5
=> titles: En tant que visiteur, J'ai besoin de une page | En tant que membre, J'ai besoin de un profil
== persona stories with criteria beat requirements without
# PRD
## User Stories
### Developers
**As a developer, I want:**
- reliable tools
**Acceptance Criteria:**
- pipelines still work
### Operators
**As an operator, I want:**
- less noise
**Acceptance Criteria:**
- fewer tickets
## Requirements
- FR-001: integrate
- FR-002: maintain
=> criteria: pipelines still work | fewer tickets
=> rivals: fr
== Kiro requirements in three languages
# 要件定義
### 要件16: 保存
**目的:** 利用者として、保存したい。
#### 受入基準
1. WHEN 保存する THEN システムは記録しなければならない
2. IF 失敗する THEN システムは警告しなければならない
### 要件16A: 取消
#### 受入基準
1. WHEN 取消する THEN システムは戻さなければならない
### 需求 17：导出
**用户故事：** 作为用户，我想导出。
#### 验收标准
1. 系统应生成文件
=> ids, criteria at: 16, 5 + 6 | 16A, 9 | 17, 13
=> format: kiro-requirements
== spec-kit stories are units and both other lists one note
# Feature Specification: Todo
## User Scenarios & Testing *(mandatory)*
### User Story 0 - Setup (Priority: P1)
**Independent Test**: by hand
**Acceptance Scenarios**:
1. **Given** an app, **When** opened, **Then** it shows
### User Story 1 – Add (Priority: P2) 🎯 MVP
**Acceptance Scenarios**:
1. **Given** a list, **When** adding, **Then** it grows
2. **Given** a list, **When** removing, **Then** it shrinks
### Edge Cases
- What if it is empty?
## Requirements
- **FR-001**: System MUST add
- **FR-002**: System MUST remove [NEEDS CLARIFICATION: how?]
## Success Criteria
- **SC-001**: 95 %
- **SC-002**: 2 seconds
=> ids, titles, priorities, tags, criteria at: 0, Setup, P1, US0, 6 | 1, Add, P2, US1, 9 + 10
=> format: spec-kit-spec
=> rivals: -
== an id above its fields is a unit
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
=> ids, titles, criteria: US-001, Register, one + two | US-002, Log in, three
== an item with an id may hold its fields
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
=> ids, titles, criteria: US-001, Register, one + two | US-002, Log in, three
== an id may be one of several fields that are items
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
=> ids, titles, criteria: US-001, Register, one + two | US-002, Log in, three
== an id with its fields may have a number
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
=> ids, titles, criteria: US-001, Register, one + two | US-002, Log in, three
== lines of fields may end with a backslash
## User Stories

ID: US-001
Title: Register\\
Acceptance criteria:
- one
- two
ID: US-002
Title: Log in
Acceptance criteria:
- three
=> ids, titles, criteria: US-001, Register, one + two | US-002, Log in, three
== an id may be a field under its heading
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
=> ids, titles, criteria: US-001, Register, one + two | US-002, Log in, three
== the header of a table may be its first row
|     |       | Historias de usuario |       |
| --- | ----- | -------------------- | ----- |
| Id: | Cómo: | Quiero:              | Para: |
| 5   | Vendedor | registrar una venta | llevar cuentas |
| 6   | Vendedor | ver las ventas      | llevar cuentas |
=> ids, lines: 5, 4 | 6, 5
== a table about the list adds nothing to it
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
=> ids, lines, criteria at: FR-1, 9, 11 | FR-2, 12, 14
== an unfinished merge is refused
<<<<<<< HEAD
### US-1: a
=======
### US-1: b
>>>>>>> other
=> refused: merge_conflict
=> merge_conflict: 1
== the marks of a merge may stand in a fence
### US-1: Explain merges
```
<<<<<<< HEAD
### US-1: a
=======
### US-1: b
>>>>>>> other
```
=> ids: US-1
== front matter may use equals signs
---
id=002
title=Mean
state=COMPLETED
---

## Acceptance Criteria
- [x] returns the mean
=> ids, titles, status: 002, Mean, done
== an order section may say do after
## Phase 1: Setup
- [ ] T001 a
- [ ] T002 b
- [ ] T003 c
## Dependencies & Execution Order
- T002, T003 are sequential (same file) — do after T001
=> ids, needs: T001, - | T002, T001 | T003, T001
"""


@each(("name", "text", "expected"), cases(CASES))
def test_a_text_is_read_as_it_is_meant(name: str, text: str, expected: str) -> None:
    assert told(read(text), expected) == expected


@each(
    "text",
    [
        # model names, algorithms and names with digits are no ids
        "# PRD\n### GPT-5.4 (Codex) — a\nText.\n### GPT-4.1 — b\nText.\n- SHA-256: digests\n- SHA-512: no\n- ISO-8601: dates\n",
        "# Infra\n\n## S3 storage\n\nText.\n\n## EC2 fleet\n\nText.\n\n## E2E tests\n\nText.\n\n## E2E results\n\nText.\n",
        "# Notes\n\nRelated:\n\nUS-001\n\nUS-002\n",
        # numbered chapters without criteria, and sentences that begin like stories
        "# SRS\n\n## 1. Introduction\n\nText.\n\n## 2. Scope\n\n- a bullet\n\n## 3. Interfaces\n\nText.\n",
        "# Notes\n\nAs a result, I can say that we want more.\n\nAs a rule I want less.\n",
        # tables of risks, and tables without ids and priorities
        "# A\n\n| ID | Risk | Impact |\n|---|---|---|\n| R1 | fire | high |\n| R2 | flood | high |\n",
        "# A\n\n| Feature | Notes |\n|---|---|\n| Login | soon |\n| Logout | later |\n",
    ],
)
def test_a_text_that_only_looks_like_a_list_is_refused(text: str) -> None:
    assert refused(read(text))


def test_stories_are_units_and_requirements_beside_them_are_reported_with_the_way_to_choose_them() -> None:
    text = """
        # Shop
        ## User Stories
        ### US-001: Login
        **Acceptance Criteria:**
        - [ ] Works
        ### US-002: Logout
        **Acceptance Criteria:**
        - [ ] Works too
        ## Functional Requirements
        - FR-1: The system must log in.
        - FR-2: The system must log out.
    """
    document = read(text)
    assert names(document) == ["US-001", "US-002"]
    assert [(offer.name, offer.units, offer.count) for offer in document.rivals] == [("FR-1 to FR-2", "fr", 2)]
    assert names(read(text, units="fr")) == ["FR-1", "FR-2"]


def test_units_names_boxes_or_a_list_whatever_reader_would_come_first_and_is_refused_where_there_is_none() -> None:
    text = (
        "# PRD\n## Scope\n- FR-1: log in\n- FR-2: log out\n## Tasks\n- [ ] T001 make a form\n- [ ] T002 make a button\n"
    )
    assert names(read(text, units="fr")) == ["FR-1", "FR-2"]
    assert names(read(text, units="box")) == ["T001", "T002"]
    document = read("# A\n\n## Scope\n\n- FR-1: one thing\n- FR-2: another thing\n", units="us")
    assert refused(document)
    assert document.findings[0].code == "unknown_units"
    assert "FR-1 to FR-2" in document.findings[0].message


def test_sections_are_chunks_unless_a_dependency_points_to_a_later_one() -> None:
    text = """
        # PRD
        ## Shop
        - FR-1: a cart (depends on FR-3)
        - FR-2: a till
        ## Accounts
        - FR-3: a login
        - FR-4: a logout
    """
    document = read(text)
    assert {unit.chunk for unit in document.units} == {None}
    assert "chunks_joined" in codes(document)
    apart = read(text.replace("(depends on FR-3)", ""))
    assert [unit.chunk for unit in apart.units] == ["Shop", "Shop", "Accounts", "Accounts"]


def test_stories_that_tell_without_wishing_count_under_a_heading_that_announces_them() -> None:
    text = "## Utente\n\n- Come utente, apro la mappa vicina.\n- Come utente, vedo la zona corrente.\n- Come admin, avvio uno scenario nuovo.\n"
    assert len(read("# User Stories\n\n" + text).units) == 3
    assert refused(read("# Note\n\n" + text))


def test_a_large_document_is_read_in_linear_time() -> None:
    def size(count: int) -> str:
        return "# Big\n\n" + "".join(
            f"### R{i}: title {i}\n\nDepends on: R{max(1, i - 3)}\n\n- [ ] criterion\n\n" for i in range(2, count)
        )

    document = read_document(Source(size(3000)))
    assert len(document.units) == 2998
    assert all(len(unit.criteria) == 1 for unit in document.units)
