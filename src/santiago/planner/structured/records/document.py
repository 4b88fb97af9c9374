"""Make a document of a tree of values: choose the list of units, report the other lists, read the fields of the whole document."""

from __future__ import annotations

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner import choosing
from santiago.planner.draft import Document, unique
from santiago.planner.findings import error, note
from santiago.planner.source import Options
from santiago.planner.structured.records import fields, listing, vocabulary
from santiago.planner.structured.records.criteria import criteria_in, has_criteria
from santiago.planner.structured.records.lists import Candidate, Member, candidates
from santiago.planner.structured.tree import Node, Object, as_text, fold_key, items, objects

_TITLES = vocabulary.keys("title project projectName name productName product projectTitle feature")
_ABOUT = frozenset({"meta", "metadata", "project", "prd", "product"})
_WHOLE = frozenset((*vocabulary.CRITERIA[0], *vocabulary.CRITERIA[1], "finalacceptance", "definitionofdone"))


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
    document = listing.document(format_, _evidence(chosen), chosen, carrier)
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
    listing.group_by_reference(document, _references(root))
    if carrier:
        checks = fields.commands_of(root, carrier, set())
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
    says = has_criteria(node) or node.get("description", *vocabulary.CHILDREN) is not None
    return bool(titled and says and fields.id_of(node).text)


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


def _references(root: Object) -> list[tuple[str, list[str]]]:
    """Return the groups that list their units by id: `epics: [{title, stories: [US-001, US-002]}]`."""
    found = []
    for key in vocabulary.GROUP_LISTS:
        for group in objects(root.get(key)):
            label = group.text("title", "name", "id", "phase")
            for inner in (*vocabulary.INNER_LISTS, "storyids", "taskids"):
                names = [as_text(each) for each in items(group.get(inner))]
                if label and any(names):
                    found.append((label, names))
    return found


def _whole_criteria(root: Object, carrier: str) -> list[Finding]:
    return [
        listing.of_no_story(len(criteria), entry.key, entry.line)
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
