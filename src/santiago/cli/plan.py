"""`santiago plan`: compile a document, show the plan, and write it into the folder of its run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from santiago.app.job import Job
from santiago.app.start.leaks import refuse_secrets
from santiago.app.start.lineup import named, worker_flags
from santiago.app.start.units import asked_for, with_units
from santiago.artifacts import repository
from santiago.artifacts.files import read_bytes, read_text, write_whole
from santiago.artifacts.names import SETTINGS
from santiago.cli.folder import document_of
from santiago.cli.options import Reading, agent_option, reading_options
from santiago.cli.view.errors import show_findings
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import run_id_from
from santiago.contract.plan import Plan
from santiago.contract.policy import AS_PROPOSED, RunInput
from santiago.contract.reasons import ExitCode, Reason
from santiago.planner.compile import Compilation, compile_plan
from santiago.planner.source import Options, Source
from santiago.util.text import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.session import Depth


@click.command("plan")
@click.argument("subject", required=False, metavar="[PRD]")
@click.option("--input", "run_input", type=click.Path(path_type=Path), help="A run-input.json instead of a document.")
@click.option("--out-dir", type=click.Path(path_type=Path), help="Where to write; default .santiago/runs/<run id>.")
@click.option("--check", is_flag=True, help="Write nothing; exit 3 if the plan would change.")
@reading_options
@click.option(
    "--yes", is_flag=True, help="Take the units of a proposal as they are; `execute` and `resume` ask no more."
)
@click.option("--findings", is_flag=True, help="Show every finding, and the whole account of the document.")
@click.option(
    "--with",
    "agents",
    multiple=True,
    metavar="AGENT[,AGENT…]",
    help="Have these agents plan it, in a session that you review.",
)
@agent_option("The agent that is to carry the plan out; a sentence, which only agents can plan, it plans as well.")
@click.option("--model", metavar="NAME", help="The model, by the agent's own name for it.")
@click.option("--playbook", type=click.Path(path_type=Path), help="What the scripted agent plays.")
@click.option("--chunks-target", type=click.IntRange(1), metavar="N", help="With --with: about this many chunks.")
@click.option("--stories-target", type=click.IntRange(1), metavar="N", help="With --with: about this many stories.")
@click.option(
    "--depth", type=click.Choice(("shallow", "medium", "deep")), help="With --with: how finely to divide the work."
)
@click.option("--trust-project", is_flag=True, help="With --with: trust the settings that come with the repository.")
@click.option("--graph", is_flag=True, help="Print the dependency graph as Mermaid text instead of the plan.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    subject: str | None, run_input: Path | None, out_dir: Path | None, check: bool, reading: Reading, yes: bool, findings: bool,
    agents: tuple[str, ...], agent: str | None, model: str | None, playbook: Path | None, chunks_target: int | None,
    stories_target: int | None, depth: Depth | None, trust_project: bool, graph: bool, as_json: bool,
) -> int:  # fmt: skip
    """Compile PRD into a plan; the same document always gives the same plan. With --with, agents plan it, or plan a sentence.

    \b
    santiago plan docs/prd.md                    compile, show, and write it for `execute`
    santiago plan docs/prd.md --check            has the plan changed? (exit 3)
    santiago plan --input run-input.json --out-dir DIR       for programs
    santiago plan --with claude,codex "Add refunds"          a planning session; `santiago review` goes on with it
    """
    if agents or (agent and _is_sentence(subject)):
        from santiago.app.planning.begin import Wanted
        from santiago.cli.planning import plan_with
        from santiago.contract.session import SizeWishes

        size = SizeWishes(chunks=chunks_target, stories=stories_target, depth=depth)
        planners = agents or (agent or "",)
        wanted = Wanted(subject=subject or "", agents=planners, worker=agent, model=model, playbook=playbook, size=size)
        return plan_with(wanted, trusted=trust_project, as_json=as_json)
    job = _job(document_of(Path(subject)) if subject else None, run_input, out_dir)
    if agent or model or playbook:
        worker = named(job.run_input.agent, agent, playbook, model)
        job = job._replace(run_input=replace(job.run_input, agent=worker), worker=worker_flags(agent, playbook, model))
    against = reading.against
    try:
        text = read_text(job.document)
        refuse_secrets(text.encode(), job.name)
        refuse_secrets(codec.canonical(job.run_input), "run-input.json")
        units = reading.units or asked_for(job.run_input)
        source = Source(text, path=job.name, options=Options(units=units))
        kept = against or _kept_plan(job, anywhere=check and out_dir is None)
        old = old_plan(kept, named=against is not None)
        plainly = reading == Reading() and not yes
        job = job._replace(compared=kept if old else None, is_read_plainly=plainly, findings=findings)
        if units or yes:
            job = job._replace(run_input=with_units(job.run_input, units or AS_PROPOSED))
        compiled = compile_plan(source, strict=reading.strict, against=old if against else None)
    except SantiagoError as error:
        _failed(job, error.message, error.reason or Reason.INVALID_INPUT, write=not check)
        raise
    show = _json if as_json else _mermaid if graph else _text
    if compiled.plan is None:
        _failed(job, compiled.errors[0].message, Reason.PLAN_GENERATION_FAILED, write=not check)
        return refuse(compiled, job, source, as_json=as_json)
    return _finish(roomy(job, compiled.plan), compiled, compiled.plan, source, old, check=check, show=show)


def _is_sentence(subject: str | None) -> bool:
    from santiago.app.planning.begin import is_sentence

    return subject is not None and is_sentence(subject)


def roomy(job: Job, plan: Plan, *, tests_first: bool = False) -> Job:
    """Return a job whose limit of attempts is twice what its stories need, if the default is too low and nobody set it."""
    limits = job.run_input.limits
    least = len(plan.stories) * (2 if tests_first or job.run_input.policy.tests_first else 1)
    if job.from_program or least <= limits.run_max_attempts:
        return job
    from santiago.app.config import is_named

    if is_named(Path(job.run_input.repo_path), "limits.run_max_attempts"):
        return job
    limits = replace(limits, run_max_attempts=2 * least)
    return job._replace(run_input=replace(job.run_input, limits=limits), fitted=True)


def _finish(
    job: Job, compiled: Compilation, plan: Plan, source: Source, old: Plan | None, *, check: bool,
    show: Callable[[Compilation, Plan, Source, Job, str], None],
) -> int:  # fmt: skip
    """Write the plan unless it is only checked, show it, and return the exit code, which tells whether it changed."""
    changed = old is None or old != plan  # compared as a whole, since an edited plan keeps its digest
    if check:
        show(compiled, plan, source, job, "would change" if changed else "is unchanged")
        return ExitCode.WOULD_CHANGE if changed else ExitCode.OK
    if not job.from_program and job.out_dir.is_relative_to(Path(job.run_input.repo_path) / ".santiago"):
        repository.keep_out_of_git(Path(job.run_input.repo_path) / ".santiago")
    repository.refuse_linked(job.out_dir)
    write_whole(job.out_dir / "plan.json", codec.canonical(plan))
    write_whole(job.out_dir / "run-input.json", codec.canonical(job.run_input))
    if job.settings is not None:
        write_whole(job.out_dir / SETTINGS, codec.canonical(job.settings))
    _make_known(job)
    if not job.from_program:
        from santiago.cli.start.trust import note_basis

        note_basis(Path(job.run_input.repo_path), job.run_input.run_id)
    show(compiled, plan, source, job, "written" if changed else "unchanged")
    return ExitCode.OK


def _make_known(job: Job) -> None:
    """Register the plan, so that `status` and `resume` find it like a run."""
    from santiago.artifacts import registry
    from santiago.util.clock import SystemClock

    common = registry.common_git_dir(Path(job.run_input.repo_path))
    if common is not None and job.run_input.run_id is not None and job.is_at_home:
        registry.register(common, job.run_input.run_id, job.out_dir, SystemClock().utc())


def _job(prd: Path | None, run_input: Path | None, out_dir: Path | None) -> Job:
    if (prd is None) == (run_input is None):
        raise click.UsageError("Name one document, or a run input with --input.")
    if run_input is not None:
        if out_dir is None:
            raise click.UsageError("--input needs --out-dir.")
        return _job_from_input(run_input, out_dir)
    assert prd is not None
    return job_from_document(prd, out_dir)


def job_from_document(prd: Path, out_dir: Path | None) -> Job:
    document = repository.resolved(prd)
    found = repository.find_root(document)
    root = found or document.parent
    name = repository.name_inside(document, found)
    known = out_dir or repository.unstarted_run(root, name)
    out_dir = repository.resolved(known or root / repository.RUNS / _fresh_run_id(root))
    if (out_dir / "progress.ndjson").exists():
        from santiago.app.paths import typed

        raise SantiagoError(
            Kind.INPUT,
            "this run has already begun; its plan is frozen",
            where=str(out_dir),
            hint=f"`santiago resume {typed(out_dir)}` goes on with it; a new plan needs another --out-dir.",
            reason=Reason.INVALID_INPUT,
        )
    from santiago.app.config import run_input_defaults, values_of

    run_input = replace(
        run_input_defaults(root),
        run_id=_free_id(out_dir, root) if known and found else run_id_from(out_dir.name),
        repo_path=str(root),
        prd_path=document.relative_to(root).as_posix(),
    )
    return Job(document, name, out_dir, run_input, settings=values_of(run_input))


def _free_id(out_dir: Path, root: Path) -> str:
    from santiago.app.start.identity import derived_id

    return derived_id(out_dir, root)


def _fresh_run_id(root: Path) -> str:
    from santiago.artifacts import registry
    from santiago.util.clock import SystemClock

    common = registry.common_git_dir(root)
    return repository.new_run_id(
        root, SystemClock().utc(), lambda name: common is not None and registry.place_of(common, name) is not None
    )


def _job_from_input(path: Path, out_dir: Path) -> Job:
    out_dir = repository.resolved(out_dir)
    try:
        run_input = codec.decode(RunInput, read_bytes(path, 2**20), str(path))
        root, document = _places(path, run_input)
    except SantiagoError as error:
        _tell(out_dir, None, error.message, Reason.INVALID_INPUT)
        raise
    return Job(document, repository.name_inside(document, root), out_dir, run_input, source=path)


def _places(path: Path, run_input: RunInput) -> tuple[Path, Path]:
    """Return the repository and the document that a run input names. The document must be inside the repository."""
    root = repository.resolved(path.parent / run_input.repo_path)
    document = repository.resolved(root / run_input.prd_path)
    if not document.is_relative_to(root):
        message = f"prd_path leads outside repo_path: {run_input.prd_path}"
        hint = "Name a document inside the repository."
        raise SantiagoError(Kind.INPUT, message, where=str(path), hint=hint, reason=Reason.INVALID_INPUT)
    return root, document


def _kept_plan(job: Job, *, anywhere: bool) -> Path | None:
    """Return the plan in the out-dir; if there is none, with `anywhere`, that of the document's newest run."""
    path = job.out_dir / "plan.json"
    if path.is_file() or not anywhere:
        return path if path.is_file() else None
    return repository.newest_plan(Path(job.run_input.repo_path), job.run_input.prd_path)


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
        _tell(job.out_dir, job.run_input.run_id, message, reason)


