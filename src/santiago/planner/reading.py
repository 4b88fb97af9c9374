"""Read a document: refuse templates and the like, ask the readers, and explain the refusal if no reader finds a unit.

A reader is one function `(source) -> Document | None`. It looks for the evidence of its format in the content, never in
the file name alone, and returns None if there is none. The first reader that returns a document is used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from santiago.contract.plan import Finding
from santiago.planner import findings, refusals
from santiago.planner.draft import PLANNED, Document, DocumentError
from santiago.planner.source import Source


def read_document(source: Source) -> Document:
    """Return the document as its reader understood it. If it is refused, its findings hold the error."""
    return _with_unreadable_as_finding(source, _by_a_reader)


def read_plan(source: Source) -> Document:
    """Return a plan.json that is to run unchanged. Its findings include what planning it again would correct."""
    from santiago.planner.readers import strict_json

    return _with_unreadable_as_finding(source, strict_json.as_it_is)


def _by_a_reader(source: Source) -> Document:
    refusal = refusals.conflict(source) or refusals.no_plan(source) or refusals.template(source)
    if refusal is not None:
        return _refused(source, refusal)
    return by_readers(source) or _refused(source, refusals.nothing_found(source))


def _with_unreadable_as_finding(source: Source, read: Callable[[Source], Document]) -> Document:
    try:
        return read(source)
    except DocumentError as error:
        unreadable = findings.error("unreadable", error.line, error.message, error.hint)
        return Document(format=source.looks_like, findings=[unreadable])


def _refused(source: Source, finding: Finding) -> Document:
    title = source.title if source.looks_like == "markdown" else ""
    return Document(format=source.looks_like, title=title, findings=[finding])


class Format(NamedTuple):
    """One format: its reader, and what is known before the document is read."""

    reader: str
    """`module` or `module.function`."""
    marks: tuple[str, ...] = ("",)
    """A document of this format contains one of these texts. Without them the reader is not even loaded."""
    units: str = ""
    """What the units are, for the option `--units`: a `list`, `boxes`, or `any` list."""
    known: bool = True
    """A tool or a convention with a name writes it, so that there is no doubt about which list is the work."""


FORMATS: dict[str, tuple[Format, ...]] = {
    "csv": (Format("tickets"),),
    "json": (
        Format("tickets"),
        Format("strict_json.plan"),
        Format("strict_json.project"),
        Format("strict_json.house"),
        Format("records.taskmaster"),
        Format("records.beads"),
        Format("records", known=False),
    ),
    "gherkin": (Format("gherkin"),),
    "yaml": (Format("records.yaml", known=False),),
    "markdown": (
        Format("gsd.plan", ("\nplan:",)),
        Format("gsd.roadmap", ("Phase ",)),
        Format("issue.bmad_quick", ("<frozen-after-approval",)),
        Format("issue"),
        Format("plans.tasks"),
        Format("task_lists.openspec_delta"),
        Format("task_lists.gsd", ("`est:", "`risk:", "`depends:"), "boxes"),
        Format("task_lists.speckit", ("]",), "boxes"),
        Format("task_lists.kiro", ("]",), "boxes"),
        Format("task_lists.openspec", ("]",), "boxes"),
        Format("unit_lists.kiro", units="list"),
        Format("unit_lists.speckit", units="list"),
        Format("fenced_stories", ("```", "~~~")),
        Format("unit_lists.bmad", units="list"),
        Format("unit_lists.ralph", ("## US-",), "list"),
        Format("unit_lists", units="any", known=False),
    ),
}
"""Special formats come before general ones: a spec-kit task list is also a checklist."""

_BOXES, _TASKS = ("boxes", "any"), ("list", "boxes", "any")
_ASKED = {"box": _BOXES, "boxes": _BOXES, "task": _TASKS, "tasks": _TASKS}
"""The kinds of format that a value of `--units` asks for. Any other value is the name of a `list`."""


def by_readers(source: Source) -> Document | None:
    """Return the document of the first reader that finds units to plan, or None."""
    only_put_off: Document | None = None
    for found in _asked(source):
        # Imported one by one: readers that are never tried cost no time.
        module, _, function = found.reader.partition(".")
        document: Document | None
        document = getattr(import_module(f"santiago.planner.readers.{module}"), function or "read")(source)
        if document is None:
            continue
        document.known = document.known or found.known
        document.rivals = () if document.known else document.rivals
        if not document.units or any(unit.status in PLANNED for unit in document.units):
            return document
        only_put_off = only_put_off or document  # used only if no other reader finds work to do
    return only_put_off


def _asked(source: Source) -> list[Format]:
    """Return the formats that the user asks for and whose marks are in the text."""
    units = source.options.units
    formats = [found for found in FORMATS[source.looks_like] if any(mark in source.text for mark in found.marks)]
    if units is None or source.looks_like != "markdown":
        return formats
    wanted = _ASKED.get(units.lower(), ("list", "any"))
    return [found for kind in wanted for found in formats if found.units == kind]
