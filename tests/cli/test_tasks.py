"""The task list of a run: as other tools know one, with one task under way at most, and true at every event."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema_rs

from santiago.contract.fold import Fold
from santiago.contract.phases import ENDED
from santiago.contract.state import RunState, initial
from santiago.executor.schedule import followed
from santiago.report import tasks as lists
from santiago.simulation.random_plans import plan_of, random_plan, story
from santiago.simulation.world import SimulatedPerformer, Simulation
from santiago.util.text import flat
from tests.cli.conftest import Done
from tests.cli.greeter import place
from tests.cli.inside import inside
from tests.executor.test_gates import Person, splitting, stepwise

TEXT = {"type": "string", "minLength": 1, "pattern": r"^[^\u0000-\u001f\u202a-\u202e]+$"}
STATUS = {"enum": ["pending", "in_progress", "completed"]}


def shape(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


DOCUMENT = jsonschema_rs.Draft202012Validator(
    shape(
        contract_version={"const": 1},
        run_id=TEXT,
        tasks={
            "type": "array",
            "items": shape(
                id=TEXT, subject=TEXT, status=STATUS, activeForm=TEXT,
                blockedBy={"type": "array", "items": TEXT, "uniqueItems": True},
            ),
        },
        update_plan=shape(plan={"type": "array", "items": shape(step=TEXT, status=STATUS)}, explanation=TEXT),
    )
)  # fmt: skip


def titles(plan: Any, state: RunState) -> dict[str, str]:
    whole = {story.id: flat(story.title) for story in plan.stories}
    return {name: whole.get(name) or f"{name} of {whole[one.parent or '']}" for name, one in state.stories.items()}


def tasks(plan: Any, state: RunState) -> list[dict[str, Any]]:
    return lists.tasks(plan, state, titles(plan, state))


def update_plan(plan: Any, state: RunState) -> dict[str, Any]:
    return lists.update_plan(plan, state, titles(plan, state))


def document(plan: Any, state: RunState) -> dict[str, Any]:
    return {"contract_version": 1, "run_id": "r", "tasks": tasks(plan, state), "update_plan": update_plan(plan, state)}


def states(run: Simulation) -> Iterator[RunState]:
    fold = Fold(initial(run.plan, followed(run.plan)))
    yield fold.state
    for event in run.store.log:
        fold.apply(event)
        yield fold.state


def in_progress(listed: list[dict[str, Any]]) -> list[str]:
    return [task["id"] for task in listed if task["status"] == "in_progress"]


def test_a_finished_run_has_all_tasks_completed_a_failed_one_none_under_way(success: Done, failure: Done) -> None:
    said = inside("status", "--tasks", cwd=success.repo, env=place(success.repo))
    found = json.loads(said.stdout)
    assert (said.returncode, DOCUMENT.is_valid(found)) == (0, True)
    assert [(task["id"], task["status"], task["blockedBy"]) for task in found["tasks"]] == [
        (name, "completed", []) for name in ("S1", "S2", "S3")
    ]
    assert found["tasks"][0]["activeForm"] == "Working on: Say hello"
    assert found["update_plan"]["plan"][0] == {"step": "Say hello", "status": "completed"}
    assert found["update_plan"]["explanation"] == "3 of 3 tasks completed; run success"
    found = json.loads(inside("status", "--tasks", cwd=failure.repo, env=place(failure.repo)).stdout)
    assert in_progress(found["tasks"]) == []
    assert found["tasks"][2]["blockedBy"][0] == "S1"


def test_a_step_is_under_way_with_its_substep_and_a_plan_names_only_the_substep() -> None:
    run = stepwise(Person(), "S1", "S2", performer=SimulatedPerformer(proposes=splitting))
    run.run()
    seen = []
    for state in states(run):
        found = in_progress(tasks(run.plan, state))
        if found and found not in seen:
            seen.append(found)
        steps = update_plan(run.plan, state)["plan"]
        assert sum(step["status"] == "in_progress" for step in steps) <= 1
    assert seen == [["S1"], ["S1.1", "S1"], ["S1.2", "S1"], ["S2"], ["S2.1", "S2"], ["S2.2", "S2"]]
    (state,) = [*states(run)][-1:]
    subjects = [task["subject"] for task in tasks(run.plan, state)]
    assert subjects[:3] == ["S1.1 of Title S1", "S1.2 of Title S1", "Title S1"]


def test_at_every_event_at_most_one_task_is_under_way_and_it_waits_for_nothing() -> None:
    for seed in range(30):
        run = Simulation(random_plan(Random(seed)), jobs=3)
        run.run()
        _is_true_at_every_event(run)


def _is_true_at_every_event(run: Simulation) -> None:
    for state in states(run):
        listed = tasks(run.plan, state)
        assert DOCUMENT.is_valid(document(run.plan, state))
        under_way = [task for task in listed if task["status"] == "in_progress"]
        assert len(under_way) <= 1
        assert not (under_way and state.phase in ENDED)
        assert all(task["blockedBy"] == [] for task in under_way)
        completed = {task["id"] for task in listed if task["status"] == "completed"}
        assert all(completed.isdisjoint(task["blockedBy"]) for task in listed)


def test_a_story_that_was_left_out_is_no_task_and_titles_do_nothing_to_who_shows_them() -> None:
    plan = plan_of([story("S1"), story("S2", needs=["S1"])])
    state = initial(plan)
    assert tasks(plan, state)[1]["blockedBy"] == ["S1"]
    state.stories["S1"].skipped = True
    (left,) = tasks(plan, state)
    assert (left["id"], left["blockedBy"]) == ("S2", [])
    assert update_plan(plan, state)["explanation"].startswith("0 of 1 task completed, 1 left out")
    plan = plan_of([story("S1", title="Evil \x1b]8;;http://x\x1b\\link\u202e\nnext")])
    found = document(plan, initial(plan))
    assert DOCUMENT.is_valid(found)
    assert found["tasks"][0]["subject"] == "Evil link next"
