"""beads' issues.jsonl: one issue per line, with typed links; an epic holds the issues that name it as their parent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.plan import Finding
from santiago.planner.draft import Document, GroupEdge, Unit
from santiago.planner.findings import note
from santiago.planner.structured.records.document import read_tree
from santiago.planner.structured.records.groups import of_no_story
from santiago.planner.structured.tree import Array, Object, fold_key, items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from santiago.planner.source import Source

_NO_WORK = frozenset({"message", "molecule", "gate", "decision", "event", "agent", "role", "convoy"})


def read(source: Source) -> Document | None:
    root = source.tree
    issues = [each for each in root.items if isinstance(each, Object)] if isinstance(root, Array) else []
    named = all(issue.text("id") and issue.text("title") for issue in issues)
    if not named or not any(issue.text("issue_type") for issue in issues):
        return None
    work = [issue for issue in issues if issue.text("issue_type") not in _NO_WORK]
    document = read_tree(Array(1, list(work)), "beads", "json", source.options)
    if document is None:
        return None
    document.evidence = (f"{len(issues)} issues, with types",)
    _lift_epics(document, {issue.text("id"): issue for issue in work})
    document.findings += [_no_work(issue) for issue in issues if issue.text("issue_type") in _NO_WORK]
    return document


def _lift_epics(document: Document, issues: Mapping[str, Object]) -> None:
    """Make epics that have children the tag of their children: an epic is done when they are."""
    parents = {name: _parents(issue) for name, issue in issues.items()}
    held = {above for names in parents.values() for above in names if above in issues}
    epics = {name for name in held if issues[name].text("issue_type") == "epic"}
    units: list[Unit] = []
    for unit in document.units:
        name = unit.id or ""
        if name not in epics:
            units.append(replace(unit, tags=tuple(dict.fromkeys((*unit.tags, *parents[name])))))
            continue
        document.edges += [GroupEdge(group=name, target=dep.target, line=dep.line) for dep in unit.deps]
        if unit.criteria:
            document.findings.append(of_no_story(len(unit.criteria), f"{name} {unit.title}", unit.criteria[0].line))
    document.units = units


def _parents(issue: Object) -> list[str]:
    links = [each for each in items(issue.get("dependencies")) if isinstance(each, Object)]
    return [link.text("depends_on_id") for link in links if fold_key(link.text("type")) == "parentchild"]


def _no_work(issue: Object) -> Finding:
    return note(
        "context_list",
        issue.line,
        f"{issue.text('id')} is of the type {issue.text('issue_type')} and not planned",
        "Change its type to task to plan it.",
    )
