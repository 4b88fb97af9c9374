"""Lists of records in JSON and YAML: what is a unit, where it stands, what is said about the rest."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.planner.draft import DocumentError
from tests.planner.structured import codes, look, read, targets
from tests.util.each import each


@each(
    ("document", "expected"),
    [
        ({"userStories": [{"id": "US-1", "title": "Log in", "acceptanceCriteria": ["works"]}]}, "US-1: Log in, 1"),
        ([{"id": "T-1", "title": "Log in", "acceptance_criteria": ["a", "b"], "status": "open"}], "T-1: Log in, 2"),
        ([{"id": "A-1", "title": "One thing", "priority": 1, "passes": False}], "A-1: One thing, 0"),
        ({"US-1": {"title": "In", "acceptanceCriteria": ["a"]}, "US-2": {"title": "Out"}}, "US-1: In, 1 | US-2: Out, 0"),
        ([{"category": "ui", "description": "It opens", "steps": ["a", "b"], "complete": False}], "None: It opens, 2"),
        ({"requirements": ["It keeps a log", "FR-2: For a year"]}, "None: It keeps a log, 0 | FR-2: For a year, 0"),
        ({"phases": [{"id": 1, "tasks": [{"id": "1.1", "name": "Do", "test": {"assertions": ["x"]}}]}]}, "1.1: Do, 1"),
        ({"id": "t-9", "title": "One", "description": "All", "subtasks": [{"verification": {"specificChecks": ["p", "q"]}}]}, "t-9: One, 2"),
        ({"features": {"Search": {"F1": "By name", "F2": "By date"}}}, "F1: By name, 0 | F2: By date, 0"),
        ({"features": [{"F10": "Print it all"}, {"F2": "Save it all"}]}, "F10: Print it all, 0 | F2: Save it all, 0"),
        ({"tasks": {"T1": {"title": "One of two"}, "T2": {"title": "Two of two"}}}, "T1: One of two, 0 | T2: Two of two, 0"),
        (
            {
                "prd": {
                    "meta": {},
                    "user_stories": [{"id": "s", "story": "As a cook I want salt", "acceptance_criteria": "a; b"}],
                }
            },
            "s: As a cook I want salt, 2",
        ),
        ({"requirements": [{"id": "Q-1", "owner": "core", "marker": "keeps time"}]}, "Q-1: keeps time, 0"),
        ({"issues": [{"number": 12, "title": "It crashes at night", "state": "open"}]}, "12: It crashes at night, 0"),
    ],
)  # fmt: skip
def test_a_record_is_a_unit_in_every_known_shape(document: Any, expected: str) -> None:
    """With its id, its title and the number of its criteria."""
    units = read(document).units
    assert " | ".join(f"{unit.id}: {unit.title}, {len(unit.criteria)}" for unit in units) == expected


@each(
    "document",
    [
        {"environment": {"LOG": "info"}, "secrets": [{"name": "token"}]},
        {"name": "pkg", "version": "1.0.0", "scripts": {"test": "x"}, "dependencies": {"a": "1"}},
        {"version": "2.0.0", "tasks": [{"label": "build it all", "type": "shell", "command": "make"}]},
        {"apiVersion": "v1", "kind": "Thing", "tasks": [{"name": "a b", "status": "x"}]},
        {"dependencies": [{"name": "redis chart", "version": "1", "repository": "x"}]},
        [{"id": 1, "name": "Ann", "email": "a@b.c"}, {"id": 2, "name": "Bob", "email": "b@b.c"}],
        {"features": ["fast", "secure"]},
        {"tasks": []},
        {},
        [],
        "text",
        [1, 2, 3],
        {"$schema": "x", "properties": {"tasks": {"type": "array"}}},
    ],
)
def test_configuration_and_data_are_no_plan(document: Any) -> None:
    assert look(json.dumps(document)) is None


def test_a_unit_stands_at_its_id_else_at_its_title_else_at_its_text() -> None:
    text = """\
        {"stories": [
          {"title": "First of them",
           "id": "S-1",
           "acceptance": ["a",
             {"id": "AC-7", "text": "b"}, {"text":
               "c"}]},
          {
            "title": "Second of them", "passes": true}
        ]}
        """
    first, second = read(text).units
    assert [(c.line, c.id, c.text) for c in first.criteria] == [(4, None, "a"), (5, "AC-7", "b"), (5, None, "c")]
    assert (first.line, second.line, second.id) == (3, 8, None)
    assert [unit.line for unit in read('["One whole sentence here",\n\n"Another whole sentence"]').units] == [1, 3]


@each(
    ("fields", "status"),
    [
        ({"passes": True}, "done"),
        ({"passes": False, "status": "done"}, "open"),
        ({"complete": True}, "done"),
        ({"status": "Completed"}, "done"),
        ({"status": "✅ Done"}, "done"),
        ({"status": "in-progress"}, "open"),
        ({"status": "cancelled"}, "dropped"),
        ({"status": "won't do"}, "dropped"),
        ({"status": "deferred"}, "future"),
        ({"priority": "Won't have"}, "future"),
        ({"optional": True}, "optional"),
    ],
)
def test_status_is_what_the_record_claims(fields: dict[str, Any], status: str) -> None:
    document = read({"stories": [{"id": "S-1", "title": "One of them", "acceptance": ["x"], **fields}]})
    assert document.units[0].status.value == status
    noted = {"dropped": ["dropped"], "future": ["out_of_scope"], "optional": ["optional"]}
    assert codes(document) == noted.get(status, [])


def test_dependencies_are_ids_of_any_spelling_and_never_libraries() -> None:
    given: list[tuple[str, Any, list[str]]] = [
        ("dependsOn", [], []),
        ("depends_on", "US-1 and US-9", ["US-1", "US-9"]),
        ("dependencies", ["us_1", "Story number 1", "zod", "react@18", "utf-8", "s3"], ["US-1"]),
        ("blockedBy", [{"id": "US-3"}, {"id": "US-1", "type": "related"}], ["US-3"]),
        ("dependencies", {"requires": ["task-001-setup"], "enables": ["US-1"]}, ["task-001-setup"]),
        ("dependsOn", ["none"], []),
        ("dependsOn", ["US-XXX"], ["US-XXX"]),
    ]
    cases = enumerate(given, 1)
    stories = [{"id": f"US-{n}", "title": f"Story number {n}", key: value} for n, (key, value, _) in cases]
    document = read({"stories": stories})
    assert [targets(unit) for unit in document.units] == [expected for _, _, expected in given]
    assert codes(document) == ["dependency_unclear"] * 4
    assert "Depends on: zod" in document.units[2].text
    assert all(unit.rank == 0 for unit in document.units)


def test_units_without_ids_may_be_called_by_their_title() -> None:
    tasks = [{"title": "Lay the pipes", "status": "open"}, {"title": "Open the tap", "dependsOn": ["Lay the pipes"]}]
    first, second = read({"tasks": tasks}).units
    assert targets(second) == ["Lay the pipes"]
    assert first.tags == ("Lay the pipes",)


def test_numeric_priority_orders_only_where_nothing_is_declared() -> None:
    stories = [
        {"id": "A-1", "title": "Comes last", "priority": 20},
        {"id": "A-2", "title": "Comes first", "priority": 3},
        {"id": "A-3", "title": "Has none", "passes": False},
    ]
    assert [unit.rank for unit in read({"stories": stories}).units] == [2, 1, 3]
    stories[0]["dependsOn"] = ["A-2"]
    assert [unit.rank for unit in read({"stories": stories}).units] == [0, 0, 0]
    words = [{"id": "A-1", "title": "Must be done", "priority": "P0"}]
    assert [(unit.rank, unit.priority) for unit in read({"stories": words}).units] == [(0, "P0")]


def test_commands_and_files_are_carried_as_data_with_their_place() -> None:
    story = {
        "id": "US-1",
        "title": "One of them",
        "description": "Change `src/app.py` only",
        "acceptanceCriteria": [
            {"text": "x", "testCommand": "grep -q a b && true"},
            "make sure it works",
            "test the login page",
        ],
        "completionCriteria": ["cargo test"],
        "files": ["src/a.ts", "docs/b.md"],
        "verification": {"run": "./check.sh --all"},
        "verify": "make sure that all is well",
    }
    checks = ["pytest -q", "Open it in the browser"]
    document = read({"verifyCommands": ["npm run lint"], "qualityChecks": checks, "userStories": [story]})
    (unit,) = document.units
    assert [(hint.value, hint.carrier) for hint in unit.verify] == [
        ("grep -q a b && true", "json"),
        ("cargo test", "json"),
        ("./check.sh --all", "json"),
    ]
    assert [hint.value for hint in unit.files] == ["src/a.ts", "docs/b.md", "src/app.py"]
    assert [hint.value for hint in document.run_verify] == ["npm run lint", "pytest -q"]
    assert len(unit.criteria) == 3


def test_criteria_come_in_many_forms() -> None:
    document = read(
        """\
        stories:
          - id: S-1
            title: Forms of criteria
            acceptance_criteria: |
              - [ ] AC-1: first
                and its second line
              - [x] second
          - id: S-2
            title: Scenario objects
            acceptance_criteria:
              - {id: AC-9, given: a, when: b, then: [c, d]}
              - Given x
              - When y
              - Then z
              - "It holds: always"
              - speed: under 5 s
          - id: S-3
            title: Groups of criteria
            acceptance_criteria:
              functional: [one, two]
              AC-3: three
          - id: S-4
            title: Own scenario
            given: e
            when: f
            then: g
        """
    )
    found = [[(c.line, c.id, c.text) for c in unit.criteria] for unit in document.units]
    assert found == [
        [(5, "AC-1", "first and its second line"), (7, None, "second")],
        [
            (11, "AC-9", "Given a When b Then c, and d"),
            (12, None, "Given x When y Then z"),
            (15, None, "It holds: always"),
            (16, None, "speed: under 5 s"),
        ],
        [(20, None, "one"), (20, None, "two"), (21, "AC-3", "three")],
        [(24, None, "Given e When f Then g")],
    ]


def test_groups_are_chunks_and_their_dependencies_edges() -> None:
    first = {"id": "a", "description": "Make a base", "files_to_create": ["src/x.py"], "status": "completed"}
    second = {"id": "b", "description": "Make a top"}
    phases = [
        {"phase": 1, "name": "Base", "subtasks": [first]},
        {"phase": 2, "name": "Top", "depends_on": [1], "acceptance": ["stands"], "subtasks": [second]},
        {"phase": 3, "name": "Hollow"},
    ]
    document = read({"feature": "Shop", "phases": phases, "final_acceptance": ["all of it"]})
    assert [(unit.id, unit.chunk) for unit in document.units] == [("a", "Base"), ("b", "Top")]
    assert [(edge.group, edge.target) for edge in document.edges] == [("Top", "Base")]
    assert codes(document) == ["side_list", "criteria_of_no_story", "criteria_of_no_story"]
    assert document.title == "Shop"


def test_a_feature_with_stories_is_the_tag_of_its_stories() -> None:
    first, second = ({"id": f"S-{n}", "title": "Some work here", "criteria": ["x"]} for n in (1, 2))
    features = [
        {"id": "F-1", "title": "Pay", "stories": [first]},
        {"id": "F-2", "title": "Ship", "dependsOn": ["F-1"], "stories": [second]},
    ]
    document = read({"features": features})
    found = [(unit.id, unit.chunk, unit.tags) for unit in document.units]
    assert found == [("S-1", None, ("F-1",)), ("S-2", None, ("F-2",))]
    assert [(edge.group, edge.target) for edge in document.edges] == [("F-2", "F-1")]


def test_owners_are_chunks_only_where_they_keep_the_order() -> None:
    def chunks(owners: str) -> list[str | None]:
        records = [{"id": f"R-{n}", "title": "Some work here", "owner": name} for n, name in enumerate(owners)]
        return [unit.chunk for unit in read({"requirements": records}).units]

    assert chunks("aabb") == ["a", "a", "b", "b"]
    assert chunks("abab") == [None] * 4
    assert chunks("abcd") == [None] * 4


def test_out_of_scope_lists_are_reported_and_not_planned() -> None:
    now, never = ([{"id": f"F-{n}", "title": "Do it now"}] for n in (1, 2))
    document = read({"features": {"mvp": now, "outOfScope": never}})
    assert [unit.status.value for unit in document.units] == ["open", "future"]
    assert codes(document) == ["out_of_scope"]


def test_the_stronger_list_is_planned_and_the_other_named() -> None:
    lists = {
        "requirements": [{"id": "FR-1", "text": "It must be quick"}],
        "userStories": [{"id": "US-1", "title": "Be quick", "acceptanceCriteria": ["x"]}],
    }
    document = read(lists)
    assert [unit.id for unit in document.units] == ["US-1"]
    assert codes(document) == ["side_list"]
    for wanted in ("requirements", "requirement", "fr"):
        assert [unit.id for unit in read(lists, units=wanted).units] == ["FR-1"]
    assert codes(read(lists, units="nothing"), "error") == ["unknown_units"]


RECORDS = st.lists(
    st.fixed_dictionaries(
        {"title": st.text("abc xyz", min_size=3).filter(lambda t: len(t.split()) > 1)},
        optional={
            "id": st.integers(1, 99).map(lambda n: f"US-{n}"),
            "acceptanceCriteria": st.lists(st.text("abc", min_size=1), max_size=3),
            "passes": st.booleans(),
            "dependsOn": st.lists(st.sampled_from(["US-1", "US-2", "x"]), max_size=2),
            "priority": st.integers(-3, 9) | st.sampled_from(["high", None]),
            "notes": st.none() | st.text("ab"),
        },
    ),
    min_size=1,
    max_size=6,
)


@given(RECORDS)
@settings(max_examples=100)
def test_no_record_and_no_criterion_vanishes(records: list[dict[str, Any]]) -> None:
    document = read({"userStories": records})
    assert [unit.title for unit in document.units] == [" ".join(each["title"].split()) for each in records]
    assert [len(unit.criteria) for unit in document.units] == [
        len(each.get("acceptanceCriteria", [])) for each in records
    ]
    assert len({unit.line for unit in document.units}) == len(records)


KEYS = ["id", "title", "tasks", "stories", "phases", "acceptanceCriteria", "dependsOn", "files", "priority", "status"]
KEYS += ["given", "then", "verification", "subtasks", "metadata", "chunk", "requirements", "US-1"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 5) | st.sampled_from(["US-1", "some text here", ""]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=25,
    )
)
@settings(max_examples=150)
def test_any_value_is_read_or_declined_without_a_traceback(value: Any) -> None:
    document = look(json.dumps(value, indent=1)) if isinstance(value, dict | list) else None
    assert document is None or all(unit.line > 0 for unit in document.units)


def test_yaml_ids_stay_as_written() -> None:
    document = read(
        "tasks:\n  - id: 010\n    title: First of them\n  - id: 1.10\n    title: Next of them\n    depends_on: [010, NO-1]\n"
    )
    assert [(unit.id, unit.line, targets(unit)) for unit in document.units] == [
        ("010", 2, []),
        ("1.10", 4, ["010", "NO-1"]),
    ]


def test_yaml_that_is_not_quite_valid_is_read_with_a_warning() -> None:
    document = read(
        """\
        features:
          index:
            - F1: Read a page
            - F10: Mark a page: by hand
          print:
            - F2: Print a page
        acceptance:
          - [ ] Given a page it prints
        """
    )
    assert [(unit.id, unit.chunk, unit.line, unit.title) for unit in document.units] == [
        ("F1", "index", 3, "Read a page"),
        ("F10", "index", 4, "Mark a page: by hand"),
        ("F2", "print", 6, "Print a page"),
    ]
    assert codes(document) == ["criteria_of_no_story", "yaml_repaired"]
    assert "line 4, 8" in document.findings[-1].message


def test_broken_structured_documents_raise_with_their_line() -> None:
    for text, line in (('{"stories": [\n{"id": 1,}]}', 2), ("stories:\n  - id: a\n  id: b\n  id: c\n", 3)):
        with pytest.raises(DocumentError) as caught:
            look(text)
        assert caught.value.line in (line, line + 1)
