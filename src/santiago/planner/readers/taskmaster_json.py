"""task-master's tasks.json: tags that hold tasks, tasks that may hold subtasks; a leaf is a unit.

A task with subtasks is the tag of its subtasks, so that what it depends on, and what depends on it, is lifted to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner.draft import Dep, Document, GroupEdge, Status, Unit
from santiago.planner.findings import error, left_out, note
from santiago.planner.source import Source
from santiago.planner.structured.records import fields, units
from santiago.planner.structured.records.deps import mentions_of
from santiago.planner.structured.records.lists import Member
from santiago.planner.structured.tree import Array, Node, Object, fold_key, items, objects

_TYPICAL = ("testStrategy", "subtasks", "details")
MAIN = "master"


@dataclass(slots=True)
class _Tag:
    name: str
    """Empty for the older shape without tags."""
    line: int
    tasks: list[Object]
    description: str = ""


def read(source: Source) -> Document | None:
    root = source.tree
    if not isinstance(root, Object) or not (tags := _tags(root)):
        return None
    wanted = source.options.units
    chosen = _choose(tags, wanted)
    if chosen is None:
        names = ", ".join(tag.name for tag in tags)
        finding = error(
            "unknown_units", 0, f'there is no tag "{wanted}"; the file has: {names}', "Name one of these with --units."
        )
        return Document(format="taskmaster-json", findings=[finding])
    reading = _Reading(chosen.tasks, chosen.name if chosen.name not in ("", MAIN) else None)
    document = reading.run()
    subtasks = sum("." in (unit.id or "") for unit in document.units)
    document.evidence = (
        count(len(chosen.tasks), "task") + (f' under the tag "{chosen.name}"' if chosen.name else ""),
        count(subtasks, "subtask"),
    )
    document.title = root.text("title", "projectName", "project") or _meta_title(root) or chosen.description
    document.findings += [_other(tag, chosen) for tag in tags if tag is not chosen]
    document.findings += left_out(document.units)
    return document


def _tags(root: Object) -> list[_Tag]:
    tasks = _tasks(root.get("tasks"))
    if tasks:
        entry = root.field("tasks")
        return [_Tag("", entry.line if entry else root.line, tasks)]
    found = []
    for entry in root.fields.values():
        if isinstance(entry.value, Object) and (tasks := _tasks(entry.value.get("tasks"))):
            about = entry.value.get("metadata")
            said = about.text("projectName", "description") if isinstance(about, Object) else ""
            found.append(_Tag(entry.key, entry.line, tasks, said))
    return found


def _tasks(node: Node | None) -> list[Object]:
    """Return the tasks of a list that is task-master's: numbered, with its typical fields."""
    tasks = objects(node) if isinstance(node, Array) else []
    numbered = [task for task in tasks if task.text("id").isdecimal() and task.text("title")]
    typical = any(task.field(*_TYPICAL) for task in numbered)
    return tasks if typical and len(numbered) == len(items(node)) else []


def _choose(tags: list[_Tag], wanted: str | None) -> _Tag | None:
    if wanted:
        for tag in tags:
            if fold_key(tag.name) == fold_key(wanted):
                return tag
        return None if len(tags) > 1 else tags[0]
    return next((tag for tag in tags if tag.name == MAIN), tags[0])


def _meta_title(root: Object) -> str:
    meta = root.get("meta", "metadata")
    return meta.text("projectName", "title", "name") if isinstance(meta, Object) else ""


def _other(tag: _Tag, chosen: _Tag) -> Finding:
    message = f'{count(len(tag.tasks), "task")} under the tag "{tag.name}" {"is" if len(tag.tasks) == 1 else "are"} not planned; "{chosen.name}" was chosen'
    return note("other_tags", tag.line, message, f"Use --units {tag.name} to plan these instead.")


@dataclass(slots=True)
class _Reading:
    tasks: list[Object]
    chunk: str | None
    document: Document = field(default_factory=lambda: Document(format="taskmaster-json"))
    top: frozenset[str] = frozenset()

    def run(self) -> Document:
        self.top = frozenset(task.text("id") for task in self.tasks)
        for task in self.tasks:
            subtasks = [each for each in items(task.get("subtasks")) if isinstance(each, Object)]
            if subtasks:
                self.parent(task, subtasks)
            else:
                self.leaf(task)
        return self.document

    def leaf(self, task: Object) -> None:
        self.document.units.append(replace(units.gather(Member(task, task.line), "json"), chunk=self.chunk))

    def parent(self, task: Object, subtasks: list[Object]) -> None:
        name = task.text("id")
        siblings = frozenset(each.text("id") for each in subtasks)
        status = fields.status_of(task)
        about = _about(task)
        for each in subtasks:
            unit = units.gather(Member(each, each.line), "json")
            targets = {target: dep for dep in unit.deps if (target := self.target(dep, name, siblings, each))}
            self.document.units.append(
                replace(
                    unit,
                    id=f"{name}.{unit.id}" if unit.id else None,
                    text="\n".join(filter(None, (unit.text, about))),
                    status=_inherited(unit, status),
                    chunk=self.chunk,
                    tags=(name, *unit.tags),
                    priority=unit.priority or task.text("priority") or None,
                    deps=tuple(replace(dep, target=target) for target, dep in targets.items()),
                )
            )
        for dep in mentions_of(task, "json"):
            self.document.edges.append(GroupEdge(group=name, target=dep.target, line=dep.line))

    def target(self, dep: Dep, parent: str, siblings: frozenset[str], subtask: Object) -> str | None:
        """Return what a subtask's dependency means: a sibling, a task of the file, or an address in full."""
        text, own = dep.target, subtask.text("id")
        if text in siblings and text != own:
            return f"{parent}.{text}"
        if text == parent:
            message = f"subtask {parent}.{own} depends on its own task; no edge was made"
            hint = "Name the subtask that must come first."
            self.document.findings.append(note("dependency_unclear", dep.line, message, hint))
            return None
        return text if "." in text or text in self.top else f"{parent}.{text}"


def _inherited(unit: Unit, parent: Status) -> Status:
    """A subtask of a cancelled or deferred task is neither open nor planned; one of a done task may still be open."""
    return parent if unit.status is Status.OPEN and parent in (Status.DROPPED, Status.FUTURE) else unit.status


def _about(task: Object) -> str:
    """Return the parent's title and texts, which its parts need to be understood."""
    said = [f"Part of task {task.text('id')}: {task.text('title')}"]
    said += [text for key in ("description", "details") if (text := task.text(key))]
    if strategy := task.text("testStrategy"):
        said.append(f"Test strategy: {strategy}")
    return "\n".join(said)
