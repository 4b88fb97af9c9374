"""Find the list of a structured document that holds work, and make the document of it.

The dependencies, the order and the groups of its units are decided as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import pairwise

from santiago.contract.counting import count
from santiago.contract.plan import Finding, Offer
from santiago.contract.record import lean
from santiago.planner import choosing, ids, words
from santiago.planner.choosing import Evidence, Standing
from santiago.planner.draft import Dep, Document, GroupEdge, Unit, unique
from santiago.planner.findings import error, left_out, note, of_no_story, warning
from santiago.planner.order import looks_ahead
from santiago.planner.source import Options
from santiago.planner.structured import record_units, record_words
from santiago.planner.structured.record_units import (
    Group,
    Member,
    Resolver,
    criteria_in,
    gather,
    has_criteria,
    mentions_of,
    stated_criteria,
)
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
        nodes = ((member.key, member.node) for member in self.members)
        names_of = (key or (record_units.id_of(node).text if isinstance(node, Object) else "") for key, node in nodes)
        prefixes = map(ids.prefix_of, names_of)
        return frozenset({*names, *one, next(filter(None, prefixes), "").lower()} - {""})

    def yields_to(self, _other: Candidate) -> bool:
        return False


def candidates(root: Node) -> list[Candidate]:
    """Return the lists that look like lists of units, the best first."""
    keys = {fold_key(key) for key in root.fields} if isinstance(root, Object) else set()
    if keys >= {"apiversion", "kind"}:
        return []
    found = [candidate for candidate in _lists(root) if _accepted(candidate)]
    if len(keys & record_words.CONFIGURATION) >= 2:
        found = [candidate for candidate in found if candidate.evidence is Evidence.RECORDS_OF_WORK]
    return sorted(found, key=lambda candidate: candidate.standing, reverse=True)


def _lists(root: Node) -> Iterator[Candidate]:
    if isinstance(root, Array) or (isinstance(root, Object) and _is_keyed_by_id(root)):
        yield _gather("", root, root.line, 0)
    elif isinstance(root, Object):
        yield from _lists_inside(root, 0)


def _lists_inside(node: Object, depth: int) -> Iterator[Candidate]:
    """Yield the lists in an object and in the objects inside it. MAX_WRAPPERS limits the recursion."""
    for entry in node.fields.values() if depth <= MAX_WRAPPERS else ():
        if (key := fold_key(entry.key)) in _UNIT_RANK or key in _GROUPS:
            yield _gather(entry.key, entry.value, entry.line, depth)
        elif isinstance(entry.value, Object) and not _is_excluded(entry.key):
            yield from _lists_inside(entry.value, depth + 1)


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
    elif len(item.fields) == 1 and _is_id((single := next(iter(item.fields.values()))).key):  # `- F1: text`
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
    # Records made by a program alone hardly ever have ids with a prefix.
    leads = [ids.lead(node.text(*record_words.ID)) for node in nodes if isinstance(node, Object)]
    prefixed = sum(1 for found in leads if found and found.kind == "prefix") * 2 >= len(nodes)
    return evidence is Evidence.RECORDS_WITH_IDS and (keyed > 0 or prefixed)


def _evidence_of(nodes: list[Node], keyed: int) -> Evidence | None:
    """Return the evidence that these elements are units, or None. `keyed` of them have an id as their key."""
    records = [node for node in nodes if isinstance(node, Object)]
    half = len(nodes) / 2
    if not nodes or keyed + sum(map(_has_words, nodes)) < half or sum(map(_is_machine, records)) > half:
        return None
    working = sum(has_criteria(node) or not _WORKING.isdisjoint(map(fold_key, node.fields)) for node in records)
    if working and working >= half:
        return Evidence.RECORDS_OF_WORK
    if keyed + sum(node.said(record_words.ID) is not None for node in records) >= half:
        return Evidence.RECORDS_WITH_IDS
    return Evidence.RECORDS if len(records) >= half else Evidence.TEXTS


def _is_record(node: Object) -> bool:
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
    return wordy or (node.said(record_words.ID) is not None and any(said))


def _is_machine(node: Object) -> bool:
    """Tell whether a record is a step that a program runs, as in a pipeline."""
    keys = {fold_key(key) for key in node.fields}
    tells = has_criteria(node) or node.said(record_words.ID) or keys & {"description", "passes", "acceptance"}
    return bool(keys & record_words.MACHINE) and not tells


_TITLES = record_words.keys("title project projectName name productName product projectTitle feature")
_ABOUT = frozenset({"meta", "metadata", "project", "prd", "product"})
_WHOLE = frozenset((*record_words.CRITERIA[0], *record_words.CRITERIA[1], "finalacceptance", "definitionofdone"))


def read_tree(root: Node, format_: str, carrier: str, options: Options) -> Document | None:
    """Return the document of the best list of records, or of a single record; None if there is no unit."""
    found = candidates(root)
    chosen = next(iter(choosing.choose(found, options.units)), None)
    if chosen is None and options.units and found:
        return unknown_units(format_, options.units, [candidate.name for candidate in found])
    lone = None if options.units else _single_record(root, found)
    chosen = lone or chosen
    if chosen is None:
        return None
    document = document_of(format_, _evidence(chosen), chosen, carrier)
    document.title = title_of(root)
    if chosen is not lone:
        _compare(document, chosen, found)
        if isinstance(root, Object):
            _read_around(document, root, carrier)
    return document


def _compare(document: Document, chosen: Candidate, found: list[Candidate]) -> None:
    others = [other for other in found if other is not chosen]
    document.chosen = choosing.offered(chosen, found)
    document.rivals = tuple(choosing.offered(other, found) for other in others if len(other.members) > 1)
    for other in others:
        many = f'{count(len(other.members), "entry", "entries")} under "{other.name}"'
        message = f'{many} {"is" if len(other.members) == 1 else "are"} not planned; "{chosen.name}" was chosen'
        hint = f"Use --units {other.name.split('.')[-1]} to plan these instead."
        document.findings.append(note("side_list", other.line, message, hint))


def _read_around(document: Document, root: Object, carrier: str) -> None:
    """Read the fields around the list, which concern all units."""
    checks = record_units.commands_of(root, carrier, set())
    document.run_verify, document.unread = list(unique(checks.taken)), checks.left
    for entry in (entry for entry in root.fields.values() if fold_key(entry.key) in _WHOLE):
        if criteria := criteria_in(entry.value, entry.line, carrier).found:
            document.findings.append(of_no_story(len(criteria), entry.key, entry.line))


def _single_record(root: Node, found: list[Candidate]) -> Candidate | None:
    """If the whole document is one record with an id and a title, return it as a list of one."""
    if not isinstance(root, Object) or any(candidate.holds_work for candidate in found):
        return None
    wrapped = [entry.value for entry in root.pick(("task", "story", "feature", "issue", "ticket"))]
    unit = next((each for each in (root, *wrapped) if isinstance(each, Object) and _is_unit(each)), None)
    return Candidate(line=unit.line, members=[Member(unit, unit.line)]) if unit else None


def _is_unit(node: Object) -> bool:
    """Tell whether a record is a unit: it has an id and a title, and says what is to be done."""
    titled = node.text("title") or (node.text("name") and has_criteria(node))
    says = has_criteria(node) or node.get("description", *record_words.CHILDREN) is not None
    return bool(titled and says and record_units.id_of(node).text)


def _evidence(chosen: Candidate) -> list[str]:
    where = f'under "{chosen.key}"' if chosen.key else "at the top"
    if len(chosen.members) == 1 and not chosen.key:
        return ["one record with an id and a title"]
    said = [f"{count(len(chosen.members), 'record')} {where}"]
    judged = sum(1 for member in chosen.members if isinstance(member.node, Object) and has_criteria(member.node))
    if judged:
        said.append(f"{judged} of them with acceptance criteria")
    return said


def title_of(root: Node) -> str:
    """Return the title of a document: from its top, else from fields such as `metadata`."""
    if not isinstance(root, Object):
        return ""
    about = [entry.value for entry in root.fields.values() if fold_key(entry.key) in _ABOUT]
    said = (node.said(_TITLES) for node in (root, *about) if isinstance(node, Object))
    return next((" ".join(as_text(entry.value).split()) for entry in said if entry), "")


def unknown_units(format_: str, wanted: str, lists: list[str]) -> Document:
    """Return the refusal of a list that the document does not have. It names the lists that it has."""
    message = f'the document has no list "{wanted}"; it has: {", ".join(lists)}'
    return Document(format=format_, findings=[error("unknown_units", 0, message, "Name one of these with --units.")])


def document_of(format_: str, evidence: Sequence[str], candidate: Candidate, carrier: str) -> Document:
    used: set[str] = set()
    for number, group in enumerate(candidate.groups, 1):  # each has a label of its own
        group.label = group.label or f"Group {number}"
        group.label += f" ({number})" if group.label in used else ""
        used.add(group.label)
    units = [_in_groups(gather(member, carrier), member.group) for member in candidate.members]
    found = Document(format=format_, evidence=tuple(evidence))
    resolver = Resolver(_names(units))
    units = [_resolved(unit, resolver, found.findings) for unit in units]
    records = [each.node if isinstance(each.node, Object) else Object(each.line) for each in candidate.members]
    found.units = _with_titles_as_tags(units if any(unit.deps for unit in units) else _ranked(units, records))
    _soft_chunks(found, [record_units.chunk_of(record, record_words.SOFT_CHUNK) for record in records])
    found.edges = _group_edges(candidate.groups)
    found.findings += left_out(found.units)
    for unit in (unit for unit in found.units if not unit.title or unit.title == unit.id):
        says, hint = f"{unit.id or 'a unit'} has no title", "Say in a title or description what is to be done."
        found.findings.append(warning("no_title", unit.line, says, hint))
    for group in candidate.empty:
        says = f'"{group.label}" holds no tasks or stories; nothing was planned from it'
        found.findings.append(note("side_list", group.line, says, "Give it a list of tasks, or remove it."))
    for group in candidate.groups:
        if criteria := stated_criteria(group.node) if group.node is not None else []:
            found.findings.append(of_no_story(len(criteria), group.label, criteria[0].line))
    return found


def _names(units: Sequence[Unit]) -> Iterable[tuple[str, str]]:
    """Yield every name that a dependency may use for a unit or group, with the target that it means."""
    for unit in units:
        if unit.id:
            yield unit.id, unit.id
    for unit in units:
        for name in filter(None, (*unit.tags, unit.chunk)):
            yield name, name
        yield unit.title, unit.id or unit.title


def _resolved(unit: Unit, resolver: Resolver, findings: list[Finding]) -> Unit:
    found: dict[str, Dep] = {}
    text = [unit.text] if unit.text else []
    for mention in unit.deps:
        deps, understood = resolver.deps(mention)
        for dep in deps:
            found.setdefault(ids.fold(dep.target), dep)
        if not understood:
            text.append(f"Depends on: {mention.target}")
            shown = mention.target if len(mention.target) <= 60 else mention.target[:59] + "…"
            message = f'"{" ".join(shown.split())}" is neither a unit of this document nor an id; it was kept as text'
            hint = "Name the id of a story to make it wait for that story."
            findings.append(note("dependency_unclear", mention.line, message, hint))
    return replace(unit, deps=tuple(found.values()), text="\n".join(text))


def _with_titles_as_tags(units: list[Unit]) -> list[Unit]:
    """Add the title as a tag to units without an id, if a dependency uses that title."""
    called = {dep.target for unit in units for dep in unit.deps}
    named = [(unit, (unit.title,) if unit.id is None and unit.title in called else ()) for unit in units]
    return [replace(unit, tags=(*unit.tags, *title)) for unit, title in named]


def _ranked(units: list[Unit], records: Sequence[Object]) -> list[Unit]:
    """Give each unit its rank by the document's own order numbers. Units without a number come last."""
    orders = [record_units.order_of(record) for record in records]
    values = sorted({order for order in orders if order is not None})
    place: dict[float | None, int] = {value: number for number, value in enumerate((*values, None), 1)}
    return [replace(unit, rank=place[order]) for unit, order in zip(units, orders, strict=True)] if values else units


