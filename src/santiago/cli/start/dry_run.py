"""`--dry-run`: what a start would do, in order, with the checks and the limits; it refuses what the start would refuse."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from santiago.app.loading import empty_fold, load
from santiago.app.start import agents, opening, provide
from santiago.app.start.identity import refuse_taken
from santiago.app.start.prospects import Checkout, Prospect, foresee
from santiago.app.start.scratch import scratch_of
from santiago.artifacts import frozen
from santiago.artifacts.names import INPUT, PLAN, has_begun
from santiago.cli.view.text import harmless, paint, say
from santiago.contract.checks import commands_of
from santiago.contract.reasons import ExitCode
from santiago.executor.reopen import reopening
from santiago.executor.schedule import followed
from santiago.process import sandbox
from santiago.report.measures import count
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from santiago.app.start.request import Request
    from santiago.cli.start.trust import Waiting
    from santiago.contract.plan import Story
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState


def show(request: Request, *, trusted: bool, as_json: bool, waits: Waiting | None = None) -> int:
    """Print every story that is left, with its checks and whom it waits for."""
    run_input = request.effective
    repo = Path(run_input.repo_path)
    state = _state(request)
    workspace = GitWorkspace(repo, request.run_id, scratch_of(repo))
    workspace.is_dirty()  # raises where no run can work
    if not has_begun(request.out_dir):
        refuse_taken(workspace, request.run_id, request.out_dir)
    checkout = Checkout(run_input, workspace, provide.folders(workspace, run_input, os.environ))
    notes = foresee(run_input, state, request, checkout)
    if state.seq and not request.skips and not request.own_work:
        # Raises where going on would only repeat a failure.
        reopening(state, run_input.limits, request.grants, workspace.head())
    agent = _agent(run_input, checkout)
    if run_input.policy.tests_first:
        other = agents.for_tests(run_input)
        writer = _agent(replace(run_input, agent=other), checkout) if other else agent
        notes.append(f"the tests of each story are written first, by {writer}")
    fence = sandbox.detect(run_input.policy.sandbox, dict(os.environ))
    if waits is not None and waits.used:
        notes.append(f"{waits.sentence}; the start would ask first; --trust-project says yes")
    if not trusted:
        notes += _asks(request, state)
    if fence.kind == "none" and run_input.policy.sandbox == "auto" and agent != "scripted":
        notes.append("no sandbox works here: the start would ask first; --sandbox off says yes")
    prospect = Prospect(plan=request.plan, run_input=run_input, state=state, scope=request.scope, checkout=checkout)
    rows = _rows(prospect.to_do(), request, run_input)
    if as_json:
        data = {"run_id": run_input.run_id, "agent": agent, "sandbox": fence.name, "notes": notes, "stories": rows}
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return ExitCode.OK
    _say(rows, state, run_input, f"agent {agent}, sandbox {fence.name}", notes)
    return ExitCode.OK


def _state(request: Request) -> RunState:
    """Return where the run stands; a plan or input that is not its own is refused as the start refuses it."""
    if not (request.out_dir / "progress.ndjson").exists():
        return empty_fold(request.plan, request.run_input).state
    run = load(request.out_dir)
    frozen.compare(request.out_dir / INPUT, run.run_input, request.run_input)
    frozen.compare(request.out_dir / PLAN, run.plan, request.plan)
    return run.state


def _agent(run_input: RunInput, checkout: Checkout) -> str:
    if run_input.agent.mode == "scripted":
        agents.playing(run_input)
        return "scripted"
    profile = agents.profile_of(run_input.agent, os.environ)
    agents.refuse_early(profile, run_input, os.environ, checkout.lacks)
    return agents.name_of(profile)


def _asks(request: Request, state: RunState) -> list[str]:
    """Return that a person would be asked about commands of the document."""
    asked: list[str] = []
    opening.approvals(request.plan, state, asked.extend)
    many = count(len(asked), "command of the document waits", "commands of the document wait")
    return [f"{many} for approval: the start would ask first; --trust-commands says yes"] if asked else []


def _rows(stories: list[Story], request: Request, run_input: RunInput) -> list[dict[str, Any]]:
    behind = followed(request.plan, optimistic=run_input.policy.optimistic)
    return [
        {
            "id": story.id, "title": story.title, "chunk": story.chunk, "depends_on": list(story.depends_on),
            "behind": [name for name in behind[story.id] if name not in story.depends_on],
            "checks": list(commands_of(story, run_input)), "files": list(story.files),
        }
        for story in stories
    ]  # fmt: skip


def _say(rows: list[dict[str, Any]], state: RunState, run_input: RunInput, where: str, notes: list[str]) -> None:
    limits, stories = run_input.limits, state.stories
    most = f"at most {count(limits.story_max_attempts, 'attempt')} each and {limits.run_max_attempts:,} in all"
    many = (
        f"{len(rows):,} of {len(stories):,} stories"
        if len(rows) < len(stories)
        else count(len(rows), "story", "stories")
    )
    say(f"would run {many}: {harmless(where)}, {most}")
    for note in notes:
        say(f"{paint('note:', 'cyan', stderr=False)} {harmless(note)}")
    for row in rows:
        waits = [name for name in row["depends_on"] if not stories[name].satisfied]
        waits += [f"{name} (same files)" for name in row["behind"] if not stories[name].satisfied]
        after = f"   after {', '.join(waits)}" if waits else ""
        say(f"  {row['id']}  {harmless(str(row['title']))}{after}")
        for check in row["checks"]:
            say(f"        $ {harmless(str(check))}")
