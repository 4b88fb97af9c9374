"""Find the units of a structured document: which of its lists holds work, and which group each element belongs to."""

from __future__ import annotations

from dataclasses import field

from santiago.contract.plan import Offer
from santiago.contract.record import lean
from santiago.planner import ids, words
from santiago.planner.choosing import Evidence, Standing
from santiago.planner.structured import record_units, record_words
from santiago.planner.structured.record_criteria import has_criteria
from santiago.planner.structured.record_units import Group, Member
from santiago.planner.structured.tree import (
    Array,
    Field,
    Node,
    Object,
    Scalar,
    as_text,
    fold_key,
    items,
    objects,
    spoken,
)

MAX_GROUPS = 6
"""The most levels of groups inside groups."""
MAX_WRAPPERS = 3
"""The most objects around a list: `{prd: {scope: {features: …}}}`."""

_SAYING = (*record_words.TITLE, *record_words.WEAK_TITLE)
_WORKING = frozenset(("steps", "assertions", "test")).union(
    record_words.DEPENDS, record_words.DONE_FLAGS, record_words.STATUS, record_words.PRIORITY
)
_UNIT_RANK = {key: rank for rank, key in reversed(list(enumerate(record_words.UNIT_LISTS)))}
_GROUPS = frozenset(record_words.GROUP_LISTS)
_INNER = frozenset(record_words.INNER_LISTS)


@lean(kw_only=True, eq=False)
class Candidate:
    """A list that may be the list of units."""

    key: str = ""
    line: int = 0
    depth: int = 0
    members: list[Member] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    empty: list[Group] = field(default_factory=list)
    """Groups without a unit, in a list that has other groups with units."""
    evidence: Evidence = Evidence.TEXTS

    @property
    def holds_work(self) -> bool:
        """Whether it has several elements, or one with an id or other signs of work."""
        return len(self.members) > 1 or self.evidence > Evidence.RECORDS

    @property
    def name(self) -> str:
        return self.key or "the top-level list"

    @property
    def standing(self) -> Standing:
        rank = _UNIT_RANK.get(fold_key(self.key.split(".")[-1]), 99)
        planned = not all(member.future for member in self.members)
        return Standing(planned, 0, self.evidence, -rank, -self.depth, line=-self.line)

    @property
    def offer(self) -> Offer:
        last = max(member.last_line for member in self.members)
        return Offer(name=self.name, units="", lines=(self.line, last), count=len(self.members))

    @property
    def keys(self) -> frozenset[str]:
        """Its key and the parts of it, the singular of these, and the prefix of its ids."""
        names = set(map(fold_key, (self.key, *self.key.split("."))))
        one = {name[:-3] + "y" if name.endswith("ies") else name.removesuffix("s") for name in names}
        prefixes = (ids.prefix_of(member.key or _id(member.node)) for member in self.members)
        return frozenset({*names, *one, next(filter(None, prefixes), "").lower()} - {""})

    def yields_to(self, _other: Candidate) -> bool:
        return False


def _id(node: Node) -> str:
    return record_units.id_of(node).text if isinstance(node, Object) else ""


def candidates(root: Node) -> list[Candidate]:
    """Return the lists that look like lists of units, the best first."""
    keys = {fold_key(key) for key in root.fields} if isinstance(root, Object) else set()
    if keys >= {"apiversion", "kind"}:
        return []
    found = [candidate for candidate in _lists(root) if _accepted(candidate)]
    if len(keys & record_words.CONFIGURATION) >= 2:
        found = [candidate for candidate in found if candidate.evidence is Evidence.RECORDS_OF_WORK]
    return sorted(found, key=lambda candidate: candidate.standing, reverse=True)


def _lists(root: Node) -> list[Candidate]:
    if isinstance(root, Array):
        return [_gather("", root, root.line, 0)]
    found: list[Candidate] = []
    level: list[Object] = [root] if isinstance(root, Object) else []
    for depth in range(MAX_WRAPPERS + 1):
        inner: list[Object] = []
        for node in level:
            if depth == 0 and _is_keyed_by_id(node):
                found.append(_gather("", node, node.line, 0))
                continue
            for entry in node.fields.values():
                key = fold_key(entry.key)
                if key in _UNIT_RANK or key in _GROUPS:
                    found.append(_gather(entry.key, entry.value, entry.line, depth))
                elif isinstance(entry.value, Object) and not _is_excluded(entry.key):
                    inner.append(entry.value)
        level = inner
    return found


