"""The run and the story that the words of a command name: `[RUN] STORY`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from santiago.app.finding import find_run, find_story, naming
from santiago.app.loading import load

if TYPE_CHECKING:
    from santiago.app.loading import Run
    from santiago.contract.plan import Story


def run_and_story(words: tuple[str, ...]) -> tuple[Run, Story]:
    """Return both; without a run, the one that is running, or the newest here that began."""
    *named, story = words or ("",)
    if not story or len(named) > 1:
        raise click.UsageError("Say which story.")
    run = load(find_run(named[0] if named else None))
    with naming(run.run_id):
        return run, find_story(run, story)
