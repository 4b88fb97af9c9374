"""YAML lists of stories, features or requirements, also where the YAML is not quite valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.plan import Finding
from santiago.planner.findings import warning
from santiago.planner.structured import yaml_repair
from santiago.planner.structured.records.document import read_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.planner.draft import Document
    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    root, repaired = yaml_repair.parse(source.text)
    document = read_tree(root, "yaml", "field", source.options)
    if document is not None and repaired:
        document.findings.append(repaired_lines(repaired))
    return document


def repaired_lines(lines: Sequence[int]) -> Finding:
    """Return the finding about lines that were read as if they stood in quotes."""
    shown = ", ".join(map(str, lines[:8])) + (f" and {len(lines) - 8} more" if len(lines) > 8 else "")
    return warning(
        "yaml_repaired",
        lines[0],
        f"not valid YAML; read as if in quotes: line {shown}",
        "Put texts that begin with [ { @ * ` or hold a colon in quotes.",
    )
