"""Reading a document: refuse a template, ask the readers, and say what was looked for where none of them answers."""

from __future__ import annotations

from collections.abc import Callable

from santiago.contract.plan import Finding
from santiago.planner import findings, readers, refusals
from santiago.planner.draft import Document
from santiago.planner.errors import DocumentError
from santiago.planner.source import Source


def read_document(source: Source) -> Document:
    """Return the document as its reader understood it; where it is refused, its findings hold the error."""
    return _guarded(source, _chosen)


def read_plan(source: Source) -> Document:
    """Return a plan.json that is to be carried out as it stands, with all that planning it again would put right."""
    from santiago.planner.readers import santiago_plan

    return _guarded(source, santiago_plan.as_it_is)


def _chosen(source: Source) -> Document:
    refusal = refusals.conflict(source) or refusals.page(source) or refusals.template(source)
    if refusal is not None:
        return _refused(source, refusal)
    return readers.read(source) or _refused(source, refusals.nothing_found(source))


def _guarded(source: Source, read: Callable[[Source], Document]) -> Document:
    try:
        return read(source)
    except DocumentError as error:
        unreadable = findings.error("unreadable", error.line, error.message, error.hint)
        return Document(format=source.looks_like, findings=[unreadable])


def _refused(source: Source, finding: Finding) -> Document:
    title = source.title if source.looks_like == "markdown" else ""
    return Document(format=source.looks_like, title=title, findings=[finding])