def _soft_chunks(found: Document, labels: Sequence[str | None]) -> None:
    """Use owners, categories and the like as chunks if that keeps the document's order; else they become tags."""
    if not any(labels) or any(unit.chunk for unit in found.units):
        return
    pairs = list(zip(found.units, labels, strict=True))
    if _are_stages(found.units, labels):
        found.units = [replace(unit, chunk=label) for unit, label in pairs]
    else:
        found.units = [replace(unit, tags=(*unit.tags, *filter(None, [label]))) for unit, label in pairs]


def _are_stages(units: Sequence[Unit], labels: Sequence[str | None]) -> bool:
    """Tell whether the units of each label stand together, several per label on average, and nothing else orders them."""
    distinct = set(labels)
    runs = 1 + sum(before != label for before, label in pairwise(labels))
    whole = all(labels) and runs == len(distinct) and 1 < len(distinct) <= len(labels) / 2
    return whole and not looks_ahead(units, labels) and not any(unit.rank for unit in units)


# Groups: phases, epics and parents, as chunks, tags and the dependencies between them


def _in_groups(unit: Unit, group: Group | None) -> Unit:
    """Return a unit with its nearest stage as chunk, and the ids of the parents that it is a part of as tags."""
    tags, chunk = list(unit.tags), unit.chunk
    while group is not None:
        if group.is_chunk:
            chunk = chunk or group.label
        elif group.names:
            tags.append(group.names[0])
        group = group.parent
    return replace(unit, chunk=chunk or None, tags=tuple(dict.fromkeys(tags)))


def _group_edges(groups: Sequence[Group]) -> list[GroupEdge]:
    """Return the dependencies that groups declare on each other, by id, number or title."""
    called = [(name, group) for group in reversed(groups) for name in (*group.names, group.label)]
    names = {ids.fold(name): _group_name(group) for name, group in called}  # the first group of a name counts
    return [
        GroupEdge(group=_group_name(group), target=names.get(ids.fold(each.target), each.target), line=each.line)
        for group in groups
        if group.node is not None
        for each in mentions_of(group.node, "")
    ]


def _group_name(group: Group) -> str:
    return group.label if group.is_chunk or not group.names else group.names[0]
