"""JSON of a strict format, where mistakes are errors: santiago's plan.json, project_plan.json, and the PRDs of house-json.

A plan.json is made by santiago, and a person or an agent may have edited it. A project_plan.json is written by a planning
agent; its chunks run one after the other, so no chunk is guessed for a task without one. House-json has requirements R1 …,
and criteria AC-1 … with given, when and then; it has no other fields than those that it knows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import CONTRACT_VERSION, Finding
from santiago.planner import commands, ids
from santiago.planner.draft import EXTERNAL, Dep, Document, DraftCriterion, Hint, Status, Unit, by_key, unique
from santiago.planner.findings import error, few, left_out, note, warning
from santiago.planner.hints import behind_files, files_in
from santiago.planner.source import Source
from santiago.planner.structured import record_units
from santiago.planner.structured.record_units import Member, given_when_then
from santiago.planner.structured.tree import Array, Object, Scalar, as_bool, as_text, flat, items, objects

_AGREE = "Make the two agree, or let `santiago plan` plan it again."


def plan(source: Source) -> Document | None:
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
        run_verify=list(_texts(root, "run_verify")),
        by_program=True,
    )
    document.findings += [*_version(root), *_mistakes(stories, criteria), *_without_chunk("stories", document.units)]
    document.findings += _members(root, document.units)
    return document


def _criteria(root: Object) -> dict[str, DraftCriterion]:
    found: dict[str, DraftCriterion] = {}
    for each in (each for one in objects(root.get("requirements")) for each in objects(one.get("criteria"))):
        if (entry := each.field("id")) is not None:
            name = as_text(entry.value)
            found.setdefault(name, DraftCriterion(text=each.text("text"), line=entry.line, id=name))
    return found


def _unit(story: Object, criteria: dict[str, DraftCriterion]) -> Unit:
    entry = story.field("id") or story.field("title")
    named = [(hint, "json") for hint in _texts(story, "depends_on")]
    named += [(hint, EXTERNAL) for hint in _texts(story, "external_depends_on")]
    judged = [criteria[hint.value] for hint in _texts(story, "criteria") if hint.value in criteria]
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
        covers=tuple(_texts(story, "requirements")),
        files=tuple(_texts(story, "files")),
        verify=tuple(_texts(story, "verify")),
    )


def _texts(node: Object, key: str) -> Iterator[Hint]:
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


def _mistakes(stories: list[Object], criteria: dict[str, DraftCriterion]) -> Iterator[Finding]:
    """Yield what is wrong with the stories and the criteria that they name."""
    for story, key in product(stories, ("id", "title")):
        if not story.text(key):
            yield error("invalid_field", story.line, f"a story has no {key}", f'Give it a "{key}".')
    named = [(story, hint) for story in stories for hint in _texts(story, "criteria")]
    for story, hint in named:
        if hint.value not in criteria:
            says = f"{story.text('id')} names the criterion {hint.value}, which no requirement has"
            yield error("invalid_field", hint.line, says, "Add it to the criteria of a requirement, or remove it.")
    used = {hint.value for _, hint in named}
    if left := [name for name in criteria if name not in used]:
        way = "Add each to the criteria of the story that meets it."
        says = f"no story names these criteria: {few(left)}"
        yield warning("criteria_of_no_story", criteria[left[0]].line, says, way)


def _without_chunk(what: str, units: list[Unit]) -> Iterator[Finding]:
    """Yield an error if some of the units have no chunk."""
    missing = [unit for unit in units if not unit.chunk]
    if missing:
        names = few([unit.id or f"line {unit.line}" for unit in missing])
        says = f"{len(missing)} of {len(units)} {what} have no chunk: {names}"
        hint = 'Add "chunk": "C01_name" to each of them; chunks run one after the other, as they first appear.'
        yield error("missing_chunk", missing[0].line, says, hint)


def _members(root: Object, units: list[Unit]) -> Iterator[Finding]:
    """Yield an error where the list of chunks contradicts the stories."""
    chunk = {unit.id: unit.chunk for unit in units}
    for each in objects(root.get("chunks")):
        label = each.text("label")
        for hint in _texts(each, "stories"):
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
    root, document = source.tree, plan(source)
    if document is None or not isinstance(root, Object):
        no_plan = error("no_units", 0, "this is not a plan", "Name a plan.json.")
        return Document(format="santiago-plan", findings=[no_plan])
    stories = objects(root.get("stories"))
    document.findings += [*_known_requirements(root, stories), *_exact_dependencies(stories)]
    document.findings += _chunks_as_listed(root, stories)
    return document


def _known_requirements(root: Object, stories: list[Object]) -> Iterator[Finding]:
    """Yield an error for each id that is defined twice, and for each requirement that is named but not defined."""
    requirements = objects(root.get("requirements"))
    yield from _twice("requirement", requirements)
    yield from _twice("criterion", [each for one in requirements for each in objects(one.get("criteria"))])
    known = {one.text("id") for one in requirements}
    for story in stories:
        for hint in _texts(story, "requirements"):
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
        for hint in _texts(story, "depends_on"):
            if hint.value not in exact and ids.fold(hint.value) in known:
                says = f"{story.text('id')} depends on {hint.value}, which is not the id of a story"
                yield error("unknown_dependency", hint.line, says, "Name each story that it waits for by its id.")


def _chunks_as_listed(root: Object, stories: list[Object]) -> Iterator[Finding]:
    """Yield an error where the list of chunks has another order or other members than the stories."""
    members = by_key((story.text("chunk"), story.text("id")) for story in stories)
    listed = objects(root.get("chunks"))
    labels = [chunk.text("label") for chunk in listed]
    if labels != list(members):
        stand = few(list(members)) or "none"
        says = f"the chunks are listed as {few(labels) or 'none'}, and the stories are in {stand}"
        yield error("invalid_field", root.fields["chunks"].line, says, _AGREE)
    for label, chunk in zip(labels, listed, strict=True):
        names, own = [hint.value for hint in _texts(chunk, "stories")], members.get(label, [])
        # `_members` reports a story that belongs to another chunk.
        if set(names) <= set(own) and names != own:
            yield error("invalid_field", chunk.line, f'the chunk "{label}" {_misses(names, own)}', _AGREE)


def _misses(names: list[str], own: list[str]) -> str:
    if missing := [name for name in own if name not in names]:
        return f"does not list {few(missing)}"
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        return f"lists {few(twice)} more than once"
    return "lists its stories in another order than the plan"


_OWN = ("chunk", "task_type", "verification_method", "verification_group")


def project(source: Source) -> Document | None:
    root = source.tree
    if not isinstance(root, Object) or not isinstance(tasks := root.get("tasks"), Array):
        return None
    found = objects(tasks)
    if not any(each.text(key) for task in found for each in _layers(task) for key in _OWN):
        return None
    document = Document(
        format="project-plan",
        evidence=(f"{count(len(found), 'task')}, {sum(1 for task in found if task.text('chunk'))} with a chunk",),
        title=root.text("title", "name", "goal", "project"),
        units=[_task(task) for task in found],
        by_program=True,
    )
    document.findings += [*_without_chunk("tasks", document.units), *left_out(document.units)]
    for item in tasks.items:
        if not isinstance(item, Object):
            hint = "Write each task as an object with id, chunk and description."
            document.findings.append(error("invalid_field", item.line, "an element of tasks is not an object", hint))
        elif not item.text("id"):
            hint = 'Give each task a unique "id".'
            document.findings.append(error("invalid_field", item.line, "a task has no id", hint))
    return document


def _layers(task: Object) -> tuple[Object, ...]:
    """Return a task and its metadata, which may have the same fields."""
    return (task, *objects(task.get("metadata")))


def _task(task: Object) -> Unit:
    unit = record_units.gather(Member(task, task.line), "json")
    checks = commands.Found([*unit.verify], [*unit.unread])
    for node in _layers(task):
        for entry in (node.field("verification_method"), node.field("verification")):
            if entry is not None:
                checks.add(commands.behind_label(as_text(entry.value), entry.line, "json"))
    return replace(unit, chunk=task.text("chunk") or None, verify=unique(checks.taken), unread=unique(checks.left))


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


def house(source: Source) -> Document | None:
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
    judged = [made for each in criteria if (made := given_when_then(each))]
    shared = _criteria_by_requirement(requirements, judged, document.findings)
    document.units = [_requirement(root, each, own) for each, own in zip(requirements, shared, strict=True)]
    document.run_verify = list(_texts(root, "verification_command"))
    return document


def _is_house(root: Object) -> bool:
    """Tell whether the document has the two lists of this format. All other mistakes are then reported."""
    if not {"id", "title", "requirements", "acceptance_criteria"} <= set(root.fields):
        return False
    numbered = [each for each in objects(root.get("requirements")) if {"id", "text"} <= set(each.fields)]
    judged = [each for each in objects(root.get("acceptance_criteria")) if set(_CRITERION) - {"id"} <= set(each.fields)]
    return any(_REQUIREMENT["id"][0].match(each.text("id")) for each in numbered) and bool(judged)


def _requirement(root: Object, requirement: Object, criteria: list[DraftCriterion]) -> Unit:
    entry = requirement.field("id") or requirement.field("text")
    text, notes = requirement.text("text"), flat(root.get("technical_notes"))
    named = [
        Hint(value=path, line=node.line, carrier="json")
        for node in items(root.get("files_to_modify"))
        for path in behind_files(as_text(node)).paths
    ]
    said = [Hint(value=path, line=requirement.line, carrier="text") for path in files_in(text)]
    return Unit(
        id=requirement.text("id") or None,
        title=" ".join(text.split()),
        line=entry.line if entry else requirement.line,
        text=root.text("description") + (f"\nTechnical notes: {notes}" if notes else ""),
        criteria=tuple(criteria),
        files=unique((*said, *named)),
        verify=tuple(_texts(root, "verification_command")),
    )


def _criteria_by_requirement(
    requirements: list[Object], criteria: list[DraftCriterion], findings: list[Finding]
) -> list[list[DraftCriterion]]:
    """Give each criterion to the requirements that it names. Those that name none go to the last requirement."""
    names = [each.text("id") for each in requirements]
    called = [(each, set(re.findall(r"\bR[0-9]+\b", each.text)).intersection(names)) for each in criteria]
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
