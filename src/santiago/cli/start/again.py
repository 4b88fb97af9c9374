"""A document that already has a run: whether to go on with it, make a new run with the changes, or start afresh."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from santiago.app.changes import changes_of, has_changed
from santiago.app.finding import naming
from santiago.app.loading import frozen, load
from santiago.app.start.lineup import named
from santiago.app.start.trust import said_by
from santiago.app.unfinished import newest_of, unfinished_of
from santiago.cli.start.running import start
from santiago.cli.view.text import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import RunPhase
from santiago.report.remedies import granting, taking_in
from santiago.report.run_status import is_taken_over, standing
from santiago.util.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.cli.options import Flags
    from santiago.cli.start.document import Worker

Way = Literal["new", "resume", "rebase", "nothing"]


class Again(NamedTuple):
    """What to do about a document, and the run that this is about."""

    way: Way
    run: Path | None = None


def decide(document: Path, flags: Flags, *, new: bool = False, resume: bool = False) -> Again:
    """Return what to do, by flags or by asking. Without a terminal the unfinished run goes on, which is printed."""
    if new:
        return Again("new")
    run = unfinished_of(document)
    if resume:
        return _resumed(document, run)
    asked = not (flags.no_input or flags.as_json or flags.dry_run) and sys.stdin.isatty()
    if run is None:
        return _finished(document, asked=asked)
    changed = has_changed(frozen(run)[0], document)
    if changed:
        return Again(_changed(document, run, asked=asked), run)
    told = f"{run.name} of {document.name} ({standing(run).removesuffix(' (resumable)')}) is not finished"
    if asked:
        went = click.confirm(f"{told}. Go on with it? (no: start afresh)", default=None, err=True)
        return Again("resume" if went else "new", run)
    say(f"note: {told}; going on with it (--new starts a new run)", err=True)
    return Again("resume", run)


def _finished(document: Path, *, asked: bool) -> Again:
    """Start afresh; ask or warn first if a finished run of the document is only not merged yet."""
    newest = newest_of(document)
    try:
        run = load(newest.out_dir) if newest else None
    except SantiagoError:  # a damaged run must not prevent a new one
        run = None
    if run is None or run.state.phase is not RunPhase.SUCCESS or is_taken_over(run, document.absolute().parent):
        return Again("new")
    told = f"{run.run_id} finished {document.name}, but its work is not merged into this branch"
    merge = f"git merge {run.state.branch}"
    if not asked:
        say(f"note: {told}, so it is done again; to keep it, merge it first: {merge}", err=True)
        return Again("new")
    went = click.confirm(f"{told}. Do it again? (no: merge it first, {merge})", default=None, err=True)
    return Again("new" if went else "nothing", run.out_dir)


def _resumed(document: Path, run: Path | None) -> Again:
    if run is not None:
        return Again("resume", run)
    if newest := newest_of(document):
        say(f"{newest.run_id} is finished; nothing to resume", err=True)
        return Again("nothing", newest.out_dir)
    hint = f"Begin one: `santiago run {document}`."
    raise SantiagoError(Kind.USAGE, f"there is no run of {document.name} to go on with", hint=hint)


def _changed(document: Path, run: Path, *, asked: bool) -> Way:
    told = f"{document.name} has changed since {run.name} began, which is not finished"
    if not asked:
        others = "--resume goes on with the document as it was, --new starts afresh"
        say(f"note: {told}: a new run uses the change, and keeps finished stories ({others})", err=True)
        return "rebase"
    say(f"{told}. What now?", err=True)
    say("  take    a new run with the change, which keeps finished stories", err=True)
    say("  resume  go on with the document as it was", err=True)
    say("  new     start afresh", err=True)
    word = click.prompt("Your word", type=click.Choice(["take", "resume", "new"]), default="take", err=True)
    ways: dict[str, Way] = {"take": "rebase", "resume": "resume", "new": "new"}
    return ways[word]


def go_on(run: Path, worker: Worker, flags: Flags) -> int:
    """Go on with a run. Another agent takes over if one is named; the checks stay the same."""
    tell_changes(run)
    plan, settings = frozen(run)
    agent = named(settings.agent, worker.agent, worker.playbook, worker.model)
    said = said_by(agent=worker.agent, model=worker.model, playbook=worker.playbook)
    if worker.checks and worker.checks != settings.verification.story_commands:
        say("note: a run keeps the checks that it began with; --new starts afresh with those of --verify", err=True)
    other = agent if agent != settings.agent else None
    with _or_afresh(), naming(settings.run_id or run.name), granting(run):
        return start(run, settings, plan, flags, base=run, agent=other, said=said)


def tell_changes(out_dir: Path) -> None:
    """Print what has changed since a run began and is not part of it, and the command that takes it in."""
    run = load(out_dir)
    told = changes_of(run)
    for text in told:
        say(f"note: {harmless(text)}; this run does not use the change", err=True)
    if told:
        say(f"note: a new run would use it: {taking_in(run)}", err=True)


@contextmanager
def _or_afresh() -> Iterator[None]:
    """Add to an error about going on that one may start afresh."""
    try:
        yield
    except SantiagoError as error:
        error.hint = f"{error.hint or ''} `santiago run PRD --new` starts afresh.".strip()
        raise
