"""Groups of records: phases, epics and parents, as chunks, tags and the dependencies between them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner import ids
from santiago.planner.draft import GroupEdge, Unit
from santiago.planner.findings import note, warning
from santiago.planner.structured.records.criteria import stated_criteria
from santiago.planner.structured.records.deps import mentions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.planner.structured.records.lists import Group

Labels = dict[int, str]
"""Label of each group, by its identity."""


def labels_of(groups: Sequence[Group]) -> Labels:
    """Return a label for each group; where two groups share a title, their parent or id tells them apart."""
    times: dict[str, int] = {}
    for group in groups:
        times[group.label] = times.get(group.label, 0) + 1
    labels: Labels = {}
    used: set[str] = set()
    for number, group in enumerate(groups, 1):
        label = group.label or f"Group {number}"
        if times[group.label] > 1:
            above = group.parent.label if group.parent else ""
            label = f"{above} / {label}" if above else f"{group.names[0]} {label}" if group.names else label
        label = label if label not in used else f"{label} ({number})"
        used.add(label)
        labels[id(group)] = label
    return labels


def placed(unit: Unit, group: Group | None, labels: Labels) -> Unit:
    """Return a unit with the chunk of its nearest stage, and the ids of the parents that it is a part of as tags."""
    tags, chunk = list(unit.tags), unit.chunk
    while group is not None:
        if group.is_chunk:
            chunk = chunk or labels[id(group)]
        elif group.names:
            tags.append(group.names[0])
        group = group.parent
    return replace(unit, chunk=chunk or None, tags=tuple(dict.fromkeys(tags)))


def edges(groups: Sequence[Group], labels: Labels) -> list[GroupEdge]:
    """Return the dependencies that groups declare on each other, by id, number or title."""
    names: dict[str, str] = {}
    for group in groups:
        for name in (*group.names, group.label):
            names.setdefault(ids.fold(name), _own(group, labels))
    return [
        GroupEdge(group=_own(group, labels), target=names.get(ids.fold(each.text), each.text), line=each.line)
        for group in groups
        if group.node is not None
        for each in mentions_of(group.node)
    ]


def _own(group: Group, labels: Labels) -> str:
    return labels[id(group)] if group.is_chunk or not group.names else group.names[0]


def findings(groups: Sequence[Group], empty: Sequence[Group]) -> list[Finding]:
    """Report groups without a unit, and criteria of a whole group, which belong to none of its units."""
    found = [
        note(
            "side_list",
            group.line,
            f'"{group.label}" holds no tasks or stories; nothing was planned from it',
            "Give it a list of tasks, or remove it.",
        )
        for group in empty
    ]
    for group in groups:
        criteria = stated_criteria(group.node) if group.node is not None else []
        if criteria:
            found.append(of_no_story(len(criteria), group.label, criteria[0].line))
    return found


def of_no_story(number: int, label: str, line: int) -> Finding:
    message = f'{count(number, "criterion", "criteria")} of "{label}" belong{"s" if number == 1 else ""} to no story; not covered by any check'
    hint = "Move each to the story that it judges, or give the run a command that checks them."
    return warning("criteria_of_no_story", line, message, hint)
