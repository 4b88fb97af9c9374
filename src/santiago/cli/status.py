"""`santiago status`: where a run stands, chunk by chunk, what needs a person, and the other runs of this repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from santiago.artifacts import registry
from santiago.artifacts.store import PLAN
from santiago.cli.evidence import AttemptEvidence
from santiago.cli.failure import Report
from santiago.cli.finding import find_run
from santiago.cli.lines import flat
from santiago.cli.loading import Run, load, working
from santiago.cli.measures import ago, between, count, limit, span
from santiago.cli.text import fit, harmless, paint, say, width
from santiago.cli.waiting import explanation, glyph, mark, mark_of, waits_for
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import ENDED, RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.budget import Budget
from santiago.executor.result import status_of
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.state import ChunkState

OTHERS = 5
_WORKING = (RunPhase.EXECUTING, RunPhase.RUN_VERIFICATION, RunPhase.CREATED)


@click.command("status")
@click.argument("run", required=False)
@click.option("--failed", is_flag=True, help="Show the failure report: output, evidence, next commands.")
@click.option("--stories", "all_stories", is_flag=True, help="List every story.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(run: str | None, failed: bool, all_stories: bool, as_json: bool, debug: bool) -> None:
    """Show where RUN (a folder or an id) stands, or the latest run of this repository."""
    out_dir = find_run(run)
    found = load(out_dir)
    if as_json:
        click.echo(json.dumps(document(found), indent=2, ensure_ascii=False))
        return
    _head(found)
    say()
    _chunks(found)
    if all_stories:
        _stories(found)
    _now(found)
    needs = needs_of(found)
    if needs:
        say()
    for text in needs:
        say(f"{paint('needs you:', 'yellow', bold=True, stderr=False)} {harmless(text)}")
    if failed:
        _failed(found)
    _others(found)
    for text in _next(found):
        say(text)


def word_of(run: Run) -> str:
    """Return the run's state in a word that people use."""
    if not run.begun:
        return "planned"
    if run.worker is not None:
        return "stopping" if run.state.stop_requested else "running"
    if run.state.phase is RunPhase.PAUSED:
        return "stopped"
    return str(run.state.phase) if run.state.phase in ENDED else "interrupted"


_COLOURS = {"success": "green", "failed": "red", "blocked": "yellow", "running": "cyan", "interrupted": "yellow"}


def _head(run: Run) -> None:
    state, now = run.state, SystemClock().utc()
    word = word_of(run)
    why = f" ({state.reason})" if state.reason and word not in ("running", "stopping") else ""
    parts = [f"run {run.run_id}", paint(f"{word}{why}", _COLOURS.get(word, "white"), bold=True, stderr=False)]
    if run.begun:
        verb = "last event" if word in ("running", "stopping", "interrupted") else "ended" if state.phase in ENDED else "stopped"
        parts.append(f"{verb} {ago(run.history.last, now)}")
    parts.append(f"resumable: {'yes' if run.resumable else 'no'}")
    say("   ".join(parts))
    limits = run.run_input.limits
    minutes = int(limits.run_timeout_minutes) + state.raised.get("run_timeout_minutes", 0)
    attempts = limits.run_max_attempts + state.raised.get("run_max_attempts", 0)
    digest = run.plan.digest
    say(f"plan sha256:{digest[:8]}…{digest[-4:]} ({_unchanged(run)})   {harmless(run.plan.source.path)}   {state.branch or ''}".rstrip())
    say(f"used {state.counted}/{attempts} attempts   {span(state.used_ms)} of {limit(minutes)}{_spent(run)}   in {run.out_dir}")
    if run.worker:
        say(f"by   {harmless(run.worker)}")


def _unchanged(run: Run) -> str:
    if not run.begun:
        return "not started"
    return "unchanged on disk" if codec.digest(run.plan) == run.state.plan_digest else "changed on disk since the run began!"


def _spent(run: Run) -> str:
    state = run.state
    parts = [f"   {state.tokens:,} tokens"] if state.tokens else []
    if state.cost_micro_usd:
        parts.append(f"   ${state.cost_micro_usd / 1e6:.2f}")
    return "".join(parts)


