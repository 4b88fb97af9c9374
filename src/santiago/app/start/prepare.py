"""Makes the request for one start of a run from a run input, a plan, and a person's wishes."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.actor import actor
from santiago.app.changes import changed_agent
from santiago.app.loading import frozen as begun_with
from santiago.app.loading import frozen_input
from santiago.app.start.agents import lasting
from santiago.app.start.fitness import refuse_unapproved, refuse_unfit
from santiago.app.start.identity import derived_id, frozen_path, repository_of
from santiago.app.start.limits import limited, refuse_other, wished
from santiago.app.start.lineup import called
from santiago.app.start.request import Request
from santiago.app.start.scope import scope_of
from santiago.artifacts.names import PLAN, has_begun
from santiago.artifacts.repository import refuse_linked
from santiago.contract.policy import Policy, Verification
from santiago.contract.ticks import is_same_plan
from santiago.executor.reopen import Grants
from santiago.executor.situation import Scope
from santiago.util.own_run import refuse_own_word

if TYPE_CHECKING:
    from santiago.app.start.start_options import StartOptions
    from santiago.contract.plan import Plan
    from santiago.contract.policy import Agent, RunInput


def prepare(
    out_dir: Path,
    run_input: RunInput,
    plan: Plan,
    wishes: StartOptions,
    *,
    base: Path,
    plan_file: Path | None = None,
    grants: Grants | None = None,
    skips: list[tuple[str, str]] | None = None,
    own_work: tuple[str, str] | None = None,
    why: str = "",
    accepts: tuple[tuple[str, ...], str] | None = None,
    agent: Agent | None = None,
    compiled: bool = False,
) -> Request:
    """Return the request for a start. The caller adds how to ask people, and the listeners.

    `base` is the folder that the paths of the run input start from. A plan that was `compiled` just now is in no file yet,
    and surely keeps all rules.
    """
    refuse_linked(out_dir)
    repo = Path(os.path.abspath(base / run_input.repo_path))  # noqa: PTH100  # links keep their names
    if has_begun(out_dir):  # the digest in the log already protects this plan
        plan = _as_begun(out_dir, plan) if compiled or plan_file else plan
        refuse_other(frozen_input(out_dir).limits, wishes, out_dir)
    elif not compiled:
        refuse_unapproved(plan_file or out_dir / PLAN)
        refuse_unfit(plan, plan_file or out_dir / PLAN, repo / run_input.prd_path)
    settings, now = _settings(out_dir, run_input, repo, wishes)
    # A person who supplies or accepts work only wants it on the branch, so no agent is started for other stories.
    scope = Scope(stories=frozenset()) if own_work or accepts else scope_of(plan, wishes.chunks, wishes.only)
    refuse_own_word(settings.run_id or "")
    policy, who = _policy(settings.policy, wishes), actor(wishes.actor)
    of_settings = changed_agent(out_dir, settings, now) if agent is None and has_begun(out_dir) else None
    return Request(
        out_dir=out_dir,
        run_input=settings,
        repo=now,
        policy=policy,
        plan=plan,
        jobs=wishes.jobs or policy.jobs,
        scope=scope,
        skips=skips or [],
        own_work=own_work,
        why=why,
        accepts=accepts,
        agent=agent or of_settings,
        note=_going_on_with(of_settings) if of_settings else "",
        grants=replace(grants or Grants(), actor=who),
        actor=who,
    )


def _going_on_with(agent: Agent) -> str:
    model = f", model {agent.model_hint}" if agent.model_hint else ""
    return (
        f"the settings of the agent have changed since the run began, and this start uses them: {called(agent)}{model}"
    )


def _settings(out_dir: Path, run_input: RunInput, repo: Path, wishes: StartOptions) -> tuple[RunInput, Path]:
    """Return the run input as it is frozen, and where its repository is now."""
    run_id = run_input.run_id or derived_id(out_dir, repo)
    now = repository_of(out_dir, run_id, repo)
    # Whether stories without files may overlap decides which events are possible, so it is frozen with the run.
    policy = replace(
        run_input.policy,
        optimistic=wishes.optimistic or run_input.policy.optimistic,
        tests_first=_tests_first(out_dir, run_input, wishes),
        write_back=_write_back(out_dir, run_input, wishes),
    )
    settings = replace(
        run_input,
        repo_path=frozen_path(out_dir, run_id, repo, now),
        policy=policy,
        limits=limited(run_input.limits, wishes),
        verification=_verification(out_dir, run_input),
        run_id=run_id,
    )
    return settings, now


def said_in(wishes: StartOptions) -> frozenset[str]:
    """Return the settings that a person's wishes replace."""
    policy = (f"policy.{one.name}" for one in fields(Policy) if getattr(wishes, one.name, None))
    return frozenset((*policy, *(f"limits.{name}" for name in wished(wishes))))


def _tests_first(out_dir: Path, run_input: RunInput, wishes: StartOptions) -> str:
    """Return who writes tests first, as the run began. A later start may choose otherwise for itself."""
    if has_begun(out_dir):
        return frozen_input(out_dir).policy.tests_first
    return lasting(wishes.tests_first) if wishes.tests_first else run_input.policy.tests_first


def _verification(out_dir: Path, run_input: RunInput) -> Verification:
    """Return the checks of a run, without those that a person left out when it began."""
    if not has_begun(out_dir):
        return run_input.verification
    return replace(run_input.verification, left_out=frozen_input(out_dir).verification.left_out)


def _write_back(out_dir: Path, run_input: RunInput, wishes: StartOptions) -> bool:
    """Return whether ticks are written back, as the run began. A later start may choose it for itself."""
    if has_begun(out_dir):
        return frozen_input(out_dir).policy.write_back
    return wishes.write_back or run_input.policy.write_back


def _as_begun(out_dir: Path, plan: Plan) -> Plan:
    """Return the plan that a run began with if the given one differs only in ticks; else the given one."""
    begun, _ = begun_with(out_dir)
    return begun if is_same_plan(begun, plan) else plan


def _policy(frozen: Policy, wishes: StartOptions) -> Policy:
    """Return the policy of this start: the run's own, changed by a person's wishes."""
    return replace(
        frozen,
        gate=wishes.gate or frozen.gate,  # type: ignore[arg-type]  # checked where it was given
        gates=() if wishes.gate else frozen.gates,
        keep_going=wishes.keep_going or frozen.keep_going,
        assume_external=wishes.assume_external or frozen.assume_external,
        sandbox=wishes.sandbox or frozen.sandbox,  # type: ignore[arg-type]  # checked where it was given
        changed_tests=wishes.changed_tests or frozen.changed_tests,  # type: ignore[arg-type]  # checked where it was given
        unproven=wishes.unproven or frozen.unproven,  # type: ignore[arg-type]  # checked where it was given
        doubts=wishes.doubts or frozen.doubts,  # type: ignore[arg-type]  # checked where it was given
        tests_first=lasting(wishes.tests_first) if wishes.tests_first else frozen.tests_first,
        write_back=wishes.write_back or frozen.write_back,
    )
