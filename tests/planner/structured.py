"""What the tests of the structured readers share: read a document, and look at it briefly."""

import json
from textwrap import dedent
from typing import Any

from santiago.planner import reading
from santiago.planner.draft import Document, Unit
from santiago.planner.source import Options, Source


def read(text: str | dict[str, Any] | list[Any], *, units: str | None = None) -> Document:
    found = look(text, units=units)
    assert found is not None
    return found


def look(text: str | dict[str, Any] | list[Any], *, units: str | None = None) -> Document | None:
    written = dedent(text) if isinstance(text, str) else json.dumps(text, indent=1, ensure_ascii=False)
    return reading.by_readers(Source(written, options=Options(units=units)))


def codes(document: Document, level: str | None = None) -> list[str]:
    return [finding.code for finding in document.findings if level in (None, finding.level)]


def targets(unit: Unit) -> list[str]:
    return [dep.target for dep in unit.deps if dep.carrier != "prose"]
