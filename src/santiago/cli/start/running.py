"""Starting a run from the command line: settings, consent, screen, and the exit code that its end means."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.cli.start.compose import execute
from santiago.cli.start.consent import ask_consent, ask_unfenced
from santiago.cli.start.request import Request
from santiago.cli.start.scope import scope_of
from santiago.cli.view.screen import Screen
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.executor.reopen import Grants
from santiago.executor.situation import Scope

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
    grants: Grants | None = None,
    skips: list[tuple[str, str]] | None = None,
    own_work: tuple[str, str] | None = None,
    agent: Agent | None = None,
) -> int:
    """Carry a plan out and return the exit code; `base` is the folder that the paths of the run input start from."""
    repo = Path(os.path.abspath(base / run_input.repo_path))  # noqa: PTH100  # links keep their names
    # Whether stories without files overlap decides what the log may hold, so it is frozen with the run.
    frozen = replace(run_input.policy, optimistic=flags.optimistic or run_input.policy.optimistic)
    settings = replace(run_input, repo_path=str(repo), policy=frozen, run_id=run_input.run_id or out_dir.name)
    # A person who brings work wants it judged; no agent is started for what it leaves to do.
    scope = Scope(stories=frozenset()) if own_work else scope_of(plan, flags.chunks, flags.only)
    if flags.dry_run:
        from santiago.cli.start.dry_run import show

        return show(settings, plan, scope, as_json=flags.as_json)
    screen = Screen(plan, replace(settings, agent=agent or settings.agent), as_json=flags.as_json, plain=flags.plain)
    policy, asked = _policy(frozen, flags), not flags.no_input and sys.stdin.isatty()
    request = Request(
        out_dir=out_dir,
        run_input=settings,
        policy=policy,
        plan=plan,
        jobs=flags.jobs or policy.jobs,
        scope=scope,
        skips=skips or [],
        own_work=own_work,
        agent=agent,
        grants=grants or Grants(),
        consent=lambda commands: ask_consent(commands, asked=asked, trusted=flags.trust_commands),
        consent_unfenced=lambda: ask_unfenced(asked=asked),
        listeners=[screen.take],
        announce=screen.header,
        check_begun=screen.check_begun,
    )
    try:
        state = execute(request)
        screen.end(state, out_dir)
        notify(repo, state, out_dir)
    finally:
        screen.close()
    return exit_code(state) or (_own_code(state, own_work[0]) if own_work else ExitCode.OK)


def _policy(frozen: Policy, flags: Flags) -> Policy:
    """Return the policy of this start: the run's own, where no flag says otherwise."""
    return replace(
        frozen,
        gate=flags.gate or frozen.gate,  # type: ignore[arg-type]  # one of click's choices
        keep_going=flags.keep_going or frozen.keep_going,
        assume_external=flags.assume_external or frozen.assume_external,
        sandbox=flags.sandbox or frozen.sandbox,  # type: ignore[arg-type]  # one of click's choices
    )


def notify(repo: Path, state: RunState, out_dir: Path) -> None:
    """Tell the user's own command that the run has come to rest; its failure is none of the run's."""
    from santiago.cli.config import load

    command = load(repo)["notify.command"].value
    if not command:
        return
    says = {"run_id": state.run_id, "phase": state.phase, "reason": state.reason, "out_dir": str(out_dir)}
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        argv = command if isinstance(command, list) else shlex.split(str(command))
        subprocess.run(argv, input=json.dumps(says), text=True, timeout=30, check=False, capture_output=True)  # noqa: S603  # the user's own command


def exit_code(state: RunState) -> int:
    match state.phase:
        case RunPhase.SUCCESS:
            return ExitCode.OK
        case RunPhase.PAUSED:
            return MEANINGS[Reason(state.reason)].exit_code if state.reason else ExitCode.OK
        case RunPhase.FAILED | RunPhase.BLOCKED:
            return MEANINGS[Reason(state.reason)].exit_code if state.reason else ExitCode.FAILED
        case _:
            return ExitCode.TRANSIENT


def _own_code(state: RunState, story: str) -> int:
    """Work that did not pass is a failure, although the run itself only rests."""
    one = state.stories[story]
    if one.satisfied:
        return ExitCode.OK
    return MEANINGS[Reason(one.reason)].exit_code if one.reason else ExitCode.FAILED
