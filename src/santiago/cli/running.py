"""Starting a run from the command line: settings, consent, screen, and exit code."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from santiago.app import expected
from santiago.app.board.single_entry import claims_of
from santiago.app.loading import empty_fold, load
from santiago.app.notice import Notice
from santiago.app.paths import near
from santiago.app.start.compose import execute
from santiago.app.start.kept import ticked
from santiago.app.start.request import Request, prepare, said_in
from santiago.app.start.risky_settings import waiting
from santiago.app.start.start_events import approvals
from santiago.artifacts.names import PLAN, has_begun
from santiago.cli.consent import SHOWN, approve, ask_consent, ask_ticks, ask_unfenced, choose, confirm_units
from santiago.cli.view.ci import is_ci
from santiago.cli.view.screen import Screen
from santiago.cli.view.terminal import in_foreground, paint, say
from santiago.contract.counting import count
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Context
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.contract.record import lean
from santiago.report.check_origins import of_document, origin_of
from santiago.report.run_status import mending
from santiago.util.clock import SystemClock
from santiago.util.text import harmless

if TYPE_CHECKING:
    from santiago.app.forecasting import Outlook
    from santiago.app.start.dry_run import DryRun
    from santiago.app.start.onward import Beginning
    from santiago.app.start.request import Asked
    from santiago.app.start.risky_settings import Waiting
    from santiago.app.start.start_options import StartOptions
    from santiago.cli.desk import TerminalDesk
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState


def start(
    out_dir: Path,
    run_input: RunInput,
    plan: Plan,
    flags: StartOptions,
    *,
    base: Path,
    said: frozenset[str] = frozenset(),
    beginning: Beginning | None = None,
    **more: Unpack[Asked],
) -> int:
    """Carry a plan out and return the exit code.

    `base` is the folder that the paths of the run input start from. `said` are settings that the command line replaces.
    `beginning` is what else a new run needs.
    """
    asked = not flags.no_input and sys.stdin.isatty()
    request = prepare(out_dir, run_input, plan, flags, base=base, **more)
    if beginning is not None:
        request.settings, request.begins_on = beginning.settings, beginning.commit
        request.planned = Context(run=beginning.run) if beginning.run else Context()
        request.grants = replace(request.grants, hints=beginning.hints)
    repo = Path(request.effective.repo_path)
    request.consent = lambda commands: ask_consent(
        commands, _places(request), asked=asked, trusted=flags.trust_commands, of=origin_of(request.plan)
    )
    request.consent_ticks = lambda number: ask_ticks(number, asked=asked, said=flags.trust_ticks)
    request.consent_unfenced = lambda: ask_unfenced(asked=asked)
    taken = flags.yes or bool(run_input.policy.units)
    request.confirm_units = lambda plan: confirm_units(plan, asked=asked, said=taken)
    said |= said_in(flags)
    if flags.dry_run:
        waits = None if flags.trust_project else waiting(repo, request.effective, said)
        return _dry_run(request, trusted=flags.trust_commands, units=taken, as_json=flags.as_json, waits=waits)
    told = _expected(request) if request.starts_agents and not flags.as_json else None
    if (claims := claims_of(repo, out_dir, request.actor)) is not None:
        request.scope = replace(request.scope, claims=claims)
        if request.scope.is_empty and not (request.skips or request.own_work or request.accepts):
            _note(
                "no ticket of this run is claimed, so this start only reads answers; `santiago loop` goes on with its tickets"
            )
    if not request.skips:  # skipping a story starts nothing
        _Consents(request, flags, said, asked).get()
    if asked and not flags.as_json and _can_ask(request):
        return _with_a_desk(request, flags, told)
    request.attended = flags.attended
    return _shown(request, flags, told)


@lean()
class _Consents:
    """All that a new run needs a person's word for, on one screen; without a terminal one error names all of it."""

    request: Request
    flags: StartOptions
    said: frozenset[str]
    asked: bool

    def get(self) -> None:
        refused = []
        for ask in (self._units, self._settings, self._commands, self._ticks):
            try:
                ask()
            except SantiagoError as error:
                if self.asked:
                    raise
                refused.append(error)
        if refused:
            raise _together(refused)

    @property
    def _fresh(self) -> bool:
        return not has_begun(self.request.out_dir)

    def _units(self) -> None:
        if self._fresh and not self.request.plan.certain:
            self.request.confirm_units(self.request.plan)
            self.request.confirm_units = lambda _: None

    def _settings(self) -> None:
        run_input = self.request.effective
        repo, trusted = Path(run_input.repo_path), self.flags.trust_project
        approve(repo, run_input, said=self.said, asked=self.asked, trusted=trusted)

    def _commands(self) -> None:
        request = self.request
        if self.asked and self._fresh and not self.flags.trust_commands:
            _choose_commands(request)
        elif self._fresh:
            state = empty_fold(request.plan, request.effective).state
            approvals(request.plan, request.effective, state, request.consent, request.actor)

    def _ticks(self) -> None:
        request = self.request
        repo, commit = Path(request.effective.repo_path), request.begins_on or "HEAD"
        if self._fresh and (names := ticked(request.plan, request.effective, repo, commit)):
            believed = request.consent_ticks(len(names))
            request.consent_ticks = lambda _: believed


