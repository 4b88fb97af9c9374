"""What a new request builds on: the last finished branch that nobody has merged yet, else the repository's HEAD."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.workspace.ancestry import is_ancestor, resolve

if TYPE_CHECKING:
    from santiago.board.opening import Opened


def base_commit(opened: Opened) -> str | None:
    """Return the commit that a new request builds on; None for HEAD."""
    with opened.store.reading() as at:
        done = [card for card in at.cards("done") if card.run and not card.request]
    for card in sorted(done, key=lambda one: (one.archived_at, one.arrival), reverse=True):
        head = resolve(opened.place.project, f"refs/heads/santiago/{card.run}")
        if head is not None:
            return None if is_ancestor(opened.place.project, head, "HEAD") else head
    return None
