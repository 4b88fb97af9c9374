"""A plan.json that santiago made and a person or an agent may have edited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from santiago.contract.counting import count
from santiago.contract.plan import CONTRACT_VERSION, Finding
from santiago.planner import ids
from santiago.planner.draft import EXTERNAL, Dep, Document, DraftCriterion, Hint, Status, Unit
from santiago.planner.findings import error, few, warning
from santiago.planner.source import Source
from santiago.planner.structured.tree import Array, Object, Scalar, as_bool, as_text, items, objects

_AGREE = "Make the two agree, or let `santiago plan` plan it again."


def read(source: Source) -> Document | None:
    root = source.tree
    if not isinstance(root, Object) or not {"contract_version", "stories", "chunks"} <= set(root.fields):
        return None
    stories = objects(root.get("stories"))
    criteria = _criteria(root)
    document = Document(
        format="santiago-plan",
        evidence=(f"contract_version {root.text('contract_version')} with {count(len(stories), 'story', 'stories')}",),
        title=root.text("title"),
        units=[_unit(story, criteria) for story in stories],
        run_verify=list(hints(root, "run_verify")),
        by_program=True,
    )
    document.findings += [
        *_version(root),
        *_missing(stories),
        *without_chunk("stories", document.units),
        *_unknown_criteria(stories, criteria),
        *_unused(stories, criteria),
    ]
    document.findings += _members(root, document.units)
    return document


def _criteria(root: Object) -> dict[str, DraftCriterion]:
    """Return the criteria of all requirements by their id."""
    found: dict[str, DraftCriterion] = {}
    for each in (each for one in objects(root.get("requirements")) for each in objects(one.get("criteria"))):
        if (entry := each.field("id")) is not None:
            name = as_text(entry.value)
            found.setdefault(name, DraftCriterion(text=each.text("text"), line=entry.line, id=name))
    return found


def _unit(story: Object, criteria: dict[str, DraftCriterion]) -> Unit:
    entry = story.field("id") or story.field("title")
    named = [(hint, "json") for hint in hints(story, "depends_on")]
    named += [(hint, EXTERNAL) for hint in hints(story, "external_depends_on")]
    judged = [criteria[hint.value] for hint in hints(story, "criteria") if hint.value in criteria]
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
        criteria=tuple(judged),
        deps=tuple(Dep(target=hint.value, line=hint.line, carrier=carrier) for hint, carrier in named),
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
        message = f"contract_version is {as_text(entry.value) or 'empty'}, and only {CONTRACT_VERSION} is known"
        yield error("invalid_field", entry.line, message, "Plan the document again with this version.")
    stories = root.fields["stories"]
    if not isinstance(stories.value, Array):
        yield error("invalid_field", stories.line, "stories is not a list", "Put the stories in [ ].")


def _missing(stories: list[Object]) -> Iterator[Finding]:
    for story in stories:
        for key in ("id", "title"):
            if not story.text(key):
                yield error("invalid_field", story.line, f"a story has no {key}", f'Give it a "{key}".')


def without_chunk(what: str, units: list[Unit]) -> Iterator[Finding]:
    """Yield an error if some of the units have no chunk."""
    missing = [unit for unit in units if not unit.chunk]
    if missing:
        names = few([unit.id or f"line {unit.line}" for unit in missing])
        says = f"{len(missing)} of {len(units)} {what} have no chunk: {names}"
        hint = 'Add "chunk": "C01_name" to each of them; chunks run one after the other, as they first appear.'
        yield error("missing_chunk", missing[0].line, says, hint)


def _unknown_criteria(stories: list[Object], criteria: dict[str, DraftCriterion]) -> Iterator[Finding]:
    for story in stories:
        for hint in hints(story, "criteria"):
            if hint.value not in criteria:
                says = f"{story.text('id')} names the criterion {hint.value}, which no requirement has"
                yield error("invalid_field", hint.line, says, "Add it to the criteria of a requirement, or remove it.")


def _unused(stories: list[Object], criteria: dict[str, DraftCriterion]) -> Iterator[Finding]:
    used = {hint.value for story in stories for hint in hints(story, "criteria")}
    left = [criterion for name, criterion in criteria.items() if name not in used]
    if left:
        says = f"no story names these criteria: {few([criterion.id for criterion in left])}"
        hint = "Add each to the criteria of the story that meets it."
        yield warning("criteria_of_no_story", left[0].line, says, hint)


def _members(root: Object, units: list[Unit]) -> Iterator[Finding]:
    """Yield an error where the list of chunks contradicts the stories."""
    chunk = {unit.id: unit.chunk for unit in units}
    for each in objects(root.get("chunks")):
        label = each.text("label")
        for hint in hints(each, "stories"):
            if hint.value not in chunk:
                wrong = "which is not a story of the plan"
            elif chunk[hint.value] not in (label, None):
                wrong = f'whose own chunk is "{chunk[hint.value]}"'
            else:
                continue
            says = f'the chunk "{label}" lists {hint.value}, {wrong}'
            yield error("invalid_field", hint.line, says, "Make the two agree; the chunk of a story decides.")


def as_it_is(source: Source) -> Document:
    """Return a plan that is to run unchanged. Mistakes that planning it again would correct are errors here."""
    root, document = source.tree, read(source)
    if document is None or not isinstance(root, Object):
        return Document(
            format="santiago-plan", findings=[error("no_units", 0, "this is not a plan", "Name a plan.json.")]
        )
    stories = objects(root.get("stories"))
    document.findings += [
        *_known_requirements(root, stories),
        *_exact_dependencies(stories),
        *_chunks_as_listed(root, stories),
    ]
    return document


def _known_requirements(root: Object, stories: list[Object]) -> Iterator[Finding]:
    """Yield an error for each id that is defined twice, and for each requirement that is named but not defined."""
    requirements = objects(root.get("requirements"))
    yield from _twice("requirement", requirements)
    yield from _twice("criterion", [each for one in requirements for each in objects(one.get("criteria"))])
    known = {one.text("id") for one in requirements}
    for story in stories:
        for hint in hints(story, "requirements"):
            if known and hint.value not in known:  # a plan may leave out the requirements altogether
                says = f"{story.text('id')} names the requirement {hint.value}, which the plan does not define"
                yield error("invalid_field", hint.line, says, "Define it, or remove it from the story.")


def _twice(what: str, found: list[Object]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for one in found:
        name, line = one.text("id"), one.line
        if first.setdefault(name, line) != line:
            says = f"the {what} {name} is defined twice, at line {first[name]} and at line {line}"
            yield error("duplicate_id", line, says, "Give each an id of its own.")


def _exact_dependencies(stories: list[Object]) -> Iterator[Finding]:
    """Yield an error for each dependency in another spelling than the story's id, or on a whole chunk."""
    exact = {story.text("id") for story in stories}
    known = {ids.fold(name) for name in exact} | {ids.fold(story.text("chunk")) for story in stories}
    for story in stories:
        for hint in hints(story, "depends_on"):
            if hint.value not in exact and ids.fold(hint.value) in known:
                says = f"{story.text('id')} depends on {hint.value}, which is not the id of a story"
                yield error("unknown_dependency", hint.line, says, "Name each story that it waits for by its id.")


def _chunks_as_listed(root: Object, stories: list[Object]) -> Iterator[Finding]:
    """Yield an error where the list of chunks has another order or other members than the stories."""
    members: dict[str, list[str]] = {}
    for story in stories:
        members.setdefault(story.text("chunk"), []).append(story.text("id"))
    listed = objects(root.get("chunks"))
    labels = [chunk.text("label") for chunk in listed]
    if labels != list(members):
        says = (
            f"the chunks are listed as {few(labels) or 'none'}, and the stories are in {few(list(members)) or 'none'}"
        )
        yield error("invalid_field", root.fields["chunks"].line, says, _AGREE)
    for label, chunk in zip(labels, listed, strict=True):
        names, own = [hint.value for hint in hints(chunk, "stories")], members.get(label, [])
        # `_members` reports a story that belongs to another chunk.
        if set(names) <= set(own) and names != own:
            yield error("invalid_field", chunk.line, f'the chunk "{label}" {_misses(names, own)}', _AGREE)


def _misses(names: list[str], own: list[str]) -> str:
    if missing := [name for name in own if name not in names]:
        return f"does not list {few(missing)}"
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        return f"lists {few(twice)} more than once"
    return "lists its stories in another order than the plan"
