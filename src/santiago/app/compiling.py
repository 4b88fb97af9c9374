"""From a document to a plan: which document is meant, what is read of it, and where its plan is written."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from santiago.app.config import is_named, run_input_defaults, values_of
from santiago.app.paths import shortest, typed
from santiago.app.start.identity import derived_id, fresh_run_id
from santiago.app.start.leaks import refuse_secrets
from santiago.artifacts import run_locations
from santiago.artifacts.files import read_bytes, read_text
from santiago.contract import codec
from santiago.contract.counting import few
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import run_id_from
from santiago.contract.plan import Plan
from santiago.contract.policy import AS_PROPOSED, RunInput
from santiago.contract.reasons import Reason
from santiago.planner.compile import Compilation, compile_plan
from santiago.planner.source import Options, Source

_MAIN = ("tasks.md", "epics.md", "roadmap.md", "prd.md", "prd.json", "tasks.json", "requirements.md", "spec.md")
"""Names that spec-kit, Kiro, OpenSpec, BMAD, GSD and people use. A list of tasks comes before its sources."""
_ENDINGS = frozenset({".md", ".markdown", ".json", ".jsonl", ".yaml", ".yml", ".feature", ".csv"})
_MOST = 1_000
"""How many entries of a folder are looked at."""


class Taken(NamedTuple):
    """A document, and the other documents of the folder that it was taken from."""

    document: Path
    beside: tuple[str, ...] = ()


def document_in(path: Path) -> Taken:
    """Return the document at a path: the file itself, the main document of a folder, or that of its only subfolder with one."""
    if not path.is_dir():
        return Taken(path)
    if (taken := _main(path)) is not None:
        return taken
    inner = [found for folder in _entries(path) if folder.is_dir() and (found := _main(folder)) is not None]
    if len(inner) == 1:
        return inner[0]
    offered = [one.document for one in inner] or [entry for entry in _entries(path) if _is_document(entry)]
    names = few([shortest(document) for document in offered], 8)
    message = f"it is a folder with several documents: {names}" if offered else "it is a folder without a document"
    hint = f"Name one of them, such as {typed(offered[0])}." if offered else "Name a file."
    raise SantiagoError(Kind.INPUT, message, where=shortest(path), hint=hint, reason=Reason.INVALID_INPUT)


def _main(folder: Path) -> Taken | None:
    """Return the document of a folder by its name, or the only one that there is."""
    documents = [entry for entry in _entries(folder) if _is_document(entry)]
    named = {document.name.lower(): document for document in documents}
    found = next((named[name] for name in _MAIN if name in named), None)
    alike = [document for document in documents if "prd" in document.stem.lower()] or documents
    if found is None and len(alike) == 1:
        found = alike[0]
    return Taken(found, tuple(one.name for one in documents if one != found)) if found else None


def _entries(folder: Path) -> list[Path]:
    return sorted(islice(folder.iterdir(), _MOST))


def _is_document(path: Path) -> bool:
    return path.suffix.lower() in _ENDINGS and path.stem.lower() != "readme" and path.is_file()


class Job(NamedTuple):
    """What to read, where to write, and the run input that goes with it."""

    document: Path
    name: str
    """The plan's name for the document."""
    out_dir: Path
    run_input: RunInput
    settings: dict[str, Any] | None = None
    """The settings from files and variables; empty if a program gave the input."""
    source: Path | None = None
    """The file of the run input, if one was given."""
    compared: Path | None = None
    """The earlier plan to compare with, if there is one."""
    is_read_plainly: bool = True
    """Whether no option says how to read the document, so that `santiago run` makes the same plan of it."""
    fitted: bool = False
    """Whether the attempts of the run were fitted to the number of stories."""

    worker: str = ""
    """The options that name the agent, as they were typed."""

    findings: bool = False
    """Whether all findings are shown, and the whole account."""

    @property
    def from_program(self) -> bool:
        """Whether a program called with --input. If so, a failure leaves a result.json."""
        return self.source is not None

    @property
    def is_at_home(self) -> bool:
        """Whether the out-dir is in the usual place, so that its name is enough to find it."""
        return self.out_dir.parent == Path(self.run_input.repo_path) / run_locations.RUNS