_COLUMNS = ("done", "failed", "blocked", "pending")


def _chunks(run: Run) -> None:
    size = max([5, *(width(harmless(chunk.label)) for chunk in run.plan.chunks)])
    size = min(size, 48)
    say(f"  {fit('chunk', size)}  {'done':>5}  {'failed':>6}  {'blocked':>7}  {'pending':>7}  {'left out':>8}  {'time':>7}")
    for chunk in run.state.chunks.values():
        counts = counts_of(run, chunk)
        time = span(_chunk_ms(run, chunk)) if chunk.started else "-"
        numbers = f"{counts['done']:>5}  {counts['failed']:>6}  {counts['blocked']:>7}  {counts['pending']:>7}  {counts['skipped']:>8}"
        say(f"{_sign(run, chunk, counts)} {fit(chunk.label, size)}  {numbers}  {time:>7}")


def _chunk_ms(run: Run, chunk: ChunkState) -> int:
    passed = run.history.chunk_ms.get(chunk.label, 0)
    if run.worker and run.history.chunk == chunk.label:
        passed += between(run.history.last, SystemClock().utc())
    return passed


def _sign(run: Run, chunk: ChunkState, counts: dict[str, int]) -> str:
    if counts["failed"]:
        look = mark_of(StoryPhase.FAILED)
    elif counts["blocked"]:
        look = mark_of(StoryPhase.BLOCKED)
    elif not chunk.left:
        look = mark_of(StoryPhase.DONE)
    else:
        look = mark_of(StoryPhase.RUNNING if chunk.started and run.worker else StoryPhase.PLANNED)
    return paint(glyph(look, stderr=False), look.colour, stderr=False)


def counts_of(run: Run, chunk: ChunkState) -> dict[str, int]:
    found = dict.fromkeys((*_COLUMNS, "skipped"), 0)
    for name in chunk.stories:
        found[status_of(run.state.stories[name])] += 1
    return found


def _stories(run: Run) -> None:
    say()
    titles = run.titles
    for story in run.state.stories.values():
        look = mark(story)
        told = waits_for(run.state, story)
        tries = count(story.counted, "attempt") if story.attempts else ""
        text = f"{glyph(look, stderr=False)} {look.word:8} {story.id:5} {fit(titles.get(story.id, ''), 44)}  {tries:11} {told}"
        say(paint(text.rstrip(), look.colour, stderr=False) if look.colour != "white" else text.rstrip())


def _now(run: Run) -> None:
    """Say what is under way."""
    if not run.worker:
        return
    titles, now = run.titles, SystemClock().utc()
    for name in sorted(run.state.running, key=lambda name: run.state.stories[name].index):
        story = run.state.stories[name]
        evidence = AttemptEvidence(run.out_dir, name, story.attempts)
        tried = run.history.of(name)
        time = span(between(tried[-1].started, now)) if tried else ""
        doing = "verify" if evidence.has_ended() else f"agent  {evidence.last_line()}".rstrip()
        look = mark(story)
        text = f"{glyph(look, stderr=False)} {name} {flat(titles.get(name, ''))}   attempt {story.attempts}   {time}   {doing}"
        say(paint(fit(text, 160).rstrip(), look.colour, stderr=False))


def needs_of(run: Run) -> list[str]:
    """Return what only a person can do."""
    state, found = run.state, []
    for question in state.open_questions():
        found.append(f"{question.id}: {flat(question.text)}   (santiago answer {question.id} approve --text …)")
    asked = {question.story for question in state.open_questions()}
    for story in state.stories.values():
        if story.skipped or story.id in asked:
            continue
        if story.reason == Reason.ATTEMPT_BUDGET_EXHAUSTED and story.phase is StoryPhase.FAILED:
            most = Budget(run.run_input.limits, state).story_attempts(story.id)
            reached = run.history.limits.get(story.id, "")
            found.append(f"{story.id} used {story.counted} of {most} attempts" + (f" ({reached})" if reached else ""))
        elif story.phase in (StoryPhase.FAILED, StoryPhase.BLOCKED) and story.reason:
            found.append(f"{story.id} is {story.phase}: {MEANINGS[Reason(story.reason)].sentence}")
    if word_of(run) == "interrupted":
        found.append("nobody is working on it; it was interrupted, and `santiago resume` continues it")
    return found


