"""One run: its head, its chunks, its stories, what it does now, what needs a person, what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.app.changes import changes_of
from santiago.app.finding import target
from santiago.app.paths import near
from santiago.contract import codec
from santiago.contract.counting import count
from santiago.contract.phases import ENDED, RunPhase
from santiago.executor.budget import Budget
from santiago.executor.tally import is_finished
from santiago.report import pauses, spending
from santiago.report.account_lines import not_planned
from santiago.report.agent_activity import Doing
from santiago.report.chunks import chunk_table, rows_of
from santiago.report.evidence import AttemptEvidence
from santiago.report.failure import report_of
from santiago.report.marks import RUNS, mark
from santiago.report.measures import ago, limit, span
from santiago.report.page import Line, ruled
from santiago.report.proof import flaky_lines, unproven_lines
from santiago.report.remedies import answers, beginning, listed, next_commands, taking_in, taking_over
from santiago.report.run_status import (
    headline_of,
    is_taken_over,
    mending,
    needs_of,
    others_of,
    planned_line,
    step_of,
    word_of,
)
from santiago.report.story_status import row_of
from santiago.util.clock import SystemClock, between
from santiago.util.text import fit, flat, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import Run


def lines(
    run: Run, columns: int, *, stories: bool, failed: bool, board: dict[str, Any] | None, sessions: str
) -> Iterator[Line]:
    """Yield all of a run: with `stories` each of them, with `failed` the failure report."""
    yield from _head(run)
    yield Line()
    yield from chunk_table(rows_of(run), columns)
    if left := not_planned(run.plan):
        yield Line(f"not planned: {harmless(left)}")
    if stories:
        yield from (Line(), *_stories(run))
    yield from _now(run)
    if changes := changes_of(run):
        yield from (Line(), *(Line(f"note: {harmless(text)}", "busy") for text in changes))
        yield Line(f"a new run would use it: {taking_in(run)}")
    told = [Line(f"needs you: {harmless(text)}", "warn") for text in needs_of(run)]
    if is_finished(run.state):
        told = [Line(text) for text in unproven_lines(run.plan, run.state, run.out_dir)]
    told += [Line(text) for text in flaky_lines(run.plan, run.state)]
    yield from (Line(), *told) if told else ()
    if failed:
        yield from _failed(run, columns)
    yield from _others(run)
    yield from (Line(text) for text in (planned_line(run.out_dir), sessions) if text)
    if board:
        from santiago.report.board_pages import headline as board_headline  # most projects have no board
        from santiago.report.board_pages import word

        yield Line(f"board: {', '.join([word(board), *board_headline(board)])}   (`santiago board` shows it)")
    yield from (Line(), *map(Line, _of_board(run, board) or _next(run)))


# The first lines


def headline(run: Run, now: str) -> list[str]:
    """Return the parts of the first line, the most important first."""
    line = headline_of(run)
    brief, *parts = spending.progress(run.plan, run.state, run.run_input.limits, run.used_ms(now))
    agent = flat(run.history.start.get("agent", "")) or flat(run.run_input.agent.mode)
    told = line.text if line.word in ("success", "finished") else brief
    return [line.word, told, *parts, *([agent] if agent else [])]


def subline(run: Run, *, pauses: bool) -> list[str]:
    """Return the parts of the second line: pauses after chunks, gates, who works on the run, why it stopped."""
    closed = run.run_input.policy.closed - {"chunk"}
    parts = [f"pause after each chunk: {'on' if pauses else 'off'}"]
    parts += [f"asks for: {', '.join(sorted(closed))}"] if closed else []
    if run.worker:
        parts.append(f"held by {flat(run.worker)}")
    elif run.begun and run.state.reason:
        parts.append(f"{run.state.reason}")
    return parts


def pauses_now(run: Run) -> bool:
    """Tell whether the run pauses after each chunk, as a person said last, or else as its policy says."""
    return "chunk" in run.run_input.policy.closed if run.state.pauses is None else run.state.pauses


def _head(run: Run) -> Iterator[Line]:
    state, now, word, line = run.state, SystemClock().utc(), word_of(run), headline_of(run)
    parts = [f"run {run.run_id}", f"{line.word}{line.rest}"]
    if run.begun:
        at_work = word in ("running", "stopping", "interrupted")
        verb = "last event" if at_work else "ended" if state.phase in ENDED else "stopped"
        parts.append(f"{verb} {ago(run.history.last, now)}")
    if not run.worker:
        parts.append(f"resumable: {'yes' if run.resumable else 'no'}")
    yield Line("   ".join(parts), RUNS.get(line.word, ""))
    unchanged = "not started"
    if run.begun:
        same = codec.digest(run.plan) == state.plan_digest
        unchanged = "unchanged" if same else "changed since the run began!"
    digest = f"plan.json sha256:{run.plan.digest[:8]}…{run.plan.digest[-4:]} ({unchanged})"
    yield Line(f"{digest}   of {harmless(run.plan.source.path)}   {state.branch or ''}".rstrip())
    budget, agent = Budget(run.run_input.limits, state), flat(run.history.start.get("agent", ""))
    used = [
        f"used {state.counted}/{count(budget.run_attempts, 'attempt')}",
        f"{span(run.used_ms(now))} of {limit(budget.run_ms)}",
        *spending.of_run(state, run.run_input.limits),
        f"in {near(run.out_dir)}",
        *([f"agent {agent}"] if agent else []),
    ]
    yield Line("   ".join(used))
    if run.worker:
        yield Line(f"by   {harmless(run.worker)}")
    if step := step_of(run):
        yield Line(f"step {harmless(step)}")


# Stories


def _stories(run: Run) -> Iterator[Line]:
    ids, ahead = max(2, *(len(planned.id) for planned in run.stories)), run.ahead
    for planned in run.stories:
        story = run.state.stories[planned.id]
        row = row_of(run.state, story, run.run_input.limits, at_rest=run.worker is None, ahead=ahead)
        name = f"  {story.id}" if story.parent else story.id  # substeps are indented below their parents
        told = "   ".join(filter(None, (row.now, ", ".join(spending.of_story(story)))))
        text = f"{row.mark.symbol} {name:{ids}}  {fit(planned.title, 44)}  {row.tries:>5}  {told}"
        yield Line(text.rstrip(), row.mark.tone)


def _now(run: Run) -> Iterator[Line]:
    """Yield what is under way, or what the run waits for."""
    if not run.worker:
        return
    now, agent = SystemClock().utc(), flat(run.history.start.get("agent", ""))
    if run.state.running:
        following = Doing(run.out_dir, agent, once=True)
    for name in sorted(run.state.running, key=lambda name: run.state.stories[name].index):
        story, tried = run.state.stories[name], run.history.of(name)
        time = span(between(tried[-1].started, now)) if tried else ""
        is_judged = AttemptEvidence(run.out_dir, name, story.attempts).has_ended()
        doing = "checks the work" if is_judged else following.line(name, story.attempts, 90)
        look = mark(story)
        titled = f"{look.symbol} {name} {flat(run.titles.get(name, ''))}"
        yield Line(fit(f"{titled}   attempt {story.attempts}   {time}   {doing}", 200).rstrip(), look.tone)
    if until := run.state.wait_until:
        text = pauses.still(until, run.history.wait.reason, agent, now)
        yield Line(f"{text}; {pauses.CALM}", "warn")


def _failed(run: Run, columns: int) -> Iterator[Line]:
    report = report_of(run)
    needing = report.needing()
    for story in needing:
        yield from (Line(), ruled(report.heading(story), columns), *report.block(story))
    if not needing and run.state.phase in (RunPhase.FAILED, RunPhase.BLOCKED) and (told := report.run_check()):
        yield from (Line(), ruled(report.run_heading, columns), *told)
    yield from (Line(), *map(Line, report.by_status()))


# What is there beside it, and what comes next


def _others(run: Run) -> list[Line]:
    others, more = others_of(run.out_dir)
    told = [*(f"{name} {word}" for name, word in others), *([f"and {more} older"] if more else [])]
    return [Line(), Line("other runs, newest first: " + " · ".join(told))] if others else []


def _of_board(run: Run, board: dict[str, Any] | None) -> list[str]:
    """Return the next commands for a run whose stories are tickets: `loop` goes on with it, since `resume` claims nothing."""
    tickets = [one for queue in board["queues"].values() for one in queue] if board else []
    if run.worker or not any(one["run"] == run.run_id and not one["decided"] for one in tickets):
        return []
    asked = answers(run.state, run.out_dir)
    return listed([*asked, ("santiago loop", "go on with its tickets"), ("santiago board", "look at them")])


def _next(run: Run) -> list[str]:
    state = run.state
    if run.worker:
        return listed([*answers(state, run.out_dir), (f"santiago log{target(run.out_dir)} --follow", "watch it")])
    if not run.begun:
        return listed([beginning(run)])
    if state.phase is RunPhase.SUCCESS:
        if is_taken_over(run):
            return ["its work is merged: the current commit has all of it"]
        return [f"look: git diff HEAD...{state.branch}", *listed(taking_over(report_of(run)))]
    if state.phase is RunPhase.PAUSED and (brought := _brought(run)):
        return brought
    return next_commands(report_of(run))


def _brought(run: Run) -> list[str] | None:
    """Return the next commands if the latest attempt was a person's own work and did not pass."""
    tried = [(attempts[-1], name) for name, attempts in run.history.attempts.items() if attempts]
    latest, name = max(tried, key=lambda one: one[0].started, default=(None, ""))
    return mending(run.state, run.out_dir, name, latest.own_work) if latest and latest.own_work else None
