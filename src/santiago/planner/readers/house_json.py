"""The strict JSON PRD of the house: requirements R1 …, criteria AC-1 … with given, when and then, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner import hints
from santiago.planner.draft import Document, DraftCriterion, Hint, Unit, unique
from santiago.planner.file_lists import behind_files
from santiago.planner.findings import error, note
from santiago.planner.source import Source
from santiago.planner.structured.tree import Array, Node, Object, Scalar, as_text, flat, items, objects

_REQUIRED = ("id", "title", "description", "requirements", "acceptance_criteria")
_OPTIONAL = ("goals", "non_goals", "verification_command", "technical_notes", "files_to_modify")
_REQUIREMENT = {"id": re.compile(r"R[0-9]+$"), "text": re.compile(r"(?s)\s*\S")}
_CRITERION = {"id": re.compile(r"AC-[0-9]+$"), **{key: re.compile(r"(?s)\s*\S") for key in ("given", "when", "then")}}
_TEXTS = {
    "id": (re.compile(r"[a-z0-9]+(-[a-z0-9]+)*$"), "lower-case words joined by hyphens"),
    "title": (re.compile(r"(?s).{5,120}$"), "5 to 120 characters"),
    "description": (re.compile(r"(?s).{20,}$"), "20 characters or more"),
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
        findings=list(_mistakes(root)),
    )
    shared = _shares(requirements, [_criterion(each) for each in criteria], document.findings)
    document.units = [_unit(root, each, own) for each, own in zip(requirements, shared, strict=True)]
    document.run_verify = list(_command(root))
    return document


def _is_house(root: Object) -> bool:
    """Tell the format by its two lists; whatever else is wrong with the document is then said."""
    if not {"id", "title", "requirements", "acceptance_criteria"} <= set(root.fields):
        return False
    numbered = [each for each in objects(root.get("requirements")) if {"id", "text"} <= set(each.fields)]
    judged = [each for each in objects(root.get("acceptance_criteria")) if set(_CRITERION) - {"id"} <= set(each.fields)]
    return any(_REQUIREMENT["id"].match(each.text("id")) for each in numbered) and bool(judged)


def _unit(root: Object, requirement: Object, criteria: list[DraftCriterion]) -> Unit:
    entry = requirement.field("id") or requirement.field("text")
    text = requirement.text("text")
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
        text="\n".join(filter(None, (root.text("description"), _notes(root)))),
        criteria=tuple(criteria),
        files=unique((*said, *named)),
        verify=tuple(_command(root)),
    )


def _notes(root: Object) -> str:
    notes = flat(root.get("technical_notes"))
    return f"Technical notes: {notes}" if notes else ""


def _command(root: Object) -> Iterator[Hint]:
    entry = root.field("verification_command")
    if entry is not None and (text := as_text(entry.value)):
        yield Hint(value=text, line=entry.line, carrier="json")


def _criterion(node: Object) -> DraftCriterion:
    entry = node.field("id") or node.field("given")
    text = " ".join(f"{key.capitalize()} {' '.join(flat(node.get(key)).split())}" for key in ("given", "when", "then"))
    return DraftCriterion(text=text, line=entry.line if entry else node.line, id=node.text("id") or None)


def _shares(
    requirements: list[Object], criteria: list[DraftCriterion], findings: list[Finding]
) -> list[list[DraftCriterion]]:
    """Give each criterion to the requirements that it names; the rest close the document with its last requirement."""
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


def _mistakes(root: Object) -> Iterator[Finding]:
    """Yield every departure from the format, all at once."""
    yield from _unknown(root, (*_REQUIRED, *_OPTIONAL), "the document")
    for key in _REQUIRED:
        if key not in root.fields:
            yield _invalid(root.line, f'the document has no "{key}"', f'Add "{key}".')
    for key, (pattern, rule) in _TEXTS.items():
        if key in root.fields and not (_is_text(root.get(key)) and pattern.match(root.text(key))):
            yield _invalid(root.fields[key].line, f'"{key}" must be a text: {rule}', "Correct it.")
    yield from _list(root, "requirements", _REQUIREMENT)
    yield from _list(root, "acceptance_criteria", _CRITERION)


def _list(root: Object, key: str, fields: dict[str, re.Pattern[str]]) -> Iterator[Finding]:
    value = root.get(key)
    if value is not None and not isinstance(value, Array):
        yield _invalid(value.line, f'"{key}" must be a list', "Put it in [ ].")
    for each in items(value):
        if not isinstance(each, Object):
            yield _invalid(
                each.line, f'an element of "{key}" is not an object', f"Write it as an object with {', '.join(fields)}."
            )
            continue
        yield from _unknown(each, tuple(fields), f"{each.text('id') or 'an element'} of {key}")
        for name, pattern in fields.items():
            if not _is_text(each.get(name)) or not pattern.match(each.text(name)):
                yield _invalid(
                    each.line,
                    f'{each.text("id") or "an element"} of {key}: "{name}" is missing or invalid',
                    "Write ids as R1 and AC-1, and give every field a text.",
                )


def _unknown(node: Object, known: tuple[str, ...], where: str) -> Iterator[Finding]:
    for key, entry in node.fields.items():
        if key not in known:
            yield error(
                "unknown_field",
                entry.line,
                f'{where} has an unknown field "{key}"',
                f"Known fields: {', '.join(known)}.",
            )


def _is_text(node: Node | None) -> bool:
    return isinstance(node, Scalar) and node.kind == "string"


def _invalid(line: int, message: str, hint: str) -> Finding:
    return error("invalid_field", line, message, hint)
