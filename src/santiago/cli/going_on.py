"""Going on with a run: `execute` and `resume`, and a person's decisions about single stories."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from santiago.app.actor import actor as acting
from santiago.app.changes import changes_of
from santiago.app.finding import find_run, find_story, naming, unfinished
from santiago.app.loading import frozen, frozen_input, load
from santiago.app.refusal import told_in_result
from santiago.app.requests import answer
from santiago.app.start.agents import named
from santiago.app.start.risky_settings import said_by
from santiago.app.start.start_options import StartOptions
from santiago.artifacts import registry
from santiago.artifacts.files import read_bytes
from santiago.artifacts.run_locations import resolved
from santiago.cli.named_story import run_and_story
from santiago.cli.running import start
from santiago.cli.view.terminal import STREAM, say, show_record
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.plan import Plan
from santiago.contract.policy import RunInput
from santiago.contract.quantities import Minutes, Usd
from santiago.executor.reopen import Grants
from santiago.report.failure import report_of
from santiago.report.remedies import beginning, granting, next_commands, taking_in
from santiago.report.run_status import planned_line
from santiago.util.text import harmless

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.cli.options import Worker
    from santiago.contract.policy import Agent


def skip(words: tuple[str, ...], why: str, actor: str | None, as_json: bool) -> int:
    """Leave a story out: other stories stop waiting for it, and the run can go on without it."""
    run, planned = run_and_story(words)
    story = planned.id
    with naming(run.run_id):
        _refuse_settled(run, story)
        flags = _flags(as_json=as_json, actor=actor)
        start(run.out_dir, run.run_input, run.plan, flags, base=run.out_dir, skips=[(story, why)])
    if as_json:
        return 0
    say(f"{run.run_id} goes on without {story}", err=True)
    for text in next_commands(report_of(load(run.out_dir))):
        say(text, err=True)
    return 0


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
        if len(words) > 1:
            raise click.UsageError("--unproven takes every unproven story; name no other one.")
        run = load(find_run(words[0] if words else None))
        stories = tuple(one.id for one in run.state.stories.values() if one.is_unproven)
        if not stories:
            hint = f"`santiago status {run.run_id}` shows its stories."
            raise SantiagoError(Kind.INPUT, f"no story of {run.run_id} is unproven", hint=hint)
    else:
        run, story = run_and_story(words)
        stories = (story.id,)
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
        say(answer(run, question.id, "accept", acting(actor), text=why).text, err=True)
    return bool(found)


def verify(words: tuple[str, ...], ref: str, why: str, trust_project: bool, actor: str | None, as_json: bool) -> int:
    """Check your own work on a story like an attempt, and put it onto the run's branch if it passes."""
    run, planned = run_and_story(words)
    story = planned.id
    if tests := run.state.stories[story].tests:
        # They were not there when the person's own work began.
        told = f"the tests that were written first for {story} judge your own work only if it contains them"
        say(f"{told}: `git cherry-pick {tests}` takes them into your branch", err=True)
    with naming(run.run_id):
        flags = _flags(as_json=as_json, actor=actor, trust_project=trust_project)
        return start(run.out_dir, run.run_input, run.plan, flags, base=run.out_dir, own_work=(story, ref), why=why)


def _flags(*, as_json: bool, actor: str | None, trust_project: bool = False) -> StartOptions:
    """Return the flags of such a start. Commands of the document were approved before; settings may have changed since."""
    return StartOptions(
        as_json=as_json, trust_commands=True, no_input=as_json, trust_project=trust_project, actor=actor
    )


def execute(run_input: Path, plan_path: Path, out_dir: Path, flags: StartOptions) -> int:
    """Carry out a plan of a file; the same command again goes on."""
    folder = resolved(out_dir)
    with nullcontext() if flags.dry_run else told_in_result(folder):
        plan = codec.decode(Plan, read_bytes(plan_path, codec.MAX_BYTES), str(plan_path))
        settings = codec.decode(RunInput, read_bytes(run_input, 2**20), str(run_input))
        with granting(folder):
            return start(folder, settings, plan, flags, base=resolved(run_input).parent, plan_file=plan_path)


