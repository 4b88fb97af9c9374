"""New runs of a document: `run`, `step` and `rebase`. Where a run of it is not finished, that one may go on instead."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from santiago.app.changes import changes_before_work, has_changed
from santiago.app.compiling import asked_for, job_of, read_document, roomy, with_units
from santiago.app.finding import find_run, names_run, newest_of, unfinished_of
from santiago.app.loading import frozen, load
from santiago.app.start.agents import named
from santiago.app.start.onward import Beginning, beginning, settings_of
from santiago.app.start.preflight import refuse_outside
from santiago.app.start.proposals import is_open, new_parts
from santiago.app.start.risky_settings import note_basis, said_by
from santiago.artifacts import run_locations
from santiago.artifacts.files import write_whole
from santiago.cli.consent import ToDraftError, choose_units, tell, trust_own
from santiago.cli.going_on import go_on_with, step_on
from santiago.cli.options import Reading
from santiago.cli.plan import document_of, old_plan, refuse
from santiago.cli.running import start
from santiago.cli.view.terminal import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import RunPhase
from santiago.contract.policy import AS_PROPOSED
from santiago.contract.reasons import ExitCode
from santiago.report.account_lines import place
from santiago.report.plan_page import on_attempts
from santiago.report.run_status import is_taken_over, standing
from santiago.util.text import count, harmless

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.compiling import Job
    from santiago.app.loading import Run
    from santiago.app.start.start_options import StartOptions
    from santiago.cli.options import Worker
    from santiago.contract.plan import Plan


def run(
    prd: Path, worker: Worker, out_dir: Path | None, enqueue: bool, new: bool, resume: bool, reading: Reading, flags: StartOptions
) -> int:  # fmt: skip
    """Plan and carry out in one go, the newcomer's command."""
    prd = document_of(prd)
    if enqueue:
        from santiago.cli.ticket_work import enqueue as hand_over

        return hand_over(prd, worker.checks, flags.actor, as_json=flags.as_json)
    if new and resume:
        raise click.UsageError("--new starts afresh and --resume goes on: name one of them.")
    again = _decide(prd, flags, new=new or out_dir is not None, resume=resume)
    code = _begin(again, prd, out_dir, worker, flags, reading)
    asked = again.way == "new" and not (out_dir or flags.no_input or flags.as_json) and sys.stdin.isatty()
    if code == ExitCode.BLOCKED and asked and _mended(prd):
        return _carry_out(prd, None, worker, flags, reading)
    return code


def _mended(document: Path) -> bool:
    """Offer to write the settings that the newest run of a document ended without; tell whether that was done."""
    newest = newest_of(document)
    run = load(newest.out_dir) if newest else None
    changed = run.history.end.get("settings", []) if run else []
    if run is None or not changed:
        return False
    from santiago.app.candidates import text_of  # which few runs need
    from santiago.app.settings_file import with_settings

    root = Path(run.run_input.repo_path)
    target = root / "santiago.toml"
    text = text_of(target)
    new = with_settings(text, changed)
    if new is None or "[tool.santiago" in text_of(root / "pyproject.toml"):
        return False
    lines = [line for line in new.splitlines() if line not in text.splitlines() and line.strip()]
    say("", err=True)
    for line in lines:
        say(f"    {harmless(line)}", err=True)
    if not click.confirm("Write this to santiago.toml, and begin again?", default=True, err=True):
        return False
    write_whole(target, new.encode())
    trust_own(root)
    return True


def step(what: str | None, worker: Worker, new: bool, reading: Reading, flags: StartOptions) -> int:
    """Carry a plan out step by step: a person approves each step's plan, and later its result."""
    flags = replace(flags, gate="step")
    path = Path(what) if what is not None else None
    if path is None or (not path.is_file() and names_run(str(path))):
        return step_on(what, flags)
    if not path.is_file():
        hint = "Name a document, a run's folder or a run's id."
        raise SantiagoError(Kind.USAGE, f"there is no plan and no run {what!r}", where=str(path), hint=hint)

    def imported(plan: Plan) -> None:
        say(f"{harmless(plan.title)}: {count(len(plan.stories), 'step')} imported", err=True)

    return _begin(_decide(path, flags, new=new), path, None, worker, flags, reading, told=imported)


