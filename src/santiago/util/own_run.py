"""Keeps the programs of a run from speaking for the person: whatever carries out a person's word asks here first."""

from __future__ import annotations

import os

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

INSIDE = "SANTIAGO_RUN"
"""Names the run, or the planning session, that an agent or a check belongs to."""


def refuse_own_word(run_id: str) -> None:
    """Raise if this process belongs to the run, or the planning session, that a person's word is for.

    An agent or a check that answers for the person does so by accident. Against intent there is the sandbox.
    """
    if run_id and os.environ.get(INSIDE) == run_id:
        raise SantiagoError(
            Kind.BLOCKED,
            f"only a person may say this, and this shell belongs to {run_id} itself ({INSIDE} names it)",
            hint=f"Say it in a shell of your own. If this is one, `unset {INSIDE}` first.",
            reason=Reason.NEEDS_USER_CONFIRMATION,
        )
