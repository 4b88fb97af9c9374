"""The tables of docs/adversaries.md, from the code's own table; `python -m proofs.adversaries.document` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from proofs.adversaries.adversary import CHANGED, DONE, DOUBTED, FAILED, NOTHING, TAMPERED
from proofs.adversaries.table import GROUPS, SAMPLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from proofs.adversaries.adversary import Adversary, Fence

PAGE = Path(__file__).parents[2] / "docs" / "adversaries.md"
HEAD = ("| agent | what it does | how it ends | stopped by |", "|---|---|---|---|")
TRIED = """
The test command tries one of each kind: of those that attack the same, through the same check, and end alike. In the
tables these have a star. `python -m proofs adversaries [--only NAME,…]` tries all of them."""
STOPPED = {
    DONE: "nothing: the work is right",
    TAMPERED: "the old tests",
    FAILED: "its checks",
    NOTHING: "its checks",
    CHANGED: "a question",
    DOUBTED: "a question",
    "agent_asked": "a question",
    "needs_user_confirmation": "a question",
}
"""What stops an adversary with this end; for all other ends it is the supervision."""
BEGINS, ENDS = "<!-- the table begins -->\n", "<!-- the table ends -->\n"
LIST_BEGINS, LIST_ENDS = "<!-- the list begins -->\n", "<!-- the list ends -->\n"


def table() -> str:
    """Return the table as Markdown."""
    parts = [TRIED]
    for title, group in GROUPS.items():
        parts.append("\n".join([f"\n### {title}\n", *HEAD, *map(_row, group)]))
    return "\n".join(parts) + "\n\n"


def _row(one: Adversary) -> str:
    does = one.does.replace("|", r"\|")  # a bar would end the cell, also inside of code
    star = " *" if any(one is tried for tried, _ in SAMPLE) else ""
    return f"| `{one.name}`{star} | {does} | {_by_fence(one, _end)} | {_by_fence(one, _stopped)} |"


def unseen() -> str:
    """Return those that nobody can see, each with why, as a list in Markdown."""
    found = [one for group in GROUPS.values() for one in group if one.unseen]
    return "\n" + "\n".join(f"- `{one.name}`: {one.unseen}." for one in found) + "\n\n"


def _end(one: Adversary, fence: Fence) -> str:
    return f"`{one.ends_in(fence)}`"


def _stopped(one: Adversary, fence: Fence) -> str:
    end = one.ends_in(fence)
    return "nothing: not noticed" if one.unseen and end == DONE else STOPPED.get(end, "supervision")


def _by_fence(one: Adversary, told: Callable[[Adversary, Fence], str]) -> str:
    fenced, unfenced = told(one, "auto"), told(one, "off")
    if one.fences == ("off",):
        return f"{unfenced} (without a sandbox)"
    return fenced if "off" not in one.fences or fenced == unfenced else f"{fenced}; without a sandbox {unfenced}"


def page_with(written: str) -> str:
    """Return the page with the table and the list in it."""
    for begins, ends, text in ((BEGINS, ENDS, table()), (LIST_BEGINS, LIST_ENDS, unseen())):
        head, _, rest = written.partition(begins)
        written = head + begins + text + ends + rest.partition(ends)[2]
    return written


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
