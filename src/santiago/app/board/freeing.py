"""Frees tickets that must not overtake another one, once that one is out of the way in their run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.loading import load
from santiago.artifacts import repository
from santiago.contract.board import TODO
from santiago.contract.errors import SantiagoError

if TYPE_CHECKING:
    from santiago.board.opening import Opened


def free_ready(opened: Opened) -> None:
    """Free each waiting ticket whose story need not wait in its run: those before it are done, blocked or left out."""
    with opened.store.reading() as at:
        waiting = [card for name in at.following() if (card := at.card(name)) is not None and card.run]
    for run in dict.fromkeys(card.run for card in waiting):
        try:
            stories = load(opened.place.project / repository.RUNS / run).state.stories
        except SantiagoError:
            continue  # whoever works on the run is told
        for card in waiting:
            if card.run == run and card.queue in TODO.values() and stories[card.story].its_turn:
                opened.board.free(card.id, "planner")
