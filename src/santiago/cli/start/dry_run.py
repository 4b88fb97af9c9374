"""`--dry-run`: what a start would do, in order, with the checks and the limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from santiago.app.start.dry_run import DryRun, try_out
from santiago.cli.view.terminal import paint, say
from santiago.contract.reasons import ExitCode
from santiago.util.text import count, harmless

if TYPE_CHECKING:
    from santiago.app.start.request import Request
    from santiago.app.start.risky_settings import Waiting


def show(request: Request, *, trusted: bool, units: bool, as_json: bool, waits: Waiting | None = None) -> int:
    """Print every story that is left, with its checks and the stories that it waits for."""
    found = try_out(request, trusted=trusted, units=units, waits=waits)
    if as_json:
        click.echo(json.dumps(found.data(), indent=2, ensure_ascii=False))
    else:
        _say(found)
    return ExitCode.OK


def _say(found: DryRun) -> None:
    limits, stories, rows = found.run_input.limits, found.state.stories, found.stories
    most = f"at most {count(limits.story_max_attempts, 'attempt')} each and {limits.run_max_attempts:,} in all"
    many = (
        f"{len(rows):,} of {count(len(stories), 'story', 'stories')}"
        if len(rows) < len(stories)
        else count(len(rows), "story", "stories")
    )
    say(f"would run {many}: {harmless(f'agent {found.agent}, sandbox {found.sandbox}')}, {most}")
    for note in found.notes:
        say(f"{paint('note:', 'busy', stderr=False)} {harmless(note)}")
    for row in rows:
        waits = [name for name in row["depends_on"] if found.is_to_come(name)]
        waits += [f"{name} (may touch the same files)" for name in row["behind"] if found.is_to_come(name)]
        after = f"   after {', '.join(waits)}" if waits else ""
        say(f"  {row['id']}  {harmless(str(row['title']))}{after}")
        for check in row["checks"]:
            say(f"        $ {harmless(str(check))}")
