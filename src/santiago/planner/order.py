"""Link the stories by what they declare, and order them: by chunk as the chunks first appear, then dependencies first, then by id.

Worked example: chunks A (R10, R2) and B (R1), where R2 depends on R10.

    A comes first, since it appears first, although B holds R1.
    In A, R2 would sort before R10, but R2 depends on R10. So R10 comes first, then R2.
    Then B: R1.          Order: R10, R2, R1 → S1, S2, S3.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, product

from santiago.contract.counting import count
from santiago.contract.plan import POOL, Finding, Provenance
from santiago.contract.record import lean
from santiago.planner import ids
from santiago.planner.draft import EXTERNAL, PLANNED, Dep, Document, Unit, by_key
from santiago.planner.findings import error, note, warning
from santiago.planner.requirements import Planned

ONLY_CHUNK = "C01"
"""The label of the only chunk, if the document has no phases, epics or milestones."""
REST = "Other"
"""The label for units outside all groups, if the document has groups."""

SortKey = tuple[int, int, int, tuple[tuple[int, int, str], ...], str, int]


def chunk_labels(planned: Sequence[Planned]) -> list[str]:
    if not any(item.unit.chunk for item in planned):
        return [ONLY_CHUNK] * len(planned)
    return [item.unit.chunk or REST for item in planned]


def looks_ahead(units: Sequence[Unit], labels: Sequence[str | None]) -> bool:
    """Tell whether a unit depends on a unit of a later chunk."""
    first = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    chunk = {ids.fold(unit.id): first[label] for unit, label in zip(units, labels, strict=True) if unit.id}
    deps = [(dep, first[label]) for unit, label in zip(units, labels, strict=True) for dep in unit.deps]
    return any(chunk.get(ids.fold(dep.target), -1) > own for dep, own in deps)


def order(planned: Sequence[Planned], labels: Sequence[str], graph: Graph) -> tuple[list[int], list[Finding]]:
    """Return the positions in execution order and the findings. If no order is possible, there are no positions."""
    rank = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    findings = [*_label_order(list(rank), planned, labels), *_later_chunks(planned, labels, rank, graph)]
    if any(finding.level == "error" for finding in findings):
        return [], [*findings, *_cycles(planned, graph, set(range(len(planned))))]
    keys = _keys(planned, [rank[label] for label in labels])
    sequence = _topological(keys, graph)
    if len(sequence) < len(planned):
        return [], [*findings, *_cycles(planned, graph, set(range(len(planned))) - set(sequence))]
    return sequence, findings


def _keys(planned: Sequence[Planned], ranks: Sequence[int]) -> list[SortKey]:
    """Return each unit's sort key: chunk, declared rank, prefix by first appearance, id, title, position."""
    prefixes: dict[str, int] = {}
    keys: list[SortKey] = []
    for position, item in enumerate(planned):
        unit = item.unit
        prefix = ids.prefix_of(unit.id) if unit.id else "~"
        first = prefixes.setdefault(prefix, len(prefixes))
        natural = ids.natural(item.key) if unit.id else ((0, position, ""),)
        keys.append((ranks[position], unit.rank, first, natural, unit.title, position))
    return keys


def _topological(keys: Sequence[SortKey], graph: Graph) -> list[int]:
    """Sort with a heap: of the units whose dependencies are placed, the one with the smallest key comes next."""
    sorter = TopologicalSorter(dict(enumerate(graph.needs)))
    with suppress(CycleError):  # what is in no circle is still sorted; `_cycles` reports the rest
        sorter.prepare()
    heap: list[SortKey] = []
    sequence: list[int] = []
    while sorter.is_active():
        for position in sorter.get_ready():
            heapq.heappush(heap, keys[position])
        position = heapq.heappop(heap)[-1]
        sequence.append(position)
        sorter.done(position)
    return sequence


