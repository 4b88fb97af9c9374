"""Runs the steps of scenarios in order until one fails, and keeps the results."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from santiago.artifacts.files import write_whole
from santiago.artifacts.repository import keep_out_of_git, refuse_linked
from santiago.board.governance import dag
from santiago.board.governance.hierarchy import CONTRACT
from santiago.board.governance.summary import PIPELINE, Ended, Result, digest_of, keep, load, state_file
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import record
from santiago.judge.missing import could_not_start
from santiago.util.clock import SystemClock
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from santiago.board.governance.benches import Bench, Execute
    from santiago.board.governance.dag import Node
    from santiago.board.governance.scenarios import Scenario
    from santiago.board.governance.summary import Outcome, Status
    from santiago.board.root import Place
    from santiago.process.command import Report

    Hear = Callable[[Result], None]

_RED = "red.json"
"""The file beside a ticket's last run that says which red steps were seen to fail, and with which command."""


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
    nodes = dag.build(scenarios)
    if request.only is not None:
        if request.only not in nodes:
            hint = "`santiago scenario run --dry-run` lists all steps."
            raise SantiagoError(Kind.USAGE, f"there is no step {request.only!r}", hint=hint)
        return dag.narrowed(
            nodes, [request.only], below=False, gates=request.gates or nodes[request.only].kind == "gate"
        )
    if request.concerned is None:
        return nodes
    chosen = [name for name, node in nodes.items() if node.scenario in request.concerned]
    return dag.narrowed(nodes, chosen, below=True, gates=request.gates) if chosen else {}


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
    write_whole(running.folder / "dag.mmd", dag.mermaid(nodes, running.outcomes()).encode())
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
