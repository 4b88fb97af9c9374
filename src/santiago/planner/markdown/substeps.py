"""Steps and substeps: `Step 2.1` is a part of `Step 2`, and its text and criteria are added to that step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import ids
from santiago.planner.draft import PLANNED, Dep, Status, Unit, unique
from santiago.planner.findings import error
from santiago.planner.markdown import carriers
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import Label, step_label
from santiago.planner.source import Source

_SUBSTEP = pattern(r"(\d+)(?:\.\d+)+")


def parents(source: Source, found: Sequence[int]) -> dict[int, int | None]:
    """Map each substep heading to the heading of its step, or to None if there is no such step.

    The nearest step above with that number counts. If the document has no whole steps at all, the first number is that of the
    section, as in `Step 1.2` under `Phase 1`; then these are steps and no substeps.
    """
    whole: dict[str, int] = {}
    owners: dict[int, int | None] = {}
    for index in found:
        number = _number(source, index)
        if (sub := _SUBSTEP.fullmatch(number)) is None:
            whole[ids.fold(number)] = index
        else:
            owners[index] = whole.get(sub[1])
    if not whole:
        return {index: None for index in owners if not _in_section(source, index)}
    return owners


def _number(source: Source, index: int) -> str:
    lead = source.leads[index]
    return lead.id if lead else ""


def _in_section(source: Source, index: int) -> bool:
    first = _number(source, index).partition(".")[0]
    above = [source.leads[outer] for outer in source.outline.path(index)]
    return carriers.chunk_of(source, index) is not None or any(lead and lead.id == first for lead in above)


def made(source: Source, found: Sequence[int]) -> list[Carrier]:
    """Return the carrier of each step and substep. Blocks that follow a substep inside a step's section belong to the substep."""
    ends, steps = source.outline.ends, set(found)
    made = []
    for start, after in zip(found, [*found[1:], len(source.outline.blocks)], strict=True):
        around = (outer for outer in source.outline.path(start) if outer in steps)
        end = min(max(ends[start], *(ends[outer] for outer in around), 0), after)
        made.append(
            carriers.carrier(source, start, end=end, found=source.leads[start], chunk=carriers.chunk_of(source, start))
        )
    return made


def are_planned(source: Source, found: Sequence[int]) -> bool:
    """Tell whether at least half of these sections have a list of actions and a result."""
    told = [_labels(source, start, end) for start, end in carriers.bounded(source, list(found))]
    planned = [{label.concept for label in one if label.concept == "judged" or not label.rest} for one in told]
    return sum({"actions", "judged"} <= concepts for concepts in planned) * 2 >= len(told)


def _labels(source: Source, start: int, end: int) -> list[Label]:
    lines = [line for block in source.outline.blocks[start + 1 : end] for line in block.lines]
    return [label for line in lines if (label := step_label(line))]


def merged(units: Mapping[int, Unit], owners: Mapping[int, int | None]) -> list[Unit]:
    """Return the steps with their substeps merged in. A substep that is dropped or out of scope stays separate, to be reported."""
    inside = {at: owner for at, owner in owners.items() if owner is not None and units[at].status in PLANNED}
    parts: dict[int, list[Unit]] = {}
    for index, owner in inside.items():
        parts.setdefault(owner, []).append(units[index])
    return [_with_parts(unit, parts.get(index, [])) for index, unit in units.items() if index not in inside]


def _with_parts(step: Unit, parts: list[Unit]) -> Unit:
    if not parts:
        return step
    names = (*step.tags, *filter(None, (part.id for part in parts)))
    own = set(map(ids.fold, (step.id or "", *names)))
    every = [step, *parts]
    text = [step.text, *(f"Step {part.id}: {part.title}\n{part.text}".strip() for part in parts)]
    is_open = step.status is Status.DONE and {part.status for part in parts} != {Status.DONE}
    return replace(
        step,
        text="\n".join(filter(None, text)),
        status=Status.OPEN if is_open else step.status,
        tags=names,
        criteria=tuple(_all(every, "criteria")),
        deps=_deps_on_other_steps(_all(every, "deps"), own),
        covers=unique(_all(every, "covers")),
        files=unique(_all(every, "files")),
        verify=unique(_all(every, "verify")),
        unread=unique(_all(every, "unread")),
    )


def _all(units: list[Unit], field: str) -> list[Any]:
    return [each for unit in units for each in getattr(unit, field)]


def _deps_on_other_steps(deps: list[Dep], own: set[str]) -> tuple[Dep, ...]:
    """Return the dependencies on other steps. Those between parts of the same step are left out."""
    first: dict[str, Dep] = {}
    for dep in deps:
        if ids.fold(dep.target) not in own:
            first.setdefault(ids.fold(dep.target), dep)
    return tuple(first.values())


def orphans(source: Source, owners: Mapping[int, int | None]) -> Iterator[Finding]:
    """Report each substep without a step."""
    for index in (index for index, owner in owners.items() if owner is None):
        number = _number(source, index)
        message = f"Step {number} is a substep of Step {number.partition('.')[0]}, but there is no such step before it"
        hint = f'Write "Step {number.partition(".")[0]}: …" above it, or give it a number of its own.'
        yield error("substep_without_step", source.outline.blocks[index].line, message, hint)
