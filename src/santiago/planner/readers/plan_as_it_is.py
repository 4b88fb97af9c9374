"""A plan.json that is to be carried out as it is: what planning it again would put right is an error here.

No reader of documents; the rest of the rules are those of `santiago_plan` and of the compiler behind it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from santiago.planner import ids
from santiago.planner.draft import Document
from santiago.planner.findings import error
from santiago.planner.readers import santiago_plan
from santiago.planner.readers.santiago_plan import hints
from santiago.planner.structured.tree import Object, items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.contract.plan import Finding
    from santiago.planner.source import Source

_AGREE = "Make the two agree, or let `santiago plan` plan it again."


def read(source: Source) -> Document:
    """Return the plan as a document, with a finding for everything in it that contradicts itself."""
    root, document = source.tree, santiago_plan.read(source)
    if document is None or not isinstance(root, Object):
        return Document(format="santiago-plan", findings=[error("no_units", 0, "this is no plan", "Name a plan.json.")])
    stories = _objects(root, "stories")
    document.findings += [*_requirements(root, stories), *_dependencies(stories), *_chunks(root, stories)]
    return document


def _requirements(root: Object, stories: list[Object]) -> Iterator[Finding]:
    """Yield ids of requirements and criteria that are not unique, and requirements that are not there."""
    requirements = _objects(root, "requirements")
    yield from _twice("requirement", requirements)
    yield from _twice("criterion", [each for one in requirements for each in _objects(one, "criteria")])
    known = {one.text("id") for one in requirements}
    for story in stories:
        for hint in hints(story, "requirements"):
            if known and hint.value not in known:  # a program need not repeat the document's requirements
                says = f"{story.text('id')} names the requirement {hint.value}, which the plan does not define"
                yield error("invalid_field", hint.line, says, "Define it, or remove it from the story.")


def _twice(what: str, found: list[Object]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for one in found:
        name, line = one.text("id"), one.line
        if first.setdefault(name, line) != line:
            says = f"the {what} {name} is defined twice, at line {first[name]} and at line {line}"
            yield error("duplicate_id", line, says, "Give each an id of its own.")


def _dependencies(stories: list[Object]) -> Iterator[Finding]:
    """Yield dependencies that only another spelling, or the label of a chunk, would explain."""
    exact = {story.text("id") for story in stories}
    known = {ids.fold(name) for name in exact} | {ids.fold(story.text("chunk")) for story in stories}
    for story in stories:
        for hint in hints(story, "depends_on"):
            if hint.value not in exact and ids.fold(hint.value) in known:
                says = f"{story.text('id')} depends on {hint.value}, which is the id of no story"
                yield error("unknown_dependency", hint.line, says, "Name each story that it waits for by its id.")


def _chunks(root: Object, stories: list[Object]) -> Iterator[Finding]:
    """Yield where the chunks are not listed as the stories stand."""
    members: dict[str, list[str]] = {}
    for story in stories:
        members.setdefault(story.text("chunk"), []).append(story.text("id"))
    listed = [(chunk.text("label"), chunk) for chunk in _objects(root, "chunks")]
    labels = [label for label, _ in listed]
    if labels != list(members):
        says = f"the chunks are listed as {_names(labels)}, and the stories stand in {_names(list(members))}"
        yield error("invalid_field", root.fields["chunks"].line, says, _AGREE)
    for label, chunk in listed:
        names, own = [hint.value for hint in hints(chunk, "stories")], members.get(label, [])
        # A name that belongs elsewhere is said by name already.
        if set(names) <= set(own) and names != own:
            missing = [name for name in own if name not in names]
            twice = [name for name, times in Counter(names).items() if times > 1]
            wrong = (
                f"does not list {_names(missing)}" if missing
                else f"lists {_names(twice)} more than once" if twice
                else "lists its stories in another order than they stand in"
            )  # fmt: skip
            yield error("invalid_field", chunk.line, f'the chunk "{label}" {wrong}', _AGREE)


def _objects(node: Object, key: str) -> list[Object]:
    return [each for each in items(node.get(key)) if isinstance(each, Object)]


def _names(names: list[str], most: int = 8) -> str:
    shown = ", ".join(names[:most]) or "none"
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
