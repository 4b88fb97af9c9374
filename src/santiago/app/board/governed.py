"""A ticket whose work passed is given what governance asks of its change, so that the done gate can open by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app import governing
from santiago.board.governance.truth import is_on
from santiago.contract.errors import Kind, SantiagoError

if TYPE_CHECKING:
    from santiago.app.board.working import Means
    from santiago.contract.board import Card
    from santiago.contract.policy import RunInput


def collect(means: Means, card: Card, base: str | None, head: str | None, run_input: RunInput) -> None:
    """Keep its impact result, and run the scenarios that it concerns; where they cannot run, the done gate says what lacks."""
    place = means.opened.place
    if not is_on(place.project) or not base or not head:
        return
    means.opened.store.close()  # commands are started by a fork, and nobody may have the store open then
    try:
        governing.collect(place, card.id, base, head, run_input, means.consents.commands)
    except SantiagoError as error:
        if error.kind is Kind.TRANSIENT:
            raise
        means.consents.tell(f"{card.id}: its scenarios were not run: {error.message}")
