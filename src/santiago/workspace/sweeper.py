"""Removing folders in the background: nobody waits for thousands of files to be unlinked."""

from __future__ import annotations

import threading
from queue import Queue
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 8
"""How many folders may wait to be removed. A caller with one more waits, so that the disk does not fill up."""


class Sweeper:
    """A thread that removes the folders it is given. After a crash, the rest lies in the trash for the next start."""

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
        """Have a folder removed; raise if an earlier one could not be."""
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed
        self._waiting.put(folder)

    def _work(self) -> None:
        while (folder := self._waiting.get()) is not None:
            try:
                self._remove(folder)
            except Exception as error:  # raised when the next folder is discarded
                self._failed = error
