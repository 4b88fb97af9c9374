"""The graph of steps that scenarios become, in the order in which they run."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Literal

from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from santiago.board.governance.scenarios import Scenario

Kind = Literal["gate", "red", "impl", "unit", "green", "smoke"]
PREFLIGHT, SMOKE_GATE, E2E_GATE = "preflight", "smoke_gate", "e2e_gate"
_UNITS = ("unit_normal", "unit_boundary", "unit_failure")


@record
class Node:
    """One step."""

    id: str
    kind: Kind
    scenario: str
    """Empty for those that all scenarios share."""
    bundle: str
    """Key of the test contract that it counts for; empty where it is no test."""
    deps: tuple[str, ...]
    run: str
    """A gate has no command: it passes when what it waits for has passed."""
    verify: str


def cycle(scenarios: Mapping[str, Scenario]) -> tuple[str, ...]:
    """Return a closed path of scenarios that wait for each other, its smallest name first; empty where there is none."""
    needs = {name: [dep for dep in one.depends_on if dep in scenarios] for name, one in sorted(scenarios.items())}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        ring = list(error.args[1])[:0:-1]  # each depends on the one after it
        start = ring.index(min(ring))
        return (*ring[start:], *ring[:start], ring[start])
    return ()


def build(scenarios: Mapping[str, Scenario]) -> dict[str, Node]:
    """Return all steps in the order in which they run; the scenarios have no cycle.

    A scenario's steps follow each other as red, impl, units, green, smoke. Its red waits for the green of every scenario that it
    depends on, its smoke for the green of those that it is linked with; of steps that could all run, that of the first scenario by
    name comes first.
    """
    nodes = [_gate(PREFLIGHT, ())]
    for _, one in sorted(scenarios.items()):
        nodes += _steps(one)
    smoke = [node.id for node in nodes if node.kind == "smoke"]
    nodes += [_gate(SMOKE_GATE, smoke or (PREFLIGHT,)), _gate(E2E_GATE, (SMOKE_GATE,))]
    return {node.id: node for node in _in_order(nodes)}


def _gate(name: str, deps: Iterable[str]) -> Node:
    return Node(id=name, kind="gate", scenario="", bundle="", deps=tuple(deps), run="", verify="")


def _steps(one: Scenario) -> Iterator[Node]:
    def node(name: str, kind: Kind, deps: Iterable[str], run: str, bundle: str = "", verify: str = "") -> Node:
        return Node(
            id=f"{one.id}_{name}", kind=kind, scenario=one.id, bundle=bundle, deps=tuple(deps), run=run, verify=verify
        )

    verify = one.steps["verify"]
    yield node("red", "red", (PREFLIGHT, *(f"{dep}_green" for dep in one.depends_on)), one.steps["red_run"])
    yield node("impl", "impl", (f"{one.id}_red",), one.steps["impl_run"], verify=verify)
    units = [
        node(f"{bundle}_{number}", "unit", (f"{one.id}_impl",), command, bundle)
        for bundle in _UNITS
        for number, command in enumerate(one.bundles[f"{bundle}_tests"], 1)
    ]
    yield from units
    yield node("green", "green", [unit.id for unit in units], one.steps["green_run"], verify=verify)
    for number, command in enumerate(one.bundles["boundary_smoke_tests"], 1):
        deps = (f"{one.id}_green", *(f"{name}_green" for name in one.linked))
        yield node(f"smoke_boundary_{number}", "smoke", deps, command, "boundary_smoke")


def _in_order(nodes: list[Node]) -> Iterator[Node]:
    place = {node.id: at for at, node in enumerate(nodes)}
    open_deps = [len(node.deps) for node in nodes]
    waiting: dict[str, list[int]] = {}
    for at, node in enumerate(nodes):
        for dep in node.deps:
            waiting.setdefault(dep, []).append(at)
    ready = [place[node.id] for node in nodes if not node.deps]
    heapify(ready)
    while ready:
        node = nodes[heappop(ready)]
        yield node
        for at in waiting.get(node.id, ()):
            open_deps[at] -= 1
            if not open_deps[at]:
                heappush(ready, at)


def narrowed(nodes: Mapping[str, Node], chosen: Iterable[str], *, below: bool, gates: bool) -> dict[str, Node]:
    """Return the chosen steps and all that they wait for; with `below` also what waits for them.

    The gates that all scenarios share lead to every other step, so they are left out unless they are asked for.
    """
    known = {name: node for name, node in nodes.items() if gates or node.kind != "gate" or name == PREFLIGHT}
    picked = set(chosen)
    if below:
        for name, node in known.items():  # in order, so what a step waits for was looked at before it
            if picked.intersection(node.deps):
                picked.add(name)
    for name in reversed(known):
        if name in picked:
            picked.update(dep for dep in known[name].deps if dep in known)
    return {name: node for name, node in known.items() if name in picked}


def mermaid(nodes: Mapping[str, Node], results: Mapping[str, str]) -> str:
    """Return the graph as a drawing, each step with what came of it."""
    lines = ["flowchart LR"]
    for name, node in nodes.items():
        lines.append(f'  {name}["{name}{f": {results[name]}" if name in results else ""}"]')
        lines += [f"  {dep} --> {name}" for dep in node.deps if dep in nodes]
    return "\n".join(lines) + "\n"
