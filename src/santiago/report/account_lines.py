"""The account of a plan in a few lines: what is context, what is not planned, what the document itself leaves out."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from santiago.contract.plan import HEADING, NOT_UNDERSTOOD
from santiago.util.text import count, few, flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.plan import AccountRow, Offer, Plan

MOST = 8
"""How many parts one line names."""


def lines(plan: Plan, *, whole: bool = False) -> list[tuple[str, str]]:
    """Return the account as labels and texts; `whole`: with every part."""
    rows = [row for row in plan.account if row.is_context or (whole and row.became == "context")]
    left = [row for row in plan.account if row.became == "left_out" and row.why != NOT_UNDERSTOOD]
    planned = [row for row in plan.account if row.became == "planned" and row.why != HEADING]
    found = [
        ("Planned", _few([place(row) for row in planned], whole=whole)),
        ("Context", _few([place(row) for row in rows], whole=whole)),
        ("Not planned", not_planned(plan, whole=whole)),
        ("Left out", _few([place(row, why=True) for row in left], whole=whole)),
    ]
    return [(label, text) for label, text in found if text]


def not_planned(plan: Plan, *, whole: bool = False) -> str:
    """Return what is left out although nothing in the document says that it is no work; empty if there is nothing."""
    rows = [row for row in plan.account if row.became == "left_out" and row.why == NOT_UNDERSTOOD]
    return _few([place(row) for row in rows], whole=whole)


def place(row: AccountRow, *, why: bool = False) -> str:
    """Return the name of a part with its lines: `Docs (14 to 20)`."""
    said = f": {row.why}" if why and row.why and row.why != f"a {row.title}" else ""
    return f"{flat(row.title)} ({_lines(row.lines)}{said})"


def _lines(lines: Sequence[int]) -> str:
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]} to {lines[1]}"


def _few(names: Sequence[str], *, whole: bool) -> str:
    return few(names, len(names) if whole else MOST)


def proposal(plan: Plan) -> list[str]:
    """Return what a proposal proposes: the list that was taken, and the lists that could be meant instead."""
    if plan.certain:
        return []
    chosen = offered(plan.chosen) if plan.chosen else count(len(plan.stories), "unit")
    rivals = [one for one in plan.rivals if one.units]
    return [f"the work is {chosen}", *(f"or it is {offered(one)}: --units {quote(one.units)}" for one in rivals)]


def offered(offer: Offer) -> str:
    where = "line" if offer.lines[0] == offer.lines[1] else "lines"
    return f"{flat(offer.name)} ({count(offer.count, 'unit')}, {where} {_lines(offer.lines)})"
