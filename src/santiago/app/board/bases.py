"""What a new request builds on: the last finished branch that nobody has merged yet, else the repository's HEAD."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.loading import load
from santiago.artifacts import repository
from santiago.contract.errors import SantiagoError
from santiago.contract.reasons import Reason
from santiago.workspace.ancestry import independent, is_ancestor, resolve

if TYPE_CHECKING:
    from santiago.board.opening import Opened
    from santiago.contract.board import Card

MOST = 20
"""How many finished requests are looked at, the last first."""


def base_commit(opened: Opened) -> str | None:
    """Return the commit that a new request builds on; None for HEAD.

    A request that waits for nothing but a person's word counts as finished. It may be accepted long after others that
    were built on it, so a branch that another one contains does not count.
    """
    project = opened.place.project
    with opened.store.reading() as at:
        done = [card for card in at.cards("done") if card.run and not card.request]
        open_ones = [card for queue in ("planner-inbox", "blocked") for card in at.cards(queue) if not card.decided]
    waiting = [card for card in open_ones if card.run and not card.request and _waits_for_a_word(opened, card)]
    done.sort(key=lambda one: (one.archived_at, one.arrival))
    found = [resolve(project, f"refs/heads/santiago/{card.run}") for card in (*done[-MOST:], *waiting)]
    heads = independent(project, [head for head in found if head is not None])
    return None if not heads or is_ancestor(project, heads[-1], "HEAD") else heads[-1]


def _waits_for_a_word(opened: Opened, card: Card) -> bool:
    """Tell whether all work of a request is on its branch and passed its checks, and only a person's word is missing."""
    try:
        return load(opened.place.project / repository.RUNS / card.run).state.reason is Reason.UNPROVEN
    except SantiagoError:
        return False  # whoever works on the run is told