def _gather(key: str, node: Node, line: int, depth: int) -> Candidate:
    candidate = Candidate(key=key, line=line, depth=depth)
    _collect(candidate, node, None, fold_key(key), future=_is_excluded(key), level=0)
    used = {id(member.group) for member in candidate.members} | {id(group.parent) for group in candidate.groups}
    candidate.empty = [group for group in candidate.groups if id(group) not in used]
    if fold_key(key) in _GROUPS:
        candidate.key = _inner_key(candidate)
    return candidate


def _inner_key(candidate: Candidate) -> str:
    """Return the key of a list of groups together with the key of the lists inside: `phases.tasks`."""
    inner = next((member.group.node for member in candidate.members if member.group), None)
    keys = [key for key in inner.fields if fold_key(key) in _INNER] if inner else []
    return f"{candidate.key}.{keys[0]}" if keys else candidate.key


def _collect(candidate: Candidate, node: Node, group: Group | None, key: str, *, future: bool, level: int) -> None:
    """Add the units under a node. MAX_GROUPS limits the recursion."""
    if level > MAX_GROUPS:
        return
    if isinstance(node, Array):
        for item in node.items:
            if isinstance(item, Object):
                _collect_record(candidate, item, group, key, future=future, level=level)
            else:
                _collect(candidate, item, group, key, future=future, level=level + 1)
    elif isinstance(node, Scalar):
        if as_text(node) and key not in _GROUPS:
            candidate.members.append(Member(node, node.line, None, group, future))
    else:
        for entry in node.fields.values():
            _collect_entry(candidate, entry, group, key, future=future or _is_excluded(entry.key), level=level)


def _collect_record(
    candidate: Candidate, item: Object, group: Group | None, key: str, *, future: bool, level: int
) -> None:
    """Add one record of a list: a group of further units, or a unit."""
    inner = _inner_lists(item, stage=key in _GROUPS)
    if inner or (key in _GROUPS and not has_criteria(item)):
        found = _group(item, group, is_chunk=key in _GROUPS)
        candidate.groups.append(found)
        for entry in inner:
            _collect(candidate, entry.value, found, "", future=future, level=level + 1)
    elif (single := _single(item)) is not None:
        candidate.members.append(Member(single.value, single.line, single.key, group, future))
    else:
        candidate.members.append(Member(item, item.line, None, group, future))


def _collect_entry(
    candidate: Candidate, entry: Field, group: Group | None, key: str, *, future: bool, level: int
) -> None:
    """Add one entry of an object that is a list of units: a unit with its key, or a group."""
    value = entry.value
    if _is_id(entry.key) and not (isinstance(value, Array) and key in _GROUPS):
        candidate.members.append(Member(value, entry.line, entry.key, group, future))
    elif isinstance(value, Scalar):
        return
    elif isinstance(value, Object) and _is_record(value) and not _inner_lists(value, stage=True):
        name = entry.key if value.field(*record_words.ID) is None else None
        candidate.members.append(Member(value, entry.line, name, group, future))
    elif fold_key(entry.key) in _INNER:
        _collect(candidate, value, group, "", future=future, level=level + 1)
    else:
        found = _named_group(entry, group)
        candidate.groups.append(found)
        inner = _inner_lists(value, stage=True) if isinstance(value, Object) else []
        for node in [each.value for each in inner] or [value]:
            _collect(candidate, node, found, "", future=future, level=level + 1)


def _named_group(entry: Field, parent: Group | None) -> Group:
    if not isinstance(entry.value, Object) or not entry.value.text("title", "name"):
        return Group(entry.key, entry.line, (entry.key,), None, parent)
    found = _group(entry.value, parent, is_chunk=True)
    found.names, found.line = (entry.key, *found.names), entry.line
    return found


def _group(node: Object, parent: Group | None, *, is_chunk: bool) -> Group:
    title = node.text("title", "name", "label", "heading")
    name = node.text("id", "phase", "number", "epic", "milestone", "stage", "sprint")
    line = next((entry.line for key in ("id", "title", "name", "phase") if (entry := node.field(key))), node.line)
    label = title or (f"Phase {name}" if name.isdigit() else name) or node.text("description", "goal")
    return Group(label, line, tuple(filter(None, (name, title))), node, parent, is_chunk)


def _inner_lists(node: Object, *, stage: bool) -> list[Field]:
    """Return the lists of units inside an element, if the element is a group and not a unit itself.

    A stage (phase, epic) is always a group. A story with criteria is a unit, and its tasks are its parts.
    """
    judged = has_criteria(node)
    found = [entry for entry in node.fields.values() if _holds_units(entry, stage=stage, judged=judged)]
    # If a phase has `tasks`, these are its units, and its `deliverables` are their results.
    best = [entry for entry in found if fold_key(entry.key) in _UNIT_RANK]
    return best or found


