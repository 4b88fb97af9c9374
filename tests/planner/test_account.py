"""The account of a document: every part of it is planned, context or left out by name; a doubt makes the plan a proposal."""

from textwrap import dedent

from santiago.contract import codec
from santiago.contract.codec import plan_digest
from santiago.contract.plan import Plan
from santiago.planner import account
from santiago.planner.compile import compile_plan
from santiago.planner.source import Options, Source
from tests.util.each import each


def plan(text: str, *, units: str | None = None, name: str = "prd.md") -> Plan:
    made = compile_plan(Source(dedent(text).lstrip("\n"), path=name, options=Options(units=units))).plan
    assert made is not None
    return made


def rows(made: Plan) -> list[str]:
    return [
        f"{a}-{b} {row.title}: {row.became} {row.why or ' '.join(row.stories)}".strip()
        for row in made.account
        for a, b in [row.lines]
    ]


WHY = """
    # Shop

    ## CSV export
    Users download their orders as a CSV file.

    ## Login
    People sign in with an address and a password.

    ## Small stuff
    - [ ] Fix the typo
    - [ ] Rename the button
"""


def test_sections_of_prose_beside_a_few_boxes_are_named_as_not_planned() -> None:
    made = plan(WHY)
    assert rows(made) == [
        "1-1 Shop: context a heading",
        "3-4 CSV export: left_out not understood",
        "6-7 Login: left_out not understood",
        "9-11 Small stuff: planned S1 S2",
    ]
    assert (made.certain, made.chosen and (made.chosen.units, made.chosen.count)) == (False, ("box", 2))


ABOUT = "## Core value\nSell fast.\n\n## Answer formats\nJSON.\n\n## Phase 9: Ship\nPack it.\n\n"
PARTS = "## {0}\n### {1}. Timer\n**Acceptance criteria:**\n- a\n### {2}. History\n**Acceptance criteria:**\n- b\n\n"


@each(
    ("text", "left"),
    [
        (PARTS.format("Work", 1, 2), ["Phase 9: Ship"]),
        (PARTS.format("One", 1, 2) + PARTS.format("Two", 3, 4), ["Core value", "Phase 9: Ship"]),
        ("## Small stuff\n- [ ] Fix it\n- [ ] Name it\n", ["Core value", "Phase 9: Ship"]),
    ],
)
def test_if_a_plan_is_asked_about_sections_without_units_are_context_unless_a_part(text: str, left: list[str]) -> None:
    made = plan(f"# App\n\n{ABOUT}{text}")
    assert not made.certain
    assert [row.title for row in made.account if row.why == "not understood"] == left
    alone = plan(f"# App\n\n## Answer formats\nJSON.\n\n{TASKS[7:]}")  # here the section is what is asked about
    assert (rows(alone)[1], alone.certain) == ("3-4 Answer formats: left_out not understood", False)


def test_short_ids_under_a_heading_of_context_leave_a_doubt() -> None:
    tests = "# Cache\n\n## {0}\n- **S1 red:** the cache is cold\n- **S2 green:** the cache is warm\n"
    assert (plan(tests.format("Evaluation")).certain, plan(tests.format("The work")).certain) == (False, True)


def test_a_section_of_nothing_but_code_is_context() -> None:
    assert rows(plan(f"{TASKS}\n## Adapter\n```js\nwrap(it)\n```\n"))[-2:] == [
        "7-10 Adapter: context",
        "8-10 js: context code",
    ]


TASKS = "# App\n\n## Tasks\n- [ ] T1: log in\n- [ ] T2: log out\n"