def _later_chunks(
    planned: Sequence[Planned], labels: Sequence[str], rank: dict[str, int], graph: Graph
) -> Iterator[Finding]:
    for position, needs in enumerate(graph.needs):
        for needed, provenance in needs.items():
            if rank[labels[needed]] > rank[labels[position]]:
                later = f"{planned[needed].key}, which is in the later chunk {labels[needed]}"
                message = f"{planned[position].key} (chunk {labels[position]}) depends on {later}"
                hint = "Move one of them, or put the chunks in the order in which they can be built."
                yield error("later_chunk", provenance.line, message, hint)


def out_of_order(planned: Sequence[Planned], graph: Graph) -> Iterator[Finding]:
    """Yield an error for each unit that stands before a unit that it depends on. Such a plan cannot run unchanged."""
    for position, needs in enumerate(graph.needs):
        for needed, provenance in needs.items():
            if needed > position:
                message = f"{planned[position].key} depends on {planned[needed].key}, which comes after it"
                hint = "Put the stories in the order in which they run, or let `santiago plan` plan it again."
                yield error("out_of_order", provenance.line, message, hint)


def _cycles(planned: Sequence[Planned], graph: Graph, left: set[int]) -> Iterator[Finding]:
    """Yield an error for each cycle among these positions."""
    for _ in range(MAX_CYCLES):
        try:
            TopologicalSorter({at: [n for n in graph.needs[at] if n in left] for at in sorted(left)}).prepare()
            return
        except CycleError as circle:
            ring = list(circle.args[1])[:0:-1]
        left, start = left - set(ring), ring.index(min(ring))
        # It begins at its first unit, so that one cycle is always printed the same way.
        path = [*ring[start:], *ring[:start], ring[start]]
        names = " -> ".join(planned[position].key for position in path)
        places = [f"{planned[a].key} at line {graph.needs[a][b].line}" for a, b in pairwise(path)]
        message = f"dependencies go in a circle: {names}"
        hint = f"Remove one of the dependencies declared by {', '.join(places)}."
        yield error("cycle", graph.needs[path[0]][path[1]].line, message, hint)


def _label_order(chunks: list[str], planned: Sequence[Planned], labels: Sequence[str]) -> Iterator[Finding]:
    """Warn if labels such as `Phase 2` and `Phase 1` do not appear in the order of their numbers."""
    numbers: dict[str, tuple[int, str]] = {}
    for label in chunks:
        found = re.match(r"\s*(\D*?)(\d+)", label)
        if not found:
            continue
        stem, number = found[1].strip().lower(), int(found[2])
        before = numbers.get(stem)
        if before is not None and number < before[0]:
            line = planned[labels.index(label)].unit.line
            message = f'chunk "{label}" comes after "{before[1]}"; chunks run in the order in which they appear'
            hint = "Move the section, or renumber it."
            yield warning("chunk_order", line, message, hint)
        else:
            numbers[stem] = (number, label)


MAX_CYCLES = 20
"""The most cycles that one refusal reports."""


@lean()
class Graph:
    """Edges by position: `needs[i]` holds the positions of the units that unit i depends on."""

    needs: list[dict[int, Provenance]]
    external: list[dict[str, Provenance]]
    findings: list[Finding] = field(default_factory=list)


def link(document: Document, planned: Sequence[Planned]) -> Graph:
    """Return the dependency graph that the document declares. Nothing is guessed from prose."""
    return _Linker(document, planned).run()


