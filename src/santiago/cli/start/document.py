"""From a document to a run: compiles it, applies the command line's agent and checks, and starts it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.start.leaks import refuse_secrets
from santiago.app.start.lineup import named
from santiago.app.start.onward import Beginning, beginning, settings_of
from santiago.app.start.preflight import refuse_outside
from santiago.app.start.trust import said_by
from santiago.app.start.units import asked_for, is_open, new_parts, with_units
from santiago.artifacts import repository
from santiago.artifacts.files import read_text
from santiago.cli.options import Reading
from santiago.cli.plan import job_from_document, old_plan, refuse, roomy
from santiago.cli.start.consent import ToDraftError, choose_units
from santiago.cli.start.running import start
from santiago.cli.start.trust import note_basis
from santiago.cli.view.text import say
from santiago.contract.policy import AS_PROPOSED
from santiago.contract.record import record
from santiago.planner.compile import compile_plan
from santiago.planner.source import Options, Source
from santiago.report.accounting import place
from santiago.report.advice import on_attempts

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.job import Job
    from santiago.app.loading import Run
    from santiago.cli.options import Flags
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput


@record
class Worker:
    """The agent and the checks that the command line names."""

    agent: str | None = None
    model: str | None = None
    checks: tuple[str, ...] = ()
    playbook: Path | None = None


def carry_out(
    prd: Path,
    out_dir: Path | None,
    worker: Worker,
    flags: Flags,
    *,
    reading: Reading | None = None,
    told: Callable[[Plan], None] = lambda _: None,
    after: Run | None = None,
) -> int:
    """Compile a document and start the run. `reading` tells how to read it. The ids and the work of the run `after` are kept."""
    job = job_from_document(prd, out_dir)
    refuse_outside(job.document)
    text = read_text(job.document)
    refuse_secrets(text.encode(), job.name)
    reading = reading or Reading()
    against = after.plan if after else old_plan(reading.against, named=True)
    kept = after.run_input if after else job.run_input
    units = reading.units or asked_for(kept)
    while True:
        source = Source(text, path=job.name, options=Options(units=units))
        compiled = compile_plan(source, strict=reading.strict, against=against)
        plan = compiled.plan
        if plan is None:
            return refuse(compiled, job, source, as_json=flags.as_json)
        fresh = _new_parts(after, plan)
        said = reading.units or flags.yes or plan.certain or (not fresh and _was_confirmed(kept, after))
        if said or flags.dry_run or flags.no_input or not sys.stdin.isatty():
            break
        try:
            choice = choose_units(plan)
        except ToDraftError:
            return _drafted(job, worker, flags)
        flags, units = replace(flags, yes=True), units if choice == AS_PROPOSED else choice
        reading = replace(reading, units=units)
    told(plan)
    if said and not plan.certain:
        flags = replace(flags, yes=True)
    if units:
        job = job._replace(run_input=with_units(job.run_input, units))
    return _started(job, plan, worker, flags, after, units)


def _drafted(job: Job, worker: Worker, flags: Flags) -> int:
    """Have the agent of the command line structure the document, in a session that the person reviews."""
    from santiago.app.planning.begin import Wanted
    from santiago.cli.draft import beside
    from santiago.cli.planning import plan_with

    agents = (worker.agent,) if worker.agent else ()
    wanted = Wanted(
        subject=str(job.document), agents=agents, model=worker.model, playbook=worker.playbook, artifact="document",
        output=beside(str(job.document)),
    )  # fmt: skip
    return plan_with(wanted, trusted=flags.trust_project, as_json=flags.as_json)


def _was_confirmed(run_input: RunInput, after: Run | None) -> bool:
    """Tell whether a person agreed to the units before: for the run that goes on, or in the settings."""
    return bool(run_input.policy.units) or (after is not None and (after.state.units or after.plan.certain))


def _new_parts(after: Run | None, plan: Plan) -> bool:
    """Print which parts of a changed document are new; tell whether one of them is not planned and may be work."""
    found = new_parts(after.plan, plan) if after and after.plan.account else []
    for became, said in (("planned", "planned"), ("context", "context"), ("left_out", "not planned")):
        if parts := [place(row, why=not is_open(row)) for row in found if row.became == became]:
            say(f"note: new in the document, {said}: {', '.join(parts)}", err=True)
    return any(map(is_open, found))


def _started(job: Job, plan: Plan, worker: Worker, flags: Flags, after: Run | None, units: str | None) -> int:
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
        repository.keep_out_of_git(Path(settings.repo_path) / ".santiago")
        note_basis(Path(settings.repo_path), settings.run_id)
    said = said_by(agent=worker.agent, model=worker.model, playbook=worker.playbook, checks=worker.checks)
    return start(
        job.out_dir, settings, plan, flags, base=Path(settings.repo_path), said=said, compiled=True, beginning=begins
    )
