"""Renews the leases of tickets for as long as the work on them lasts."""

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
    """Renews the leases of tickets that are worked on, from time to time."""

    def __init__(self, board: Board, cards: Sequence[Card]) -> None:
        self._board, self._cards = board, [card for card in cards if card.held]
        self._clock = SystemClock()
        self._last = self._clock.monotonic_ms()

    def beat(self) -> None:
        """Renew the leases if it is time. The caller does this while work goes on, whether or not it makes progress."""
        now = self._clock.monotonic_ms()
        if now - self._last < EVERY_MS:
            return
        self._last = now
        for card in self._cards:
            with suppress(SantiagoError):  # where a lease was lost, the next move is refused and says so
                self._board.renew(card.id, f"{card.lease}#{card.attempt_count}", card.worker)
