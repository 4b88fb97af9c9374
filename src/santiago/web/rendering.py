"""The one environment of templates. Every value is escaped: titles, documents and what agents say come from anybody."""

from __future__ import annotations

from functools import cache
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from santiago.report.measures import spoken
from santiago.util.text import count
from santiago.web import drawing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from santiago.report.page import Line


@cache
def environment() -> Environment:
    loader = PackageLoader("santiago.web")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"spoken": spoken, "moment": moment, "counted": count, "changes": changes, "blocks": blocks}
    made.globals |= {"graph_of": drawing.graph, "timeline_of": drawing.timeline}
    return made


def render(template: str, values: Mapping[str, Any]) -> str:
    return environment().get_template(template).render(values)


def style() -> str:
    """Return the style sheet of all pages."""
    return (resources.files("santiago.web") / "static" / "style.css").read_text(encoding="utf-8")


def moment(utc: str) -> str:
    """Return a time of a log for people, in UTC, so that a page is the same wherever it is made."""
    return f"{utc[:10]} {utc[11:19]} UTC" if utc else ""


def blocks(lines: Iterable[Line]) -> Iterator[tuple[str, list[Line]]]:
    """Yield lines in groups that belong together: headings, facts with their labels, text, and what stands in columns."""
    return ((kind, list(same)) for kind, same in groupby(lines, _block) if kind)


def _block(line: Line) -> str:
    if not line.text:
        return ""
    if line.tone == "head" and not line.verbatim:
        return "head"
    if line.label:
        return "facts"
    return "columns" if line.verbatim or line.text.startswith("  ") else "text"


def changes(patch: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a patch that belong together, each with its class."""
    for kind, lines in groupby(patch.splitlines(), _kind):
        yield kind, "\n".join(lines) + "\n"


def _kind(line: str) -> str:
    if line.startswith(("diff ", "index ", "+++", "---", "new file", "deleted file")):
        return "file"
    return {"+": "add", "-": "del"}.get(line[:1], "")
