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

import click

from santiago.cli.start.compose import execute
from santiago.cli.start.request import Request
from santiago.cli.view.screen import Screen
from santiago.cli.view.text import harmless
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.executor.reopen import Grants
from santiago.executor.situation import Scope

if TYPE_CHECKING:
    from santiago.contract.plan import Plan
    from santiago.contract.policy import Agent, RunInput
    from santiago.contract.state import RunState


def start(
    out_dir: Path, run_input: RunInput, plan: Plan, *, base: Path, jobs: int | None, gate: str | None, chunks: str | None,
    only: tuple[str, ...], keep_going: bool, optimistic: bool, assume_external: bool, sandbox: str | None,
    trust_commands: bool, dry_run: bool, as_json: bool, no_input: bool, debug: bool, grants: Grants | None = None,
    skips: list[tuple[str, str]] | None = None, own_work: tuple[str, str] | None = None, plain: bool = False,
    agent: Agent | None = None,
) -> int:  # fmt: skip
    """Carry a plan out and return the exit code."""
    repo = Path(os.path.abspath(base / run_input.repo_path))  # noqa: PTH100  # links keep their names
    # Whether stories without files overlap decides what the log may hold, so it is frozen with the run.
    frozen = replace(run_input.policy, optimistic=optimistic or run_input.policy.optimistic)
    policy = replace(
        frozen,
        gate=gate or frozen.gate,  # type: ignore[arg-type]  # one of click's choices
        keep_going=keep_going or frozen.keep_going,
        assume_external=assume_external or frozen.assume_external,
        sandbox=sandbox or frozen.sandbox,  # type: ignore[arg-type]  # one of click's choices
    )
    settings = replace(run_input, repo_path=str(repo), policy=frozen, run_id=run_input.run_id or out_dir.name)
    # A person who brings work wants it judged; no agent is started for what it leaves to do.
    scope = Scope(stories=frozenset()) if own_work else scope_of(plan, chunks, only)
    if dry_run:
        from santiago.cli.start.dry_run import show

        return show(settings, plan, scope, as_json=as_json)
    shown = replace(settings, agent=agent or settings.agent)
    screen = Screen(plan, shown, as_json=as_json, plain=plain)
    request = Request(
        out_dir=out_dir, run_input=settings, policy=policy, plan=plan, jobs=jobs or policy.jobs, scope=scope,
        skips=skips or [], own_work=own_work, agent=agent,
        grants=grants or Grants(), consent=lambda commands: ask_consent(commands, asked=not no_input and sys.stdin.isatty(), trusted=trust_commands),
        consent_unfenced=lambda: ask_unfenced(asked=not no_input and sys.stdin.isatty()),
        listeners=[screen.take], announce=screen.header, check_begun=screen.check_begun,
    )  # fmt: skip
    try:
        state = execute(request)
        screen.end(state, out_dir)
        notify(Path(settings.repo_path), state, out_dir)
    finally:
        screen.close()
    return exit_code(state) or (_own_code(state, own_work[0]) if own_work else ExitCode.OK)


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


def ask_consent(commands: list[str], *, asked: bool, trusted: bool) -> None:
    """Commands that came from the document run only after a person's word."""
    if trusted:
        return
    reason = Reason.NEEDS_USER_CONFIRMATION
    if not asked:
        message = f"{len(commands)} commands of the document wait for approval, the first is `{commands[0]}`"
        raise SantiagoError(
            Kind.BLOCKED, message, hint="Read them in plan.json, then use --trust-commands.", reason=reason
        )
    click.echo("These commands come from the document and will run as checks:", err=True)
    for command in commands:
        click.echo(f"    {harmless(command)}", err=True)
    if not click.confirm("Run them?", default=False, err=True):
        message = "the document's commands were not approved"
        raise SantiagoError(
            Kind.BLOCKED, message, hint="Remove them from the document, or approve them.", reason=reason
        )


def ask_unfenced(*, asked: bool) -> None:
    """Where no sandbox works, an agent runs only after a person's word."""
    message = "no sandbox works on this machine, so the agent could change anything that you can"
    if asked and click.confirm(f"{message[0].upper()}{message[1:]}. Go on?", default=False, err=True):
        return
    hint = "Install bubblewrap, or say --sandbox off."
    raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)


def scope_of(plan: Plan, chunks: str | None, only: tuple[str, ...]) -> Scope:
    """Return what a start may touch; labels may contain any character, so an exact one wins over a range."""
    known = [story.id for story in plan.stories]
    unknown = [name for name in only if name not in known]
    if unknown:
        raise SantiagoError(
            Kind.USAGE, f"the plan has no story {unknown[0]}", hint=f"There are {known[0]} to {known[-1]}."
        )
    labels = [chunk.label for chunk in plan.chunks]
    return Scope(
        chunks=frozenset(_chunk_range(chunks, labels)) if chunks else None, stories=frozenset(only) if only else None
    )


def _chunk_range(text: str, labels: list[str]) -> list[str]:
    if text in labels:
        return [text]
    first, _, last = text.partition("..")
    places = [_chunk_place(part.strip(), labels) for part in (first, last or first)]
    low, high = min(places), max(places)
    return labels[low : high + 1]


def _chunk_place(text: str, labels: list[str]) -> int:
    if text in labels:
        return labels.index(text)
    if text.isdigit() and 1 <= int(text) <= len(labels):
        return int(text) - 1
    found = [number for number, label in enumerate(labels) if label.lower().startswith(text.lower())]
    if len(found) == 1:
        return found[0]
    raise SantiagoError(
        Kind.USAGE, f"there is no chunk {text!r}", hint=f"There are {json.dumps(labels, ensure_ascii=False)}."
    )
