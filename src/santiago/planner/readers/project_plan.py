"""project_plan.json, written by a planning agent: tasks with a chunk, dependencies and success criteria.

Chunks run one after the other, so a task without a chunk has no place in the order. It is an error; no chunk is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner import commands
from santiago.planner.draft import Document, Unit, unique
from santiago.planner.findings import error, left_out
from santiago.planner.readers.santiago_plan import without_chunk
from santiago.planner.source import Source
from santiago.planner.structured.records import units
from santiago.planner.structured.records.lists import Member
from santiago.planner.structured.tree import Array, Object, as_text, objects

_OWN = ("chunk", "task_type", "verification_method", "verification_group")


def read(source: Source) -> Document | None:
    root = source.tree
    if not isinstance(root, Object) or not isinstance(tasks := root.get("tasks"), Array):
        return None
    found = objects(tasks)
    if not any(each.text(key) for task in found for each in _layers(task) for key in _OWN):
        return None
    document = Document(
        format="project-plan",
        evidence=(f"{count(len(found), 'task')}, {sum(1 for task in found if task.text('chunk'))} with a chunk",),
        title=root.text("title", "name", "goal", "project"),
        units=[_unit(task) for task in found],
        by_program=True,
    )
    document.findings += [*_invalid(tasks), *without_chunk("tasks", document.units), *left_out(document.units)]
    return document


def _layers(task: Object) -> tuple[Object, ...]:
    """Return a task and its metadata, which may have the same fields."""
    return (task, *objects(task.get("metadata")))


def _unit(task: Object) -> Unit:
    unit = units.gather(Member(task, task.line), "json")
    checks = list(_checks(task))
    return replace(
        unit,
        chunk=task.text("chunk") or None,
        verify=unique((*unit.verify, *(hint for found in checks for hint in found.taken))),
        unread=unique((*unit.unread, *(hint for found in checks for hint in found.left))),
    )


def _checks(task: Object) -> Iterator[commands.Found]:
    """Yield the commands in the fields that say how a task is verified."""
    for node in _layers(task):
        for entry in (node.field("verification_method"), node.field("verification")):
            if entry is not None:
                yield commands.behind_label(as_text(entry.value), entry.line, "json")


def _invalid(tasks: Array) -> Iterator[Finding]:
    """Yield an error for each element that is no task, and for each task without an id."""
    for item in tasks.items:
        if not isinstance(item, Object):
            hint = "Write each task as an object with id, chunk and description."
            yield error("invalid_field", item.line, "an element of tasks is not an object", hint)
        elif not item.text("id"):
            yield error("invalid_field", item.line, "a task has no id", 'Give each task a unique "id".')