def resume(
    run: str | None, add_attempts: int, add_minutes: float, add_cost: float, add_tokens: int,
    hints: tuple[tuple[str, str], ...], worker: Worker, flags: StartOptions,
) -> int:  # fmt: skip
    """Go on with a run. More budget that a person grants is recorded."""
    out_dir = _meant(run, as_json=flags.as_json)
    if out_dir is None:
        return 0
    tell_changes(out_dir)
    grants = Grants(
        attempts=add_attempts,
        minutes_ms=int(Minutes.of(add_minutes)) if add_minutes else 0,
        cost_micro_usd=int(Usd.of(add_cost)) if add_cost else 0,
        tokens=add_tokens,
        hints=tuple((find_story(load(out_dir), name).id, text) for name, text in hints),
    )
    before, other = frozen_input(out_dir).agent, None
    if worker.agent or worker.model:
        # The name of a model is valid only for its own agent.
        before = replace(before, model_hint=None) if worker.agent else before
        other = named(before, worker.agent, None, worker.model)
    return _go_on(out_dir, flags, grants, other, said_by(agent=worker.agent, model=worker.model))


def step_on(run: str | None, flags: StartOptions) -> int:
    """Go on step by step with a run."""
    out_dir = _meant(run, as_json=flags.as_json)
    if out_dir is None:
        return 0
    tell_changes(out_dir)
    return _go_on(out_dir, flags)


def go_on_with(run: Path, worker: Worker, flags: StartOptions) -> int:
    """Go on with a document's run. Another agent takes over if one is named; the checks stay the same."""
    tell_changes(run)
    settings = frozen_input(run)
    agent = named(settings.agent, worker.agent, worker.playbook, worker.model)
    said = said_by(agent=worker.agent, model=worker.model, playbook=worker.playbook)
    if worker.checks and worker.checks != settings.verification.story_commands:
        say("note: a run keeps the checks that it began with; --new starts afresh with those of --verify", err=True)
    try:
        return _go_on(run, flags, agent=agent if agent != settings.agent else None, said=said)
    except SantiagoError as error:
        error.hint = f"{error.hint or ''} `santiago run PRD --new` starts afresh.".strip()
        raise


def _go_on(
    out_dir: Path,
    flags: StartOptions,
    grants: Grants | None = None,
    agent: Agent | None = None,
    said: frozenset[str] = frozenset(),
) -> int:
    plan, settings = frozen(out_dir)
    with naming(settings.run_id or out_dir.name), granting(out_dir):
        return start(out_dir, settings, plan, flags, base=out_dir, grants=grants, agent=agent, said=said)


def _meant(name: str | None, *, as_json: bool) -> Path | None:
    """Return the folder of the run to go on with; None if all are finished, which is then printed."""
    if name is not None:
        return find_run(name)
    newest, left = unfinished()
    if left is not None:
        if left is not newest:
            say(f"the newest run, {newest.run_id}, is finished; going on with {left.run_id}", err=True)
        return left.out_dir
    if registry.standing(newest) == "planned":
        plan = load(newest.out_dir)
        message = f"nothing to resume: {plan.run_id} of {plan.plan.source.path} is planned, and was never started"
        raise SantiagoError(Kind.USAGE, message, hint=f"Begin it: `{beginning(plan)[0]}`.")
    if as_json:
        show_record(STREAM)
        show_record({"type": "nothing_to_resume", "run_id": newest.run_id})
        return None
    say(f"{newest.run_id} is finished; nothing to resume", err=True)
    if told := planned_line():
        say(told, err=True)
    return None


def tell_changes(out_dir: Path) -> None:
    """Print what has changed since a run began and is not part of it, and the command that takes it in."""
    run = load(out_dir)
    told = changes_of(run)
    for text in told:
        say(f"note: {harmless(text)}; this run does not use the change", err=True)
    if told:
        say(f"note: a new run would use it: {taking_in(run)}", err=True)