@each(
    ("text", "row", "certain"),
    [
        ("## Goals\n- grow\n- sell\n", "7-9 Goals: context", True),
        ("## 7. Security & privacy\nAll is signed.\n", "7-8 7. Security & privacy: context", True),
        ("## Nichtfunktionale Anforderungen\n- schnell\n", "7-8 Nichtfunktionale Anforderungen: context", True),
        ("## Sicherheit und Risiken\n- keine\n", "7-8 Sicherheit und Risiken: context", True),
        ("## 技术架构\n- Go\n", "7-8 技术架构: context", True),
        ("## Einführung und Zielsetzung\nWarum.\n", "7-8 Einführung und Zielsetzung: context", True),
        ("## 변경 이력\n- 초안\n", "7-8 변경 이력: context", True),
        ("## Engineering principles\n- small\n", "7-8 Engineering principles: context", True),
        ("## Definition of Done (team)\n- [ ] reviewed\n- [ ] tested\n", "7-9 Definition of Done (team): left_out a definition of done", True),
        ("## Out of scope\n- cars\n- ships\n", "7-9 Out of scope: left_out out of scope", True),
        ("## Ideas for later\n- cars\n", "7-8 Ideas for later: left_out out of scope", True),
        ("## Goals and non-goals\nSell.\n", "7-8 Goals and non-goals: context", True),
        ("## Payments\n- cards\n- coupons\n", "7-9 Payments: left_out not understood", False),
        ("## Data export\nAll as CSV.\n", "7-8 Data export: left_out not understood", False),
        ("## Payments\n", "7-7 Payments: left_out empty", True),
        ("## Payments\nLater.\n\n## Not planned\n- Payments: later\n", "7-8 Payments: left_out named as left out", True),
        ("## Architecture\n\n### Backend\nGo.\n", "7-10 Architecture: context", True),
        ("## Payments\nCards.\n\n### Overview\nText.\n", "7-11 Payments: left_out not understood", False),
        ("## Notes\n\n```\n- [ ] a\n- [ ] b\n```\n", "9-12 code: left_out code, which is not read", False),
        ("## Notes\n\n```sh\nmake\n```\n", "9-11 sh: context code", True),
        ("<!-- sell cars -->\n", "7-7 comment: left_out a comment", True),
        ("## Links\n[more](docs/more.md)\n", "8-8 docs/more.md: left_out another file, which is not read", True),
    ],
)  # fmt: skip
def test_a_part_is_what_its_heading_says_and_else_not_understood(text: str, row: str, certain: bool) -> None:
    made = plan(f"{TASKS}\n{text}")
    assert row in rows(made)
    assert made.certain == certain


@each(
    ("text", "row"),
    [
        ("- plain one\n- plain two\n", '7-8 list under "Tasks": left_out not understood'),
        ("| Feature | Owner |\n|---|---|\n| pay | Ann |\n| ship | Bob |\n", '9-10 table under "Tasks": left_out not understood'),
    ],
)  # fmt: skip
def test_a_list_or_table_beside_the_units_of_its_section_is_named(text: str, row: str) -> None:
    made = plan(f"{TASKS}\n{text}")
    assert (row in rows(made), made.certain) == (True, False)


def test_another_list_of_ids_is_a_rival_that_units_selects_unless_its_section_is_context() -> None:
    text = "# PRD\n## Stories\n### US-1: Pay\n- ok\n### US-2: Ship\n- ok\n## {}\n- NFR-1: fast\n- NFR-2: safe\n"
    made = plan(text.format("More"))
    assert (made.certain, [(one.name, one.count, one.lines) for one in made.rivals]) == (
        False,
        [("NFR-1 to NFR-2", 2, (8, 9))],
    )
    taken = plan(text.format("More"), units=made.rivals[0].units)
    assert [story.origin.id for story in taken.stories] == ["NFR-1", "NFR-2"]
    assert plan(text.format("Non-functional requirements")).certain


def test_headings_without_ids_are_a_proposal_and_known_formats_are_certain() -> None:
    assert not plan("# Plan\n## 1. Timer\n- [ ] a\n- [ ] b\n## 2. History\n- [ ] c\n- [ ] d\n").certain
    speckit = plan(
        "# Tasks\n## Anything\nText.\n## Phase 1: Setup\n- [ ] T001 [P] Make `a.py`\n- [ ] T002 Make `b.py`\n"
    )
    assert (speckit.source.format, speckit.certain) == ("spec-kit-tasks", True)


def test_a_phase_whose_tasks_are_planned_is_planned_and_agents_are_told_its_text() -> None:
    phase = "## Phase {0}: {1}\nFirst {1}.\n- by hand\n\n### Tasks\n- [ ] {1} one\n- [ ] {1} two\n\n"
    made = plan("# Plan\n" + phase.format(1, "Sign in") + phase.format(2, "Testing"))
    assert rows(made)[1:] == [
        "2-4 Phase 1: Sign in: planned S1 S2",
        "6-8 Tasks: planned S1 S2",
        "10-12 Phase 2: Testing: planned S3 S4",
        "14-16 Tasks: planned S3 S4",
    ]
    assert made.account[1].text == "## Phase 1: Sign in\nFirst Sign in.\n- by hand"
    assert made.certain


