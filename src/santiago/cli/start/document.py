"""From a document to a run: compiles it, applies the command line's agent and checks, and starts it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.start.leaks import refuse_secrets
from santiago.app.start.lineup import named
from santiago.app.start.onward import Beginning, beginning, settings_of
from santiago.app.start.preflight import refuse_outside
from santiago.app.start.trust import said_by
from santiago.artifacts import repository
from santiago.artifacts.files import read_text
from santiago.cli.options import Reading
from santiago.cli.plan import job_from_document, old_plan, refuse, roomy
from santiago.cli.start.running import start
from santiago.cli.start.trust import note_basis
from santiago.cli.view.text import say
from santiago.contract.record import record
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
from santiago.report.advice import on_attempts

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.job import Job
    from santiago.app.loading import Run
    from santiago.cli.options import Flags
    from santiago.contract.plan import Plan


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
    otherwise: Callable[[str, Job], Plan | None] = lambda *_: None,
    told: Callable[[Plan], None] = lambda _: None,
    after: Run | None = None,
) -> int:
    """Compile a document and start the run. `otherwise` may make a plan if no steps are found in the document.

    `reading` tells how to read the document; with `allow_fallback`, phases and feature bullets count as steps without asking.
    The ids and the work of the run `after` are kept.
    """
    job = job_from_document(prd, out_dir)
    refuse_outside(job.document)
    text = read_text(job.document)
    refuse_secrets(text.encode(), job.name)
    reading = reading or Reading()
    source = Source(text, path=job.name, options=reading.options)
    against = after.plan if after else old_plan(reading.against, named=True)
    compiled = compile_plan(source, strict=reading.strict, against=against)
    plan = compiled.plan or otherwise(text, job)
    if plan is None:
        return refuse(compiled, job, source, as_json=flags.as_json)
    told(plan)
    return _started(job, plan, worker, flags, after)


def _started(job: Job, plan: Plan, worker: Worker, flags: Flags, after: Run | None) -> int:
    begins = Beginning(settings=job.settings or {})
    if after is not None:
        begins = beginning(after, plan, Path(job.run_input.repo_path), begins.settings)
        job = job._replace(run_input=settings_of(after, job.run_input))
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
