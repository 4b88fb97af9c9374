"""What a person sees of a run: whole lines as things happen, and a summary at the end; or NDJSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from santiago import __version__
from santiago.cli.text import harmless, paint, say
from santiago.contract import codec
from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.result import status_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from santiago.cli.compose import RunHeader
    from santiago.contract.events import Event
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState

STREAM = {"type": "stream", "schema_version": "1.0"}


class Screen:
    """One line per event on standard error; the same events as NDJSON on standard output with --json."""

    def __init__(self, plan: Plan, run_input: RunInput, *, as_json: bool) -> None:
        self.plan = plan
        self.run_input = run_input
        self.as_json = as_json
        self.titles = {story.id: story.title for story in plan.stories}
        self.out_dir = ""
        if as_json:
            click.echo(json.dumps(STREAM))

    def header(self, head: RunHeader) -> None:
        self.out_dir = str(head.out_dir)
        verb = "resumes" if head.resumed else "begins"
        say(
            f"santiago {__version__}  run {head.run_id} {verb}: {head.stories} stories in {head.chunks} chunks, "
            f"agent {head.agent}, sandbox {head.sandbox}, {head.jobs} at a time",
            err=True,
        )
        for notice in head.notices:
            say(f"{paint('note:', 'cyan')} {harmless(notice)}", err=True)

    def take(self, events: Sequence[Event], state: RunState) -> None:
        for event in events:
            if self.as_json:
                click.echo(json.dumps({"type": "event", **codec.to_data(event)}, ensure_ascii=False))
            elif line := self._line(event, state):
                say(f"{event.timestamp[11:19]} {line}", err=True)

    def _line(self, event: Event, state: RunState) -> str | None:
        """Return what an event means to a person; None for those that mean nothing to them."""
        name = event.story_id or ""
        title = harmless(self.titles.get(name, ""))
        story = state.stories.get(name)
        most = self.run_input.limits.story_max_attempts
        reason = event.context.get("reason", "")
        match event.event:
            case EventKind.CHUNK_STARTED:
                return paint(f"chunk    {harmless(event.chunk or '')}", "cyan")
            case EventKind.ATTEMPT_STARTED:
                return f"start    {name} {title}  (attempt {event.attempt} of {most})"
            case EventKind.ATTEMPT_ENDED if event.status != "ok":
                return paint(f"retry    {name} attempt {event.attempt}: {reason}", "yellow")
            case EventKind.ATTEMPT_VOIDED:
                return paint(f"void     {name} attempt {event.attempt}, not counted: {reason}", "yellow")
            case EventKind.STORY_DONE:
                spent = f"{story.counted} attempt{'s' if story.counted != 1 else ''}, {story.proof}" if story else ""
                return paint(f"ok       {name} {title}  ({spent})", "green")
            case EventKind.STORY_FAILED:
                return paint(f"failed   {name} {title}: {reason}", "red")
            case EventKind.STORY_BLOCKED:
                return paint(f"blocked  {name} {title}: {reason}", "yellow")
            case EventKind.QUESTION_ASKED:
                return f"asked    {name}: {harmless(event.context.get('text', ''))}"
            case EventKind.RUN_VERIFYING:
                return "verify   the whole run"
            case _:
                return None

    def end(self, state: RunState, out_dir: Path) -> None:
        """Print the summary: what came of it, where the evidence is, what to type next."""
        if self.as_json:
            return
        counts: dict[str, int] = {}
        for story in self.plan.stories:
            status = status_of(state.stories[story.id])
            counts[status] = counts.get(status, 0) + 1
        told = ", ".join(f"{number} {'not started' if word == 'pending' else word}" for word, number in counts.items())
        colour = {"success": "green", "paused": "cyan"}.get(state.phase, "red")
        word = "stopped" if state.phase is RunPhase.PAUSED else str(state.phase)
        why = f"  {state.reason}" if state.reason and state.phase is not RunPhase.PAUSED else ""
        say("", err=True)
        say(
            f"{paint(word, colour, bold=True)}{why}  {told} of {len(self.plan.stories)}  "
            f"{state.counted} attempts  {state.used_ms / 1000:.1f} s",
            err=True,
        )
        self._unproven(state)
        for line in self._next(state, out_dir):
            say(line, err=True)

    def _unproven(self, state: RunState) -> None:
        weak = [
            s.id
            for s in self.plan.stories
            if s.criteria and state.stories[s.id].proof == "regression" and status_of(state.stories[s.id]) == "done"
        ]
        if weak:
            say(
                f"not proven: {', '.join(weak[:12])}{' …' if len(weak) > 12 else ''}  (their checks were green before, too)",
                err=True,
            )

    def _next(self, state: RunState, out_dir: Path) -> list[str]:
        if state.phase is RunPhase.SUCCESS:
            return [f"next: git merge {state.branch}      take the work over"]
        if state.phase is RunPhase.PAUSED:
            return [f"next: santiago resume {out_dir}      go on"]
        hint = MEANINGS[Reason(state.reason)].hint if state.reason else ""
        return [f"next: {hint}", f"      evidence: {out_dir}/attempts"]
