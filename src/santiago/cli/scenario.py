"""`santiago scenario`: compile the catalogue of scenarios, and run it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from santiago.app.board.governed import approved, checked_out, record_scenarios
from santiago.app.config import run_input_defaults
from santiago.board.board_handle import is_on_board, laid_out
from santiago.board.board_place import find
from santiago.board.governance import ranges, scenario_copies, scenario_run, scenarios
from santiago.board.governance.scenario_run import scenarios_of
from santiago.board.governance.scenarios import CATALOGUE
from santiago.cli.consent import approve, ask_consent
from santiago.cli.truth import impact_of, project_here
from santiago.cli.view.shown_errors import show_faults
from santiago.cli.view.terminal import paint, say, show_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.quantities import Minutes
from santiago.contract.reasons import ExitCode
from santiago.contract.record import record
from santiago.process.sandbox import detect
from santiago.process.server import ProcessServer
from santiago.util.text import count, harmless

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from santiago.board.board_place import Place
    from santiago.board.governance.documents import Fault
    from santiago.board.governance.scenario_results import Ended, Result
    from santiago.board.governance.scenario_run import Bench, Node, Request
    from santiago.board.governance.scenarios import Scenario
    from santiago.process.sandbox import Mode
    from santiago.report.page import Tone

_WORDS: dict[str, tuple[str, Tone]] = {
    "pass": ("passed", "good"), "fail": ("failed", "bad"), "red": ("is red", "good"), "was_red": ("was red", "good"),
    "proves_nothing": ("proves nothing", "warn"),
}  # fmt: skip


@record
class _Flags:
    """What a command line says about one run of scenarios."""

    ticket: str | None
    at: str | None
    only: str | None
    changed_only: bool
    base: str | None
    head: str | None
    files: tuple[str, ...]
    gates: bool
    timeout: int
    sandbox: Mode
    trust_commands: bool
    trust_project: bool
    no_input: bool
    dry_run: bool
    as_json: bool

    @property
    def asked(self) -> bool:
        return not (self.no_input or self.as_json) and sys.stdin.isatty()


def compile_all(check_only: bool, as_json: bool) -> int:
    """Bring the copies below the runtime root up to date. Exit 30 where something is wrong, and nothing is written then."""
    folder, place = _places()
    done = scenario_copies.compiled(folder, place, check_only=check_only)
    if as_json:
        show_data(done.to_data())
        return ExitCode.FAILED if done.faults else ExitCode.OK
    show_faults(done.faults)
    for names, word in ((done.written, "wrote"), (done.removed, "removed")):
        for name in names:
            say(f"{word:8} {harmless(name)}")
    held = f"in order: {count(len(done.catalogue.scenarios), 'scenario')}"
    told = count(len(done.faults), "fault") if done.faults else held
    say(paint(told, "bad" if done.faults else "good", stderr=False))
    return ExitCode.FAILED if done.faults else ExitCode.OK


def run(**options: Any) -> int:
    """Run red, impl, units, green and smoke of each scenario, in order, up to the first that fails.

    Exit 30 where one failed. A red step that passes is reported: it proves nothing.
    """
    flags = _Flags(**options)
    folder, place = _places()
    request = _request(folder, flags)
    if flags.at is not None:
        flags = replace(flags, at=ranges.commit_of(folder, flags.at))
    catalogue = _catalogue(folder, place, flags)
    if catalogue is None:
        return ExitCode.FAILED
    nodes = scenario_run.selected(catalogue, request)
    commands = () if request.dry_run else _approve(place.project, catalogue, nodes, flags)
    ended = _executed(folder, place, catalogue, request, commands, flags)
    counts = False
    if request.ticket and ended.digest and is_on_board(place):
        with laid_out(place) as opened:
            counts = record_scenarios(opened, request.ticket, ended)
    if flags.as_json:
        told = {"file": str(ended.file) if ended.file else None, "sha256": ended.digest or None, "evidence": counts}
        show_data({**ended.summary, **told})
    else:
        _show(ended, nodes)
        if request.ticket and ended.status == "PASS":
            _say_of_ticket(request.ticket, ended, counts=counts)
    return ExitCode.FAILED if ended.status == "FAIL" else ExitCode.OK


def _say_of_ticket(ticket: str, ended: Ended, *, counts: bool) -> None:
    """Say whether scenarios that passed are evidence of the ticket, or why they are not."""
    if counts:
        say(f"this is evidence of {ticket} now: it shows commit {ended.summary['commit'][:12]}")
    elif not ended.summary["clean"]:
        say(f"this is no evidence of {ticket}: not all files are committed. Commit them, and run it again")
    else:
        say(f"this is no evidence: there is no open ticket {ticket} on a board here")


def _places() -> tuple[Path, Place]:
    """Return the worktree here, and the folders of its repository's board."""
    folder = project_here()
    return folder, find(folder, os.environ)


