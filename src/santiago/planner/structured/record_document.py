"""Make a document of a tree of values: choose the list of units, then decide its dependencies, order and groups as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner import choosing, ids
from santiago.planner.draft import Dep, Document, GroupEdge, Unit, unique
from santiago.planner.findings import error, left_out, note, of_no_story, warning
from santiago.planner.order import looks_ahead
from santiago.planner.source import Options
from santiago.planner.structured import record_units, record_words
from santiago.planner.structured.record_criteria import criteria_in, has_criteria, stated_criteria
from santiago.planner.structured.record_lists import Candidate, candidates
from santiago.planner.structured.record_units import Group, Member, Resolver, gather, mentions_of
from santiago.planner.structured.tree import Node, Object, as_text, fold_key

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
        others = [other for other in found if other is not chosen]
        document.chosen = choosing.offered(chosen, found)
        document.rivals = tuple(choosing.offered(other, found) for other in others if len(other.members) > 1)
        document.findings += [_not_chosen(other, chosen) for other in others]
    if isinstance(root, Object):
        _read_whole_document(document, root, "" if chosen is lone else carrier)
    return document


def _read_whole_document(document: Document, root: Object, carrier: str) -> None:
    """Read the fields around the list, which concern all units. `carrier` is empty if the root is itself the unit."""
    if carrier:
        checks = record_units.commands_of(root, carrier, set())
        document.run_verify, document.unread = list(unique(checks.taken)), checks.left
        document.findings += _whole_criteria(root, carrier)


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


def _whole_criteria(root: Object, carrier: str) -> list[Finding]:
    return [
        of_no_story(len(criteria), entry.key, entry.line)
        for entry in root.fields.values()
        if fold_key(entry.key) in _WHOLE and (criteria := criteria_in(entry.value, entry.line, carrier).found)
    ]


def _not_chosen(other: Candidate, chosen: Candidate) -> Finding:
    many = count(len(other.members), "entry", "entries")
    message = f'{many} under "{other.name}" {"is" if len(other.members) == 1 else "are"} not planned; "{chosen.name}" was chosen'
    return note("side_list", other.line, message, f"Use --units {other.name.split('.')[-1]} to plan these instead.")


def unknown_units(format_: str, wanted: str, lists: list[str]) -> Document:
    """Return the refusal of a list that the document does not have. It names the lists that it has."""
    message = f'the document has no list "{wanted}"; it has: {", ".join(lists)}'
    return Document(format=format_, findings=[error("unknown_units", 0, message, "Name one of these with --units.")])


def document_of(format_: str, evidence: Sequence[str], candidate: Candidate, carrier: str) -> Document:
    """Return the document of a list of records."""
    _make_labels_unique(candidate.groups)
    units = [_in_groups(gather(member, carrier), member.group) for member in candidate.members]
    found = Document(format=format_, evidence=tuple(evidence))
    resolver = Resolver(_names(units))
    units = [_resolved(unit, resolver, found.findings) for unit in units]
    records = [each.node if isinstance(each.node, Object) else Object(each.line) for each in candidate.members]
    found.units = _with_titles_as_tags(units if any(unit.deps for unit in units) else _ranked(units, records))
    _soft_chunks(found, [record_units.chunk_of(record, record_words.SOFT_CHUNK) for record in records])
    found.edges = _group_edges(candidate.groups)
    found.findings += [*left_out(found.units), *_untitled(found.units)]
    found.findings += _group_findings(candidate.groups, candidate.empty)
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
    return [
        replace(unit, tags=(*unit.tags, unit.title)) if unit.id is None and unit.title in called else unit
        for unit in units
    ]


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


def _untitled(units: Sequence[Unit]) -> Iterator[Finding]:
    for unit in units:
        if not unit.title or unit.title == unit.id:
            message = f"{unit.id or 'a unit'} has no title"
            yield warning("no_title", unit.line, message, "Say in a title or description what is to be done.")


# Groups: phases, epics and parents, as chunks, tags and the dependencies between them


def _make_labels_unique(groups: Sequence[Group]) -> None:
    """Give each group a label of its own. If two groups share a title, a number is added."""
    used: set[str] = set()
    for number, group in enumerate(groups, 1):
        group.label = group.label or f"Group {number}"
        group.label += f" ({number})" if group.label in used else ""
        used.add(group.label)


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
    names: dict[str, str] = {}
    for group in groups:
        for name in (*group.names, group.label):
            names.setdefault(ids.fold(name), _group_name(group))
    return [
        GroupEdge(group=_group_name(group), target=names.get(ids.fold(each.target), each.target), line=each.line)
        for group in groups
        if group.node is not None
        for each in mentions_of(group.node, "")
    ]


def _group_name(group: Group) -> str:
    return group.label if group.is_chunk or not group.names else group.names[0]


def _group_findings(groups: Sequence[Group], empty: Sequence[Group]) -> list[Finding]:
    """Report groups without a unit, and criteria of a whole group, which belong to no unit."""
    found = [
        note(
            "side_list",
            group.line,
            f'"{group.label}" holds no tasks or stories; nothing was planned from it',
            "Give it a list of tasks, or remove it.",
        )
        for group in empty
    ]
    for group in groups:
        criteria = stated_criteria(group.node) if group.node is not None else []
        if criteria:
            found.append(of_no_story(len(criteria), group.label, criteria[0].line))
    return found
