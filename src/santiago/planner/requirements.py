"""Turn units into requirements, with unique keys even if the document uses an id twice or gives none."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from santiago.contract.plan import Criterion, Finding, Requirement
from santiago.planner import ids
from santiago.planner.draft import PLANNED, Document, Unit
from santiago.planner.findings import error, warning


class Planned(NamedTuple):
    """A unit that becomes a story. The rest of the compiler knows it by its unique key."""

    key: str
    unit: Unit
    requirement: Requirement


def planned_units(document: Document) -> tuple[list[Planned], list[Finding]]:
    """Return the units to plan, and findings about duplicate ids. Keys are `6.1`, `6.1~2`, or `~3` without an id."""
    units = [unit for unit in document.units if unit.status in PLANNED]
    keys, findings = _unique_keys(units, by_program=document.by_program)
    hint = "Write what is to be done, or remove it."
    findings += [
        error("no_title", unit.line, "this unit has neither an id nor a title", hint)
        for unit in units
        if not (unit.title.strip() or unit.id)
    ]
    own_ids = Counter(criterion.id for unit in units for criterion in unit.criteria if criterion.id)
    taken = set(keys)
    planned = [
        Planned(key, unit, _requirement(key, unit, own_ids, taken)) for key, unit in zip(keys, units, strict=True)
    ]
    return planned, findings


def _unique_keys(units: list[Unit], *, by_program: bool) -> tuple[list[str], list[Finding]]:
    keys: list[str] = []
    findings: list[Finding] = []
    first: dict[str, Unit] = {}
    times: Counter[str] = Counter()
    unnamed = 0
    for unit in units:
        if unit.id is None:
            unnamed += 1
            keys.append(f"~{unnamed}")
            continue
        folded = ids.fold(unit.id)
        times[folded] += 1
        keys.append(unit.id if times[folded] == 1 else f"{unit.id}~{times[folded]}")
        if times[folded] == 1:
            first[folded] = unit
        else:
            findings.append(_defined_twice(unit, first[folded], keys[-1], by_program=by_program))
    return keys, findings


def _defined_twice(unit: Unit, first: Unit, key: str, *, by_program: bool) -> Finding:
    message = f"the id {unit.id} is defined twice, at line {first.line} and at line {unit.line}"
    if by_program:
        return error("duplicate_id", unit.line, message, "Give each task an id of its own.")
    return warning("duplicate_id", unit.line, f"{message}; the second is planned as {key}", "Renumber one of them.")


def _requirement(key: str, unit: Unit, own_ids: Counter[str], taken: set[str]) -> Requirement:
    criteria = []
    for number, criterion in enumerate(unit.criteria, 1):
        own = criterion.id
        name = own if own and own_ids[own] == 1 and own not in taken and not own.startswith("#") else f"{key}#{number}"
        criteria.append(Criterion(id=name, text=criterion.text, line=criterion.line))
    return Requirement(id=key, title=unit.title, text=unit.text, line=unit.line, criteria=tuple(criteria))
