"""The readers, one file per format, and the order in which they are asked.

A reader is one function `read(source) -> Document | None`: it looks for the evidence of its format in the content
(never in the file name alone) and returns None where there is none. The first that answers has the document.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from santiago.planner.draft import PLANNED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from santiago.planner.draft import Document
    from santiago.planner.source import Source

ORDER: dict[str, tuple[str, ...]] = {
    "csv": ("tickets",),
    "json": ("tickets", "santiago_plan", "project_plan", "house_json", "taskmaster_json", "records.beads", "records"),
    "gherkin": ("gherkin",),
    "yaml": ("records.yaml",),
    "markdown": (
        "gsd_plan",
        "gsd_roadmap",
        "issue",
        "house.tasks",
        "openspec_delta",
        "task_lists.gsd",
        "task_lists.speckit",
        "task_lists.kiro",
        "task_lists.openspec",
        "unit_lists.kiro",
        "unit_lists.speckit",
        "fenced_stories",
        "unit_lists.bmad",
        "plan_steps",
        "house.criteria",
        "prd",
        "requirement-tables",
        "user-stories",
        "checklist",
        "numbered-requirements",
        "status-tables",
        "fallback",
    ),
}
"""More particular formats first: a spec-kit task list is also a checklist."""


_PLAIN = ("prd", "requirement-tables", "user-stories", "numbered-requirements", "status-tables")
"""Formats that are nothing but a list of units; `unit_lists` knows the rules by which each was found."""
_LISTS = ("unit_lists.kiro", "unit_lists.speckit", "unit_lists.bmad", *_PLAIN)
_BOXES = ("task_lists.gsd", "task_lists.speckit", "task_lists.kiro", "task_lists.openspec", "plan_steps", "checklist")
_CHOSEN: dict[str, tuple[str, ...]] = {
    "box": _BOXES,
    "boxes": _BOXES,
    "task": (*_LISTS, *_BOXES),
    "tasks": (*_LISTS, *_BOXES),
    "ac": ("house.criteria",),
    "criteria": ("house.criteria",),
}
"""Who is asked where the user names the list to plan from; any other name is asked of the readers of lists."""


_MARKS: dict[str, tuple[str, ...]] = {
    "gsd_plan": ("\nplan:",),
    "gsd_roadmap": ("Phase ",),
    "task_lists.gsd": ("`est:", "`risk:", "`depends:"),
    "task_lists.speckit": ("]",),
    "task_lists.kiro": ("]",),
    "task_lists.openspec": ("]",),
    "checklist": ("]",),
    "fenced_stories": ("```", "~~~"),
}
"""Characters without which a format cannot be there: its reader is not even loaded."""


def read(source: Source) -> Document | None:
    """Return the document as its format's reader understood it, or None where no reader found a unit."""
    put_off: Document | None = None
    for reader in _readers(name for name in _asked(source) if _may_be(source, name)):
        document = reader(source)
        if document is None:
            continue
        if not document.units or any(unit.status in PLANNED for unit in document.units):
            return document
        put_off = put_off or document  # where another reader finds work to do, what was put off is not the list
    return put_off


def _asked(source: Source) -> tuple[str, ...]:
    units = source.options.units
    if units is None or source.looks_like != "markdown":
        return ORDER[source.looks_like]
    return _CHOSEN.get(units.lower(), _LISTS)


def _may_be(source: Source, name: str) -> bool:
    return any(mark in source.text for mark in _MARKS.get(name, ("",)))


def _readers(names: Iterable[str]) -> Iterator[Callable[[Source], Document | None]]:
    # Imported one by one, so that a document pays only for the readers that looked at it.
    for name in names:
        if name in _PLAIN:
            from santiago.planner.readers.unit_lists import of_rule

            yield partial(of_rule, name)
        else:
            module, _, function = name.partition(".")
            yield getattr(import_module(f"santiago.planner.readers.{module}"), function or "read")
