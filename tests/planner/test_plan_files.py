"""Files that tools keep their plans in: beads, task-master, project_plan.json, the house PRD, santiago's plan.json."""

import json
from typing import Any

from tests.planner.structured import codes, read, targets
from tests.util.each import each


def test_beads_epics_are_tags_and_related_links_no_edges() -> None:
    parent, blocks = ({"depends_on_id": f"b-{n}", "type": kind} for n, kind in ((1, "parent-child"), (2, "blocks")))
    related = {"depends_on_id": "b-1", "type": "related"}
    issues = [
        {"id": "b-1", "title": "The epic", "issue_type": "epic", "acceptance_criteria": "all done", "priority": 1},
        {"id": "b-2", "title": "The task", "issue_type": "task", "status": "closed", "dependencies": [parent]},
        {"id": "b-3", "title": "The bug", "issue_type": "bug", "status": "deferred", "dependencies": [blocks, related]},
        {"id": "b-4", "title": "A letter", "issue_type": "message"},
    ]
    document = read("\n".join(json.dumps(issue) for issue in issues))
    assert document.format == "beads"
    assert [(unit.id, unit.line, unit.tags, targets(unit), unit.status.value) for unit in document.units] == [
        ("b-2", 2, ("b-1",), [], "done"),
        ("b-3", 3, (), ["b-2"], "future"),
    ]
    assert sorted(codes(document)) == ["context_list", "criteria_of_no_story", "out_of_scope"]


CHILDREN = [
    {"id": 1, "title": "Child one", "dependencies": [], "status": "done"},
    {"id": 2, "title": "Child two", "dependencies": [1, "3", "1.1", 2], "status": "pending"},
    {"id": 3, "title": "Child three", "dependencies": ["7"]},
]
PARENT = {"id": "2", "title": "Parent", "description": "About it", "priority": "high", "status": "pending"}
OFF = {"id": 3, "title": "Off", "details": "x", "status": "cancelled", "subtasks": [{"id": 1, "title": "Off too"}]}
TASKS = [
    {"id": 1, "title": "Base", "testStrategy": "look", "dependencies": [], "status": "done"},
    {**PARENT, "dependencies": [1], "subtasks": CHILDREN},
    {**OFF, "dependencies": ["2.1"]},
    {"id": 7, "title": "Later", "status": "deferred", "dependencies": ["3"]},
]


def test_task_master_leaves_are_units_and_parents_are_tags() -> None:
    document = read({"master": {"tasks": TASKS}})
    assert [(unit.id, unit.tags, targets(unit), unit.status.value) for unit in document.units] == [
        ("1", (), [], "done"),
        ("2.1", ("2",), [], "done"),
        ("2.2", ("2",), ["2.1", "2.3", "1.1"], "open"),
        ("2.3", ("2",), ["7"], "open"),
        ("3.1", ("3",), [], "dropped"),
        ("7", (), ["3"], "future"),
    ]
    assert [(edge.group, edge.target) for edge in document.edges] == [("2", "1"), ("3", "2.1")]
    assert {unit.chunk for unit in document.units} == {None}
    assert "Part of task 2: Parent\nAbout it" in document.units[1].text
    assert document.units[1].priority == "high"
    assert "look" in document.units[0].text
    assert sorted(codes(document)) == ["dependency_unclear", "dropped", "out_of_scope"]


def test_task_master_plans_one_tag_and_names_the_others() -> None:
    tags = {"side": {"tasks": TASKS[:1]}, "master": {"tasks": TASKS[1:2]}, "empty": {"tasks": []}}
    document = read(tags)
    assert [unit.id for unit in document.units] == ["2.1", "2.2", "2.3"]
    assert "other_tags" in codes(document)
    other = read(tags, units="side")
    assert [(unit.id, unit.chunk) for unit in other.units] == [("1", "side")]
    assert codes(read(tags, units="none"), "error") == ["unknown_units"]
    assert [unit.chunk for unit in read({"only": {"tasks": TASKS[:1]}}).units] == ["only"]
    assert [unit.chunk for unit in read({"tasks": TASKS[:1]}).units] == [None]


def test_project_plan_names_all_tasks_without_a_chunk() -> None:
    check = {"verification_method": "pytest tests/b.py"}
    tasks = [
        {"id": "a", "chunk": "C01", "description": "Do it first", "success_criteria": ["x"], "status": "verified"},
        {"id": "b", "description": "Do the next thing", "depends_on": ["a", "zz"], "metadata": check},
        {"id": "c", "description": "Do the last thing", "depends_on": []},
    ]
    document = read({"tasks": tasks})
    assert (document.format, document.by_program) == ("project-plan", True)
    assert [(unit.id, unit.chunk, targets(unit), unit.status.value) for unit in document.units] == [
        ("a", "C01", [], "done"),
        ("b", None, ["a", "zz"], "open"),
        ("c", None, [], "open"),
    ]
    assert [hint.value for hint in document.units[1].verify] == ["pytest tests/b.py"]
    (finding,) = document.findings
    assert (finding.level, finding.code) == ("error", "missing_chunk")
    assert finding.message == "2 of 3 tasks have no chunk: b, c"
    assert '"chunk"' in finding.hint
    assert codes(read({"tasks": [{"chunk": "C01", "description": "No id"}, 3]}), "error") == ["invalid_field"] * 2


