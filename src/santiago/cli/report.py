"""`santiago report`: a run as one file of HTML, for people who have neither santiago nor the repository."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from santiago.app.finding import find_run
from santiago.app.loading import load
from santiago.app.paths import near
from santiago.artifacts.files import write_whole
from santiago.artifacts.names import REPORT
from santiago.artifacts.run_locations import resolved
from santiago.cli.view.terminal import say, show_data
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.report.handout import PARTS, document
from santiago.report.measures import size
from santiago.web.report_file import html

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import Run


def report(run: str | None, output: Path | None, without: str, as_json: bool) -> None:
    """Write the report of a run, and say what it holds."""
    found = load(find_run(run))
    told = document(found, _parts(without))
    if as_json:
        show_data(told)
    if str(output) == "-":
        content = html(told)
        sys.stdout.buffer.write(content)
        _say(told, "to standard output", len(content), err=True)
    elif output is not None or not as_json:
        path, length = written(found, told, output)
        _say(told, near(path), length, err=as_json)


def written(run: Run, told: dict[str, Any], output: Path | None = None) -> tuple[Path, int]:
    """Write a report where it was asked for, or else into the run's folder; return the place and its size."""
    path, content = resolved(output) if output else run.out_dir / REPORT, html(told)
    write_whole(path, content)
    return path, len(content)


def _say(told: dict[str, Any], place: str, length: int, *, err: bool) -> None:
    """Tell what whoever sends the report should know."""
    say(f"wrote  {place}   {size(length)}", err=err)
    holds = told["holds"]
    parts = [
        f"{count(holds['stories'], 'story', 'stories')}, {count(holds['attempts'], 'attempt')}",
        f"source of {count(holds['files'], 'file')} in {count(holds['patches'], 'patch', 'patches')}",
        f"{count(holds['outputs'], 'piece')} of output",
        f"{count(holds['answers'], 'answer')} of people",
    ]
    say(f"holds  {'; '.join(parts)}", err=err)
    if left_out := told["without"]:
        say(f"without {', '.join(left_out)}", err=err)
    if holds["cut"]:
        say(
            f"cut    {count(holds['cut'], 'long text')}, so that the file stays small; each says by how many lines",
            err=err,
        )
    if not told["finished"]:
        say(f"The run is not finished ({told['state']}); the report says so.", err=err)
    if left := [part for part in PARTS if part not in left_out]:
        say(f"Look through it before you send it. --without {','.join(left)} leaves parts out.", err=err)


def _parts(without: str) -> frozenset[str]:
    parts = frozenset(word.strip() for word in without.split(",") if word.strip())
    if unknown := sorted(parts - {*PARTS}):
        raise SantiagoError(
            Kind.USAGE, f"a report has no part {unknown[0]!r}", hint=f"--without takes {', '.join(PARTS)}."
        )
    return parts
