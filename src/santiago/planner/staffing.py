"""Find the role and the profile that a unit asks for: `profile=backend-api`, `Profile: ui`, or a tag such as `[spike]`.

The text of the units is searched, so no reader has to look for these marks.
"""

from __future__ import annotations

import re
from dataclasses import replace

from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner.draft import Document, Unit
from santiago.planner.findings import warning

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

_PROFILE = pattern(r"\s*[\[(`]?(?<![\w-])profile=([A-Za-z][\w-]{0,60})[\])`]?", re.IGNORECASE)
_LINE = pattern(
    r"^[-*_`\s]{0,8}profile[*_`]{0,2}:[*_`\s]{0,4}([A-Za-z][\w-]{0,60})[*_`\s.]{0,4}$", re.IGNORECASE | re.MULTILINE
)
_RESEARCH = r"(?:uncertain(?:ty)?|hypothesis|research|spike|experiment|scientist|scientific|needs-science|simulation)"
_TAG = pattern(
    rf"[\[#]{_RESEARCH}(?![\w-])|^(?:tags|labels):.{{0,200}}?\b{_RESEARCH}\b(?!-)", re.IGNORECASE | re.MULTILINE
)
_ALONE = pattern(rf"#?{_RESEARCH}", re.IGNORECASE)


def staff(document: Document) -> list[Finding]:
    """Set the role and the profile of each unit, and return a warning for every unknown profile."""
    document.units = [_staffed(unit) for unit in document.units]
    unknown: dict[str, int] = {}
    for unit in document.units:
        if unit.profile and unit.profile not in _KNOWN:
            unknown.setdefault(unit.profile, unit.line)
    return [_unknown(slug, line) for slug, line in unknown.items()]


def _staffed(unit: Unit) -> Unit:
    told = "\n".join((unit.title, unit.text, *unit.tags))
    if unit.role == "developer" and _is_research(unit, told):
        unit = replace(unit, role="scientist")
    found = _PROFILE.search(told) or _LINE.search(told) if "profile" in told.lower() else None
    slug = unit.profile or (found[1] if found else None)
    if slug is None:
        return unit
    return replace(
        unit,
        profile=_SLUGS.get(slug.lower().replace("_", "-"), slug),
        title=_PROFILE.sub("", unit.title).strip() or unit.title,
    )


def _is_research(unit: Unit, told: str) -> bool:
    marked = "[" in told or "#" in told or "ags:" in told or "abels:" in told  # most texts have none of these
    return bool(marked and _TAG.search(told)) or any(map(_ALONE.fullmatch, unit.tags))


def _unknown(slug: str, line: int) -> Finding:
    message = f"the profile {slug[:80]} is not known; {DEFAULT} is used instead"
    return warning("unknown_profile", line, message, f"Known profiles: {', '.join(_KNOWN)}.")
