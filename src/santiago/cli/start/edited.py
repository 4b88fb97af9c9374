"""A plan runs exactly as it was planned: one that was edited since is refused, with the ways to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.cli.view.advice import typed
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.seal import plan_digest

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.plan import Plan


def refuse_edited(plan: Plan, path: Path, document: Path) -> None:
    """Raise where a plan is not the one that its digest was taken of; `path` is its file."""
    now = plan_digest(plan)
    if now == plan.digest:
        return
    raise SantiagoError(
        Kind.INPUT,
        f"it was edited after it was planned: its digest says {plan.digest[:16]} and it is {now[:16]}",
        where=str(path),
        hint=f"`santiago plan {typed(path)}` plans what it says now; `santiago plan {typed(document)}` plans the document again.",
        reason=Reason.INVALID_INPUT,
    )
