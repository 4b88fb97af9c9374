"""`santiago truth`: whether a project's product truth holds together, and what a change of it concerns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from santiago.artifacts.run_locations import find_root
from santiago.board.board_place import find
from santiago.board.governance import impact as impacts
from santiago.board.governance import truth_validation
from santiago.board.governance.hierarchy import TRUTH
from santiago.board.governance.truth_validation import is_on
from santiago.cli.view.shown_errors import show_faults
from santiago.cli.view.terminal import paint, say, show_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import ExitCode
from santiago.util.text import count, harmless

if TYPE_CHECKING:
    from santiago.board.governance.impact import Impact


def validate(strict: bool, as_json: bool) -> int:
    """Check the files, the hierarchy, the links and the scenarios. Exit 0 where all is well, 30 otherwise."""
    project = _governed()
    faults, revision = truth_validation.validate(project, strict=strict), truth_validation.revision(project)
    notes = truth_validation.notes(project)
    if as_json:
        show_data({
            "contract_version": 1, "status": "FAIL" if faults else "PASS", "strict": strict, "revision": revision,
            "faults": [one.to_data() for one in faults], "notes": list(notes),
        })  # fmt: skip
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


def impact(
    base: str | None, head: str | None, files: tuple[str, ...], ticket: str | None, enforce: bool, as_json: bool
) -> int:
    """Say what a change concerns, and what must be verified. Exit 10 where the layer guard refuses it."""
    project = _governed()
    found = impact_of(project, base, head, files, enforce=enforce)
    if ticket is not None:
        impacts.keep(find(project, os.environ).root, ticket, found)
    if as_json:
        show_data(found.to_data())
    else:
        _show(found)
    return ExitCode.OK if found.guard.passes else ExitCode.BLOCKED


def impact_of(
    project: Path, base: str | None, head: str | None, files: tuple[str, ...], *, enforce: bool = False
) -> Impact:
    """Return the impact of the change that options name."""
    if not files:
        return impacts.of_range(project, base or "HEAD~1", head or "HEAD", enforce=enforce)
    if base or head:
        raise click.UsageError("name either commits (--base, --head) or files (--changed-file)")
    return impacts.of_files(project, (name.removeprefix("./") for name in files), enforce=enforce)


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
    here = Path.cwd()
    return find_root(here) or here


def _governed() -> Path:
    """Return the project here; raise if it has no product truth."""
    project = project_here()
    if not is_on(project):
        hint = "`santiago queue init --governance` writes one to begin with."
        raise SantiagoError(Kind.INPUT, "there is no product truth here", where=str(project / TRUTH), hint=hint)
    return project