def rebase(run: str, prd: Path, worker: Worker, reading: Reading, flags: StartOptions) -> int:
    """Take a changed document, settings and branch into a new run, and keep what is done."""
    return _carry_out(prd, None, worker, flags, reading, after=load(find_run(run)))


Way = Literal["new", "resume", "rebase", "nothing"]


class _Again(NamedTuple):
    """What to do about a document, and the run that this is about."""

    way: Way
    run: Path | None = None


def _decide(document: Path, flags: StartOptions, *, new: bool = False, resume: bool = False) -> _Again:
    """Return what to do, by flags or by asking. Without a terminal the unfinished run goes on, which is printed."""
    if new:
        return _Again("new")
    run = unfinished_of(document)
    if resume:
        return _resumed(document, run)
    asked = not (flags.no_input or flags.as_json or flags.dry_run) and sys.stdin.isatty()
    if run is None:
        return _finished(document, asked=asked)
    changed = has_changed(frozen(run)[0], document)
    if changed:
        return _Again(_changed(document, run, asked=asked), run)
    if told := changes_before_work(run):
        say(f"note: {run.name} of {document.name} spent no attempt, and {told}: a new run takes over", err=True)
        return _Again("rebase", run)
    told = f"{run.name} of {document.name} ({standing(run).removesuffix(' (resumable)')}) is not finished"
    if asked:
        went = click.confirm(f"{told}. Go on with it? (no: start afresh)", default=None, err=True)
        return _Again("resume" if went else "new", run)
    say(f"note: {told}; going on with it (--new starts a new run)", err=True)
    return _Again("resume", run)


def _finished(document: Path, *, asked: bool) -> _Again:
    """Start afresh; ask or warn first if a finished run of the document is only not merged yet."""
    newest = newest_of(document)
    try:
        run = load(newest.out_dir) if newest else None
    except SantiagoError:  # a damaged run must not prevent a new one
        run = None
    if run is None or run.state.phase is not RunPhase.SUCCESS or is_taken_over(run, document.absolute().parent):
        return _Again("new")
    told = f"{run.run_id} finished {document.name}, but its work is not merged into this branch"
    merge = f"git merge {run.state.branch}"
    if not asked:
        say(f"note: {told}, so it is done again; to keep it, merge it first: {merge}", err=True)
        return _Again("new")
    went = click.confirm(f"{told}. Do it again? (no: merge it first, {merge})", default=None, err=True)
    return _Again("new" if went else "nothing", run.out_dir)


def _resumed(document: Path, run: Path | None) -> _Again:
    if run is not None:
        return _Again("resume", run)
    if newest := newest_of(document):
        say(f"{newest.run_id} is finished; nothing to resume", err=True)
        return _Again("nothing", newest.out_dir)
    hint = f"Begin one: `santiago run {document}`."
    raise SantiagoError(Kind.USAGE, f"there is no run of {document.name} to go on with", hint=hint)


def _changed(document: Path, run: Path, *, asked: bool) -> Way:
    told = f"{document.name} has changed since {run.name} began, which is not finished"
    if not asked:
        others = "--resume goes on with the document as it was, --new starts afresh"
        say(f"note: {told}: a new run uses the change, and keeps finished stories ({others})", err=True)
        return "rebase"
    say(f"{told}. What now?", err=True)
    say("  take    a new run with the change, which keeps finished stories", err=True)
    say("  resume  go on with the document as it was", err=True)
    say("  new     start afresh", err=True)
    word = click.prompt("Your word", type=click.Choice(["take", "resume", "new"]), default="take", err=True)
    ways: dict[str, Way] = {"take": "rebase", "resume": "resume", "new": "new"}
    return ways[word]


