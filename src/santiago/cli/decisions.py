"""`skip`, `accept` and `verify`: a person's decisions about single stories, recorded like everything else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from santiago.app.actor import actor as named
from santiago.app.finding import find_run, find_story, naming, split_target
from santiago.app.loading import load
from santiago.app.requests import answer
from santiago.app.start.start_options import StartOptions
from santiago.cli.running import start
from santiago.cli.view.terminal import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.report.failure import report_of
from santiago.report.remedies import next_commands

if TYPE_CHECKING:
    from santiago.app.loading import Run


def skip(words: tuple[str, ...], why: str, actor: str | None, as_json: bool) -> int:
    """Leave a story out: other stories stop waiting for it, and the run can go on without it."""
    run, story = _target(words)
    with naming(run.run_id):
        _refuse_settled(run, story)
        flags = _flags(as_json=as_json, actor=actor)
        start(run.out_dir, run.run_input, run.plan, flags, base=run.out_dir, skips=[(story, why)])
    if not as_json:
        _say_next(run, story)
    return 0


def _say_next(run: Run, story: str) -> None:
    say(f"{run.run_id} goes on without {story}", err=True)
    for text in next_commands(report_of(load(run.out_dir))):
        say(text, err=True)


def _refuse_settled(run: Run, name: str) -> None:
    """Raise if a story is done, which cannot be undone, or already left out."""
    story = run.state.stories[name]
    if story.skipped:
        raise SantiagoError(Kind.INPUT, f"{name} is left out already", hint="`santiago log` says why.")
    if story.satisfied:
        hint = "Revert it on a branch of your own, or write a new story for it."
        raise SantiagoError(Kind.INPUT, f"{name} is {story.phase}, and that cannot be undone", hint=hint)


def accept(
    words: tuple[str, ...], unproven: bool, why: str, trust_project: bool, actor: str | None, as_json: bool
) -> int:
    """Accept the work of a story's latest attempt, whatever its checks said. The log keeps that it was you."""
    if unproven:
        run = _run(words)
        stories = tuple(one.id for one in run.state.stories.values() if one.is_unproven)
        if not stories:
            hint = f"`santiago status {run.run_id}` shows its stories."
            raise SantiagoError(Kind.INPUT, f"no story of {run.run_id} is unproven", hint=hint)
    else:
        run, story = _target(words)
        stories = (story,)
    with naming(run.run_id):
        if run.worker and _leave_answers(run, stories, why, actor):
            return 0
        flags = _flags(as_json=as_json, actor=actor, trust_project=trust_project)
        code = start(run.out_dir, run.run_input, run.plan, flags, base=run.out_dir, accepts=(stories, why))
    _record_on_board(run, as_json=as_json)
    return code


def _record_on_board(run: Run, *, as_json: bool) -> None:
    """Take the tickets of accepted stories to done, if a board routed the run."""
    from santiago.board.board_place import is_noted

    if not is_noted(run.out_dir):
        return

    from santiago.app.board.planner_review import record_accepted
    from santiago.app.board.ticket_context import TicketContext
    from santiago.board.board_handle import open_board
    from santiago.cli.board_consents import consents

    with open_board(run.out_dir, os.environ) as opened:
        done = record_accepted(TicketContext(opened=opened, consents=consents(no_input=True)))
    for name in () if as_json else done:
        say(f"{name} is done, and in the archive of the board", err=True)


def _leave_answers(run: Run, stories: tuple[str, ...], why: str, actor: str | None) -> bool:
    """Answer the questions about unproven stories of a run that is at work. False if there is none."""
    found = [one for one in run.state.open_questions() if one.kind == "unproven" and one.story in stories]
    for question in found:
        say(answer(run, question.id, "accept", named(actor), text=why).text, err=True)
    return bool(found)


def verify(words: tuple[str, ...], ref: str, why: str, trust_project: bool, actor: str | None, as_json: bool) -> int:
    """Check your own work on a story like an attempt, and put it onto the run's branch if it passes."""
    run, story = _target(words)
    if tests := run.state.stories[story].tests:
        _say_what_does_not_judge(story, tests)
    with naming(run.run_id):
        flags = _flags(as_json=as_json, actor=actor, trust_project=trust_project)
        return start(run.out_dir, run.run_input, run.plan, flags, base=run.out_dir, own_work=(story, ref), why=why)


def _say_what_does_not_judge(story: str, tests: str) -> None:
    """Tell that tests which were written first do not judge a person's own work, since it did not begin on them."""
    words = f"the tests that were written first for {story} judge your own work only if it contains them"
    say(f"{words}: `git cherry-pick {tests}` takes them into your branch", err=True)


def _flags(*, as_json: bool, actor: str | None, trust_project: bool = False) -> StartOptions:
    """Return the flags of such a start. Commands of the document were approved before; settings may have changed since."""
    return StartOptions(
        as_json=as_json, trust_commands=True, no_input=as_json, trust_project=trust_project, actor=actor
    )


def _run(words: tuple[str, ...]) -> Run:
    """Return the run that is meant, where no story is named."""
    if len(words) > 1:
        raise click.UsageError("--unproven takes every unproven story; name no other one.")
    return load(find_run(words[0] if words else None))


def _target(words: tuple[str, ...]) -> tuple[Run, str]:
    """Return the run and the story that are meant."""
    name, rest = split_target(words, least=1)
    if len(rest) != 1:
        raise click.UsageError("Say which story.")
    run = load(find_run(name))
    with naming(run.run_id):
        return run, find_story(run, rest[0]).id
