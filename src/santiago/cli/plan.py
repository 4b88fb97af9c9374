"""`santiago plan`: compile a document, show the plan, and write it into the folder of its run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from santiago.app.compiling import (
    asked_for,
    document_in,
    job_of,
    job_of_input,
    read_document,
    roomy,
    with_units,
)
from santiago.app.paths import shortest
from santiago.app.start.agents import named, worker_flags
from santiago.app.start.leaks import refuse_secrets
from santiago.app.start.risky_settings import note_basis
from santiago.artifacts import registry, run_locations
from santiago.artifacts.files import read_bytes, write_whole
from santiago.artifacts.names import SETTINGS
from santiago.cli.options import Reading, Worker
from santiago.cli.view.shown_errors import show_findings
from santiago.cli.view.terminal import columns_of, say, show_lines
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.plan import Plan
from santiago.contract.policy import AS_PROPOSED
from santiago.contract.reasons import ExitCode, Reason
from santiago.report.plan_page import as_document, lines, mermaid, outcome_lines, told_findings
from santiago.util.clock import SystemClock
from santiago.util.text import count, few

if TYPE_CHECKING:
    from santiago.app.compiling import Document, Job
    from santiago.contract.session import Depth
    from santiago.planner.compile import Compilation


def plan(
    subject: str | None, run_input: Path | None, out_dir: Path | None, check: bool, reading: Reading, yes: bool, findings: bool,
    agents: tuple[str, ...], worker: Worker, chunks_target: int | None,
    stories_target: int | None, depth: Depth | None, trust_project: bool, graph: bool, as_json: bool,
) -> int:  # fmt: skip
    """Compile a document, or have agents plan one or a sentence."""
    if agents or worker.agent:
        from santiago.app.planning.begin import is_sentence
        from santiago.cli.drafting import plan_by_agents

        if agents or (subject and is_sentence(subject)):
            size = (chunks_target, stories_target, depth)
            return plan_by_agents(subject or "", agents, worker, size, trusted=trust_project, as_json=as_json)
    job = _job(subject, run_input, out_dir)
    if worker != Worker():
        agent = named(job.run_input.agent, worker.agent, worker.playbook, worker.model)
        told = worker_flags(worker.agent, worker.playbook, worker.model)
        job = job._replace(run_input=replace(job.run_input, agent=agent), worker=told)
    try:
        document = read_document(job.document, job.name)
        refuse_secrets(codec.canonical(job.run_input), "run-input.json")
        units = reading.units or asked_for(job.run_input)
        kept = reading.against or _kept_plan(job, anywhere=check and out_dir is None)
        old = old_plan(kept, named=reading.against is not None)
        plainly = reading == Reading() and not yes
        job = job._replace(compared=kept if old else None, is_read_plainly=plainly, findings=findings)
        if units or yes:
            job = job._replace(run_input=with_units(job.run_input, units or AS_PROPOSED))
        compiled = document.compiled(units, strict=reading.strict, against=old if reading.against else None)
    except SantiagoError as error:
        _failed(job, error.message, error.reason or Reason.INVALID_INPUT, write=not check)
        raise
    if compiled.plan is None:
        _failed(job, compiled.errors[0].message, Reason.PLAN_GENERATION_FAILED, write=not check)
        return refuse(compiled, document, as_json=as_json)
    job = roomy(job, compiled.plan)
    changed = old is None or old != compiled.plan  # compared as a whole, since an edited plan keeps its digest
    if not check:
        _write(job, compiled.plan)
    words = ("would change", "is unchanged") if check else ("written", "unchanged")
    _show(compiled, compiled.plan, document, job, words[not changed], as_json=as_json, graph=graph)
    return ExitCode.WOULD_CHANGE if check and changed else ExitCode.OK


def _show(
    compiled: Compilation, plan: Plan, document: Document, job: Job, outcome: str, *, as_json: bool, graph: bool
) -> None:
    if as_json:
        click.echo(codec.canonical(as_document(compiled, plan, job, outcome)).decode(), nl=False)
    elif graph:
        click.echo(mermaid(plan))
    else:
        show_lines(lines(compiled, plan, job, columns_of(stderr=False)))
        if shown := told_findings(plan, whole=job.findings):
            say()
            show_findings(shown, plan.source.path, document.lines)
            if len(plan.findings) > len(shown):
                say(f"… {count(len(plan.findings), 'finding')} in all; --findings shows each", err=True)
        show_lines(outcome_lines(plan, job, outcome))


def _write(job: Job, plan: Plan) -> None:
    """Write the plan into the folder of its run, and register it, so that `status` and `resume` find it like a run."""
    root, run_id = Path(job.run_input.repo_path), job.run_input.run_id
    if not job.from_program and job.out_dir.is_relative_to(root / ".santiago"):
        run_locations.keep_out_of_git(root / ".santiago")
    run_locations.refuse_linked(job.out_dir)
    write_whole(job.out_dir / "plan.json", codec.canonical(plan))
    write_whole(job.out_dir / "run-input.json", codec.canonical(job.run_input))
    if job.settings is not None:
        write_whole(job.out_dir / SETTINGS, codec.canonical(job.settings))
    common = registry.common_git_dir(root)
    if common is not None and run_id is not None and job.is_at_home:
        registry.register(common, run_id, job.out_dir, SystemClock().utc())
    if not job.from_program:
        note_basis(root, run_id, lambda text: say(f"note: {text}", err=True))


def _job(subject: str | None, run_input: Path | None, out_dir: Path | None) -> Job:
    if (subject is None) == (run_input is None):
        raise click.UsageError("Name one document, or a run input with --input.")
    if subject is not None:
        return job_of(document_of(Path(subject)), out_dir)
    if run_input is None or out_dir is None:
        raise click.UsageError("--input needs --out-dir.")
    return job_of_input(run_input, out_dir)


def document_of(path: Path) -> Path:
    """Return the document that a path names; of a folder, its main one, which is told."""
    if not path.is_dir():
        if " " in str(path) and not path.suffix and not path.exists():
            hint = f"`santiago plan --with AGENT {quote(str(path))}` has an agent plan a sentence, and you review its plan."
            message = "there is no such file, and it reads like a sentence"
            raise SantiagoError(Kind.USAGE, message, where=str(path), hint=hint)
        return path
    document, beside = document_in(path)
    rest = f"; not taken: {few(beside, 8)}" if beside else ""
    click.echo(f"{shortest(path)} is a folder: {shortest(document)} is planned{rest}", err=True)
    return document


def _kept_plan(job: Job, *, anywhere: bool) -> Path | None:
    """Return the plan in the out-dir; if there is none, with `anywhere`, that of the document's newest run."""
    path = job.out_dir / "plan.json"
    if path.is_file() or not anywhere:
        return path if path.is_file() else None
    return run_locations.newest_plan(Path(job.run_input.repo_path), job.run_input.prd_path)


def old_plan(path: Path | None, *, named: bool) -> Plan | None:
    """Return the plan to compare with. An unreadable one raises only if the user named it."""
    if path is None:
        return None
    try:
        return codec.decode(Plan, read_bytes(path, codec.MAX_BYTES), str(path))
    except SantiagoError:
        if named:
            raise
        return None


def _failed(job: Job, message: str, reason: Reason, *, write: bool) -> None:
    if job.from_program and write:
        from santiago.app.refusal import write_refusal  # which only a program reads

        write_refusal(job.out_dir, job.run_input.run_id, message, reason)


def refuse(compiled: Compilation, document: Document, *, as_json: bool) -> int:
    """Print why a document gives no plan; return the exit code."""
    if as_json:
        body = {
            "error": {
                "message": count(len(compiled.errors), "error"),
                "reason": Reason.PLAN_GENERATION_FAILED,
                "where": document.name,
            },
            "findings": compiled.findings,
        }
        click.echo(codec.canonical(body).decode(), nl=False)
        return ExitCode.FAILED
    errors = compiled.errors
    show_findings(errors, document.name, document.lines)
    click.echo(f"Found {count(len(errors), 'error')}; no plan was written.", err=True)
    return ExitCode.FAILED