def _tell(out_dir: Path, run_id: str | None, message: str, reason: Reason) -> None:
    from santiago.app.refusal import write_refusal

    write_refusal(out_dir, run_id, message, reason)


def refuse(compiled: Compilation, job: Job, source: Source, *, as_json: bool) -> int:
    if as_json:
        body = {
            "error": {
                "message": count(len(compiled.errors), "error"),
                "reason": Reason.PLAN_GENERATION_FAILED,
                "where": job.name,
            },
            "findings": compiled.findings,
        }
        click.echo(codec.canonical(body).decode(), nl=False)
        return ExitCode.FAILED
    errors = compiled.errors
    show_findings(errors, job.name, source.text.split("\n"))
    click.echo(f"Found {count(len(errors), 'error')}; no plan was written.", err=True)
    return ExitCode.FAILED


def _json(compiled: Compilation, plan: Plan, source: Source, job: Job, outcome: str) -> None:
    from santiago.report.plan import as_document

    click.echo(codec.canonical(as_document(compiled, plan, job, outcome)).decode(), nl=False)


def _mermaid(compiled: Compilation, plan: Plan, source: Source, job: Job, outcome: str) -> None:
    from santiago.report.plan import mermaid

    click.echo(mermaid(plan))


def _text(compiled: Compilation, plan: Plan, source: Source, job: Job, outcome: str) -> None:
    from santiago.cli.view.plan_view import show

    show(compiled, plan, source.text.split("\n"), job, outcome)
