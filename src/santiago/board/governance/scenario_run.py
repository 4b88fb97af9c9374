"""Runs the steps of scenarios in order until one fails, and keeps the results."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from hashlib import sha256
from heapq import heapify, heappop, heappush
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from santiago.artifacts.files import write_whole
from santiago.artifacts.run_locations import keep_out_of_git, refuse_linked
from santiago.board.governance import ranges
from santiago.board.governance.hierarchy import CONTRACT
from santiago.board.governance.scenario_results import PIPELINE, Ended, Result, digest_of, keep, load, state_file
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.run import Never
from santiago.contract.record import record
from santiago.judge.check_runner import CommandRunner
from santiago.judge.missing import could_not_start
from santiago.process import environment
from santiago.process.redact import to_hide
from santiago.process.temporary import Temporary
from santiago.util.clock import SystemClock
from santiago.util.disk import guarding
from santiago.workspace.inspect import is_dirty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from santiago.board.board_place import Place
    from santiago.board.governance.scenario_results import Outcome, Status
    from santiago.board.governance.scenarios import Scenario
    from santiago.process.command import Report

    Hear = Callable[[Result], None]
    from collections.abc import Callable, Iterable, Iterator

    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer

    Execute = Callable[[str, Path], Report]
    """Runs a command, and writes its output to a log."""

_RED = "red.json"
"""The file beside a ticket's last run that says which red steps were seen to fail, and with which command."""
StepKind = Literal["gate", "red", "impl", "unit", "green", "smoke"]
PREFLIGHT, SMOKE_GATE, E2E_GATE = "preflight", "smoke_gate", "e2e_gate"
_UNITS = ("unit_normal", "unit_boundary", "unit_failure")


@record
class Request:
    """Which steps to run."""

    ticket: str | None = None
    dry_run: bool = False
    concerned: tuple[str, ...] | None = None
    """Only these scenarios, what they wait for, and what waits for them; None for all."""
    only: str | None = None
    """Only this step, and what it waits for."""
    gates: bool = False
    """Whether the gates that all scenarios share run too, when only a part is selected."""


def selected(scenarios: Mapping[str, Scenario], request: Request) -> dict[str, Node]:
    """Return the steps that a request selects, in the order in which they run. Raise where it names an unknown step."""
    nodes = build(scenarios)
    if request.only is not None:
        if request.only not in nodes:
            hint = "`santiago scenario run --dry-run` lists all steps."
            raise SantiagoError(Kind.USAGE, f"there is no step {request.only!r}", hint=hint)
        return narrowed(nodes, [request.only], below=False, gates=request.gates or nodes[request.only].kind == "gate")
    if request.concerned is None:
        return nodes
    chosen = [name for name, node in nodes.items() if node.scenario in request.concerned]
    return narrowed(nodes, chosen, below=True, gates=request.gates) if chosen else {}


def scenarios_of(nodes: Mapping[str, Node]) -> tuple[str, ...]:
    """Return the scenarios that steps belong to."""
    return tuple(dict.fromkeys(node.scenario for node in nodes.values() if node.scenario))


def run(
    bench: Bench, place: Place, scenarios: Mapping[str, Scenario], request: Request, hear: Hear = lambda _: None
) -> Ended:
    """Run the selected steps, and keep the results below the runtime root. A dry run only says what would run."""
    target = state_file(place.root, request.ticket)
    nodes = selected(scenarios, request)
    running = _Run(bench, place, scenarios, request, nodes)
    if request.dry_run:
        return Ended(status="DRY_RUN", summary=running.summary("DRY_RUN"), file=None, digest="")
    running.begin()
    status = running.go(bench.execute, hear)
    data = running.summary(status)
    write_whole(running.folder / "dag.mmd", mermaid(nodes, running.outcomes()).encode())
    keep(running.folder / "run-summary.json", data)
    return Ended(status=status, summary=data, file=target, digest=keep(target, data))