HOUSE: dict[str, Any] = {
    "id": "my-feature",
    "title": "A feature",
    "description": "What it is about, at length",
    "requirements": [{"id": "R1", "text": "Keep `src/a.py` small"}, {"id": "R2", "text": "Keep it fast"}],
    "acceptance_criteria": [
        {"id": "AC-1", "given": "a", "when": "b", "then": "R1 holds"},
        {"id": "AC-2", "given": "a", "when": "b", "then": "c"},
    ],
    "verification_command": "make test",
}


def test_house_prd_gives_each_criterion_a_place() -> None:
    document = read(HOUSE)
    assert document.format == "house-json"
    assert [(unit.id, [c.id for c in unit.criteria]) for unit in document.units] == [("R1", ["AC-1"]), ("R2", ["AC-2"])]
    assert codes(document) == ["criteria_shared"]
    assert [hint.value for hint in document.run_verify] == ["make test"]
    assert [hint.value for hint in document.units[0].files] == ["src/a.py"]
    lone = {**HOUSE, "requirements": HOUSE["requirements"][1:]}
    assert [(unit.id, len(unit.criteria)) for unit in read(lone).units] == [("R2", 2)]
    assert codes(read(lone)) == []


def test_house_prd_refuses_all_departures_at_once() -> None:
    requirements = [*HOUSE["requirements"], {"id": "Z1", "text": "", "more": 2}]
    broken = {**HOUSE, "id": "Not OK", "extra": 1, "title": "x", "requirements": requirements}
    del broken["description"]
    document = read(broken)
    said = " ".join(finding.message for finding in document.findings if finding.level == "error")
    for name in ('"extra"', '"id" must', '"title" must', '"description"', '"more"', "Z1"):
        assert name in said


FIRST = {"id": "S1", "title": "First", "chunk": "C01", "criteria": ["R1#1"], "files": ["a.py"], "verify": ["make"]}
SECOND = {"id": "S2", "title": "Second", "chunk": "C02", "criteria": ["R1#2"], "depends_on": ["S1"]}
PLAN: dict[str, Any] = {
    "contract_version": 1,
    "title": "A plan",
    "requirements": [{"id": "R1", "criteria": [{"id": "R1#1", "text": "one"}, {"id": "R1#2", "text": "two"}]}],
    "stories": [{**FIRST, "claimed_done": True}, {**SECOND, "external_depends_on": ["X-1"], "role": "scientist"}],
    "chunks": [{"label": "C01", "stories": ["S1"]}, {"label": "C02", "stories": ["S2"]}],
    "run_verify": ["make all"],
}


def test_an_edited_plan_is_read_back() -> None:
    document = read(PLAN)
    assert (document.format, document.by_program, codes(document)) == ("santiago-plan", True, [])
    first, second = document.units
    assert (first.status.value, first.chunk, [c.text for c in first.criteria]) == ("done", "C01", ["one"])
    assert [(dep.target, dep.carrier) for dep in second.deps] == [("S1", "json"), ("X-1", "external")]
    assert second.role == "scientist"
    assert [hint.value for hint in document.run_verify] == ["make all"]


@each(
    ("change", "code"),
    [
        ({"contract_version": 9}, "invalid_field"),
        ({"stories": [{"id": "S1", "title": "First", "criteria": ["R1#1", "R1#2"]}], "chunks": []}, "missing_chunk"),
        ({"stories": [{**FIRST, "criteria": ["R1#1", "R1#2", "R9#9"]}], "chunks": []}, "invalid_field"),
        ({"chunks": [{"label": "C01", "stories": ["S1", "S2"]}]}, "invalid_field"),
        ({"chunks": [{"label": "C01", "stories": ["S7"]}]}, "invalid_field"),
        ({"stories": {}, "requirements": []}, "invalid_field"),
    ],
)
def test_an_edited_plan_that_contradicts_itself_is_refused(change: dict[str, Any], code: str) -> None:
    assert code in codes(read({**PLAN, **change}), "error")


def test_a_plan_says_which_criteria_no_story_takes() -> None:
    document = read({**PLAN, "stories": PLAN["stories"][:1], "chunks": PLAN["chunks"][:1]})
    assert codes(document) == ["criteria_of_no_story"]
