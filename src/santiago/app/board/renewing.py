"""Leases that are held for as long as the work lasts, however long that is."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.contract.errors import SantiagoError
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.board.board import Board
    from santiago.contract.board import Card

EVERY_MS = 10 * 60_000


class Renewal:
    """Renews the leases of tickets that are worked on, now and then."""

    def __init__(self, board: Board, cards: Sequence[Card]) -> None:
        self._board, self._cards = board, [card for card in cards if card.held]
        self._clock = SystemClock()
        self._last = self._clock.monotonic_ms()

    def beat(self) -> None:
        """Hear that the work goes on; whether it brings anything to tell, or waits for a service, plays no part."""
        now = self._clock.monotonic_ms()
        if now - self._last < EVERY_MS:
            return
        self._last = now
        for card in self._cards:
            with suppress(SantiagoError):  # a lease that was lost is said by the move, which is refused then
                self._board.renew(card.id, f"{card.lease}#{card.attempt_count}", card.worker)
