"""A plan.json of santiago's own, edited by a person or an agent, read back as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.plan import CONTRACT_VERSION, Finding
from santiago.planner.draft import EXTERNAL, Dep, Document, DraftCriterion, Hint, Status, Unit
from santiago.planner.findings import error, warning
from santiago.planner.structured.tree import Array, Object, Scalar, as_bool, as_text, items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    root = source.tree
    if not isinstance(root, Object) or not {"contract_version", "stories", "chunks"} <= set(root.fields):
        return None
    stories = [each for each in items(root.get("stories")) if isinstance(each, Object)]
    criteria = _criteria(root)
    document = Document(
        format="santiago-plan",
        evidence=(f"contract_version {root.text('contract_version')} with {len(stories)} stories",),
        title=root.text("title"),
        units=[_unit(story, criteria) for story in stories],
        run_verify=list(hints(root, "run_verify")),
        by_program=True,
    )
    document.findings += [
        *_version(root),
        *_missing(stories),
        *_unknown_criteria(stories, criteria),
        *_unused(stories, criteria),
    ]
    document.findings += _members(root, document.units)
    return document


def _criteria(root: Object) -> dict[str, DraftCriterion]:
    """Return the criteria of all requirements by their id."""
    found: dict[str, DraftCriterion] = {}
    for requirement in items(root.get("requirements")):
        for each in items(requirement.get("criteria")) if isinstance(requirement, Object) else ():
            entry = each.field("id") if isinstance(each, Object) else None
            if isinstance(each, Object) and entry is not None:
                name = as_text(entry.value)
                found.setdefault(name, DraftCriterion(text=each.text("text"), line=entry.line, id=name))
    return found


def _unit(story: Object, criteria: dict[str, DraftCriterion]) -> Unit:
    entry = story.field("id") or story.field("title")
    deps = [(hint.value, hint.line, "json") for hint in hints(story, "depends_on")]
    deps += [(hint.value, hint.line, EXTERNAL) for hint in hints(story, "external_depends_on")]
    return Unit(
        id=story.text("id") or None,
        title=story.text("title"),
        line=entry.line if entry else story.line,
        text=story.text("description"),
        status=Status.DONE if as_bool(story.get("claimed_done")) else Status.OPEN,
        chunk=story.text("chunk") or None,
        priority=story.text("priority") or None,
        role="scientist" if story.text("role") == "scientist" else "developer",
        profile=story.text("profile") or None,
        criteria=tuple(criteria[hint.value] for hint in hints(story, "criteria") if hint.value in criteria),
        deps=tuple(Dep(target=target, line=line, carrier=carrier) for target, line, carrier in deps),
        covers=tuple(hints(story, "requirements")),
        files=tuple(hints(story, "files")),
        verify=tuple(hints(story, "verify")),
    )


def hints(node: Object, key: str) -> Iterator[Hint]:
    """Yield the texts of a list, each with its line."""
    for each in items(node.get(key)):
        if isinstance(each, Scalar) and (text := as_text(each)):
            yield Hint(value=text, line=each.line, carrier="json")


def _version(root: Object) -> Iterator[Finding]:
    entry = root.fields["contract_version"]
    if as_text(entry.value) != str(CONTRACT_VERSION):
        yield error(
            "invalid_field",
            entry.line,
            f"contract_version is {as_text(entry.value) or 'empty'}, and only {CONTRACT_VERSION} is known",
            "Plan the document again with this version.",
        )
    stories = root.fields["stories"]
    if not isinstance(stories.value, Array):
        yield error("invalid_field", stories.line, "stories is no list", "Put the stories in [ ].")


def _missing(stories: list[Object]) -> Iterator[Finding]:
    for story in stories:
        for key in ("id", "title"):
            if not story.text(key):
                yield error("invalid_field", story.line, f"a story has no {key}", f'Give it a "{key}".')
    without = [story for story in stories if not story.text("chunk")]
    if without:
        names = ", ".join(story.text("id") or f"line {story.line}" for story in without[:8])
        more = f" and {len(without) - 8} more" if len(without) > 8 else ""
        yield error(
            "missing_chunk",
            without[0].line,
            f"{len(without)} stories have no chunk: {names}{more}",
            'Add "chunk": "C01" to each of them.',
        )


def _unknown_criteria(stories: list[Object], criteria: dict[str, DraftCriterion]) -> Iterator[Finding]:
    for story in stories:
        for hint in hints(story, "criteria"):
            if hint.value not in criteria:
                yield error(
                    "invalid_field",
                    hint.line,
                    f"{story.text('id')} names the criterion {hint.value}, which no requirement has",
                    "Add it to the criteria of a requirement, or remove it.",
                )


def _unused(stories: list[Object], criteria: dict[str, DraftCriterion]) -> Iterator[Finding]:
    used = {hint.value for story in stories for hint in hints(story, "criteria")}
    left = [criterion for name, criterion in criteria.items() if name not in used]
    if left:
        names = ", ".join(str(criterion.id) for criterion in left[:8]) + (
            "" if len(left) <= 8 else f" and {len(left) - 8} more"
        )
        yield warning(
            "criteria_of_no_story",
            left[0].line,
            f"no story names these criteria: {names}",
            "Add each to the criteria of the story that meets it.",
        )


def _members(root: Object, units: list[Unit]) -> Iterator[Finding]:
    """Yield where the list of chunks says something else than the stories."""
    chunk = {unit.id: unit.chunk for unit in units}
    for each in items(root.get("chunks")):
        if not isinstance(each, Object):
            continue
        label = each.text("label")
        for hint in hints(each, "stories"):
            if hint.value not in chunk or chunk[hint.value] not in (label, None):
                says = (
                    f'whose own chunk is "{chunk[hint.value]}"'
                    if hint.value in chunk
                    else "which is no story of the plan"
                )
                yield error(
                    "invalid_field",
                    hint.line,
                    f'the chunk "{label}" lists {hint.value}, {says}',
                    "Make the two agree; the chunk of a story decides.",
                )
