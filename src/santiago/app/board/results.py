"""What a loop's accepted tickets mean for the user: which branches hold the work, and which work no test proves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.loading import load
from santiago.artifacts import repository
from santiago.contract.outcomes import Proof
from santiago.workspace.ancestry import is_ancestor, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from santiago.board.opening import Opened
    from santiago.contract.board import Card


def accepted(opened: Opened, names: Iterable[str]) -> list[Card]:
    """Return those of these tickets that have a run."""
    with opened.store.reading() as at:
        return [card for name in names if (card := at.card(name)) is not None and card.run]


def unmerged(opened: Opened, cards: Sequence[Card]) -> list[str]:
    """Return the branches of finished requests that are not merged yet, without those that another one contains."""
    project = opened.place.project
    names = dict.fromkeys(f"santiago/{card.run}" for card in cards if not card.request)
    heads = {name: head for name in names if (head := resolve(project, f"refs/heads/{name}")) is not None}

    def is_in(name: str, other: str) -> bool:
        return is_ancestor(project, heads[name], other)

    left = [name for name in heads if not is_in(name, "HEAD")]
    return [name for name in left if not any(is_in(name, heads[other]) for other in left if other != name)]


def unproven(opened: Opened, cards: Sequence[Card]) -> list[str]:
    """Return the tickets of which no test fails without their work."""
    folder, names = opened.place.project / repository.RUNS, {card.run for card in cards}
    stories = {name: load(folder / name).state.stories for name in names}
    work = [(card.id, stories[card.run][card.story]) for card in cards if card.story]
    return [name for name, story in work if story.proof is Proof.REGRESSION and not story.is_kept]