def _together(refused: list[SantiagoError]) -> SantiagoError:
    """Return one error for several consents that are missing."""
    first, *others = refused
    if others:
        first.message = "; ".join(f"({number}) {one.message}" for number, one in enumerate(refused, 1))
        first.hint = " ".join(f"({number}) {one.hint}" for number, one in enumerate(refused, 1) if one.hint)
        first.reason = Reason.NEEDS_USER_CONFIRMATION
    return first


def _places(request: Request) -> str:
    """Return the lines of the document that hold its commands, or the plan if agents wrote it."""
    if request.plan.source.is_drafted:
        return near(request.out_dir / PLAN)
    places = list(dict.fromkeys(one.place for one in of_document(request.plan, request.run_input)))
    more = f" and {count(len(places) - SHOWN, 'more place')}" if len(places) > SHOWN else ""
    return f"{', '.join(places[:SHOWN])}{more}"


def _choose_commands(request: Request) -> None:
    """Ask about the commands of the document before a run begins. Those to leave out go into its run input."""
    if commands := of_document(request.plan, request.run_input):
        checks = request.run_input.verification
        checks = replace(checks, left_out=(*checks.left_out, *choose(commands)))
        request.run_input = replace(request.run_input, verification=checks)
    request.consent = lambda _: None


def _can_ask(request: Request) -> bool:
    """Tell whether questions are asked at this terminal: always step by step, else where work goes on and somebody sees it."""
    if _is_step_by_step(request):
        return True
    return request.starts_agents and not is_ci() and sys.stderr.isatty() and in_foreground(sys.stdin.fileno())


def _is_step_by_step(request: Request) -> bool:
    return bool(request.effective.policy.closed & {"detail", "result"})


def _expected(request: Request) -> Outlook | None:
    """Print what this start will take, before anything is asked or spent; return it."""
    out_dir, run_input = request.out_dir, request.effective
    if has_begun(out_dir):
        root, loaded = Path(run_input.repo_path), partial(load, out_dir)
        found = expected.of_rest(root, loaded, SystemClock().utc(), request.jobs, request.scope)
    else:
        found = expected.of_plan(request.plan, run_input, request.jobs, request.scope)
    if found is not None:
        from santiago.report.forecast_page import sentence  # loaded with what it needs only where there is a forecast

        say(f"forecast: {sentence(found)}", err=True)
    return found