class _Linker:
    def __init__(self, document: Document, planned: Sequence[Planned]) -> None:
        self.document = document
        self.planned = planned
        self.graph = Graph([{} for _ in planned], [{} for _ in planned])
        units = list(enumerate(item.unit for item in planned))
        self.by_id = by_key((ids.fold(unit.id), at) for at, unit in units if unit.id)
        self.by_tag = by_key((ids.fold(tag), at) for at, unit in units for tag in (*unit.tags, unit.chunk) if tag)
        self.left_out = {ids.fold(unit.id) for unit in document.units if unit.id and unit.status not in PLANNED}
        self.mentions: list[int] = []
        """Lines that only mention an id."""
        self.say = self.graph.findings.append

    def run(self) -> Graph:
        for position, item in enumerate(self.planned):
            for dep in item.unit.deps:
                self.resolve(position, dep)
        for edge in self.document.edges:
            self.link_groups(edge.group, edge.target, edge.line)
        if self.mentions:
            says = f"{count(len(self.mentions), 'id is', 'ids are')} mentioned in prose beside a dependency label; no edge was made"
            hint = "Write the ids alone behind the label to declare a dependency."
            self.say(note("mentioned_id", self.mentions[0], says, hint))
        return self.graph

    def resolve(self, position: int, dep: Dep) -> None:
        name = ids.fold(dep.target)
        if dep.carrier == "prose":
            self.mentions.append(dep.line)
        elif dep.carrier == "unclear":
            shown = dep.target if len(dep.target) <= 60 else f"{dep.target[:59]}…"
            says = f'{self.planned[position].key} is said to depend on "{shown}", which is not an id of this document; no edge was made'
            hint = "Name the id of a story to make it wait for that story."
            self.say(warning("dependency_unclear", dep.line, says, hint))
        elif dep.carrier == "blocks":
            for waiting in set(self.members(dep.target)) - {position}:
                self.edge(waiting, position, replace(dep, target=self.planned[position].key))
        elif dep.carrier == EXTERNAL:
            self.unresolved(position, dep, name)  # even if a unit of this plan has the same name
        elif found := self.by_id.get(name):
            self.by_name(position, dep, found)
        elif found := self.by_tag.get(name):
            for target in found if position not in found else ():
                self.edge(position, target, dep)
        else:
            self.unresolved(position, dep, name)

    def by_name(self, position: int, dep: Dep, found: list[int]) -> None:
        key = self.planned[position].key
        if len(found) > 1:
            where = ", ".join(str(self.planned[i].unit.line) for i in found)
            says = f"{key} depends on {dep.target}, which is defined {len(found)} times (lines {where})"
            hint = "Renumber the duplicates, so that the dependency names one of them."
            self.say(error("ambiguous_dependency", dep.line, says, hint))
        elif found == [position]:
            hint = f"Remove {dep.target} from its dependencies."
            self.say(error("self_dependency", dep.line, f"{key} depends on itself", hint))
        else:
            self.edge(position, found[0], dep)

    def unresolved(self, position: int, dep: Dep, name: str) -> None:
        says = f"{self.planned[position].key} depends on {dep.target}, which"
        if name in self.left_out:
            hint = "Plan that one too, or remove the dependency."
            self.say(warning("dependency_dropped", dep.line, f"{says} is not planned", hint))
        elif self.document.by_program and dep.carrier != EXTERNAL:
            hint = "Define it, or remove it from depends_on."
            self.say(error("unknown_dependency", dep.line, f"{says} the plan does not define", hint))
        else:
            self.graph.external[position].setdefault(dep.target, _provenance("external_depends_on", dep))
            hint = "It is kept as external: the story is blocked until then, unless --assume-external."
            if POOL.fullmatch(dep.target):
                hint += f" With --engine it names a pool of workers: `santiago work --pool {dep.target}`."
            self.say(warning("external_dependency", dep.line, f"{says} this document does not define", hint))

    def link_groups(self, group: str, target: str, line: int) -> None:
        """Make everything in `group` wait for everything in `target`."""
        members, needed = self.members(group), self.members(target)
        if not members or not needed:
            missing = target if members else group
            says = f"{group} is said to depend on {target}, but {missing} is nothing that is planned"
            self.say(note("dependency_unclear", line, says, "Name a phase, a story or a task of this document."))
            return
        dep = Dep(target=target, line=line, carrier="section")
        inside = set(members)
        for position, other in product(members, [other for other in needed if other not in inside]):
            self.edge(position, other, dep)

    def members(self, name: str) -> list[int]:
        folded = ids.fold(name)
        return self.by_tag.get(folded) or self.by_id.get(folded) or []

    def edge(self, position: int, target: int, dep: Dep) -> None:
        if target not in self.graph.needs[position]:
            self.graph.needs[position][target] = _provenance("depends_on", dep)


def _provenance(kind: str, dep: Dep) -> Provenance:
    return Provenance(field=kind, value=dep.target, line=dep.line, carrier=dep.carrier)  # type: ignore[arg-type]
