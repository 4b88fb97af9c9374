"""`--dry-run`: what a start would do, in order, with checks and limits. It raises the errors that the start would raise."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.app.loading import empty_fold, load
from santiago.app.paths import scratch_of
from santiago.app.start import agents, kept, start_events
from santiago.app.start.agents import first_able
from santiago.app.start.identity import refuse_taken
from santiago.app.start.judging import dependency_folders
from santiago.app.start.preflight import Checkout, Prospect, foresee
from santiago.app.start.proposals import sentence
from santiago.artifacts import store
from santiago.artifacts.names import INPUT, PLAN, has_begun
from santiago.contract.checks import commands_of
from santiago.contract.record import record
from santiago.executor.reopen import reopening
from santiago.executor.schedule import followed
from santiago.process import sandbox
from santiago.util.text import count
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from santiago.app.start.request import Request
    from santiago.app.start.risky_settings import Waiting
    from santiago.contract.plan import Story
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState


@record
class DryRun:
    """What a start would do."""

    run_input: RunInput
    state: RunState
    agent: str
    sandbox: str
    notes: list[str]
    stories: list[dict[str, Any]]
    """The stories that are left, each with its checks and the stories that it waits for."""
    kept: frozenset[str] = frozenset()
    """The stories that are done already."""

    def is_to_come(self, name: str) -> bool:
        """Whether work on a story is still to come, so that others wait for it."""
        return name not in self.kept and not self.state.stories[name].satisfied

    def data(self) -> dict[str, Any]:
        """Return it for programs."""
        told = {"agent": self.agent, "sandbox": self.sandbox, "notes": self.notes, "stories": self.stories}
        return {"run_id": self.run_input.run_id, **told}


def try_out(request: Request, *, trusted: bool, units: bool = False, waits: Waiting | None = None) -> DryRun:
    """Return what a start would do; raise if it would be refused. `units` and `trusted` tell what was agreed to."""
    run_input = request.effective
    repo = Path(run_input.repo_path)
    state = _state(request)
    workspace = GitWorkspace(repo, request.run_id, scratch_of(repo))
    workspace.is_dirty()  # raises if no run can work here
    if not has_begun(request.out_dir):
        refuse_taken(workspace, request.run_id, request.out_dir)
    checkout = Checkout(run_input, workspace, dependency_folders(workspace, run_input, os.environ))
    notes = foresee(run_input, state, request, checkout)
    if state.seq and not request.skips and not request.own_work:
        # Raises if going on would only repeat a failure.
        reopening(state, run_input.limits, request.grants, workspace.head())
    run_input, passed = first_able(run_input, os.environ, checkout.lacks)
    notes += passed
    agent = agents.refuse_absent(run_input, os.environ, checkout.lacks)
    if run_input.policy.tests_first:
        other = agents.for_tests(run_input)
        writer = agents.refuse_absent(replace(run_input, agent=other), os.environ, checkout.lacks) if other else agent
        notes.append(f"the tests of each story are written first, by {writer}")
    fence = sandbox.detect(run_input.policy.sandbox, dict(os.environ))
    if not (units or request.plan.certain or state.units):
        notes.append(f"{sentence(request.plan)}; the start would ask first; --yes says yes")
    if waits is not None and waits.used:
        notes.append(f"{waits.sentence}; the start would ask first; --trust-project says yes")
    if not trusted:
        notes += _asks(request, state)
    if fence.kind == "none" and run_input.policy.sandbox == "auto" and agent != "scripted":
        notes.append("no sandbox works here: the start would ask first; --sandbox off says yes")
    prospect = Prospect(plan=request.plan, run_input=run_input, state=state, scope=request.scope, checkout=checkout)
    done = kept.kept(request.plan, repo, request.begins_on or "HEAD") if not state.seq else {}
    if done:
        notes.append(kept.told(request.plan, done))
    rows = _rows([story for story in prospect.to_do() if story.id not in done], request, run_input)
    return DryRun(
        run_input=run_input, state=state, agent=agent, sandbox=fence.name, notes=notes, stories=rows, kept=frozenset(done)
    )  # fmt: skip


def _state(request: Request) -> RunState:
    """Return the run's state; raise, as the start would, if plan or input differ from the frozen ones."""
    if not (request.out_dir / "progress.ndjson").exists():
        return empty_fold(request.plan, request.run_input).state
    run = load(request.out_dir)
    store.refuse_difference(request.out_dir / INPUT, run.run_input, request.run_input)
    store.refuse_difference(request.out_dir / PLAN, run.plan, request.plan)
    return run.state


def _asks(request: Request, state: RunState) -> list[str]:
    """Return the note that a person would be asked about commands of the document."""
    asked: list[str] = []
    start_events.approvals(request.plan, request.run_input, state, asked.extend, request.actor)
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
