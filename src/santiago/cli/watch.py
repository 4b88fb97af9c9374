"""`santiago watch`: the browser of a run on the whole terminal, or printed once line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.finding import running_or_newest
from santiago.app.loading import load
from santiago.cli.view.open_screens import browse, has_screen
from santiago.cli.view.terminal import say
from santiago.report.agent_activity import Doing
from santiago.report.asking import asked
from santiago.report.chunks import rows_of
from santiago.report.question import card
from santiago.report.run_page import headline, pauses_now, subline
from santiago.report.story_status import row_of
from santiago.util.clock import SystemClock
from santiago.util.text import flat

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import Run


def watch(run: str | None, plain: bool) -> int:
    """Show the browser, or print the same once where there is no screen for it."""
    out_dir, note = running_or_newest(run)
    return _listing(out_dir) if plain or not has_screen() else browse(out_dir, note, any_run=run is None)


def _listing(out_dir: Path) -> int:
    """Print the same once, line by line."""
    run = load(out_dir)
    say(f"run {run.run_id}: {', '.join(headline(run, SystemClock().utc()))}")
    say(", ".join(subline(run, pauses=pauses_now(run))))
    for row in rows_of(run):
        say(row.text)
        _stories(run, row.label)
    for question in asked(run.state, run.out_dir)[0]:
        one = card(run.plan, run.state, question, run.out_dir)
        say(f"{one.id} asks: {flat(one.text)}   ({one.command} {'|'.join(word for word, _ in one.words)})")
    say("`santiago log --follow` follows the run, `santiago status` tells more, `santiago show STORY` shows one story")
    return 0


def _stories(run: Run, label: str) -> None:
    doing = Doing(run.out_dir, run.history.start.get("agent", ""), once=True)
    for planned in run.stories:
        if planned.chunk == label:
            story = run.state.stories[planned.id]
            row = row_of(run.state, story, run.run_input.limits, at_rest=run.worker is None, ahead=run.ahead)
            beat = doing.elsewhere(story.id, story.attempts)
            now = doing.words(story.id, story.attempts) if beat else row.now.replace("  ", ", ")
            say(f"  {planned.id}, {flat(planned.title)}, {now}")