def _begin(
    again: _Again, prd: Path, out_dir: Path | None, worker: Worker, flags: StartOptions, reading: Reading,
    told: Callable[[Plan], None] = lambda _: None,
) -> int:  # fmt: skip
    """Do what was decided about a document."""
    if again.way == "nothing":
        return ExitCode.OK
    if again.way == "resume" and again.run is not None:
        return go_on_with(again.run, worker, flags)
    after = load(again.run) if again.way == "rebase" and again.run is not None else None
    return _carry_out(prd, out_dir, worker, flags, reading, told, after)


def _carry_out(
    prd: Path, out_dir: Path | None, worker: Worker, flags: StartOptions, reading: Reading,
    told: Callable[[Plan], None] = lambda _: None, after: Run | None = None,
) -> int:  # fmt: skip
    """Compile a document and start the run. The ids and the work of the run `after` are kept."""
    job = job_of(prd, out_dir)
    refuse_outside(job.document)
    document = read_document(job.document, job.name)
    against = after.plan if after else old_plan(reading.against, named=True)
    kept = after.run_input if after else job.run_input
    units = reading.units or asked_for(kept)
    while True:
        compiled = document.compiled(units, strict=reading.strict, against=against)
        plan = compiled.plan
        if plan is None:
            return refuse(compiled, document, as_json=flags.as_json)
        fresh = _new_parts(after, plan)
        # A person may have agreed to the units before: in the settings, or for the run that goes on.
        before = kept.policy.units or (after is not None and (after.state.units or after.plan.certain))
        said = reading.units or flags.yes or plan.certain or (not fresh and before)
        if said or flags.dry_run or flags.no_input or not sys.stdin.isatty():
            break
        try:
            choice = choose_units(plan)
        except ToDraftError:
            from santiago.cli.drafting import draft

            agents = (worker.agent,) if worker.agent else ()
            return draft(
                str(job.document), agents, worker.model, worker.playbook, None, flags.trust_project, flags.as_json
            )
        flags, units = replace(flags, yes=True), units if choice == AS_PROPOSED else choice
        reading = replace(reading, units=units)
    told(plan)
    if said and not plan.certain:
        flags = replace(flags, yes=True)
    if units:
        job = job._replace(run_input=with_units(job.run_input, units))
    return _started(job, plan, worker, flags, after, units)


def _new_parts(after: Run | None, plan: Plan) -> bool:
    """Print which parts of a changed document are new; tell whether one of them is not planned and may be work."""
    found = new_parts(after.plan, plan) if after and after.plan.account else []
    for became, said in (("planned", "planned"), ("context", "context"), ("left_out", "not planned")):
        if parts := [place(row, why=not is_open(row)) for row in found if row.became == became]:
            say(f"note: new in the document, {said}: {', '.join(parts)}", err=True)
    return any(map(is_open, found))


def _started(job: Job, plan: Plan, worker: Worker, flags: StartOptions, after: Run | None, units: str | None) -> int:
    begins = Beginning(settings=job.settings or {})
    if after is not None:
        begins = beginning(after, plan, Path(job.run_input.repo_path), begins.settings)
        job = job._replace(run_input=with_units(settings_of(after, job.run_input), units or ""))
        for text in begins.told:
            say(f"note: {text}", err=True)
    job = roomy(job, plan, tests_first=bool(flags.tests_first))
    if job.fitted and not flags.as_json:
        say(f"note: {on_attempts(job, plan)[0]}", err=True)
    settings = job.run_input
    if worker.checks:
        settings = replace(settings, verification=replace(settings.verification, story_commands=worker.checks))
    settings = replace(settings, agent=named(settings.agent, worker.agent, worker.playbook, worker.model))
    if flags.gate == "step":  # stored, so that later starts go step by step too
        settings = replace(settings, policy=replace(settings.policy, gate="step"))
    if not flags.dry_run:
        run_locations.keep_out_of_git(Path(settings.repo_path) / ".santiago")
        note_basis(Path(settings.repo_path), settings.run_id, tell)
    said = said_by(agent=worker.agent, model=worker.model, playbook=worker.playbook, checks=worker.checks)
    return start(
        job.out_dir, settings, plan, flags, base=Path(settings.repo_path), said=said, compiled=True, beginning=begins
    )
