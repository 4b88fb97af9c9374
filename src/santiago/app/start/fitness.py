"""Whether a plan that was compiled earlier, or by another program, may run. It must keep every rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.paths import typed
from santiago.artifacts.files import read_bytes
from santiago.contract import codec
from santiago.contract.codec import plan_digest
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.plan import Finding
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.plan import Plan

_MOST = 20
"""How many findings the error's message repeats. All of them are shown below it."""


def refuse_unapproved(path: Path) -> None:
    """Raise if a plan is a revision of a planning session, since only a finalized plan can run."""
    folder = path.absolute().parent.parent
    if folder.parent.name == "sessions" and folder.parent.parent.name == ".santiago":
        message = f"it belongs to the planning session {folder.name}, which is not final"
        hint = f"`santiago review {folder.name}` shows it; --finalize there makes a run of it."
        raise SantiagoError(Kind.BLOCKED, message, where=str(path), hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)


def refuse_unfit(plan: Plan, path: Path, document: Path) -> None:
    """Raise with all findings if a plan breaks a rule, or if it does not match its digest.

    `path` is its file, and `document` the document that it was compiled from.
    """
    from santiago.planner.compile import faults_of_plan
    from santiago.planner.source import Source

    text = read_bytes(path, codec.MAX_BYTES).decode()  # it was decoded before
    found = (*_edited(plan, path, document), *faults_of_plan(Source(text, path=path.name)))
    if not found:
        return
    said = [f"line {finding.line}: {finding.message}" if finding.line else finding.message for finding in found]
    more = [f"and {len(said) - _MOST} more"] if len(said) > _MOST else []
    raise SantiagoError(
        Kind.INPUT,
        "; ".join(said[:_MOST] + more),
        where=str(path),
        hint=found[0].hint,
        reason=Reason.INVALID_INPUT,
        findings=found,
    )


def _edited(plan: Plan, path: Path, document: Path) -> list[Finding]:
    now = plan_digest(plan)
    if now == plan.digest:
        return []
    return [
        Finding(
            level="error",
            code="invalid_field",
            line=0,
            message=f"the plan was edited after it was written: its digest says {plan.digest[:16]}, and its text has {now[:16]}",
            hint=f"`santiago plan {typed(path)}` plans what it says now; `santiago plan {typed(document)}` plans the document again.",
        )
    ]
