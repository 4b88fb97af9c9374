"""The table of docs/adversaries.md, from the code's own table; `python -m tests.adversaries.document` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.adversaries.table import GROUPS

if TYPE_CHECKING:
    from tests.adversaries.adversary import Adversary

PAGE = Path(__file__).parents[2] / "docs" / "adversaries.md"
BEGINS, ENDS = "<!-- the table begins -->\n", "<!-- the table ends -->\n"


def table() -> str:
    """Return the table as Markdown."""
    parts = []
    for title, group in GROUPS.items():
        rows = [f"| `{one.name}` | {one.does} | {_end(one)} |" for one in group]
        parts.append("\n".join([f"\n### {title}\n", "| agent | what it does | how it ends |", "|---|---|---|", *rows]))
    return "\n".join(parts) + "\n\n"


def _end(one: Adversary) -> str:
    fenced, unfenced = f"`{one.ends_in('auto')}`", f"`{one.ends_in('off')}`"
    if "off" not in one.fences or fenced == unfenced:
        return fenced if "auto" in one.fences else f"{unfenced} (tried without a sandbox)"
    return f"{fenced}; without a sandbox {unfenced}"


def page_with(written: str) -> str:
    """Return the page with the table in it."""
    head, _, rest = written.partition(BEGINS)
    return head + BEGINS + table() + ENDS + rest.partition(ENDS)[2]


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
