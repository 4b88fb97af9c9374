"""Who answered a question first, to tell a person whose answer came too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.loading import load
from santiago.artifacts.inbox import Inbox
from santiago.contract.event_effects import EXPIRED

if TYPE_CHECKING:
    from pathlib import Path


def answered_by(out_dir: Path, question: str) -> tuple[str, str] | None:
    """Return who answered and when (UTC), from the log, or from a letter that the run has not read yet.

    None if nobody did. A question that has expired was not answered.
    """
    asked = load(out_dir).state.questions.get(question)
    if asked is not None and asked.answer is not None:
        return None if asked.answer == EXPIRED else (asked.actor, asked.answered_at)
    return Inbox(out_dir).answered(question)
