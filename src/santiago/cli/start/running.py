"""Starting a run from the command line: settings, consent, screen, and the exit code that its end means."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.loading import frozen_input
from santiago.app.start.agents import lasting
from santiago.app.start.compose import execute
from santiago.app.start.fitness import refuse_unfit
from santiago.app.start.identity import derived_id, frozen_path, repository_of
from santiago.app.start.request import Request
from santiago.app.start.scope import scope_of
from santiago.artifacts.names import PLAN, has_begun
from santiago.artifacts.repository import refuse_linked
from santiago.cli.start.consent import ask_consent, ask_unfenced
from santiago.cli.start.notice import Notice
from santiago.cli.start.trust import approve, waiting
from santiago.cli.view.screen import Screen
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.executor.reopen import Grants
from santiago.executor.situation import Scope
from santiago.report.evidence import near
from santiago.report.standing import mending

if TYPE_CHECKING:
    from santiago.cli.options import Flags
    from santiago.contract.plan import Plan
    from santiago.contract.policy import Agent, Policy, RunInput
    from santiago.contract.state import RunState


def start(
    out_dir: Path,
    run_input: RunInput,
    plan: Plan,
    flags: Flags,
    *,
    base: Path,
    plan_file: Path | None = None,
    grants: Grants | None = None,
    skips: list[tuple[str, str]] | None = None,
    own_work: tuple[str, str] | None = None,
    accepts: tuple[str, str] | None = None,
    agent: Agent | None = None,
    said: frozenset[str] = frozenset(),
    compiled: bool = False,
) -> int:
    """Carry a plan out and return the exit code.

    `base` is the folder that the paths of the run input start from; `said` are settings that the command line names itself.
    A plan that this very command `compiled` lies in no file yet, and keeps all rules.
    """
    refuse_linked(out_dir)
    repo = Path(os.path.abspath(base / run_input.repo_path))  # noqa: PTH100  # links keep their names
    if not (compiled or has_begun(out_dir)):  # later, the digest in the log guards it
        refuse_unfit(plan, plan_file or out_dir / PLAN, repo / run_input.prd_path)
    # Whether stories without files overlap decides what the log may hold, so it is frozen with the run.
    frozen = replace(
        run_input.policy,
        optimistic=flags.optimistic or run_input.policy.optimistic,
        tests_first=_tests_first(out_dir, run_input, flags),
    )
    run_id = run_input.run_id or derived_id(out_dir, repo)
    now = repository_of(out_dir, run_id, repo)
    settings = replace(run_input, repo_path=frozen_path(out_dir, run_id, repo, now), policy=frozen, run_id=run_id)
    # A person who brings or accepts work wants it on the branch; no agent is started for what it leaves to do.
    scope = Scope(stories=frozenset()) if own_work or accepts else scope_of(plan, flags.chunks, flags.only)
    policy, asked = _policy(frozen, flags), not flags.no_input and sys.stdin.isatty()
    request = Request(
        out_dir=out_dir,
        run_input=settings,
        repo=now,
        policy=policy,
        plan=plan,
        jobs=flags.jobs or policy.jobs,
        scope=scope,
        skips=skips or [],
        own_work=own_work,
        accepts=accepts,
        agent=agent,
        grants=grants or Grants(),
        consent=lambda commands: ask_consent(commands, near(out_dir / PLAN), asked=asked, trusted=flags.trust_commands),
        consent_unfenced=lambda: ask_unfenced(asked=asked),
    )
    said |= {f"policy.{one.name}" for one in fields(policy) if getattr(flags, one.name, None)}
    if flags.dry_run:
        from santiago.cli.start.dry_run import show

        waits = None if flags.trust_project else waiting(now, request.effective, said)
        return show(request, trusted=flags.trust_commands, as_json=flags.as_json, waits=waits)
    if not request.skips:  # leaving a story out starts nothing
        approve(now, request.effective, said=said, asked=asked, trusted=flags.trust_project)
    return _shown(request, flags)


def _tests_first(out_dir: Path, run_input: RunInput, flags: Flags) -> str:
    """Return who writes tests first as the run began; a later start may say otherwise for itself."""
    if has_begun(out_dir):
        return frozen_input(out_dir).policy.tests_first
    return lasting(flags.tests_first) if flags.tests_first else run_input.policy.tests_first


def _shown(request: Request, flags: Flags) -> int:
    """Execute what is asked for before a screen, and return what its end means."""
    screen = Screen(
        request.plan, request.effective,
        as_json=flags.as_json, plain=flags.plain, scope=request.scope, frozen=request.run_input,
    )  # fmt: skip
    request.listeners.append(screen.take)
    if not request.skips:  # leaving a story out starts nothing that would have to be announced
        request.announce, request.check_begun = screen.header, screen.check_begun
    notice, own_work = Notice(Path(request.effective.repo_path)), request.own_work
    notice.foresee()
    try:
        state = execute(request)
        if request.skips:
            return ExitCode.OK
        mend = mending(state, request.out_dir, *own_work) if own_work else None
        screen.end(state, request.out_dir, mend, own_work[0] if own_work and mend else "")
        notice.give(state, request.out_dir)
    finally:
        screen.close()
    if state.reason == Reason.INTERRUPTED and request.signals[:1] in ([signal.SIGTERM], [signal.SIGHUP]):
        return ExitCode.TERMINATED
    one = own_work or request.accepts
    return exit_code(state) or (_own_code(state, one[0]) if one else ExitCode.OK)


def _policy(frozen: Policy, flags: Flags) -> Policy:
    """Return the policy of this start: the run's own, where no flag says otherwise."""
    return replace(
        frozen,
        gate=flags.gate or frozen.gate,  # type: ignore[arg-type]  # one of click's choices
        keep_going=flags.keep_going or frozen.keep_going,
        assume_external=flags.assume_external or frozen.assume_external,
        sandbox=flags.sandbox or frozen.sandbox,  # type: ignore[arg-type]  # one of click's choices
        changed_tests=flags.changed_tests or frozen.changed_tests,  # type: ignore[arg-type]  # one of click's choices
        doubts=flags.doubts or frozen.doubts,  # type: ignore[arg-type]  # one of click's choices
        tests_first=lasting(flags.tests_first) if flags.tests_first else frozen.tests_first,
    )


def exit_code(state: RunState) -> int:
    match state.phase:
        case RunPhase.SUCCESS:
            return ExitCode.OK
        case RunPhase.PAUSED:
            return MEANINGS[state.reason].exit_code if state.reason else ExitCode.OK
        case RunPhase.FAILED | RunPhase.BLOCKED:
            return MEANINGS[state.reason].exit_code if state.reason else ExitCode.FAILED
        case _:
            return ExitCode.TRANSIENT


def _own_code(state: RunState, story: str) -> int:
    """Work that did not pass is a failure, although the run itself only rests."""
    one = state.stories[story]
    if one.satisfied:
        return ExitCode.OK
    return MEANINGS[one.reason].exit_code if one.reason else ExitCode.FAILED
