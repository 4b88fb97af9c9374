"""Plans a request that is only a sentence: the planning agent writes a document for it, in a session of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.app.planning.begin import Wanted, begin
from santiago.app.planning.go_on import go_on
from santiago.app.planning.loading import load
from santiago.app.planning.word import say_on_plan
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.board.opening import Opened
    from santiago.contract.board import Card


def planned_by(opened: Opened, card: Card, agent: str) -> Path:
    """Return the document for a request. The planning agent is asked only once."""
    path = opened.place.root / "requests" / f"{card.id}.md"
    if path.is_file():
        return path
    subject = f"{card.title}\n\n{card.note}".strip()
    wanted = Wanted(subject=subject, agents=(agent,), artifact="document", output=opened.place.named(path))
    opened.store.close()  # agents are started by a fork, and the store must be closed then
    folder = begin(wanted, "planner", dict(os.environ))
    go_on(folder, "planner")
    session = load(folder)
    if session.state.review is None:
        hint = f"`santiago review {folder.name}` shows what it wrote."
        message = f"the planning agent {agent} wrote no usable document"
        raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)
    path.parent.mkdir(parents=True, exist_ok=True)
    say_on_plan(session, "approve", "", "planner", moved=True)
    go_on(folder, "planner")
    return path
