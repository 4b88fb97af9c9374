"""The readers of prose-like Markdown: which units each takes, what belongs to them, and what is only reported."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from santiago.planner import ids
from santiago.planner.draft import Status
from santiago.planner.reading import read_document
from santiago.planner.source import Options, Source

if TYPE_CHECKING:
    from santiago.planner.draft import Document, Unit


def read(text: str, *, units: str | None = None, allow_fallback: bool = False) -> Document:
    options = Options(units=units, allow_fallback=allow_fallback)
    return read_document(Source(dedent(text).lstrip("\n"), path="prd.md", options=options))


def names(document: Document) -> list[str | None]:
    return [unit.id for unit in document.units]


def criteria(unit: Unit) -> list[str]:
    return [criterion.text for criterion in unit.criteria]


def codes(document: Document) -> set[str]:
    return {finding.code for finding in document.findings}


def refused(document: Document) -> bool:
    return not document.units and any(finding.level == "error" for finding in document.findings)


# Ids


def test_a_bold_paragraph_above_a_list_is_the_group_of_its_items() -> None:
    document = read("""
        # Archive
        ## Requirements
        **Status model**
        - R1. Add a status.
        - R2. Keep the old one.
        - R3. Reversible.
        - R10. Durable.

        **Operations**
        - R4. Archive many.
        - R5. See R3 and R10 for the rules.
    """)
    assert names(document) == ["R1", "R2", "R3", "R10", "R4", "R5"]
    assert [unit.chunk for unit in document.units] == ["Status model"] * 4 + ["Operations"] * 2
    assert all(not unit.deps for unit in document.units)
    assert max(names(document), key=lambda name: ids.natural(name or "")) == "R10"


def test_ids_that_read_like_priorities_are_units_and_as_a_bullets_beside_them_are_context() -> None:
    document = read("""
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
    """)
    assert names(document) == ["P0-1", "P0-2", "P1-1", "P2-1"]
    assert [unit.status for unit in document.units] == [Status.OPEN, Status.OPEN, Status.OPEN, Status.FUTURE]
    assert "context_list" in codes(document)


def test_model_names_and_algorithms_are_never_ids() -> None:
    document = read("""
        # PRD
        ### GPT-5.4 (Codex) — an analysis
        Text.
        ### GPT-4.1 — another
        Text.
        - SHA-256: for digests
        - SHA-512: for nothing
        - ISO-8601: dates
    """)
    assert refused(document)


def test_names_with_digits_are_no_list() -> None:
    assert refused(
        read(
            "# Infra\n\n## S3 storage\n\nText.\n\n## EC2 fleet\n\nText.\n\n## E2E tests\n\nText.\n\n## E2E results\n\nText.\n"
        )
    )


def test_an_id_may_follow_the_number_of_its_section() -> None:
    document = read("# SRS\n\n## 3 Functions\n\n### 3.1 FR-1: Login\n\nText.\n\n### 3.2 FR-2: Logout\n\nText.\n")
    assert [(unit.id, unit.title) for unit in document.units] == [("FR-1", "Login"), ("FR-2", "Logout")]


def test_an_id_may_be_written_with_a_space() -> None:
    document = read("# SRS\n\n### RF 01: Entrar\n\n- a\n\n### RF 02: Sair\n\n- b\n")
    assert names(document) == ["RF 01", "RF 02"]


def test_bullets_under_requirements_inside_a_feature_are_its_criteria() -> None:
    document = read(
        "# PRD\n\n## Feature 1: Login\n\n### Requirements\n\n- a form\n- a session\n\n## Feature 2: Out\n\n- a button\n"
    )
    assert [criteria(unit) for unit in document.units] == [["a form", "a session"], ["a button"]]


def test_goals_metrics_questions_and_decisions_are_side_lists() -> None:
    document = read("""
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
    """)
    assert names(document) == ["FR-1", "FR-2"]
    assert {"G-1", "KPI-1", "ADR-001"} <= {
        finding.message.split(" ")[0] for finding in document.findings if finding.code == "side_list"
    }


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
    side = next(finding for finding in document.findings if finding.code == "side_list")
    assert side.level == "warning"
    assert "FR-1 to FR-2" in side.message
    assert "--units fr" in side.hint
    assert names(read(text, units="fr")) == ["FR-1", "FR-2"]


def test_units_asks_for_a_list_that_is_not_there() -> None:
    document = read("# A\n\n## Scope\n\n- FR-1: one thing\n- FR-2: another thing\n", units="us")
    assert refused(document)
    assert document.findings[0].code == "unknown_units"
    assert "FR-1 to FR-2" in document.findings[0].message


def test_units_names_boxes_or_a_list_whatever_reader_would_come_first() -> None:
    text = """
        # PRD
        ## Requirements
        - FR-1: log in
        - FR-2: log out
        ## Tasks
        - [ ] T001 make a form
        - [ ] T002 make a button
    """
    assert names(read(text, units="fr")) == ["FR-1", "FR-2"]
    assert names(read(text, units="box")) == ["T001", "T002"]


def test_functional_and_non_functional_requirements_are_one_list() -> None:
    document = read(
        "# A\n\n- FR1: one thing\n- FR2: another thing\n\n## Non Functional\n\n- NFR1: fast\n- NFR2: safe\n"
    )
    assert names(document) == ["FR1", "FR2", "NFR1", "NFR2"]


def test_requirements_on_lines_of_one_paragraph_are_apart() -> None:
    document = read("# A\n\nFR1: The first.\nFR2: The second,\nwhich is longer.\nFR3: The third.\n")
    assert names(document) == ["FR1", "FR2", "FR3"]
    assert [unit.line for unit in document.units] == [3, 4, 6]


def test_ids_by_area_are_one_list() -> None:
    document = read("""
        # Requirements
        ## Accounts
        - [ ] **AUTH-01**: Sign up
        - [x] **AUTH-02**: Sign in
        ## Payment
        - [ ] **PAY-01**: Pay by card
    """)
    assert names(document) == ["AUTH-01", "AUTH-02", "PAY-01"]
    assert document.units[1].status is Status.DONE


def test_a_heading_around_headings_that_continue_its_id_is_a_group() -> None:
    document = read(
        "# A\n\n## F1: Accounts\n\n### F1.1: Login\n\n- works\n\n### F1.2: Logout\n\n- works\n\n## F2: Shop\n\n### F2.1: Cart\n\n- works\n"
    )
    assert names(document) == ["F1.1", "F1.2", "F2.1"]


def test_items_that_continue_the_id_of_their_heading_are_its_criteria() -> None:
    document = read(
        "# A\n\n### R1: Flag\n- **R1.1**: a flag\n- **R1.2**: no alias\n\n### R2: Help\n- **R2.1**: a page\n"
    )
    assert names(document) == ["R1", "R2"]
    assert [len(unit.criteria) for unit in document.units] == [2, 1]


def test_an_item_that_fills_a_gap_between_headings_is_a_unit() -> None:
    document = read("# A\n\n### US-1: One\n\ntext\n\n- US-2: Two is announced here\n\n### US-3: Three\n\ntext\n")
    assert names(document) == ["US-1", "US-2", "US-3"]


def test_a_line_that_only_refers_to_ids_defines_nothing() -> None:
    document = read("# A\n\n- FR-1: log in\n- FR-2: log out\n\n## Milestones\n\n- FR-1: FR-2\n- FR-1, FR-2\n")
    assert names(document) == ["FR-1", "FR-2"]


def test_a_summary_list_of_the_same_stories_is_no_second_definition() -> None:
    document = read("""
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
    """)
    assert names(document) == ["1.1", "1.2"]
    assert [unit.line for unit in document.units] == [6, 9]


def test_blocked_and_depends_in_prose_make_no_edges() -> None:
    document = read("""
        # PRD
        ### FR-1: Sync (blocked on Q1)
        This depends on FR-2 in spirit, and blocks FR-3 until Q1 is answered.
        - works
        ### FR-2: Store
        Nothing depends on anything here.
        - works
    """)
    assert not any(dep.is_declared for unit in document.units for dep in unit.deps)


def test_a_dependency_field_takes_lists_ranges_and_none() -> None:
    document = read("""
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
    """)
    assert [[dep.target for dep in unit.deps] for unit in document.units] == [
        [],
        ["R1"],
        ["R1", "R2", "Z-9"],
        ["R1", "R2", "R3"],
    ]


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
    assert [unit.chunk for unit in read(text.replace("(depends on FR-3)", "")).units] == [
        "Shop",
        "Shop",
        "Accounts",
        "Accounts",
    ]


def test_metrics_and_sign_off_give_no_units_and_no_criteria() -> None:
    document = read("""
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
    """)
    assert [criteria(unit) for unit in document.units] == [["a form"], ["a button"]]


# Numbered headings and items with criteria


def test_numbered_headings_with_criteria_are_units() -> None:
    document = read("""
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
    """)
    assert [unit.title for unit in document.units] == ["Upload", "Download"]
    assert [len(unit.criteria) for unit in document.units] == [2, 1]


def test_numbered_chapters_without_criteria_are_no_units() -> None:
    assert refused(
        read("# SRS\n\n## 1. Introduction\n\nText.\n\n## 2. Scope\n\n- a bullet\n\n## 3. Interfaces\n\nText.\n")
    )


def test_stages_that_own_criteria_are_units_and_stages_with_boxes_are_not() -> None:
    stages = read(
        "# P\n\n### Stage 0: Docs\n\nAcceptance criteria:\n\n- docs exist\n\n### Stage 1: Tools\n\nAcceptance criteria:\n\n- tests run\n"
    )
    assert names(stages) == ["0", "1"]
    boxes = read("""
        # P
        ### Phase 1: Docs
        - [ ] write

        Acceptance criteria:

        - docs exist
        ### Phase 2: Tools
        - [ ] add

        Acceptance criteria:

        - tests run
    """)
    assert [unit.title for unit in boxes.units] == ["write", "add"]


def test_a_numbered_list_across_headings_with_criteria_below_each_item_is_a_list_of_units() -> None:
    document = read("""
        # Récits
        ## Compte
        1. En tant que visiteur, je veux m'inscrire.
           - **Critères d'acceptation** :
             - le compte existe
             - un courriel part
        2. En tant que membre, je veux me connecter.
           - **Critères d'acceptation** :
             - la session existe
        ## Bourse
        3. En tant que membre, je veux déposer.
           - **Critères d'acceptation** :
             - le dépôt est enregistré
    """)
    assert names(document) == ["1", "2", "3"]
    assert [len(unit.criteria) for unit in document.units] == [2, 1, 1]


def test_a_dependency_chain_counts_in_its_own_numbers() -> None:
    document = read("""
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
    """)
    assert names(document) == ["1", "2", "3", "4"]
    assert [[dep.target for dep in unit.deps] for unit in document.units] == [[], [], ["1", "2"], ["3"]]


# Tables


def test_table_rows_with_ids_are_units_with_criteria_and_dependencies_from_their_columns() -> None:
    document = read("""
        # SRS
        | ID | Requirement | Priority | Depends on | Acceptance Criteria |
        |----|-------------|----------|------------|---------------------|
        | FR-1 | Log in | High | - | form shown<br>session made |
        | FR-2 | Log out | Low | FR-1 | session ends |
    """)
    assert names(document) == ["FR-1", "FR-2"]
    assert [unit.title for unit in document.units] == ["Log in", "Log out"]
    assert [criteria(unit) for unit in document.units] == [["form shown", "session made"], ["session ends"]]
    assert [[dep.target for dep in unit.deps] for unit in document.units] == [[], ["FR-1"]]
    assert document.units[0].priority == "High"


def test_table_rows_without_ids_need_a_priority_column() -> None:
    document = read(
        "# 需求\n\n| 功能点 | 描述 | 优先级 |\n|---|---|---|\n| 登录 | 手机号登录 | 高 |\n| 注册 | 手机号注册 | 中 |\n"
    )
    assert [unit.title for unit in document.units] == ["登录", "注册"]
    assert refused(read("# A\n\n| Feature | Notes |\n|---|---|\n| Login | soon |\n| Logout | later |\n"))


def test_risk_and_traceability_tables_are_no_units() -> None:
    assert refused(read("# A\n\n| ID | Risk | Impact |\n|---|---|---|\n| R1 | fire | high |\n| R2 | flood | high |\n"))
    document = read(
        "# A\n\n- FR-1: log in\n- FR-2: log out\n\n| FR | Story |\n|---|---|\n| FR-1 | US-1 |\n| FR-2 | US-2 |\n"
    )
    assert names(document) == ["FR-1", "FR-2"]


def test_rows_that_no_heading_defines_join_the_list_of_headings() -> None:
    document = read("""
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
    """)
    assert names(document) == ["FR-1", "FR-2", "FR-3"]


def test_a_table_that_spells_as_a_sentences_is_a_list_of_stories() -> None:
    document = read(
        "# US\n\n| En tant que... | J'ai besoin de... | afin de... |\n|--|--|--|\n| visiteur | une page | voir |\n| membre | un profil | modifier |\n"
    )
    assert [unit.line for unit in document.units] == [5, 6]
    assert "visiteur" in document.units[0].title


def test_an_index_table_of_stories_that_have_headings_is_no_second_list() -> None:
    document = read(
        "# US\n\n| ID | Story |\n|--|--|\n| US-1 | Login |\n| US-2 | Logout |\n\n### US-1: Login\n\n- works\n\n### US-2: Logout\n\n- works\n"
    )
    assert [unit.line for unit in document.units] == [8, 12]
    assert "side_list" not in codes(document)


def test_known_requirements_in_a_table_beat_other_ids_in_a_list() -> None:
    document = read("""
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
    """)
    assert names(document) == ["FR-001", "FR-002"]
    assert [unit.priority for unit in document.units] == ["Must", "Should"]


def test_a_form_table_under_a_heading_holds_the_criteria_of_the_unit() -> None:
    document = read("""
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
    """)
    assert [criteria(unit) for unit in document.units] == [["30fps 유지", "5방향 판별"], ["3초 이내"]]
    assert document.units[0].priority == "필수"


def test_rows_whose_text_is_an_as_a_sentence_are_stories_whatever_their_prefix() -> None:
    document = read("""
        # PRD
        | ID | Story | Priority |
        |---|---|---|
        | U01 | As a user, I can add a folder | P0 |
        | U02 | As a user, I can remove a folder | P1 |
        ## Requirements
        - FR1: watch folders
        - FR2: match rules
    """)
    assert names(document) == ["U01", "U02"]


# Stories by their sentence


def test_bare_as_a_sentences_are_units_in_many_languages() -> None:
    sentences = [
        "As a user, I want to log in so that I see my data.",
        "En tant que membre, je veux me connecter.",
        "Como cliente, quiero pagar con tarjeta.",
        "Como cliente, quero ver meus pedidos.",
        "Als Nutzer möchte ich mich anmelden.",
        "Als gebruiker wil ik inloggen.",
        "Som användare vill jag logga in.",
        "Как пользователь, я хочу войти.",
        "Sebagai admin, saya ingin masuk.",
        "作为用户，我想要登录。",
        "ユーザーとして、ログインしたい。",
        "사용자로서 로그인하고 싶다.",
    ]
    document = read("# Stories\n\n" + "\n\n".join(sentences) + "\n")
    assert len(document.units) == len(sentences)
    assert [unit.line for unit in document.units] == list(range(3, 3 + 2 * len(sentences), 2))


def test_as_a_result_is_no_story() -> None:
    assert refused(read("# Notes\n\nAs a result, I can say that we want more.\n\nAs a rule I want less.\n"))


def test_one_line_of_criteria_is_split_and_stories_without_any_have_none() -> None:
    document = read("""
        # Stories
        ## TS-IAM-001 - Sign in
        As a user I want to sign in.
        Acceptance criteria: form; session; error; log.
        ## TS-IAM-002 - Sign out
        As a user I want to sign out.
        Acceptance criteria: button; session ends; log.
        ## TS-I18N-001 - Languages
        As a user I want my language.
    """)
    assert names(document) == ["TS-IAM-001", "TS-IAM-002", "TS-I18N-001"]
    assert [len(unit.criteria) for unit in document.units] == [4, 3, 0]


def test_criteria_behind_a_label_may_go_on_over_lines() -> None:
    document = read("""
        # S
        ### US-1 Kill
        - **Acceptance criteria:** accepts a name
          or an index; asks before it
          kills; ends.
        ### US-2 List
        - works
    """)
    assert criteria(document.units[0]) == ["accepts a name or an index", "asks before it kills", "ends."]
    assert [criterion.line for criterion in document.units[0].criteria] == [3, 4, 5]


def test_a_fence_behind_a_story_is_not_read() -> None:
    document = read(
        "# S\n\nAs a user, I want one.\n\n````yaml\n- As a user, I want two\n```\n### US-1: three\n```\n````\n\nAs a user, I want four.\n"
    )
    assert [unit.line for unit in document.units] == [3, 12]
    assert "fence_not_read" in codes(document)


def test_a_heading_with_one_as_a_paragraph_is_the_story() -> None:
    document = read(
        "# User Stories\n\n## Catálogo\nComo cliente\nQuero ver produtos\nPara escolher\n\n## Conta\nComo usuário\nQuero acessar meus dados\nPara gerir\n"
    )
    assert [unit.title for unit in document.units] == ["Catálogo", "Conta"]


def test_persona_stories_with_criteria_beat_requirements_without() -> None:
    document = read("""
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
    """)
    assert [criteria(unit) for unit in document.units] == [["pipelines still work"], ["fewer tickets"]]
    assert "FR-001 to FR-002" in " ".join(finding.message for finding in document.findings)


def test_a_letter_for_each_epic_is_no_side_list() -> None:
    document = read("""
        # Récits
        ## EPIC A — Compte
        ### A1 — Créer un profil
        **En tant que** membre
        **Je veux** un profil
        #### Critères d'acceptation
        ```gherkin
        Étant donné un compte
        Quand je me connecte
        Alors un profil existe

        Étant donné un profil
        Quand je le change
        Alors il est changé
        ```
        ### A2 — Modifier
        **En tant que** membre
        **Je veux** modifier
        ## EPIC C — Groupes
        ### C1 — Créer
        **En tant que** membre
        **Je veux** un groupe
        ## EPIC I — Envois
        ### I1 — Envoyer
        **En tant que** membre
        **Je veux** envoyer
    """)
    assert names(document) == ["A1", "A2", "C1", "I1"]
    assert [criterion.line for criterion in document.units[0].criteria] == [8, 12]
    assert document.units[2].chunk == "EPIC C — Groupes"


def test_stories_that_tell_without_wishing_count_under_a_heading_that_announces_them() -> None:
    text = "## Utente\n\n- Come utente, apro la mappa vicina.\n- Come utente, vedo la zona corrente.\n- Come admin, avvio uno scenario nuovo.\n"
    assert len(read("# User Stories\n\n" + text).units) == 3
    assert refused(read("# Note\n\n" + text))


def test_wishes_under_user_stories_are_stories_and_the_fences_behind_them_are_not_read() -> None:
    document = read("""
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
    """)
    assert [unit.line for unit in document.units] == [4, 8, 13]


def test_labels_without_their_accents_are_understood() -> None:
    document = read(
        "# SRS\n\n### FR-01. Cham cong\n\nNguoi dung:\n\n- xem\n\nTieu chi chap nhan:\n\n- dung\n- du\n\n### FR-02. Luong\n\nTieu chi chap nhan:\n\n- tinh\n"
    )
    assert [criteria(unit) for unit in document.units] == [["dung", "du"], ["tinh"]]


def test_a_section_that_says_it_is_deferred_is_not_planned() -> None:
    document = read("""
        # Requirements
        ## v1 Requirements
        - [ ] **AUTH-01**: Sign in
        - [x] **AUTH-02**: Sign out
        ## v2 Requirements
        Deferred to future release. Tracked but not in current roadmap.
        - **AUTH-05**: Single sign-on
        ## Traceability
        | Requirement | Phase | Status |
        |---|---|---|
        | AUTH-01 | Phase 1 | Pending |
        | AUTH-02 | Phase 1 | Complete |
    """)
    assert [(unit.id, unit.status) for unit in document.units] == [
        ("AUTH-01", Status.OPEN),
        ("AUTH-02", Status.DONE),
        ("AUTH-05", Status.FUTURE),
    ]


# Kiro


def test_kiro_requirements_in_three_languages() -> None:
    document = read("""
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
    """)
    assert document.format == "kiro-requirements"
    assert names(document) == ["16", "16A", "17"]
    assert sorted(["17", "16A", "16"], key=ids.natural) == ["16", "16A", "17"]
    assert [len(unit.criteria) for unit in document.units] == [2, 1, 1]


def test_improved_requirements_as_plain_paragraphs_are_units() -> None:
    document = read("""
        # SRS
        ## Review
        Requirement 1: The system shall log in.

        Requirement 2: The system shall log out.

        Requirement 4A: The system shall export.

        Requirement 4B: The system shall import.
    """)
    assert names(document) == ["1", "2", "4A", "4B"]


def test_original_requirements_yield_to_improved_ones() -> None:
    document = read("""
        # SRS
        ## Requirement 1
        **Original Requirement:** The system is fast.

        **Improved Requirement:** The system answers in 200 ms.
        ## Requirement 2
        **Original Requirement:** The system is safe.

        **Improved Requirement:** The system encrypts at rest.
    """)
    assert names(document) == ["1", "2"]
    assert [unit.title for unit in document.units] == ["The system answers in 200 ms.", "The system encrypts at rest."]


def test_a_requirement_that_was_split_up_is_the_group_of_its_parts() -> None:
    document = read("""
        # SRS
        ### Requirement 3
        **Improved Requirement:** The system shall log.
        ### Requirement 4
        **Original Requirement:** The system does everything.

        Requirement 4A: The system shall export.

        Requirement 4B: The system shall import.
        ### Requirement 5
        **Improved Requirement:** The system shall end.
    """)
    assert names(document) == ["3", "4A", "4B", "5"]


# spec-kit


def test_spec_kit_stories_are_units_and_both_other_lists_one_note() -> None:
    document = read("""
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
    """)
    assert document.format == "spec-kit-spec"
    assert [(unit.id, unit.title, unit.priority) for unit in document.units] == [
        ("0", "Setup", "P1"),
        ("1", "Add", "P2"),
    ]
    assert [len(unit.criteria) for unit in document.units] == [1, 2]
    side = [finding for finding in document.findings if finding.code == "side_list"]
    assert len(side) == 1
    assert "FR-001" in side[0].message
    assert "SC-001" in side[0].message
    assert "US1" in document.units[1].tags


# BMAD


def test_a_story_belongs_to_the_epic_around_it_and_keeps_its_former_id() -> None:
    document = read("""
        # PRD
        ## Epic 2: Shop
        ### Story 2.3: Cart
        As a buyer, I want a cart.
        ### Story 2.4: Pay (formerly 2.2)
        As a buyer, I want to pay.
        ## Epic 2.3: Returns
        ### Story 2.3.1: Send back
        As a buyer, I want my money.
    """)
    assert document.format == "bmad"
    assert [(unit.id, unit.chunk) for unit in document.units] == [
        ("2.3", "Epic 2: Shop"),
        ("2.4", "Epic 2: Shop"),
        ("2.3.1", "Epic 2.3: Returns"),
    ]
    assert "2.2" in document.units[1].tags
    assert "Epic 2" in document.units[1].tags


def test_stories_as_bold_paragraphs_and_numbered_items_know_their_epic_and_dependencies() -> None:
    document = read("""
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
    """)
    assert names(document) == ["M1.1", "M1.2", "M2.1"]
    assert [dep.target for dep in document.units[2].deps if dep.carrier != "prose"] == ["M1.1", "M1.2"]
    assert [hint.value for hint in document.units[2].covers] == ["M-FR-1"]
    assert document.units[2].chunk == "Epic M2: Top"


def test_an_epic_without_numbered_stories_gives_the_items_under_its_stories_label() -> None:
    document = read("""
        # Epics
        ## Epic 1 — Base
        **Stories:**
        - `story-repo` (1h) — a repo
        - `story-chain` (1h) — a chain

        **Dependencies:** None
        ## Epic 2 — Tools
        **Stories:**
        - `story-tools` (2h) — tools

        **Dependencies:** Epic 1 complete
    """)
    assert names(document) == ["story-repo", "story-chain", "story-tools"]
    assert [(edge.group, edge.target) for edge in document.edges] == [("Epic 2 — Tools", "Epic 1 — Base")]


# Fallback


def test_phases_become_stories_only_on_request_and_loudly() -> None:
    text = """
        # PRD
        ## Phase 1: Base
        1. Make a repo
        2. Make a test
        ## Phase 2: Top
        1. Ship
    """
    assert refused(read(text))
    document = read(text, allow_fallback=True)
    assert [(unit.title, unit.chunk) for unit in document.units] == [
        ("Make a repo", "Phase 1: Base"),
        ("Make a test", "Phase 1: Base"),
        ("Ship", "Phase 2: Top"),
    ]
    assert document.findings[0].code == "fallback_units"
    assert document.findings[0].level == "warning"


def test_feature_bullets_become_stories_on_request() -> None:
    text = "# Produkt\n\n## Ziele\n\n- wachsen\n\n## Funktionen\n\n- Anmelden\n- Abmelden\n\n## Nicht-Ziele\n\n- Bezahlen\n"
    assert refused(read(text))
    assert [unit.title for unit in read(text, allow_fallback=True).units] == ["Anmelden", "Abmelden"]


def test_a_roadmap_in_russian_keeps_its_phases_and_does_not_use_list_numbers_as_ids() -> None:
    text = """
        # Продукт
         # Дорожная карта
        ## Этап 1: Основа (до этапа 2)
        1. База
        2. Вход

        **Критерии приёмки:**

        - вход работает
        ## Этап 2: Рост
        1. Отчёты
    """
    assert refused(read(text))
    document = read(text, allow_fallback=True)
    assert [(unit.title, unit.id, unit.chunk) for unit in document.units] == [
        ("База", None, "Этап 1: Основа (до этапа 2)"),
        ("Вход", None, "Этап 1: Основа (до этапа 2)"),
        ("Отчёты", None, "Этап 2: Рост"),
    ]
    assert criteria(document.units[1]) == ["вход работает"]
    assert "criteria_shared" in codes(document)


# Size


def test_a_large_document_is_read_in_linear_time() -> None:
    def size(count: int) -> str:
        return "# Big\n\n" + "".join(
            f"### R{i}: title {i}\n\nDepends on: R{max(1, i - 3)}\n\n- [ ] criterion\n\n" for i in range(2, count)
        )

    document = read_document(Source(size(3000)))
    assert len(document.units) == 2998
    assert all(len(unit.criteria) == 1 for unit in document.units)
