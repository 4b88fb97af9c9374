"""Reading a document: refuse a template, ask the readers, and say what was looked for where none of them answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.plan import Finding
from santiago.planner import readers, refusals
from santiago.planner.draft import Document
from santiago.planner.errors import DocumentError
from santiago.planner.findings import error
from santiago.planner.markdown.outline import TooDeepError

if TYPE_CHECKING:
    from collections.abc import Callable

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
        return Document(format=source.looks_like, findings=[_unreadable(error.line, error.message, error.hint)])
    except TooDeepError as error:
        return Document(format="markdown", findings=[_unreadable(error.line, str(error), "Flatten the list.")])


def _refused(source: Source, finding: Finding) -> Document:
    title = source.title if source.looks_like == "markdown" else ""
    return Document(format=source.looks_like, title=title, findings=[finding])


def _unreadable(line: int, message: str, hint: str) -> Finding:
    return error("unreadable", line, message, hint)
