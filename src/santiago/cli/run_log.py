"""`santiago log`: the history of a run. With --follow, each new event once, as it comes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from santiago.app.finding import find_run, find_story
from santiago.app.loading import empty_fold, frozen, load, working
from santiago.artifacts.file_errors import possible
from santiago.artifacts.names import LOG, has_begun
from santiago.artifacts.reader import Tail
from santiago.cli.view.lines import Lines, timed
from santiago.cli.view.terminal import STREAM, say, show_record
from santiago.contract import codec
from santiago.contract.counting import count
from santiago.contract.events import EventKind
from santiago.util.clock import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from santiago.contract.events import Event

POLL_SECONDS = 0.2


def log(run: str | None, follow: bool, story: str | None, as_json: bool) -> None:
    """Print the history of a run."""
    out_dir = find_run(run)
    only = find_story(load(out_dir), story).id if story is not None else None
    if not follow and not has_begun(out_dir):
        say(f"note: {out_dir.name} is planned and has not begun", err=True)
    show = _printer(out_dir, as_json=as_json)
    for event in events_of(out_dir, follow=follow):
        show(event, only is None or event.story_id == only)


def _printer(out_dir: Path, *, as_json: bool) -> Callable[[Event, bool], None]:
    if as_json:
        show_record(STREAM)

        def as_data(event: Event, wanted: bool) -> None:
            if wanted:
                show_record({"type": "event", **codec.to_data(event)})

        return as_data
    plan, run_input = frozen(out_dir)
    fold, lines = empty_fold(plan, run_input), Lines(plan, run_input.limits, out_dir)

    apply = possible(out_dir / LOG, fold.apply)

    def as_line(event: Event, wanted: bool) -> None:
        apply(event)
        if wanted and event.event is not EventKind.TIME_USED:
            say(timed(lines.whole(event, fold.state), moment(event.timestamp), stderr=False))

    return as_line


def events_of(out_dir: Path, *, follow: bool) -> Iterator[Event]:
    """Yield the events of a log; with `follow` also new ones, until nobody works on the run."""
    tail = Tail(out_dir / LOG)
    while True:
        # Asked before reading: a process that released the lock has written everything that is read now.
        at_work = follow and (working(out_dir) is not None or not has_begun(out_dir))
        yield from tail.read()
        if not at_work:
            break
        time.sleep(POLL_SECONDS)
    if tail.torn and not follow:
        torn = count(tail.torn, "byte")
        say(f"note: the log ends with an incomplete line of {torn}; the next start moves it to a file", err=True)
