"""The dependencies of records: what the fields name, and whether that is a unit of the document, another id, or prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from santiago.contract.patterns import pattern
from santiago.planner import hints, ids
from santiago.planner.draft import Dep
from santiago.planner.structured.records import vocabulary
from santiago.planner.structured.tree import Node, Object, as_text, fold_key, items

_TARGET = ("dependsOnId", "depends_on_id", "id", "task", "taskId", "story", "storyId", "target", "ref", "name", "title")
_NOT_BLOCKING = frozenset(
    vocabulary.keys(
        "related relatesTo discoveredFrom duplicates supersedes repliesTo tracks validates causedBy until approvedBy"
        " optional soft parentChild"
    )
)
"""Types of links that do not make one unit wait for the other."""
_TOKEN = pattern(r"#?\w[\w.\-~]*$")
_JOINED = pattern(r"[A-Za-z]+[-_.]\d|^#?\d|[A-Z]+\d")
_PLACEHOLDER = pattern(r"[A-Z]{1,6}-?[xX]{2,}$")


def mentions_of(record: Object, carrier: str) -> tuple[Dep, ...]:
    """Return what a record's dependency fields name, as written. `Resolver` decides later what each name means."""
    found: dict[str, Dep] = {}
    for each in _named(record):
        text = each.text(*_TARGET) if isinstance(each, Object) else as_text(each)
        if text and not _is_not_blocking(each):
            found.setdefault(text, Dep(target=text, line=each.line, carrier=carrier))
    return tuple(found.values())


def _named(record: Object) -> Iterator[Node]:
    for entry in record.fields.values():
        if fold_key(entry.key) not in vocabulary.DEPENDS:
            continue
        if isinstance(entry.value, Object) and not any(map(entry.value.text, _TARGET)):
            for inner in entry.value.fields.values():
                if fold_key(inner.key) in vocabulary.DEPENDS_INSIDE:
                    yield from items(inner.value)
        else:
            yield from items(entry.value)


def _is_not_blocking(node: Node) -> bool:
    return isinstance(node, Object) and fold_key(node.text("type", "kind", "relation")) in _NOT_BLOCKING


class Resolver:
    """Decides whether a name is a unit of this document, an id of another document, or a library or prose."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self.names: dict[str, str] = {}
        self.prefixes: set[str] = set()
        for spelling, target in names:
            self.names.setdefault(ids.fold(spelling), target)
            self.prefixes.add(_letters(target))

    def deps(self, mention: Dep) -> tuple[list[Dep], bool]:
        """Return the dependencies that a name declares, and whether all of it was understood."""
        text = mention.target
        if hints.says_nothing(text):
            return [], True
        if (known := self.names.get(ids.fold(text))) is not None:
            return [replace(mention, target=known)], True
        if _TOKEN.match(text):
            is_id = self.is_id(text)
            return [mention] if is_id else [], is_id
        names, sure = hints.targets(text)
        sure = sure or self.names.keys() >= set(map(ids.fold, names))
        found = [self.names.get(ids.fold(name), name) for name in names]
        mention = mention if sure else replace(mention, carrier="prose")
        return [replace(mention, target=name) for name in found], sure and bool(found)

    def is_id(self, token: str) -> bool:
        if _PLACEHOLDER.match(token):
            return True
        prefix = _letters(token)
        if prefix.upper() in ids.DENIED or not any(char.isdigit() for char in token):
            return False
        return prefix in self.prefixes or bool(_JOINED.search(token))


def _letters(identifier: str) -> str:
    found = re.match(r"[A-Za-z]*", identifier)
    return found[0].lower() if found else ""