def _request(folder: Path, flags: _Flags) -> Request:

    if (flags.base or flags.head) and not flags.changed_only:
        raise click.UsageError("--base and --head belong to --changed-only")
    narrowed = flags.changed_only or flags.files
    found = impact_of(folder, flags.base, flags.head, flags.files) if narrowed else None
    return scenario_run.Request(
        ticket=flags.ticket,
        dry_run=flags.dry_run,
        concerned=found.impacted["scenarios"] if found else None,
        only=flags.only,
        gates=flags.gates,
    )


def _catalogue(folder: Path, place: Place, flags: _Flags) -> Mapping[str, Scenario] | None:
    """Return the scenarios; None if they have faults, which are then printed."""
    found, faults = _read(folder, place, flags)
    if faults and flags.as_json:
        told = {"contract_version": 1, "status": "FAIL", "faults": [one.to_data() for one in faults]}
        show_data(told)
    elif faults:
        show_faults(faults)
        say(f"{count(len(faults), 'fault')}; nothing was run")
    elif not found:
        where, hint = str(folder / CATALOGUE), "Write one; docs/governance.md shows its form."
        raise SantiagoError(Kind.INPUT, "there is no scenario here", where=where, hint=hint)
    return None if faults else found


def _read(folder: Path, place: Place, flags: _Flags) -> tuple[Mapping[str, Scenario], tuple[Fault, ...]]:
    """Read the catalogue of the commit, or the one in this worktree, which is compiled unless nothing may be written."""
    if flags.at is not None:
        with ranges.governance_at(folder, flags.at) as files:
            there = scenarios.read(files)
        return there.scenarios, there.faults
    if flags.dry_run:
        here = scenarios.read(folder)
        return here.scenarios, (*here.faults, *scenario_copies.without_source(folder, place.root))
    done = scenario_copies.compiled(folder, place)
    return done.catalogue.scenarios, done.faults


def _approve(
    project: Path, catalogue: Mapping[str, Scenario], nodes: Mapping[str, Node], flags: _Flags
) -> Sequence[str]:
    """Return the commands of the steps' scenarios, after a person has approved those that need it."""
    allow = partial(
        ask_consent, places=CATALOGUE, asked=flags.asked, trusted=flags.trust_commands, of="scenario catalogue"
    )
    return approved(project, [catalogue[name] for name in scenarios_of(nodes)], allow)


def _executed(
    folder: Path, place: Place, catalogue: Mapping[str, Scenario], request: Request, commands: Sequence[str],
    flags: _Flags,
) -> Ended:  # fmt: skip

    if request.dry_run:
        return scenario_run.run(scenario_run.for_dry_run(), place, catalogue, request)
    server = ProcessServer()
    try:
        with _bench(folder, server, commands, flags) as bench:
            return scenario_run.run(bench, place, catalogue, request, (lambda _: None) if flags.as_json else _hear)
    finally:
        server.close()


def _bench(
    folder: Path, server: ProcessServer, commands: Sequence[str], flags: _Flags
) -> AbstractContextManager[Bench]:
    """Return where the commands run: here, or in a checkout, which also needs the repository's settings."""
    if flags.at is None:
        source = dict(os.environ)
        return scenario_run.in_place(folder, server, detect(flags.sandbox, source), source, flags.timeout * 60_000)
    approve(folder, asked=flags.asked, trusted=flags.trust_project)
    settings = run_input_defaults(folder)
    settings = replace(
        settings,
        verification=replace(settings.verification, timeout_minutes=Minutes.of(flags.timeout)),
        policy=replace(settings.policy, sandbox=flags.sandbox),
    )
    return checked_out(settings, server, flags.at, commands)


def _hear(result: Result) -> None:
    word, tone = _WORDS[result.result]
    stage = " (verify)" if result.stage == "verify" else ""
    told = f": {harmless(result.message)}" if result.result != "pass" else ""
    say(f"{result.node}{stage} {paint(word, tone, stderr=False)}{told}   {result.seconds:.1f} s")


def _show(ended: Ended, nodes: Mapping[str, Node]) -> None:
    data = ended.summary
    if ended.status == "DRY_RUN":
        for number, node in enumerate(nodes.values(), 1):
            say(f"{number:4} {node.id:40} {harmless(node.run) or 'waits for the steps before it'}")
        say(f"dry run: {count(len(nodes), 'step')}, nothing was run")
        return
    if ended.status == "NOTHING":
        say("the change concerns no scenario, so there was nothing to run")
        return
    good = ended.status != "FAIL"
    counts = data["counts"]
    say(
        f"{paint(ended.status, 'good' if good else 'bad', stderr=False)}   "
        f"{counts['passed']} of {count(counts['selected'], 'step')}; evidence in {data['evidence_dir']}"
    )
