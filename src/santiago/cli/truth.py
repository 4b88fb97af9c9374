"""`santiago truth`: whether a project's product truth holds together, and what a change of it concerns."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from santiago.cli.view.terminal import paint, say
from santiago.util.text import count, harmless

if TYPE_CHECKING:
    from santiago.board.governance.impact import Impact


@click.group("truth")
def command() -> None:
    """Look after the product truth in .sigee/product-truth."""


@command.command("validate")
@click.option("--strict", is_flag=True, help="Also ask that everything is there, agrees, and is no starter.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def validate(strict: bool, as_json: bool) -> int:
    """Check the files, the hierarchy, the links and the scenarios. Exit 0 where all is well, 30 otherwise."""
    from santiago.board.governance import truth_validation
    from santiago.cli.view.shown_errors import show_faults
    from santiago.contract.reasons import ExitCode

    project = governed()
    faults, revision, notes = (
        truth_validation.validate(project, strict=strict),
        truth_validation.revision(project),
        truth_validation.notes(project),
    )
    if as_json:
        data = {
            "contract_version": 1, "status": "FAIL" if faults else "PASS", "strict": strict, "revision": revision,
            "faults": [one.to_data() for one in faults], "notes": list(notes),
        }  # fmt: skip
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return ExitCode.FAILED if faults else ExitCode.OK
    show_faults(faults)
    for note in notes:
        say(f"{paint('note:', 'head', stderr=False)} {harmless(note)}")
    told = f"revision {revision}" if revision else "no common revision"
    if faults:
        say(f"{paint(count(len(faults), 'fault'), 'bad', stderr=False)}   {told}")
    else:
        say(f"{paint('valid', 'good', stderr=False)}   {told}{', strict' if strict else ''}")
    return ExitCode.FAILED if faults else ExitCode.OK


@command.command("impact")
@click.option("--base", metavar="REF", help="The commit before the change; HEAD~1 where nothing is said.")
@click.option("--head", metavar="REF", help="The commit after it; HEAD where nothing is said.")
@click.option("--changed-file", "files", metavar="FILE", multiple=True, help="A changed file, in place of commits.")
@click.option("--ticket", metavar="ID", help="Also keep the result for this ticket, where its done gate looks for it.")
@click.option("--enforce-layer-guard", "enforce", is_flag=True, help="Refuse core impact without an active override.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def concerned(
    base: str | None, head: str | None, files: tuple[str, ...], ticket: str | None, enforce: bool, as_json: bool
) -> int:
    """Say what a change concerns, and what must be verified. Exit 10 where the layer guard refuses it."""
    from santiago.board.board_place import find
    from santiago.board.governance import impact
    from santiago.contract.reasons import ExitCode

    project = governed()
    found = impact_of(project, base, head, files, enforce=enforce)
    if ticket is not None:
        impact.keep(find(project, os.environ).root, ticket, found)
    if as_json:
        click.echo(json.dumps(found.to_data(), indent=2, ensure_ascii=False))
    else:
        _show(found)
    return ExitCode.OK if found.guard.passes else ExitCode.BLOCKED


def impact_of(
    project: Path, base: str | None, head: str | None, files: tuple[str, ...], *, enforce: bool = False
) -> Impact:
    """Return the impact of the change that options name."""
    from santiago.board.governance import impact

    if not files:
        return impact.of_range(project, base or "HEAD~1", head or "HEAD", enforce=enforce)
    if base or head:
        raise click.UsageError("name either commits (--base, --head) or files (--changed-file)")
    return impact.of_files(project, (name.removeprefix("./") for name in files), enforce=enforce)


def _show(found: Impact) -> None:
    span = f"{found.base[:12]}..{found.head[:12]}: " if found.base and found.head else ""
    say(f"{span}{count(len(found.changed_files), 'changed file')}")
    for name, ids in found.impacted.items():
        if ids:
            say(f"  {name:12} {', '.join(map(harmless, ids))}")
    layers = ", ".join(f"{number} {layer}" for layer, number in found.layer_counts.items() if number)
    say(f"  {'layers':12} {layers or 'none'}")
    if found.guard.reason:
        word = "allowed" if found.guard.passes else "refused"
        say(f"  {'layer guard':12} {word}: {harmless(found.guard.reason)}")
    for line in found.required:
        say(f"  {'verify by':12} {line}")


def project_here() -> Path:
    """Return the top folder of the repository around this place, or the place itself."""
    from santiago.artifacts.repository import find_root

    here = Path.cwd()
    return find_root(here) or here


def governed() -> Path:
    """Return the project here; raise if it has no product truth."""
    from santiago.board.governance.hierarchy import TRUTH
    from santiago.board.governance.truth_validation import is_on
    from santiago.contract.errors import Kind, SantiagoError

    project = project_here()
    if not is_on(project):
        hint = "`santiago queue init --governance` writes one to begin with."
        raise SantiagoError(Kind.INPUT, "there is no product truth here", where=str(project / TRUTH), hint=hint)
    return project
