"""GSD plans: front matter with `phase:` and `plan:`, and `<task>` blocks with name, files, action, verify and done.

The tasks are the units. A checkpoint is reported: there a person must look or act, which no agent can do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import commands
from santiago.planner.draft import Dep, Document, DraftCriterion, Hint, Unit
from santiago.planner.findings import warning
from santiago.planner.hints import behind_files
from santiago.planner.readers import issue
from santiago.planner.source import Source

_OPEN = pattern(r"^\s*<task\b([^>]*)>")
_CLOSE = pattern(r"^\s*</task>")
_FIELD = pattern(
    r"<(/?)(name|files|read_first|action|verify|automated|done|acceptance_criteria|what-built|how-to-verify|behavior)>"
)
_NUMBERED = pattern(r"^Task\s+(\d{1,4}[A-Za-z]?)\s*[:.—–-]*\s*")
_BULLET = pattern(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")


class _Line(NamedTuple):
    text: str
    number: int


class _Task(NamedTuple):
    line: int
    kind: str
    fields: dict[str, list[_Line]]

    def text(self, *names: str) -> str:
        return "\n".join(line.text for name in names for line in self.fields.get(name, ())).strip()


def read(source: Source) -> Document | None:
    front = source.front_matter
    if "phase" not in front or "plan" not in front:
        return None
    tasks = list(_tasks(source.text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").split("\n")))
    if not tasks:
        return None
    work = [task for task in tasks if not task.kind.startswith("checkpoint") or "name" in task.fields]
    # Each task of a plan builds on the tasks above it.
    units = [replace(_unit(task, number), rank=number) for number, task in enumerate(work, 1)]
    named = [*issue.values(front.get("depends_on")), *issue.values(front.get("depends"))]
    deps = tuple(Dep(target=name, line=line, carrier="front-matter") for name, line in named)
    if units:
        units[0] = replace(units[0], deps=deps)
    return Document(
        format="gsd-plan",
        evidence=(
            f"{count(len(tasks), 'block')} <task> of plan {front['plan'].value} in phase {front['phase'].value}",
        ),
        title=source.title or f"{front['phase'].value} plan {front['plan'].value}",
        units=units,
        findings=[_checkpoint(task) for task in tasks if task not in work],
    )


def _tasks(lines: list[str]) -> Iterator[_Task]:
    task: _Task | None = None
    names: list[str] = []
    for number, raw in enumerate(lines, 1):
        if opened := _OPEN.match(raw):
            kind = opened[1].partition('type="')[2].partition('"')[0]
            task, names = _Task(number, kind, {}), []
        if task is None:
            continue
        _take(raw[opened.end() :] if opened else raw, number, task, names)
        if _CLOSE.match(raw):
            yield task
            task = None


def _take(raw: str, number: int, task: _Task, names: list[str]) -> None:
    """Add each part of a line to the innermost field that is open there."""
    at = 0
    for tag in (*_FIELD.finditer(raw), None):
        part = raw[at : tag.start() if tag else len(raw)]
        if names and part.strip() and not _CLOSE.match(part):
            task.fields.setdefault(names[-1], []).append(_Line(part.strip() if at else part.rstrip(), number))
        if tag is None:
            return
        at = tag.end()
        if not tag[1]:
            names.append(tag[2])
            task.fields.setdefault(tag[2], [])
        elif tag[2] in names:
            del names[names.index(tag[2]) :]


def _unit(task: _Task, number: int) -> Unit:
    name = task.text("name").partition("\n")[0]
    numbered = _NUMBERED.match(name)
    verify = commands.Found([], [])
    for line in task.fields.get("automated", ()):
        taken = commands.has_the_form(line.text)  # else the field says that there is no test yet
        (verify.taken if taken else verify.left).append(_hint(line.text.strip(" `"), line))
    for line in task.fields.get("verify", ()):
        verify.add(commands.behind_label(_BULLET.sub("", line.text).strip(), line.number, "field"))
    return Unit(
        id=numbered[1] if numbered else str(number),
        title=(name[numbered.end() :] if numbered else name) or f"Task {number}",
        line=task.line,
        text=task.text("behavior", "action", "what-built", "how-to-verify"),
        criteria=tuple(_criteria(task)),
        files=tuple(
            _hint(path, line) for line in task.fields.get("files", ()) for path in behind_files(line.text).paths
        ),
        verify=tuple(dict.fromkeys(verify.taken)),
        unread=tuple(dict.fromkeys(verify.left)),
    )


def _hint(value: str, line: _Line) -> Hint:
    return Hint(value=value, line=line.number, carrier="field")


def _criteria(task: _Task) -> Iterator[DraftCriterion]:
    """Yield one criterion per bullet, or the whole paragraph as one."""
    for name in ("acceptance_criteria", "done"):
        lines = task.fields.get(name, [])
        bullets = [line for line in lines if _BULLET.match(line.text)]
        if bullets:
            yield from (DraftCriterion(text=_BULLET.sub("", line.text).strip(), line=line.number) for line in bullets)
        elif text := " ".join(line.text.strip() for line in lines):
            yield DraftCriterion(text=text, line=lines[0].number)


def _checkpoint(task: _Task) -> Finding:
    built = task.text("what-built", "how-to-verify").replace("\n", " ")[:100]
    message = f"a person must look or act here ({task.kind}): {built}; not planned"
    return warning("checkpoint", task.line, message, "Do it yourself after the run, or write a check that proves it.")
