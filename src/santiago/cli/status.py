"""`santiago status`: the state of a run by chunk, what needs a person, and the other runs of this repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from santiago.app.changes import changes_of
from santiago.app.finding import find_run, target
from santiago.app.loading import Run, load
from santiago.app.paths import near
from santiago.app.substeps import titles_of
from santiago.artifacts.repository import SESSIONS, find_root
from santiago.cli.opened_board import board_here
from santiago.cli.view.frames import framed, title_line
from santiago.cli.view.text import columns_of, paint, say, unicode
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import ENDED, RunPhase, StoryPhase
from santiago.executor.budget import Budget
from santiago.executor.tally import is_finished
from santiago.report import pauses, spending
from santiago.report.accounting import not_planned
from santiago.report.agent_activity import Doing
from santiago.report.evidence import AttemptEvidence
from santiago.report.failure import report_of
from santiago.report.marks import RUNS, UNPROVEN, mark, mark_of
from santiago.report.measures import ago, limit, span
from santiago.report.page import rows_that_fit
from santiago.report.proof import flaky_lines, unproven_lines
from santiago.report.remedies import answers, beginning, listed, next_commands, taking_in, taking_over
from santiago.report.run_status import (
    OTHERS,
    chunk_ms,
    counts_of,
    document,
    headline_of,
    is_taken_over,
    mending,
    needs_of,
    others_of,
    planned_line,
    step_of,
    word_of,
)
from santiago.report.story_status import waits_for
from santiago.report.tasks import tasks, update_plan
from santiago.util.clock import SystemClock, between
from santiago.util.text import count, fit, flat, harmless, width

if TYPE_CHECKING:
    from santiago.contract.state import ChunkState


@click.command("status")
@click.argument("run", required=False)
@click.option("--failed", is_flag=True, help="Show the failure report: output, evidence, next commands.")
@click.option("--stories", "all_stories", is_flag=True, help="List every story.")
@click.option("--tasks", "as_tasks", is_flag=True, help="Print the task list and plan of a coding agent, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(run: str | None, failed: bool, all_stories: bool, as_tasks: bool, as_json: bool) -> None:
    """Show where RUN (a folder or an id) stands, or the run that is running, or the newest one here."""
    board = board_here(None if as_json else _MOST) if not as_tasks else None
    try:
        out_dir = find_run(run)
    except SantiagoError:
        planned = _sessions(find_root(Path.cwd())) if run is None and not as_tasks else []
        if run is None and (board is not None or planned):
            _without_run(board, planned, as_json=as_json)
            return
        raise
    found = load(out_dir)
    if as_json or as_tasks:
        shown = _mirror(found) if as_tasks else {**document(found), **_beside(found, board)}
        click.echo(json.dumps(shown, indent=2, ensure_ascii=not unicode(stderr=False)))
        return
    _head(found)
    say()
    _chunks(found)
    if all_stories:
        _stories(found)
    _now(found)
    if changes := changes_of(found):
        say()
        for text in changes:
            say(f"{paint('note:', 'busy', stderr=False)} {harmless(text)}")
        say(f"a new run would use it: {taking_in(found)}")
    _needs(found)
    if failed:
        _failed(found)
    _others(found)
    if board:
        from santiago.report.board_pages import headline, word  # loaded here, since most projects have no board

        say(f"board: {', '.join([word(board), *headline(board)])}   (`santiago board` shows it)")
    for text in _of_board(found, board) or _next(found):
        say(text)


def _needs(run: Run) -> None:
    """Print what only a person can do."""
    told = [f"{paint('needs you:', 'warn', stderr=False)} {harmless(text)}" for text in needs_of(run)]
    if is_finished(run.state):
        told = unproven_lines(run.plan, run.state, run.out_dir)
    told += flaky_lines(run.plan, run.state)
    for text in ("", *told) if told else ():
        say(text)


def _of_board(run: Run, board: dict[str, Any] | None) -> list[str]:
    """Return the next commands for a run whose stories are tickets: `loop` goes on with it, since `resume` claims nothing."""
    tickets = [one for queue in board["queues"].values() for one in queue] if board else []
    if run.worker or not any(one["run"] == run.run_id and not one["decided"] for one in tickets):
        return []
    asked = answers(run.state, run.out_dir)
    return ["", *listed([*asked, ("santiago loop", "go on with its tickets"), ("santiago board", "look at them")])]


def _without_run(board: dict[str, Any] | None, planned: list[tuple[str, str]], *, as_json: bool) -> None:
    """Show the board and the planning sessions of a project that has no run yet."""
    if as_json:
        shown = {"contract_version": 1, **({"board": board} if board else {}), "sessions": _named(planned)}
        click.echo(json.dumps(shown, indent=2, ensure_ascii=not unicode(stderr=False)))
        return
    if board:
        from santiago.report.board_pages import listing  # as above

        for text in listing(board):
            say(text)
    _planned(planned)


def _beside(run: Run, board: dict[str, Any] | None) -> dict[str, Any]:
    """Return what programs are told beside the run: the planning sessions and the board of its repository."""
    planned = _sessions(Path(run.run_input.repo_path))
    return {"sessions": _named(planned), **({"board": board} if board else {})}


def _sessions(root: Path | None) -> list[tuple[str, str]]:
    if root is None or not (root / SESSIONS).is_dir():
        return []
    from santiago.report.review import sessions_of  # loaded here, since most repositories have no session

    return sessions_of(root, _MOST)


def _named(planned: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"session_id": name, "state": word} for name, word in planned]


def _planned(planned: list[tuple[str, str]]) -> None:
    if planned:
        told = [f"{name} {word}" for name, word in planned[:OTHERS]]
        told += [f"and {len(planned) - OTHERS} older"] if len(planned) > OTHERS else []
        say("planning sessions, newest first: " + " · ".join(told) + "   (`santiago review ID` shows one)")


def _mirror(run: Run) -> dict[str, Any]:
    about = run.plan, run.state, titles_of(run.plan, run.state, run.out_dir)
    return {"contract_version": 1, "run_id": run.run_id, "tasks": tasks(*about), "update_plan": update_plan(*about)}


_MOST = 50
"""How many tickets of a queue are listed, and how many planning sessions programs are told."""


def _head(run: Run) -> None:
    state, now = run.state, SystemClock().utc()
    word, line = word_of(run), headline_of(run)
    shown = paint(line.word, RUNS.get(line.word, ""), stderr=False)
    parts = [f"run {run.run_id}", f"{shown}{line.rest}"]
    if run.begun:
        verb = (
            "last event"
            if word in ("running", "stopping", "interrupted")
            else "ended"
            if state.phase in ENDED
            else "stopped"
        )
        parts.append(f"{verb} {ago(run.history.last, now)}")
    if not run.worker:
        parts.append(f"resumable: {'yes' if run.resumable else 'no'}")
    say("   ".join(parts))
    budget = Budget(run.run_input.limits, state)
    time = f"{span(run.used_ms(now))} of {limit(budget.run_ms)}"
    digest = run.plan.digest
    say(
        f"plan sha256:{digest[:8]}…{digest[-4:]} ({_unchanged(run)})   {harmless(run.plan.source.path)}   {state.branch or ''}".rstrip()
    )
    say(
        f"used {state.counted}/{count(budget.run_attempts, 'attempt')}   {time}{_spent(run)}   in {near(run.out_dir)}{_agent(run)}"
    )
    if run.worker:
        say(f"by   {harmless(run.worker)}")
    if step := step_of(run):
        say(f"step {harmless(step)}")


def _unchanged(run: Run) -> str:
    if not run.begun:
        return "not started"
    return (
        "unchanged on disk"
        if codec.digest(run.plan) == run.state.plan_digest
        else "changed on disk since the run began!"
    )


def _agent(run: Run) -> str:
    agent = flat(run.history.start.get("agent", ""))
    return f"   agent {agent}" if agent else ""


def _spent(run: Run) -> str:
    return "".join(f"   {part}" for part in spending.of_run(run.state, run.run_input.limits))


def _chunks(run: Run) -> None:
    size = max([5, *(width(harmless(chunk.label)) for chunk in run.plan.chunks)])
    columns = columns_of(stderr=False)
    size = min(size, 48, max(12, columns - 54) if columns else 48)
    words = {
        "done": "done", "unproven": "not proven", "failed": "failed", "blocked": "blocked", "pending": "pending",
        "skipped": "left out",
    }  # fmt: skip
    counted = [(chunk, _apart(counts_of(run, chunk))) for chunk in run.state.chunks.values()]
    if not any(counts["unproven"] for _, counts in counted):
        del words["unproven"]
    rows = [[fit("chunk", size), *(f"{word:>{max(5, len(word))}}" for word in words.values()), f"{'time':>7}"]]
    for chunk, counts in counted:
        time = span(chunk_ms(run, chunk)) if chunk.started else "-"
        numbers = (f"{counts[name]:>{max(5, len(word))}}" for name, word in words.items())
        rows.append([fit(chunk.label, size), *numbers, f"{time:>7}"])
    names = list(words)
    unused = (name for name in ("skipped", "failed", "blocked") if not any(counts[name] for _, counts in counted))
    empty = [names.index(name) + 1 for name in unused]
    signs = [" ", *(_sign(run, chunk, counts) for chunk, counts in counted)]
    for sign, text in zip(signs, rows_that_fit(rows, columns and columns - 2, [*empty, len(words) + 1]), strict=True):
        say(f"{sign} {text}")
    if left := not_planned(run.plan):
        say(f"not planned: {harmless(left)}")


def _apart(counts: dict[str, int]) -> dict[str, int]:
    """Return counts in which unproven stories are no longer among the blocked ones."""
    return {**counts, "blocked": counts["blocked"] - counts["unproven"]}


def _sign(run: Run, chunk: ChunkState, counts: dict[str, int]) -> str:
    if counts["failed"]:
        look = mark_of(StoryPhase.FAILED)
    elif counts["blocked"]:
        look = mark_of(StoryPhase.BLOCKED)
    elif counts["unproven"]:
        look = UNPROVEN
    elif not chunk.left:
        look = mark_of(StoryPhase.DONE)
    else:
        look = mark_of(StoryPhase.RUNNING if chunk.started and run.worker else StoryPhase.PLANNED)
    return paint(look.symbol, look.tone, stderr=False)


def _stories(run: Run) -> None:
    say()
    for planned in run.stories:
        story = run.state.stories[planned.id]
        look = mark(story, at_rest=run.worker is None)
        told = waits_for(run.state, story)
        tries = count(story.counted, "attempt") if story.attempts else ""
        spent = ", ".join(spending.of_story(story))
        told = "   ".join(part for part in (told, spent) if part)
        name = f"  {story.id}" if story.parent else story.id  # substeps are indented below their parents
        text = f"{look.symbol} {look.word:10} {name:7} {fit(planned.title, 44)}  {tries:11} {told}"
        say(paint(text.rstrip(), look.tone, stderr=False))


def _now(run: Run) -> None:
    """Print what is under way, or what the run waits for."""
    if not run.worker:
        return
    now, agent = SystemClock().utc(), flat(run.history.start.get("agent", ""))
    if run.state.running:
        _running(run, agent, now)
    if until := run.state.wait_until:
        text = pauses.still(until, run.history.wait.get("reason", ""), agent, now)
        say(paint(f"{text}; {pauses.CALM}", "warn", stderr=False))


def _running(run: Run, agent: str, now: str) -> None:
    titles, following = run.titles, Doing(run.out_dir, agent, once=True)
    for name in sorted(run.state.running, key=lambda name: run.state.stories[name].index):
        story = run.state.stories[name]
        evidence = AttemptEvidence(run.out_dir, name, story.attempts)
        tried = run.history.of(name)
        time = span(between(tried[-1].started, now)) if tried else ""
        doing = "checks the work" if evidence.has_ended() else following.line(name, story.attempts, 90)
        look = mark(story)
        text = f"{look.symbol} {name} {flat(titles.get(name, ''))}   attempt {story.attempts}   {time}   {doing}"
        say(paint(fit(text, 200).rstrip(), look.tone, stderr=False))


def _failed(run: Run) -> None:
    report = report_of(run)
    needing = report.needing()
    for story in needing:
        say()
        say(title_line(report.heading(story), stderr=False))
        for text in framed(report.block(story), stderr=False):
            say(text)
    if not needing and run.state.phase in (RunPhase.FAILED, RunPhase.BLOCKED) and (told := report.run_check()):
        for text in ["", title_line(report.run_heading, stderr=False), *framed(told, stderr=False)]:
            say(text)
    say()
    for text in report.by_status():
        say(text)


def _next(run: Run) -> list[str]:
    state = run.state
    if run.worker:
        return [
            "",
            *listed([*answers(state, run.out_dir), (f"santiago log{target(run.out_dir)} --follow", "watch it")]),
        ]
    if not run.begun:
        return ["", *listed([beginning(run)])]
    if state.phase is RunPhase.SUCCESS:
        if is_taken_over(run):
            return ["", "its work is merged: the current commit has all of it"]
        return ["", f"look: git diff HEAD...{state.branch}", *listed(taking_over(report_of(run)))]
    if state.phase is RunPhase.PAUSED and (brought := _brought(run)):
        return ["", *brought]
    return ["", *next_commands(report_of(run))]


def _brought(run: Run) -> list[str] | None:
    """Return the next commands if the latest attempt was a person's own work and did not pass."""
    tried = [(attempts[-1], name) for name, attempts in run.history.attempts.items() if attempts]
    latest, name = max(tried, key=lambda one: one[0].started, default=(None, ""))
    return mending(run.state, run.out_dir, name, latest.own_work) if latest and latest.own_work else None


def _others(run: Run) -> None:
    others, more = others_of(run.out_dir)
    if others:
        say()
        told = [*(f"{name} {word}" for name, word in others), *([f"and {more} older"] if more else [])]
        say("other runs, newest first: " + " · ".join(told))
    if told_planned := planned_line(run.out_dir):
        say(told_planned)
    _planned(_sessions(Path(run.run_input.repo_path)))