class Document(NamedTuple):
    """A document as it was read."""

    text: str
    name: str
    """The plan's name for it."""

    @property
    def lines(self) -> list[str]:
        return Source(self.text).text.split("\n")

    def compiled(self, units: str | None, *, strict: bool = False, against: Plan | None = None) -> Compilation:
        """Compile it. `units` says which list is the work, and the ids of the plan `against` are kept."""
        return compile_plan(
            Source(self.text, path=self.name, options=Options(units=units)), strict=strict, against=against
        )


def read_document(path: Path, name: str) -> Document:
    """Read a document to compile it; raise if it holds a secret, since plans are stored unchanged."""
    document = Document(read_text(path), name)
    refuse_secrets(document.text.encode(), name)
    return document


def asked_for(run_input: RunInput) -> str | None:
    """Return the list that a run input says to plan; None if it leaves that to the reader."""
    units = run_input.policy.units
    return None if units in ("", AS_PROPOSED) else units


def with_units(run_input: RunInput, units: str) -> RunInput:
    """Return the run input with the list that a person confirmed."""
    return replace(run_input, policy=replace(run_input.policy, units=units))


def job_of(prd: Path, out_dir: Path | None) -> Job:
    document = run_locations.resolved(prd)
    found = run_locations.find_root(document)
    root = found or document.parent
    name = run_locations.name_inside(document, found)
    known = out_dir or run_locations.unstarted_run(root, name)
    out_dir = run_locations.resolved(known or root / run_locations.RUNS / fresh_run_id(root))
    if (out_dir / "progress.ndjson").exists():
        raise SantiagoError(
            Kind.INPUT,
            "this run has already begun; its plan is frozen",
            where=str(out_dir),
            hint=f"`santiago resume {typed(out_dir)}` goes on with it; a new plan needs another --out-dir.",
            reason=Reason.INVALID_INPUT,
        )
    run_input = replace(
        run_input_defaults(root),
        run_id=derived_id(out_dir, root) if known and found else run_id_from(out_dir.name),
        repo_path=str(root),
        prd_path=document.relative_to(root).as_posix(),
    )
    return Job(document, name, out_dir, run_input, settings=values_of(run_input))


def roomy(job: Job, plan: Plan, *, tests_first: bool = False) -> Job:
    """Return a job whose limit of attempts is twice what its stories need, if the default is too low and nobody set it."""
    limits = job.run_input.limits
    least = len(plan.stories) * (2 if tests_first or job.run_input.policy.tests_first else 1)
    if job.from_program or least <= limits.run_max_attempts:
        return job
    if is_named(Path(job.run_input.repo_path), "limits.run_max_attempts"):
        return job
    limits = replace(limits, run_max_attempts=2 * least)
    return job._replace(run_input=replace(job.run_input, limits=limits), fitted=True)


def job_of_input(path: Path, out_dir: Path) -> Job:
    out_dir = run_locations.resolved(out_dir)
    try:
        run_input = codec.decode(RunInput, read_bytes(path, 2**20), str(path))
        root, document = _places(path, run_input)
    except SantiagoError as error:
        from santiago.app.refusal import write_refusal  # which only a program reads

        write_refusal(out_dir, None, error.message, Reason.INVALID_INPUT)
        raise
    return Job(document, run_locations.name_inside(document, root), out_dir, run_input, source=path)


def _places(path: Path, run_input: RunInput) -> tuple[Path, Path]:
    """Return the repository and the document that a run input names. The document must be inside the repository."""
    root = run_locations.resolved(path.parent / run_input.repo_path)
    document = run_locations.resolved(root / run_input.prd_path)
    if not document.is_relative_to(root):
        message = f"prd_path leads outside repo_path: {run_input.prd_path}"
        hint = "Name a document inside the repository."
        raise SantiagoError(Kind.INPUT, message, where=str(path), hint=hint, reason=Reason.INVALID_INPUT)
    return root, document
