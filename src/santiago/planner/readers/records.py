"""Lists of stories, tasks, features or requirements in JSON or YAML, in the many shapes that tools and people give them.

ralph uses `userStories`. beads writes one issue per line; an issue names its epic as its parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner.draft import Document, GroupEdge, Unit
from santiago.planner.findings import few, note, of_no_story, warning
from santiago.planner.source import Source
from santiago.planner.structured.records.document import read_tree
from santiago.planner.structured.tree import Array, Object, fold_key, objects

_NO_WORK = frozenset({"message", "molecule", "gate", "decision", "event", "agent", "role", "convoy"})


def read(source: Source) -> Document | None:
    """Read JSON."""
    root = source.tree
    ralph = isinstance(root, Object) and isinstance(root.get("userStories"), Array)
    document = read_tree(root, "ralph-json" if ralph else "json", "json", source.options)
    if document is not None:
        document.known = ralph
    return document


def yaml(source: Source) -> Document | None:
    """Read YAML, even if it is not quite valid."""
    from santiago.planner.structured import yaml_repair

    root, repaired = yaml_repair.parse(source.text)
    document = read_tree(root, "yaml", "field", source.options)
    if document is not None and repaired:
        document.findings.append(repaired_lines(repaired))
    return document


def repaired_lines(lines: Sequence[int]) -> Finding:
    """Return the finding about lines that were read as if they were in quotes."""
    message = f"not valid YAML; read as if in quotes: line {few(lines)}"
    return warning("yaml_repaired", lines[0], message, "Put texts that begin with [ { @ * ` or hold a colon in quotes.")


def beads(source: Source) -> Document | None:
    """Read the issues.jsonl of beads."""
    root = source.tree
    issues = objects(root) if isinstance(root, Array) else []
    typed = any(issue.text("issue_type") for issue in issues)
    if not typed or not all(issue.text("id") and issue.text("title") for issue in issues):
        return None
    idle = [issue for issue in issues if issue.text("issue_type") in _NO_WORK]
    work = [issue for issue in issues if issue.text("issue_type") not in _NO_WORK]
    document = read_tree(Array(1, list(work)), "beads", "json", source.options)
    if document is not None:
        document.evidence = (f"{count(len(issues), 'issue')}, with types",)
        _epics_to_tags(document, {issue.text("id"): issue for issue in work})
        document.findings += map(_no_work, idle)
    return document


def _epics_to_tags(document: Document, issues: Mapping[str, Object]) -> None:
    """Replace each epic that has children by a tag on them. What the epic waits for, its children wait for."""
    parents = {name: _parents(issue) for name, issue in issues.items()}
    held = {above for names in parents.values() for above in names}
    epics = {name for name, issue in issues.items() if name in held and issue.text("issue_type") == "epic"}
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
    links = objects(issue.get("dependencies"))
    return [link.text("depends_on_id") for link in links if fold_key(link.text("type")) == "parentchild"]


def _no_work(issue: Object) -> Finding:
    message = f"{issue.text('id')} is of the type {issue.text('issue_type')} and not planned"
    return note("context_list", issue.line, message, "Change its type to task to plan it.")
