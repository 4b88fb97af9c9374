"""Lists of stories, tasks, features or requirements in JSON or YAML, in the many shapes that tools and people give them.

ralph uses `userStories`. beads writes one issue per line; an issue names its epic as its parent. In task-master's tasks.json,
tags contain tasks, and tasks may contain subtasks, which are then the units: their task becomes a tag, so that what it depends
on, they depend on, and what depends on it, depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner.draft import Dep, Document, GroupEdge, Status, Unit, by_key
from santiago.planner.findings import few, left_out, note, of_no_story, warning
from santiago.planner.source import Source
from santiago.planner.structured import record_units
from santiago.planner.structured.record_lists import read_tree, title_of, unknown_units
from santiago.planner.structured.record_units import Member, mentions_of
from santiago.planner.structured.tree import Array, Node, Object, fold_key, items, objects

_NO_WORK = frozenset({"message", "molecule", "gate", "decision", "event", "agent", "role", "convoy"})


def read(source: Source) -> Document | None:
    root = source.tree
    ralph = isinstance(root, Object) and isinstance(root.get("userStories"), Array)
    document = read_tree(root, "ralph-json" if ralph else "json", "json", source.options)
    if document is not None:
        document.known = ralph
    return document


def yaml(source: Source) -> Document | None:
    """Read YAML, even if it is not quite valid."""
    root, repaired = source.parsed
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
        for issue in idle:
            message = f"{issue.text('id')} is of the type {issue.text('issue_type')} and not planned"
            document.findings.append(note("context_list", issue.line, message, "Change its type to task to plan it."))
    return document


def _epics_to_tags(document: Document, issues: Mapping[str, Object]) -> None:
    """Replace each epic that has children by a tag on them. What the epic waits for, its children wait for."""
    links = [(name, link) for name, issue in issues.items() for link in objects(issue.get("dependencies"))]
    links = [(name, link) for name, link in links if fold_key(link.text("type")) == "parentchild"]
    parents = by_key((name, link.text("depends_on_id")) for name, link in links)
    held = {above for names in parents.values() for above in names}
    epics = {name for name, issue in issues.items() if name in held and issue.text("issue_type") == "epic"}
    units: list[Unit] = []
    for unit in document.units:
        name = unit.id or ""
        if name not in epics:
            units.append(replace(unit, tags=tuple(dict.fromkeys((*unit.tags, *parents.get(name, ()))))))
            continue
        document.edges += [GroupEdge(group=name, target=dep.target, line=dep.line) for dep in unit.deps]
        if unit.criteria:
            document.findings.append(of_no_story(len(unit.criteria), f"{name} {unit.title}", unit.criteria[0].line))
    document.units = units


_TYPICAL = ("testStrategy", "subtasks", "details")
MAIN = "master"


class _Tag(NamedTuple):
    name: str
    """Empty in older files, which have no tags."""
    line: int
    tasks: list[Object]
    description: str = ""


def taskmaster(source: Source) -> Document | None:
    root = source.tree
    if not (tags := _tags(root)):
        return None
    wanted = source.options.units if len(tags) > 1 else None
    found = {fold_key(tag.name): tag for tag in reversed(tags)}
    if (chosen := found.get(fold_key(wanted or MAIN), None if wanted else tags[0])) is None:
        return unknown_units("taskmaster-json", str(wanted), [tag.name for tag in tags])
    document = Document(format="taskmaster-json")
    _read(chosen.tasks, document, chosen.name if chosen.name not in ("", MAIN) else None)
    subtasks = sum("." in str(unit.id) for unit in document.units)
    under = f' under the tag "{chosen.name}"' if chosen.name else ""
    document.evidence = (count(len(chosen.tasks), "task") + under, count(subtasks, "subtask"))
    document.title = title_of(root) or chosen.description
    for tag in (tag for tag in tags if tag is not chosen):
        many = f'{count(len(tag.tasks), "task")} under the tag "{tag.name}" {"is" if len(tag.tasks) == 1 else "are"}'
        hint = f"Use --units {tag.name} to plan these instead."
        document.findings.append(note("other_tags", tag.line, f'{many} not planned; "{chosen.name}" was chosen', hint))
    document.findings += left_out(document.units)
    return document


def _tags(root: Node) -> list[_Tag]:
    if not isinstance(root, Object):
        return []
    if tasks := _tasks(root.get("tasks")):
        return [_Tag("", root.line, tasks)]
    found = []
    for entry in root.fields.values():
        if isinstance(entry.value, Object) and (tasks := _tasks(entry.value.get("tasks"))):
            about = entry.value.get("metadata")
            said = about.text("projectName", "description") if isinstance(about, Object) else ""
            found.append(_Tag(entry.key, entry.line, tasks, said))
    return found


def _tasks(node: Node | None) -> list[Object]:
    """Return the tasks if the list is task-master's: every task has a number, and some have its typical fields."""
    tasks = objects(node) if isinstance(node, Array) else []
    numbered = [task for task in tasks if task.text("id").isdecimal() and task.text("title")]
    typical = any(task.field(*_TYPICAL) for task in numbered)
    return tasks if typical and len(numbered) == len(items(node)) else []


def _read(tasks: list[Object], document: Document, chunk: str | None) -> None:
    """Add the units of these tasks: the subtasks of a task, or the task itself if it has none."""
    top = {task.text("id") for task in tasks}
    for task in tasks:
        parts = objects(task.get("subtasks"))
        siblings = {part.text("id") for part in parts}
        for each in parts or [task]:
            unit = replace(record_units.gather(Member(each, each.line), "json"), chunk=chunk)
            document.units.append(_subtask(unit, task, siblings, top, document.findings) if parts else unit)
        for dep in mentions_of(task, "json") if parts else ():
            document.edges.append(GroupEdge(group=task.text("id"), target=dep.target, line=dep.line))


def _subtask(unit: Unit, task: Object, siblings: set[str], top: set[str], findings: list[Finding]) -> Unit:
    """Return a subtask with what it inherits from its task. It may depend on a sibling, on a task, or on `2.1` in full.

    If its task is cancelled or deferred, an open subtask is, too.
    """
    name, own = task.text("id"), unit.id or ""
    deps: dict[str, Dep] = {}
    for dep in unit.deps:
        text = dep.target
        is_full = ("." in text or text in top) and (text not in siblings or text == own)
        deps.setdefault(text if is_full else f"{name}.{text}", dep)
    if (outer := deps.pop(name, None)) is not None:
        message = f"subtask {name}.{own} depends on its own task; no edge was made"
        findings.append(note("dependency_unclear", outer.line, message, "Name the subtask that must come first."))
    parent = record_units.status_of(task)
    is_put_off = unit.status is Status.OPEN and parent in (Status.DROPPED, Status.FUTURE)
    return replace(
        unit,
        id=f"{name}.{own}" if own else None,
        text="\n".join(filter(None, (unit.text, _text_of_task(task)))),
        status=parent if is_put_off else unit.status,
        tags=(name, *unit.tags),
        priority=unit.priority or task.text("priority") or None,
        deps=tuple(replace(dep, target=target) for target, dep in deps.items()),
    )


def _text_of_task(task: Object) -> str:
    """Return the title and texts of the task, which a reader needs to understand its subtasks."""
    said = [f"Part of task {task.text('id')}: {task.text('title')}"]
    said += [text for key in ("description", "details") if (text := task.text(key))]
    if strategy := task.text("testStrategy"):
        said.append(f"Test strategy: {strategy}")
    return "\n".join(said)
