"""Removing folders in the background: nobody waits for thousands of files to be unlinked."""

from __future__ import annotations

import threading
from queue import Queue
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 8
"""Folders that may wait; whoever discards more waits too, so that the disk does not fill behind its back."""


class Sweeper:
    """One thread that removes what it is called with. What a death leaves of it lies in the trash for the next start."""

    def __init__(self, remove: Callable[[str], None]) -> None:
        self._remove = remove
        self._waiting: Queue[str | None] = Queue(_MOST)
        self._failed: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="sweeper", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.put(None)
        self._thread.join()

    def __call__(self, folder: str) -> None:
        """Have a folder removed; raise where one before could not be."""
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed
        self._waiting.put(folder)

    def _work(self) -> None:
        while (folder := self._waiting.get()) is not None:
            try:
                self._remove(folder)
            except Exception as error:  # it belongs to whoever discards next
                self._failed = error
