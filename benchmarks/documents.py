"""Documents to measure with."""

from __future__ import annotations


def requirements(count: int, edges: int) -> str:
    """Return a PRD of so many requirements, each with criteria and so many dependencies on earlier ones."""
    parts = ["# PRD: a large product", "", "## Requirements", ""]
    for number in range(1, count + 1):
        needs = sorted({max(1, number - 1 - step * step * 7) for step in range(edges)}) if number > 1 else []
        parts.append(f"### R{number}: Requirement number {number} of the product")
        parts.append("")
        if needs:
            parts.append(f"Depends on: {', '.join(f'R{n}' for n in needs)}")
            parts.append("")
        parts.append("**Acceptance Criteria:**")
        parts.append(f"- the thing {number} can be seen in `src/part{number % 97}/file{number}.py`")
        parts.append("- its tests pass")
        parts.append("")
    return "\n".join(parts)
