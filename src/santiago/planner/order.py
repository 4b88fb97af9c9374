"""Order the stories: by chunk as the chunks first appear, then dependencies first, then by id.

Worked example: chunks A (R10, R2) and B (R1), where R2 depends on R10.

    A comes first, since it appears first, although B holds R1.
    In A, R2 would sort before R10, but R2 depends on R10. So R10 comes first, then R2.
    Then B: R1.          Order: R10, R2, R1 → S1, S2, S3.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from santiago.contract.plan import Finding
from santiago.planner import ids
from santiago.planner.draft import Unit
from santiago.planner.findings import error, warning
from santiago.planner.graph import Graph, cycles
from santiago.planner.requirements import Planned

ONLY_CHUNK = "C01"
"""The label of the only chunk, if the document has no phases, epics or milestones."""
REST = "Other"
"""The label for units outside all groups, if the document has groups."""

SortKey = tuple[int, int, int, tuple[tuple[int, int, str], ...], str, int]


def chunk_labels(planned: Sequence[Planned]) -> list[str]:
    """Return the chunk of each unit."""
    if not any(item.unit.chunk for item in planned):
        return [ONLY_CHUNK] * len(planned)
    return [item.unit.chunk or REST for item in planned]


def looks_ahead(units: Sequence[Unit], labels: Sequence[str | None]) -> bool:
    """Tell whether a unit depends on a unit of a later chunk."""
    first: dict[str | None, int] = {}
    for label in labels:
        first.setdefault(label, len(first))
    chunk = {ids.fold(unit.id): first[label] for unit, label in zip(units, labels, strict=True) if unit.id}
    return any(
        chunk.get(ids.fold(dep.target), -1) > first[label]
        for unit, label in zip(units, labels, strict=True)
        for dep in unit.deps
    )


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
    """Kahn's algorithm with a heap: of the units whose dependencies are placed, the one with the smallest key comes next."""
    waiting = [len(needs) for needs in graph.needs]
    dependents: list[list[int]] = [[] for _ in keys]
    for position, needs in enumerate(graph.needs):
        for needed in needs:
            dependents[needed].append(position)
    heap = [(key, position) for position, key in enumerate(keys) if not waiting[position]]
    heapq.heapify(heap)
    sequence: list[int] = []
    while heap:
        _, position = heapq.heappop(heap)
        sequence.append(position)
        for dependent in dependents[position]:
            waiting[dependent] -= 1
            if not waiting[dependent]:
                heapq.heappush(heap, (keys[dependent], dependent))
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
    for path in cycles(graph.needs, left):
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