def _with_a_desk(request: Request, flags: StartOptions, told: Outlook | None) -> int:
    """Execute with a person at the terminal who answers. Where they are asked all the time, lines are printed, and no table."""
    from santiago.cli.desk import TerminalDesk

    desk = TerminalDesk(request.plan, request.out_dir, request.actor)
    request.attended, request.opened = True, desk.ask_open
    desk.open()
    try:
        return _shown(request, replace(flags, plain=flags.plain or _is_step_by_step(request)), told, desk)
    finally:
        desk.close()


def _shown(request: Request, flags: StartOptions, told: Outlook | None, desk: TerminalDesk | None = None) -> int:
    """Execute the request, show it on a screen, and return the exit code."""
    screen = Screen(
        request.plan, request.effective,
        as_json=flags.as_json, plain=flags.plain, scope=request.scope, frozen=request.run_input,
        desk=desk.tell if desk else None, expected=told,
    )  # fmt: skip
    request.listeners += [screen.take, desk.take] if desk else [screen.take]
    if desk:
        desk.aside = screen.aside
    if not request.skips:  # skipping a story starts nothing that must be announced
        request.announce, request.check_begun = screen.header, screen.check_begun
    notice, own_work = Notice(Path(request.effective.repo_path), request.run_id, request.out_dir), request.own_work
    request.listeners.append(notice.take)
    if notice.missing:
        _note(notice.missing)
    try:
        state = execute(request)
        if request.skips:
            return ExitCode.OK
        mend = mending(state, request.out_dir, *own_work) if own_work else None
        screen.end(state, request.out_dir, mend, own_work[0] if own_work and mend else "")
        if trouble := notice.give(state, request.out_dir):
            _note(trouble)
    finally:
        screen.close()
    if state.reason == Reason.INTERRUPTED and request.signals[:1] in ([signal.SIGTERM], [signal.SIGHUP]):
        return ExitCode.TERMINATED
    mine = (own_work[0],) if own_work else request.accepts[0] if request.accepts else ()
    return exit_code(state) or max((_own_code(state, name) for name in mine), default=ExitCode.OK)


def _note(text: str) -> None:
    say(f"{paint('note:', 'busy')} {harmless(text)}", err=True)


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
    """Return the exit code for a person's own work: a failure if it did not pass, although the run itself only pauses."""
    one = state.stories[story]
    if one.satisfied:
        return ExitCode.OK
    return MEANINGS[one.reason].exit_code if one.reason else ExitCode.FAILED


def _dry_run(request: Request, *, trusted: bool, units: bool, as_json: bool, waits: Waiting | None = None) -> int:
    """Print every story that is left, with its checks and the stories that it waits for."""
    from santiago.app.start.dry_run import try_out  # which other starts need not load

    found = try_out(request, trusted=trusted, units=units, waits=waits)
    if not as_json:
        _expected(request)
    if as_json:
        click.echo(json.dumps(found.data(), indent=2, ensure_ascii=False))
    else:
        _say_dry(found)
    return ExitCode.OK


def _say_dry(found: DryRun) -> None:
    limits, stories, rows = found.run_input.limits, found.state.stories, found.stories
    most = f"at most {count(limits.story_max_attempts, 'attempt')} each and {limits.run_max_attempts:,} in all"
    many = (
        f"{len(rows):,} of {count(len(stories), 'story', 'stories')}"
        if len(rows) < len(stories)
        else count(len(rows), "story", "stories")
    )
    say(f"would run {many}: {harmless(f'agent {found.agent}, sandbox {found.sandbox}')}, {most}")
    for note in found.notes:
        say(f"{paint('note:', 'busy', stderr=False)} {harmless(note)}")
    for row in rows:
        waits = [name for name in row["depends_on"] if found.is_to_come(name)]
        waits += [f"{name} (may touch the same files)" for name in row["behind"] if found.is_to_come(name)]
        after = f"   after {', '.join(waits)}" if waits else ""
        say(f"  {row['id']}  {harmless(str(row['title']))}{after}")
        for check in row["checks"]:
            say(f"        $ {harmless(str(check))}")