RALPH = (
    "# PRD: Shop\n\n## Introduction\nSell.\n\n## User Stories\n"
    "### US-001: Pay\n**Description:** As a buyer, I want to pay.\n\n**Acceptance Criteria:**\n- [ ] paid\n- [ ] Typecheck passes\n"
    "### US-002: Return\n**Description:** As a buyer, I want my money back.\n\n**Acceptance Criteria:**\n- [ ] paid back\n\n"
    "## Functional Requirements\n- FR-1: The shop must take cards\n- FR-2: The shop must pay back\n\n## Non-Goals\n- Cash\n"
)


def test_a_prd_for_ralph_is_certain_although_requirements_stand_beside_its_stories() -> None:
    made = plan(RALPH)
    assert (made.source.format, [story.origin.id for story in made.stories]) == ("ralph-prd", ["US-001", "US-002"])
    assert (made.certain, rows(made)[3]) == (True, "19-21 Functional Requirements: context")
    assert [story.origin.id for story in plan(RALPH, units="fr").stories] == ["FR-1", "FR-2"]
    assert not plan(f"{RALPH}\n## Payments\n- coupons\n- points\n").certain
    named = ("Introduction", "User Stories", "Description", "Functional Requirements", "Non-Goals")
    other = RALPH
    for english, said in zip(
        named, ("Introducao", "Histórias", "Descricao", "Requisitos Funcionais", "Fora do escopo"), strict=True
    ):
        other = other.replace(english, said)
    made = plan(other)
    assert (made.source.format, made.certain, rows(made)[3]) == (
        "ralph-prd",
        True,
        "19-21 Requisitos Funcionais: context",
    )


def test_a_quick_specification_of_bmad_is_one_story() -> None:
    made = plan(
        "---\ntitle: 'Story 2.3: Move the buttons'\ntype: 'refactor'\nstatus: 'in-progress'\ncontext: []\n---\n\n"
        '<frozen-after-approval reason="theirs">\n\n## Intent\n\n**Problem:** Far away.\n\n</frozen-after-approval>\n\n'
        "## Code Map\n\n- `app/main.py` -- the page\n- `app/bar.py` -- the bar\n\n## Tasks & Acceptance\n\n**Execution:**\n"
        "- [x] `app/main.py` -- take them out -- moved\n- [ ] `app/bar.py` -- put them in -- moved\n\n"
        "**Acceptance Criteria:**\n- Given a page, when it opens, then the bar shows both\n\n"
        "## Verification\n\n**Commands:**\n- `pytest tests/test_bar.py` -- expected: passes\n"
    )
    (story,) = made.stories
    assert (made.source.format, made.certain, story.origin.id, story.title) == (
        "bmad-quick-spec",
        True,
        "2.3",
        "Move the buttons",
    )
    assert (len(story.criteria), story.files, story.verify, story.claimed_done) == (
        1,
        ("app/main.py", "app/bar.py"),
        ("pytest tests/test_bar.py",),
        False,
    )
    assert rows(made) == ["1-6 front matter: context front matter", "8-33 the beginning: planned S1"]


@each(
    ("heading", "fate"),
    [
        ("4. Stories explicitly out of scope (MVP)", "left_out out of scope"),
        ("Actores principales (stakeholders)", "context"),
        ("KPIs y métricas de verificación", "context"),
        ("Critérios de qualidade", "context"),
        ("Schnittstellen", "context"),
        ("Acteurs et rôles", "context"),
        ("Vue d'ensemble", "context"),
        ("9. 리스크 & 대응 방안", "context"),
        ("Value propositions", "context"),
        ("スコープ外（将来拡張）", "left_out out of scope"),
        ("Gestión de usuarios", "left_out not understood"),
        ("Benutzerverwaltung", "left_out not understood"),
    ],
)
def test_a_heading_says_in_many_languages_what_its_section_is(heading: str, fate: str) -> None:
    made = plan(f"# A\n\n## {heading}\n- a\n- b\n\n## Next\n### FR-1: Timer\n### FR-2: History\n")
    assert rows(made)[1].endswith(f": {fate}")


def test_a_table_whose_header_names_work_and_its_criteria_is_read_or_named_whatever_other_columns_it_has() -> None:
    table = "| ID | Persona | Story | Acceptance criteria |\n|---|---|---|---|\n| U1-DEV | Dev | Browse | fast |\n| U2 | Any | Kill | stops |\n"
    made = plan(f"# A\n\n## Stories\n{table}")
    assert [(story.title, len(story.criteria)) for story in made.stories] == [("Browse", 1), ("Kill", 1)]
    assert made.certain
    unread = table.replace("U1-DEV", "-").replace("U2", "-")
    made = plan(f"# A\n\n## Stories\n{unread}\n## Next\n### FR-1: Timer\n### FR-2: History\n")
    assert (made.certain, [offer.count for offer in made.rivals]) == (False, [2])


