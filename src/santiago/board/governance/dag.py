"""Turns scenarios into a graph of steps, in the order in which they run."""

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
    """One step of a scenario, or a gate that all scenarios share."""

    id: str
    kind: Kind
    scenario: str
    """Empty for a gate."""
    bundle: str
    """The kind of test that it counts as in the test contract; empty where it is no test."""
    deps: tuple[str, ...]
    run: str
    """The command. A gate has none: it passes when the steps that it waits for have passed."""
    verify: str


def cycle(scenarios: Mapping[str, Scenario]) -> tuple[str, ...]:
    """Return a cycle of scenarios that wait for each other, which begins and ends with its smallest name; else nothing."""
    needs = {name: [dep for dep in one.depends_on if dep in scenarios] for name, one in sorted(scenarios.items())}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        ring = list(error.args[1])[:0:-1]  # each depends on the one after it
        start = ring.index(min(ring))
        return (*ring[start:], *ring[:start], ring[start])
    return ()


def build(scenarios: Mapping[str, Scenario]) -> dict[str, Node]:
    """Return all steps in the order in which they run. The scenarios must have no cycle.

    The steps of a scenario run as red, impl, units, green, smoke. Its red step waits for the green steps of the
    scenarios that it depends on. Its smoke steps wait for the green steps of the scenarios that it is linked with. If
    several steps could run, the scenario that is first by name goes first.
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
    """Return the chosen steps and all that they wait for; with `below`, also the steps that wait for them.

    Gates that all scenarios share are left out unless `gates` is set, since every step is connected through them.
    """
    known = {name: node for name, node in nodes.items() if gates or node.kind != "gate" or name == PREFLIGHT}
    picked = set(chosen)
    if below:
        for name, node in known.items():  # in this order, a step comes after those that it waits for
            if picked.intersection(node.deps):
                picked.add(name)
    for name in reversed(known):
        if name in picked:
            picked.update(dep for dep in known[name].deps if dep in known)
    return {name: node for name, node in known.items() if name in picked}


def mermaid(nodes: Mapping[str, Node], results: Mapping[str, str]) -> str:
    """Return the graph as a Mermaid drawing, each step with its result."""
    lines = ["flowchart LR"]
    for name, node in nodes.items():
        lines.append(f'  {name}["{name}{f": {results[name]}" if name in results else ""}"]')
        lines += [f"  {dep} --> {name}" for dep in node.deps if dep in nodes]
    return "\n".join(lines) + "\n"