def _failed(run: Run) -> None:
    report = Report(plan=run.plan, run_input=run.run_input, state=run.state, out_dir=run.out_dir, stderr=False)
    needing = report.needing()
    for story in needing:
        say()
        say(report.title_line(report.heading(story)))
        for text in report.block(story):
            say(text)
    if not needing and run.state.phase is RunPhase.FAILED:
        for text in report.run_check():
            say(text)
    say()
    for text in report.accounts():
        say(text)


def _next(run: Run) -> list[str]:
    state = run.state
    if run.worker:
        return ["", "next: santiago log --follow   watch it"]
    if not run.begun:
        return ["", f"next: santiago resume {run.out_dir}   begin"]
    if state.phase is RunPhase.SUCCESS:
        return ["", f"next: git merge {state.branch}   take the work over"]
    report = Report(plan=run.plan, run_input=run.run_input, state=state, out_dir=run.out_dir)
    return ["", *report.next_commands()]


def others_of(out_dir: Path) -> list[tuple[str, str]]:
    """Return the other runs of this repository, newest first, each with its state in a word."""
    from pathlib import Path as RealPath

    from santiago.artifacts.repository import find_root

    root = find_root(RealPath.cwd())
    common = registry.common_git_dir(root) if root else None
    found = []
    for run in registry.runs(common) if common else []:
        if run.out_dir != out_dir:
            found.append((run.run_id, _standing(run.out_dir)))
        if len(found) == OTHERS:
            break
    return found


def _standing(out_dir: Path) -> str:
    if not (out_dir / PLAN).is_file():
        return "its folder is gone"
    if working(out_dir):
        return "running"
    try:
        run = load(out_dir)
    except SantiagoError:
        return "damaged"
    word = word_of(run)
    return f"{word} (resumable)" if run.resumable and word != "running" else word


def _others(run: Run) -> None:
    others = others_of(run.out_dir)
    if others:
        say()
        say("other runs: " + " · ".join(f"{name} {word}" for name, word in others))


def document(run: Run) -> dict[str, Any]:
    """Return everything that is shown, for programs."""
    state = run.state
    return {
        "contract_version": 1,
        "run_id": run.run_id,
        "out_dir": str(run.out_dir),
        "state": word_of(run),
        "phase": str(state.phase),
        "reason": state.reason,
        "resumable": run.resumable,
        "worker": run.worker,
        "branch": state.branch,
        "head": state.head,
        "seq": state.seq,
        "last_event": run.history.last or None,
        "plan_unchanged": not run.begun or codec.digest(run.plan) == state.plan_digest,
        "usage": {"attempts": state.counted, "seconds": state.used_ms / 1000, "tokens": state.tokens, "cost_usd": state.cost_micro_usd / 1e6},
        "chunks": [
            {"label": chunk.label, "started": chunk.started, "seconds": run.history.chunk_ms.get(chunk.label, 0) / 1000, **counts_of(run, chunk)}
            for chunk in state.chunks.values()
        ],
        "stories": [
            {
                "id": story.id, "title": run.titles.get(story.id, ""), "phase": str(story.phase), "status": status_of(story),
                "attempts": story.counted, "reason": story.reason, "proof": story.proof, "commit": story.commit,
                "waits": _why(run, story.id),
            }
            for story in state.stories.values()
        ],
        "questions": [{"id": q.id, "story": q.story, "text": q.text} for q in state.open_questions()],
        "needs": needs_of(run),
        "others": [{"run_id": name, "state": word} for name, word in others_of(run.out_dir)],
    }  # fmt: skip


def _why(run: Run, name: str) -> list[str]:
    planned = run.story(name)
    if planned is None or run.state.stories[name].phase is StoryPhase.DONE:
        return []
    return explanation(run.state, planned, run.run_input)


