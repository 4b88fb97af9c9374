"""`santiago scenario`: compile the catalogue of scenarios, and run it."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from santiago.cli.view.text import paint, say
from santiago.util.text import count, harmless

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from santiago.board.governance.dag import Node
    from santiago.board.governance.running import Request
    from santiago.board.governance.scenarios import Scenario
    from santiago.board.governance.summary import Ended, Result

_WORDS = {
    "pass": ("passed", "green"), "fail": ("failed", "red"), "red": ("is red", "green"), "was_red": ("was red", "green"),
    "proves_nothing": ("proves nothing", "yellow"),
}  # fmt: skip


@click.group("scenario")
def command() -> None:
    """Look after the scenarios in .sigee/dag/scenarios."""


@command.command("compile")
@click.option("--check-only", is_flag=True, help="Write nothing; say what is edited or out of date.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def compile_all(check_only: bool, as_json: bool) -> int:
    """Bring the copies below the runtime root up to date. Exit 30 where something is wrong, and nothing is written then."""
    from santiago.board.governance import compiling
    from santiago.cli.view.faults import show_faults
    from santiago.contract.reasons import ExitCode

    project, root = _places()
    done = compiling.checked(project, root) if check_only else compiling.compiled(project, root)
    if as_json:
        click.echo(json.dumps(done.to_data(), indent=2, ensure_ascii=False))
        return ExitCode.FAILED if done.faults else ExitCode.OK
    show_faults(done.faults)
    for names, word in ((done.written, "wrote"), (done.removed, "removed")):
        for name in names:
            say(f"{word:8} {harmless(name)}")
    told = (
        count(len(done.faults), "fault")
        if done.faults
        else f"in order: {count(len(done.catalogue.scenarios), 'scenario')}"
    )
    say(paint(told, "red" if done.faults else "green", bold=True, stderr=False))
    return ExitCode.FAILED if done.faults else ExitCode.OK


@command.command("run")
@click.option("--ticket", metavar="ID", help="The ticket whose evidence this is; without one it opens no gate.")
@click.option("--only", metavar="STEP", help="Only this step, and what it waits for.")
@click.option("--changed-only", is_flag=True, help="Only what a change concerns: HEAD~1 to HEAD, or as said below.")
@click.option("--base", metavar="REF", help="With --changed-only: the commit before the change.")
@click.option("--head", metavar="REF", help="With --changed-only: the commit after it.")
@click.option("--changed-file", "files", metavar="FILE", multiple=True, help="Only what this file concerns.")
@click.option("--include-global-gates", "gates", is_flag=True, help="Also the gates of all scenarios.")
@click.option("--timeout", type=click.IntRange(1, 24 * 60), default=10, show_default=True, help="Minutes per command.")
@click.option(
    "--sandbox", type=click.Choice(("auto", "required", "off")), default="auto", help="The fence around commands."
)
@click.option("--trust-commands", is_flag=True, help="Run the scenarios' commands without asking.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
@click.option("--dry-run", is_flag=True, help="Show the steps in their order, and run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def run(
    ticket: str | None,
    only: str | None,
    changed_only: bool,
    base: str | None,
    head: str | None,
    files: tuple[str, ...],
    gates: bool,
    timeout: int,
    sandbox: Any,
    trust_commands: bool,
    no_input: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run red, impl, units, green and smoke of each scenario, in order, up to the first that fails.

    Exit 30 where one failed. A red step that passes is reported: it proves nothing.
    """
    from santiago.board.governance import running
    from santiago.cli.truth import impact_of
    from santiago.contract.reasons import ExitCode

    project, root = _places()
    if (base or head) and not changed_only:
        raise click.UsageError("--base and --head belong to --changed-only")
    found = impact_of(project, base, head, files) if changed_only or files else None
    concerned = found.impacted["scenarios"] if found else None
    request = running.Request(ticket=ticket, dry_run=dry_run, concerned=concerned, only=only, gates=gates)
    catalogue = _catalogue(project, root, dry_run=dry_run, as_json=as_json)
    if catalogue is None:
        return ExitCode.FAILED
    nodes = running.selected(catalogue, request)
    if not dry_run:
        asked = not (no_input or as_json) and sys.stdin.isatty()
        _approve(project, catalogue, nodes, asked=asked, trusted=trust_commands)
    ended = _executed(project, root, catalogue, request, timeout=timeout, sandbox=sandbox, quiet=as_json)
    if as_json:
        told = {"file": str(ended.file) if ended.file else None, "sha256": ended.digest or None}
        click.echo(json.dumps({**ended.summary, **told}, indent=2, ensure_ascii=False))
    else:
        _show(ended, nodes)
    return ExitCode.FAILED if ended.status == "FAIL" else ExitCode.OK