class _Run:
    def __init__(
        self, bench: Bench, place: Place, scenarios: Mapping[str, Scenario], request: Request, nodes: dict[str, Node]
    ) -> None:
        self.bench, self.scenarios, self.request, self.nodes = bench, scenarios, request, nodes
        self.place, self.clock = place, SystemClock()
        self.began, self.since = self.clock.utc(), self.clock.monotonic_ms()
        self.results: list[Result] = []
        self.order: list[str] = []
        self.failed: Result | None = None
        stamp = self.began[:23].replace("-", "").replace(":", "").replace(".", "_")
        self.id = f"{stamp}Z-{os.getpid()}"
        self.folder = place.root / "evidence" / "dag" / f"{PIPELINE}-{self.id}"
        self.red_file = state_file(place.root, request.ticket).with_name(_RED)

    def begin(self) -> None:
        with guarding(self.folder, "nothing was run"):
            for one in (self.folder, self.red_file.parent):
                refuse_linked(one)
            keep_out_of_git(self.place.root)
            self.folder.mkdir(parents=True)

    def go(self, execute: Execute, hear: Hear) -> Status:
        self.trace("run_start", "", "", "", f"{len(self.nodes)} steps")
        for node in self.nodes.values():
            if not self.step(node, execute, hear):
                break
            self.order.append(node.id)
        status = self.status()
        self.trace("run_end", "", "", status, "")
        return status

    def status(self) -> Status:
        """Return the status. Only a run that included tests can pass, and a run of one chosen step is partial at best."""
        if self.failed is not None:
            return "FAIL"
        if not any(result.bundle for result in self.results):
            return "PARTIAL" if self.results else "NOTHING"
        return "PARTIAL" if self.request.only is not None else "PASS"

    def step(self, node: Node, execute: Execute, hear: Hear) -> bool:
        """Run one step, and return whether it passed. A red step never fails: its outcome is only recorded."""
        stages: tuple[tuple[Literal["run", "verify"], str], ...] = (("run", node.run), ("verify", node.verify))
        for stage, command in stages:
            if not command:
                continue
            log = self.folder / f"{node.id}-{stage}.log"
            self.trace("node_start", node.id, stage, "", "")
            report = execute(command, log)
            outcome, message = self.red(node, report) if node.kind == "red" else _judged(report)
            result = Result(
                node=node.id, scenario=node.scenario, kind=node.kind, bundle=node.bundle, stage=stage, command=command,
                result=outcome, message=message, exit_code=report.exit_code, seconds=report.ms / 1000,
                timed_out=report.timed_out, log=log.name, log_sha256=digest_of(log),
            )  # fmt: skip
            self.results.append(result)
            self.trace("node_fail" if outcome == "fail" else "node_pass", node.id, stage, outcome, message)
            hear(result)
            if outcome == "fail":
                self.failed = result
                return False
        return True

    def red(self, node: Node, report: Report) -> tuple[Outcome, str]:
        """Judge a red step. It must fail before the work is done. If it already passes then, it proves nothing."""
        seen = (load(self.red_file) or {}) if self.request.ticket is not None else {}
        digest = sha256(node.run.encode()).hexdigest()
        if _judged(report)[0] == "fail":
            if could_not_start(report) or report.timed_out or report.flooded or report.exit_code is None:
                return "proves_nothing", f"it did not run to its end: {_judged(report)[1]}"
            if self.request.ticket is not None:
                keep(self.red_file, {**seen, node.id: {"command_sha256": digest, "at": self.clock.utc()}})
            return "red", f"it fails before the work, as it should: {_judged(report)[1]}"
        before = seen.get(node.id)
        if isinstance(before, dict) and before.get("command_sha256") == digest:
            return "was_red", f"it passes now, and failed for this ticket on {before.get('at')}"
        return "proves_nothing", "it already passes before the work, so passing later proves nothing"

    def outcomes(self) -> dict[str, str]:
        return {**dict.fromkeys(self.order, "pass"), **{result.node: result.result for result in self.results}}

    def trace(self, event: str, node: str, stage: str, result: str, message: str) -> None:
        line = {
            "ts": self.clock.utc(), "event": event, "node": node, "stage": stage, "result": result, "message": message,
        }  # fmt: skip
        with guarding(self.folder), (self.folder / "trace.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def summary(self, status: Status) -> dict[str, Any]:
        failed, request = self.failed, self.request
        commit = self.bench.commit
        concerned = sorted(scenarios_of(self.nodes))
        left = [name for name in self.nodes if name not in self.order]
        return {
            "contract_version": 1,
            "kind": "scenario_run",
            "pipeline_id": PIPELINE,
            "run_id": self.id,
            "ticket": request.ticket,
            "status": status,
            "dry_run": request.dry_run,
            "changed_only": request.concerned is not None,
            "only_node": request.only,
            "failed_node": failed.node if failed else None,
            "failed_stage": failed.stage if failed else None,
            "failed_deps": [name for name in left if failed and name != failed.node],
            "evidence_dir": None if request.dry_run else self.place.named(self.folder),
            "execution_order": list(self.nodes) if request.dry_run else self.order,
            "counts": self.counts(left),
            "started_at": self.began,
            "duration": (self.clock.monotonic_ms() - self.since) / 1000,
            "commit": commit,
            "clean": commit is not None and self.bench.is_clean(),
            "scenarios": {name: self.scenarios[name].digest for name in concerned},
            "test_contract": {name: self.tests_of(name) for name in concerned},
            "proves_nothing": [result.node for result in self.results if result.result == "proves_nothing"],
            "results": [result.to_data() for result in self.results],
        }

    def counts(self, left: list[str]) -> dict[str, int]:
        failed = 1 if self.failed else 0
        return {"selected": len(self.nodes), "passed": len(self.order), "failed": failed, "not_run": len(left) - failed}

    def tests_of(self, scenario: str) -> dict[str, int]:
        """Return how many tests of each kind passed."""
        passed = [one.bundle for one in self.results if one.scenario == scenario and one.result == "pass"]
        return {bundle: passed.count(bundle) for bundle in CONTRACT}


def _judged(report: Report) -> tuple[Outcome, str]:
    """Return whether a command passed, and how it ended in words."""
    if report.timed_out:
        return "fail", f"it did not end within its time and was stopped after {report.ms / 1000:.0f} s"
    if report.flooded:
        return "fail", "it printed more than it may"
    if report.exit_code is None:
        return "fail", report.error or f"it was killed by signal {report.signal}"
    return ("fail", f"exit {report.exit_code}") if report.exit_code else ("pass", "exit 0")


@record
class Node:
    """One step of a scenario, or a gate that all scenarios share."""

    id: str
    kind: StepKind
    scenario: str
    """Empty for a gate."""
    bundle: str
    """The kind of test that it counts as in the test contract; empty where it is no test."""
    deps: tuple[str, ...]
    run: str
    """The command. A gate has none: it passes when the steps that it waits for have passed."""
    verify: str


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
    def node(name: str, kind: StepKind, deps: Iterable[str], run: str, bundle: str = "", verify: str = "") -> Node:
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


@record
class Bench:
    """A folder in which commands run, and the function that runs them."""

    commit: str | None
    """The commit that is checked out in the folder; None where there is none."""
    execute: Execute
    is_clean: Callable[[], bool]
    """Whether the files are still those of the commit. It is asked once, at the end."""


@contextmanager
def in_place(
    folder: Path, server: ProcessServer, fence: Sandbox, source: Mapping[str, str], timeout_ms: int
) -> Iterator[Bench]:
    """Provide the project's own folder. Commands run as the checks of a run do, but see and may change these files."""
    with TemporaryDirectory(prefix="santiago-scenario-") as scratch:
        runner = CommandRunner(
            server=server,
            sandbox=fence,
            environment=environment.for_checks(source),
            timeout_ms=timeout_ms,
            scratch=Path(scratch),
            secrets=to_hide(source),
        )
        commit = ranges.head_of(folder)
        yield Bench(commit=commit, execute=runner_in(runner, str(folder)), is_clean=lambda: not is_dirty(folder))


def for_dry_run() -> Bench:
    """Return a bench that runs nothing, for a dry run."""

    def refuse(command: str, _: Path) -> Report:
        raise AssertionError(f"a dry run would run {command!r}")

    return Bench(commit=None, execute=refuse, is_clean=lambda: False)


def runner_in(runner: CommandRunner, folder: str) -> Execute:
    """Return a function that runs single commands in a folder."""

    def execute(command: str, log: Path) -> Report:
        with guarding(runner.scratch), Temporary(runner.scratch) as temporary:
            return runner.run(command, folder, temporary, {}, Never(), log=str(log))

    return execute
