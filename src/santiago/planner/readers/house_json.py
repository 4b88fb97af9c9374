"""The format house-json, a strict PRD: requirements R1 …, and criteria AC-1 … with given, when and then. Unknown fields are errors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import hints
from santiago.planner.draft import Document, DraftCriterion, Hint, Unit, unique
from santiago.planner.findings import error, note
from santiago.planner.hints import behind_files
from santiago.planner.source import Source
from santiago.planner.structured.records.criteria import given_when_then
from santiago.planner.structured.tree import Array, Object, Scalar, as_text, flat, items, objects

_Rule = tuple[re.Pattern[str], str]
_SAID = (pattern(r"(?s)\s*\S"), "a text")
_REQUIREMENT = {"id": (pattern(r"R[0-9]+$"), "an id such as R1"), "text": _SAID}
_CRITERION = {"id": (pattern(r"AC-[0-9]+$"), "an id such as AC-1"), "given": _SAID, "when": _SAID, "then": _SAID}
_LISTS = {"requirements": _REQUIREMENT, "acceptance_criteria": _CRITERION}
_OPTIONAL = ("goals", "non_goals", "verification_command", "technical_notes", "files_to_modify")
_TEXTS = {
    "id": (pattern(r"[a-z0-9]+(-[a-z0-9]+)*$"), "lower-case words joined by hyphens"),
    "title": (pattern(r"(?s).{5,120}$"), "a text of 5 to 120 characters"),
    "description": (pattern(r"(?s).{20,}$"), "a text of 20 characters or more"),
}


def read(source: Source) -> Document | None:
    root = source.tree
    if not isinstance(root, Object) or not _is_house(root):
        return None
    requirements, criteria = objects(root.get("requirements")), objects(root.get("acceptance_criteria"))
    document = Document(
        format="house-json",
        evidence=(
            f"{count(len(requirements), 'requirement')} and {count(len(criteria), 'criterion', 'criteria')} with given, when and then",
        ),
        title=root.text("title"),
        findings=list(_format_errors(root)),
    )
    shared = _criteria_by_requirement(
        requirements, [made for each in criteria if (made := given_when_then(each))], document.findings
    )
    document.units = [_unit(root, each, own) for each, own in zip(requirements, shared, strict=True)]
    document.run_verify = list(_command(root))
    return document


def _is_house(root: Object) -> bool:
    """Tell whether the document has the two lists of this format. All other mistakes are then reported."""
    if not {"id", "title", "requirements", "acceptance_criteria"} <= set(root.fields):
        return False
    numbered = [each for each in objects(root.get("requirements")) if {"id", "text"} <= set(each.fields)]
    judged = [each for each in objects(root.get("acceptance_criteria")) if set(_CRITERION) - {"id"} <= set(each.fields)]
    return any(_REQUIREMENT["id"][0].match(each.text("id")) for each in numbered) and bool(judged)


def _unit(root: Object, requirement: Object, criteria: list[DraftCriterion]) -> Unit:
    entry = requirement.field("id") or requirement.field("text")
    text, notes = requirement.text("text"), flat(root.get("technical_notes"))
    named = [
        Hint(value=path, line=node.line, carrier="json")
        for node in items(root.get("files_to_modify"))
        for path in behind_files(as_text(node)).paths
    ]
    said = [Hint(value=path, line=requirement.line, carrier="text") for path in hints.files_in(text)]
    return Unit(
        id=requirement.text("id") or None,
        title=" ".join(text.split()),
        line=entry.line if entry else requirement.line,
        text=root.text("description") + (f"\nTechnical notes: {notes}" if notes else ""),
        criteria=tuple(criteria),
        files=unique((*said, *named)),
        verify=tuple(_command(root)),
    )


def _command(root: Object) -> Iterator[Hint]:
    entry = root.field("verification_command")
    if entry is not None and (text := as_text(entry.value)):
        yield Hint(value=text, line=entry.line, carrier="json")


def _criteria_by_requirement(
    requirements: list[Object], criteria: list[DraftCriterion], findings: list[Finding]
) -> list[list[DraftCriterion]]:
    """Give each criterion to the requirements that it names. Those that name none go to the last requirement."""
    names = [each.text("id") for each in requirements]
    called = [
        (criterion, set(re.findall(r"\bR[0-9]+\b", criterion.text)).intersection(names)) for criterion in criteria
    ]
    shares = [[criterion for criterion, wanted in called if name in wanted] for name in names]
    rest = [criterion for criterion, wanted in called if not wanted]
    shares[-1] += rest
    if rest and len(requirements) > 1:
        message = f"{len(rest)} criteria judge the whole document; they were given to {requirements[-1].text('id')}, which closes it"
        hint = "Name the requirement (R1) in a criterion to have it judged there."
        findings.append(note("criteria_shared", rest[0].line, message, hint))
    return shares


def _format_errors(root: Object) -> Iterator[Finding]:
    """Yield an error for every departure from the format."""
    yield from _field_errors(root, _TEXTS, "the document", (*_LISTS, *_OPTIONAL))
    for key, texts in _LISTS.items():
        if not isinstance(root.get(key), Array):
            yield error("invalid_field", root.fields[key].line, f'"{key}" must be a list', "Put it in [ ].")
        for each in items(root.get(key)):
            if isinstance(each, Object):
                yield from _field_errors(each, texts, f"{each.text('id') or 'an element'} of {key}")
            else:
                message, hint = f'an element of "{key}" is not an object', f"Write it with {', '.join(texts)}."
                yield error("invalid_field", each.line, message, hint)


def _field_errors(node: Object, texts: dict[str, _Rule], where: str, others: tuple[str, ...] = ()) -> Iterator[Finding]:
    """Yield an error for each unknown field of an object, and for each text that breaks its rule."""
    known = (*texts, *others)
    for key, entry in node.fields.items():
        if key not in known:
            message, hint = f'{where} has an unknown field "{key}"', f"Known fields: {', '.join(known)}."
            yield error("unknown_field", entry.line, message, hint)
    for key, (form, rule) in texts.items():
        value = node.get(key)
        if not isinstance(value, Scalar) or value.kind != "string" or not form.match(as_text(value)):
            line = value.line if value else node.line
            yield error("invalid_field", line, f'{where}: "{key}" must be {rule}', "Correct it, or add it.")