def _places() -> tuple[Path, Path]:
    from santiago.board.governance.place import runtime_root
    from santiago.cli.truth import project_here

    project = project_here()
    return project, runtime_root(project, os.environ)


def _catalogue(project: Path, root: Path, *, dry_run: bool, as_json: bool) -> Mapping[str, Scenario] | None:
    """Return the scenarios, compiled; None where they are not in order, which is then said."""
    from santiago.board.governance import compiling, scenarios
    from santiago.board.governance.scenarios import CATALOGUE
    from santiago.cli.view.faults import show_faults
    from santiago.contract.errors import Kind, SantiagoError

    if dry_run:
        found = scenarios.read(project)
        faults = (*found.faults, *compiling.without_source(project, root))
    else:
        done = compiling.compiled(project, root)
        found, faults = done.catalogue, done.faults
    if faults and as_json:
        click.echo(
            json.dumps(
                {"contract_version": 1, "status": "FAIL", "faults": [one.to_data() for one in faults]},
                ensure_ascii=False,
            )
        )
    elif faults:
        show_faults(faults)
        say(f"{count(len(faults), 'fault')}; nothing was run")
    elif not found.scenarios:
        where, hint = str(project / CATALOGUE), "Write one; docs/governance.md shows its form."
        raise SantiagoError(Kind.INPUT, "there is no scenario here", where=where, hint=hint)
    return None if faults else found.scenarios


def _approve(
    project: Path, catalogue: Mapping[str, Scenario], nodes: Mapping[str, Node], *, asked: bool, trusted: bool
) -> None:
    """Commands of scenarios run only after a person's word, once for each change of them."""
    from santiago.board.governance import consent
    from santiago.board.governance.scenarios import CATALOGUE
    from santiago.cli.start.consent import ask_consent

    meant = {node.scenario for node in nodes.values() if node.scenario}
    waiting = consent.unapproved(project, [one for name, one in catalogue.items() if name in meant])
    if waiting:
        commands = list(dict.fromkeys(line for one in waiting for line in one.commands))
        ask_consent(commands, CATALOGUE, asked=asked, trusted=trusted, of="scenario catalogue")
        consent.approve(project, waiting)


def _executed(
    project: Path,
    root: Path,
    catalogue: Mapping[str, Scenario],
    request: Request,
    *,
    timeout: int,
    sandbox: Any,
    quiet: bool,
) -> Ended:
    from santiago.board.governance import running
    from santiago.process.sandbox import detect
    from santiago.process.server import ProcessServer

    server = ProcessServer()
    try:
        source = dict(os.environ)
        fence = detect("off" if request.dry_run else sandbox, source)
        hear = (lambda _: None) if quiet else _hear
        with running.executing(project, server, fence, source, timeout * 60_000) as execute:
            return running.run(project, root, catalogue, request, execute, hear)
    finally:
        server.close()


def _hear(result: Result) -> None:
    word, colour = _WORDS[result.result]
    stage = " (verify)" if result.stage == "verify" else ""
    told = f": {harmless(result.message)}" if result.result != "pass" else ""
    say(f"{result.node}{stage} {paint(word, colour, stderr=False)}{told}   {result.seconds:.1f} s")


def _show(ended: Ended, nodes: Mapping[str, Node]) -> None:
    data = ended.summary
    if ended.status == "DRY_RUN":
        for number, node in enumerate(nodes.values(), 1):
            say(f"{number:4} {node.id:40} {harmless(node.run) or 'waits for what stands before it'}")
        say(f"dry run: {count(len(nodes), 'step')}, nothing was run")
        return
    if ended.status == "NOTHING":
        say("no scenario is concerned, so there was nothing to run")
        return
    good = ended.status != "FAIL"
    counts = data["counts"]
    say(
        f"{paint(ended.status, 'green' if good else 'red', bold=True, stderr=False)}   "
        f"{counts['passed']} of {count(counts['selected'], 'step')}; evidence in {data['evidence_dir']}"
    )
