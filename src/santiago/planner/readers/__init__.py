"""The formats, and the order in which their readers are asked.

A reader is one function `(source) -> Document | None`: it looks for the evidence of its format in the content (never in
the file name alone) and returns None where there is none. The first that answers has the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import NamedTuple

from santiago.planner.draft import PLANNED, Document
from santiago.planner.source import Source


class Format(NamedTuple):
    """One format: who reads it, and what is known before it is read."""

    reader: str
    """`module` or `module.function`; a format that is nothing but a list of units has a name with a hyphen, or `prd`."""
    marks: tuple[str, ...] = ("",)
    """Characters without one of which the format cannot be there: its reader is not even loaded."""
    units: str = ""
    """What its units are, where `--units` may ask for it: a `list`, `boxes`, `criteria`."""


FORMATS: dict[str, tuple[Format, ...]] = {
    "csv": (Format("tickets"),),
    "json": (
        Format("tickets"),
        Format("santiago_plan"),
        Format("project_plan"),
        Format("house_json"),
        Format("taskmaster_json"),
        Format("records.beads"),
        Format("records"),
    ),
    "gherkin": (Format("gherkin"),),
    "yaml": (Format("records.yaml"),),
    "markdown": (
        Format("gsd_plan", ("\nplan:",)),
        Format("gsd_roadmap", ("Phase ",)),
        Format("issue"),
        Format("house.tasks"),
        Format("openspec_delta"),
        Format("task_lists.gsd", ("`est:", "`risk:", "`depends:"), "boxes"),
        Format("task_lists.speckit", ("]",), "boxes"),
        Format("task_lists.kiro", ("]",), "boxes"),
        Format("task_lists.openspec", ("]",), "boxes"),
        Format("unit_lists.kiro", units="list"),
        Format("unit_lists.speckit", units="list"),
        Format("fenced_stories", ("```", "~~~")),
        Format("unit_lists.bmad", units="list"),
        Format("plan_steps", units="boxes"),
        Format("house.criteria", units="criteria"),
        Format("prd", units="list"),
        Format("requirement-tables", units="list"),
        Format("user-stories", units="list"),
        Format("checklist", ("]",), "boxes"),
        Format("numbered-requirements", units="list"),
        Format("status-tables", units="list"),
        Format("fallback"),
    ),
}
"""More particular formats first: a spec-kit task list is also a checklist."""

_ASKED = {
    **dict.fromkeys(("box", "boxes"), ("boxes",)),
    **dict.fromkeys(("task", "tasks"), ("list", "boxes")),
    **dict.fromkeys(("ac", "criteria"), ("criteria",)),
}
"""What is asked for where the user names the list to plan from; any other name is one of a list."""


def read(source: Source) -> Document | None:
    """Return the document as its format's reader understood it, or None where no reader found a unit."""
    put_off: Document | None = None
    for reader in _readers(found for found in _asked(source) if any(mark in source.text for mark in found.marks)):
        document = reader(source)
        if document is None:
            continue
        if not document.units or any(unit.status in PLANNED for unit in document.units):
            return document
        put_off = put_off or document  # where another reader finds work to do, what was put off is not the list
    return put_off


def _asked(source: Source) -> list[Format]:
    formats, units = FORMATS[source.looks_like], source.options.units
    if units is None or source.looks_like != "markdown":
        return list(formats)
    wanted = _ASKED.get(units.lower(), ("list",))
    return [found for kind in wanted for found in formats if found.units == kind]


def _readers(formats: Iterable[Format]) -> Iterator[Callable[[Source], Document | None]]:
    # Imported one by one, so that a document pays only for the readers that looked at it.
    for found in formats:
        if found.reader == "prd" or "-" in found.reader:
            from santiago.planner.readers.unit_lists import of_rule

            yield partial(of_rule, found.reader)
        else:
            module, _, function = found.reader.partition(".")
            yield getattr(import_module(f"santiago.planner.readers.{module}"), function or "read")
