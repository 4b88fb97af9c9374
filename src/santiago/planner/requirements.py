"""Turn units into requirements, with unique keys even if the document uses an id twice or gives none.

Before that each unit gets the role and the profile that it asks for: `profile=backend-api`, `Profile: ui`, or a tag such as
`[spike]`. The text of the units is searched, so no reader has to look for these marks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
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
    pairs = zip(keys, units, strict=True)
    return [Planned(key, unit, _requirement(key, unit, own_ids, taken)) for key, unit in pairs], findings


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
        if first.setdefault(folded, unit) is not unit:
            message = f"the id {unit.id} is defined twice, at line {first[folded].line} and at line {unit.line}"
            if by_program:
                findings.append(error("duplicate_id", unit.line, message, "Give each task an id of its own."))
            else:
                message += f"; the second is planned as {keys[-1]}"
                findings.append(warning("duplicate_id", unit.line, message, "Renumber one of them."))
    return keys, findings


def _requirement(key: str, unit: Unit, own_ids: Counter[str], taken: set[str]) -> Requirement:
    criteria = []
    for number, criterion in enumerate(unit.criteria, 1):
        own = criterion.id
        name = own if own and own_ids[own] == 1 and own not in taken and not own.startswith("#") else f"{key}#{number}"
        criteria.append(Criterion(id=name, text=criterion.text, line=criterion.line))
    return Requirement(id=key, title=unit.title, text=unit.text, line=unit.line, criteria=tuple(criteria))


DEFAULT = "generalist"
_KNOWN = {
    DEFAULT: "general default any fullstack full-stack",
    "backend-api": "backend api server service backend-developer",
    "frontend-ui": "frontend ui web ux frontend-developer",
    "data-engineering": "data etl pipeline database data-engineer analytics",
    "infra-automation": "infra infrastructure devops platform ops ci automation sre",
    "refactoring-specialist": "refactoring refactor cleanup clean-up refactorer",
}
"""The developer profiles, each with its other names."""
_SLUGS = {word: slug for slug, words in _KNOWN.items() for word in (slug, *words.split())}

_PROFILE = pattern(r"(?i)\s*[\[(`]?(?<![\w-])profile=([A-Za-z][\w-]{0,60})[\])`]?")
_LINE = pattern(r"(?im)^[-*_`\s]{0,8}profile[*_`]{0,2}:[*_`\s]{0,4}([A-Za-z][\w-]{0,60})[*_`\s.]{0,4}$")
_RESEARCH = r"(?:uncertain(?:ty)?|hypothesis|research|spike|experiment|scientist|scientific|needs-science|simulation)"
_TAG = pattern(rf"(?im)[\[#]{_RESEARCH}(?![\w-])|^(?:tags|labels):.{{0,200}}?\b{_RESEARCH}\b(?!-)")
_ALONE = pattern(rf"(?i)#?{_RESEARCH}")


def staff(document: Document) -> list[Finding]:
    """Set the role and the profile of each unit, and return a warning for every unknown profile."""
    document.units = [_staffed(unit) for unit in document.units]
    named = [(unit.profile, unit.line) for unit in reversed(document.units) if unit.profile]
    unknown = {slug: line for slug, line in named if slug not in _KNOWN}
    hint = f"Known profiles: {', '.join(_KNOWN)}."
    says = "the profile {} is not known; {} is used instead"
    return [warning("unknown_profile", line, says.format(slug[:80], DEFAULT), hint) for slug, line in unknown.items()]


def _staffed(unit: Unit) -> Unit:
    told = "\n".join((unit.title, unit.text, *unit.tags))
    marked = "[" in told or "#" in told or "ags:" in told or "abels:" in told  # most texts have none of these
    is_research = bool(marked and _TAG.search(told)) or any(map(_ALONE.fullmatch, unit.tags))
    if unit.role == "developer" and is_research:
        unit = replace(unit, role="scientist")
    found = _PROFILE.search(told) or _LINE.search(told) if "profile" in told.lower() else None
    slug = unit.profile or (found[1] if found else None)
    if slug is None:
        return unit
    profile = _SLUGS.get(slug.lower().replace("_", "-"), slug)
    return replace(unit, profile=profile, title=_PROFILE.sub("", unit.title).strip() or unit.title)
