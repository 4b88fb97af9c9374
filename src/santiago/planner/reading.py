"""Read a document: refuse templates and the like, ask the readers, and explain the refusal if no reader finds a unit."""

from __future__ import annotations

from collections.abc import Callable

from santiago.contract.plan import Finding
from santiago.planner import findings, readers, refusals
from santiago.planner.draft import Document, DocumentError
from santiago.planner.source import Source


def read_document(source: Source) -> Document:
    """Return the document as its reader understood it. If it is refused, its findings hold the error."""
    return _with_unreadable_as_finding(source, _by_a_reader)


def read_plan(source: Source) -> Document:
    """Return a plan.json that is to run unchanged. Its findings include what planning it again would correct."""
    from santiago.planner.readers import santiago_plan

    return _with_unreadable_as_finding(source, santiago_plan.as_it_is)


def _by_a_reader(source: Source) -> Document:
    refusal = refusals.conflict(source) or refusals.page(source) or refusals.template(source)
    if refusal is not None:
        return _refused(source, refusal)
    return readers.read(source) or _refused(source, refusals.nothing_found(source))


def _with_unreadable_as_finding(source: Source, read: Callable[[Source], Document]) -> Document:
    try:
        return read(source)
    except DocumentError as error:
        unreadable = findings.error("unreadable", error.line, error.message, error.hint)
        return Document(format=source.looks_like, findings=[unreadable])


def _refused(source: Source, finding: Finding) -> Document:
    title = source.title if source.looks_like == "markdown" else ""
    return Document(format=source.looks_like, title=title, findings=[finding])