def test_what_stands_above_the_first_task_of_a_section_of_context_is_context() -> None:
    task = "### Task {0}: Part\n- [ ] **Step 1: Write `part{0}.py`**\n- [ ] **Step 2: Try it**\n\n"
    made = plan("# Plan\n\n## Global Constraints\n- No new dependency\n\n" + task.format(1) + task.format(2))
    assert rows(made)[1:] == ["3-4 Global Constraints: context", "6-12 Task 1: Part …: planned S1 S2"]
    assert made.account[1].text == "## Global Constraints\n- No new dependency"


def test_a_box_that_only_groups_units_is_no_unread_list() -> None:
    parts = "  - [ ] {0}.1 Read\n    - _Requirements: 1.1_\n  - [ ] {0}.2 Write\n    - _Requirements: 1.2_\n"
    made = plan("# Plan\n" + "".join(f"- [ ] {n}. Part\n\n{parts.format(n)}" for n in (1, 2)))
    assert (made.source.format, len(made.stories)) == ("kiro-tasks", 4)
    assert [row.title for row in made.account if row.became == "left_out"] == []
    made = plan("# Plan\n- [ ] 1. Part\n  - _Requirements: 1_\n\n- [ ] 1.1 Read\n\n- [ ] 1.2 Write\n")
    assert [row.title for row in made.account if row.became == "left_out"] == []


def test_a_list_that_is_ticked_as_a_whole_is_left_out_as_done() -> None:
    phases = "## Phases\n- [x] Phase 1: Base\n- [x] Phase 2: Shop\n\n## Phase Details\n### Phase 3: Pay\n**Depends on**: Nothing\n"
    phases += "**Success Criteria**:\n  1. It is paid\nPlans:\n- [ ] 03-01: Cards\n- [ ] 03-02: Receipts\n"
    for box, why in (("x", "done"), (" ", "not understood")):
        made = plan("# Roadmap\n\n" + phases.replace("[x] Phase 2", f"[{box}] Phase 2"))
        assert (made.source.format, [row.why for row in made.account if row.became == "left_out"]) == (
            "gsd-roadmap",
            [why],
        )


def test_a_column_for_the_name_of_a_requirement_gives_the_title() -> None:
    made = plan(
        "| 요구사항 ID | 요구사항명 | 요구사항 상태 |\n|---|---|---|\n| FR-1 | 결제 | 초안 |\n| FR-2 | 배송 | 초안 |\n"
    )
    assert [story.title for story in made.stories] == ["결제", "배송"]


def test_a_column_whose_header_ends_in_number_gives_the_id_and_not_the_title() -> None:
    made = plan(
        "| Story Number | User Name | Story | Priority |\n|---|---|---|---|\n"
        "| 1 | Ann | As Ann, I want soup | High |\n| 2 | Bo | As Bo, I want tea | Low |\n"
    )
    assert [(story.origin.id, story.title) for story in made.stories] == [
        ("1", "As Ann, I want soup"),
        ("2", "As Bo, I want tea"),
    ]


def test_headings_that_only_group_the_units_are_no_other_list_of_work() -> None:
    pages = "## Pages\n### 1. Header\n#### Task 1: Logo\n\n### 2. Card\n#### Task 2: Text\n\n### 3. Foot\n#### Task 3: Link\n\n"
    rest = "## Rest\n" + "".join(f"#### Task {number}: Part\n" for number in range(4, 10))
    made = plan(f"# Shop\n\n{pages}{rest}")
    assert (made.certain, len(made.stories), made.rivals) == (True, 9, ())
    made = plan(f"# Shop\n\n{pages}### 4. Search\nIt finds things.\n\n### 5. Basket\nIt holds things.\n\n{rest}")
    assert (made.certain, [rival.count for rival in made.rivals]) == (False, [5])