def _holds_units(entry: Field, *, stage: bool, judged: bool) -> bool:
    key, value = fold_key(entry.key), entry.value
    if key not in _INNER or not isinstance(value, Array) or not (stage or (key in _UNIT_RANK and not judged)):
        return False
    units = sum(map(_is_record, objects(value)))
    if stage and not judged:
        units += sum(isinstance(item, Scalar) for item in value.items)
    return 2 * units > len(value.items)


def _single(node: Object) -> Field | None:
    """Return the entry of `- F1: text`: a unit whose id is the only key of an object."""
    entries = list(node.fields.values())
    return entries[0] if len(entries) == 1 and _is_id(entries[0].key) else None


def _is_id(key: str) -> bool:
    found = ids.lead(key)
    return found is not None and found.kind in ("prefix", "story", "requirement", "task", "feature") and not found.rest


def _is_keyed_by_id(node: Object) -> bool:
    """Tell whether an object is a list of units by id: `{US-001: {…}, US-002: {…}}`."""
    named = [entry.value for entry in node.fields.values() if _is_id(entry.key)]
    units = sum(isinstance(value, Object) or _is_sentence(as_text(value)) for value in named)
    return units > 1 and 2 * units > len(node.fields)


def _is_excluded(key: str) -> bool:
    return bool(key) and words.matches(spoken(key), words.EXCLUDED_SECTIONS)


def _accepted(candidate: Candidate) -> bool:
    """Set the evidence of a list, and tell whether its elements can be units."""
    nodes = [member.node for member in candidate.members]
    keyed = sum(1 for member in candidate.members if member.key is not None)
    evidence = _evidence_of(nodes, keyed)
    if evidence is None:
        return False
    candidate.evidence = evidence
    if evidence is Evidence.TEXTS:
        return candidate.depth <= 1 or any(member.group for member in candidate.members)
    weak = fold_key(candidate.key.split(".")[-1]) in record_words.WEAK_LISTS
    if not weak or evidence is Evidence.RECORDS_OF_WORK:
        return True
    return evidence is Evidence.RECORDS_WITH_IDS and (keyed > 0 or _are_prefixed(nodes))


def _evidence_of(nodes: list[Node], keyed: int) -> Evidence | None:
    """Return the evidence that these elements are units, or None. `keyed` of them have an id as their key."""
    records = [node for node in nodes if isinstance(node, Object)]
    half = len(nodes) / 2
    if not nodes or keyed + sum(map(_has_words, nodes)) < half or sum(map(_is_machine, records)) > half:
        return None
    if (working := sum(map(_is_work, records))) and working >= half:
        return Evidence.RECORDS_OF_WORK
    if keyed + sum(map(_has_id, records)) >= half:
        return Evidence.RECORDS_WITH_IDS
    return Evidence.RECORDS if len(records) >= half else Evidence.TEXTS


def _are_prefixed(nodes: list[Node]) -> bool:
    """Tell whether half of the records have ids with a prefix; records made by a program alone hardly ever do."""
    leads = [ids.lead(node.text(*record_words.ID)) for node in nodes if isinstance(node, Object)]
    return 2 * sum(1 for found in leads if found and found.kind == "prefix") >= len(nodes)


def _is_record(node: Object) -> bool:
    """Tell whether an object has a title or a text."""
    return any(items(entry.value) for entry in node.pick(_SAYING))


def _is_sentence(text: str) -> bool:
    """Tell whether a text has several words, or begins with an id."""
    found = ids.lead(text)
    named = found is not None and found.kind == "prefix" and bool(found.rest)
    return named or len(text.split()) > 2 or (not text.isascii() and len(text) > 6)


def _has_words(node: Node) -> bool:
    """Tell whether a record or a text says something in words."""
    if not isinstance(node, Object):
        return _is_sentence(as_text(node))
    said = [as_text(entry.value) for entry in node.pick(_SAYING)]
    wordy = any(len(text.split()) > 1 or (not text.isascii() and len(text) > 3) for text in said)
    return wordy or (_has_id(node) and any(said))


def _has_id(node: Object) -> bool:
    return any(as_text(entry.value) for entry in node.pick(record_words.ID))


def _is_work(node: Object) -> bool:
    return has_criteria(node) or any(fold_key(key) in _WORKING for key in node.fields)


def _is_machine(node: Object) -> bool:
    """Tell whether a record is a step that a program runs, as in a pipeline."""
    keys = {fold_key(key) for key in node.fields}
    return bool(keys & record_words.MACHINE) and not (
        has_criteria(node) or _has_id(node) or keys & {"description", "passes", "acceptance"}
    )