def test_keys_of_json_and_yaml_and_columns_of_csv_are_its_sections() -> None:
    json = '{\n"goals": ["a", "b"],\n"tasks": [\n{"id": "A", "title": "a"},\n{"id": "B", "title": "b"}],\n"payments": [\n"cards",\n"coupons"]}'
    made = plan(json, name="x.json")
    assert rows(made) == ["2-2 goals: context", "3-5 tasks: planned S1 S2", "6-8 payments: left_out not understood"]
    assert not made.certain
    yaml = "title: Shop\ntasks:\n  - id: A\n    title: a\n  - id: B\n    title: b\npayments:\n  - cards\n  - coupons\n"
    assert rows(plan(yaml, name="x.yaml"))[1:] == ["2-6 tasks: planned S1 S2", "7-9 payments: left_out not understood"]
    records = "{0}:\n  - id: {1}-1\n    title: Pay by card\n  - id: {1}-2\n    title: Get a receipt\n"
    asked = records.format("functional_requirements", "FR") + records.format("{}", "X")
    made = plan(asked.format("business_requirements"), name="x.yaml")
    assert rows(made)[1] == "6-10 business_requirements: left_out not understood"
    assert (made.certain, [rival.units for rival in made.rivals]) == (False, ["x"])
    assert plan(asked.format("non_functional_requirements"), name="x.yaml").certain
    sorted_by_state = '{{"completedFeatures": [{0}"A", "title": "a"}}],\n"pendingFeatures": [{0}"B", "title": "b"}}, {0}"C", "title": "c"}}]}}'
    made = plan(sorted_by_state.format('{"id": '), name="x.json")
    assert (rows(made), made.certain) == (
        ["1-1 completedFeatures: left_out done", "2-2 pendingFeatures: planned S1 S2"],
        True,
    )
    csv = plan("Issue key,Summary,Status,Mood\nA-1,Pay,Open,good\n", name="x.csv")
    assert (rows(csv), csv.certain) == (["1-1 columns Mood: left_out not read", "1-2 x.csv: planned S1"][::-1], True)


def test_context_keeps_its_text_within_a_bound() -> None:
    long = "x" * account.MOST_OF_ONE
    made = plan(
        f"{TASKS}\nKeep the API.\n\n## Goals\nGrow.\n\n" + "".join(f"## Notes {n}\n{long}\n\n" for n in range(1, 6))
    )
    told = {row.title: row.text for row in made.account}
    assert (told["Tasks"], told["Goals"]) == ("Tasks\n\nKeep the API.", "## Goals\nGrow.")
    assert (told["Notes 1"][-1], told["Notes 5"]) == ("…", "")
    assert sum(map(len, told.values())) <= account.MOST_TEXT


def test_an_older_plan_without_an_account_is_certain_and_keeps_its_digest() -> None:
    made = plan(TASKS)
    data = {
        key: value
        for key, value in codec.to_data(made).items()
        if key not in ("account", "certain", "chosen", "rivals")
    }
    older = codec.decode(Plan, codec.canonical(data), "plan.json")
    assert older.certain
    assert codec.canonical(older) == codec.canonical(data)
    assert plan_digest(older) != plan_digest(made) == made.digest


def test_stories_below_ids_are_told_in_the_words_of_a_person() -> None:
    made = plan(
        "# Jogo\n- **H01**:\n  - Eu como jogador gostaria de jogar.\n- **H02**:\n  - Eu, como jogador, quero ver pontos.\n"
    )
    assert ([story.origin.line for story in made.stories], made.certain) == ([3, 5], False)


@each(
    "text",
    [
        "### Must\n- M1. a\n- M2. b\n### Should\n- S1. c\n- S2. d\n### Could\n- C1. e\n- C2. f\n",
        (
            "# A\n## EPIC A\n### A1 - Make\nAs a member I want a profile\n## EPIC C\n### C1 - Join\nAs a member I want a group\n"
            "## EPIC I\n### I1 - Send\nAs a member I want mail\n### I2 - Read\nAs a member I want to read\n"
        ),
    ],
)
def test_letters_that_also_stand_for_metrics_or_decisions_are_asked_about(text: str) -> None:
    assert plan(text).certain is False


@each(
    "text",
    [
        "# A\n## Epic 1: Base\n**Stories:**\n- `story-repo` a repo\n- `story-tool` a tool\n",
        "# A\n## Front\n* **1.1. In**\n    * Acceptance criteria:\n        * one\n## Back\n* **1.1. Out**\n    * Acceptance criteria:\n        * two\n",
    ],
)
def test_items_without_ids_and_boxes_are_refused_and_lead_to_a_draft(text: str) -> None:
    (error,) = compile_plan(Source(text, path="prd.md")).errors
    assert "santiago draft" in error.hint
