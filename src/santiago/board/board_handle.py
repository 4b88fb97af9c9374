"""Opens a project's board. Every queue command begins by opening it and ends by closing it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Self

from santiago.board import board_layout, board_place, tsv
from santiago.board.board_commands import Board
from santiago.board.tsv_projections import Projections
from santiago.contract.board import BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.util import regular

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from santiago.board.board_place import Place
    from santiago.board.board_store import Store
    from santiago.contract.board import Card, Queue

_HEAD = 1 << 16


class BoardHandle:
    """A board that is open for one command. Closing it writes its files."""

    def __init__(self, place: Place, store: Store, made: tuple[str, ...]) -> None:
        self.place, self.store, self.made = place, store, made
        self.projections = Projections(place, store)
        self.board = Board(store, changed=self.projections.changed)
        self.notices: tuple[str, ...] = ()
        """Printed after the command's own output. They are known once the board is closed."""
        with store.reading() as at:
            self._since = at.last()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
            return
        with suppress(SantiagoError):  # the first error is the one to report
            self.close()

    def close(self) -> tuple[str, ...]:
        """Write the files that are out of date, close the store, and return the notices."""
        try:
            with self.store.reading() as at:
                jumps = list(at.events(event=BoardEvent.CLOCK_JUMPED, since=self._since))
            told = "the clock of this machine was changed by {seconds:+} s; leases follow the board's own clock"
            self.notices = (*(told.format(**one.about) for one in jumps), *self._flushed())
        finally:
            self.store.close()
        return self.notices

    def _flushed(self) -> tuple[str, ...]:
        try:
            return self.projections.flush()
        except SantiagoError as error:
            with self.store.reading() as at:
                if at.last() != self._since:
                    raise
            return (f"{error.message}. {error.hint}",)  # this command changed nothing, so old files are no error

    def card(self, name: str) -> Card | None:
        with self.store.reading() as at:
            return at.card(name)

    def cards(self, *queues: Queue) -> list[Card]:
        """Return the tickets of these queues, each queue in order of arrival."""
        with self.store.reading() as at:
            return [card for queue in queues for card in at.cards(queue)]

    def begin(self, actor: str) -> bool:
        """Put the project on the board from now on. Return False where it already was."""
        with self.store.writing() as at:
            if at.meta("begun") is not None:
                return False
            at.set_meta("begun", at.now)
            at.record("", BoardEvent.BOARD_MADE, actor, about={"root": self.place.named(self.place.root)})
        return True


def open_board(start: Path, environ: Mapping[str, str]) -> BoardHandle:
    """Open the board of the project around a path. Lay it out first where there is none."""
    return laid_out(found(start, environ))


def found(start: Path, environ: Mapping[str, str]) -> Place:
    """Return where the board is or would be.

    Raise where no board is possible here, or where tickets in files must be imported first.
    """
    place = board_place.find(start, environ)
    board_layout.refuse_network(place)
    if rows := unimported(place):
        message = f"there are tickets in {rows} that the board does not know yet"
        hint = "Take them over: `santiago queue import`. Nothing was changed."
        raise SantiagoError(Kind.BLOCKED, message, where=place.named(place.queues), hint=hint)
    return place


def laid_out(place: Place) -> BoardHandle:
    """Open a board, and lay it out where there is none. Tickets in files are not looked for."""
    from santiago.board.board_store import Store

    made = board_layout.prepare(place)
    with board_layout.safe_to_repeat(place):
        board_place.note(place)
    return BoardHandle(place, Store(place.store), made)


def unimported(place: Place) -> str:
    """Return the names of files with rows that were never imported; empty where there are none."""
    if is_on_board(place):
        return ""
    found = [name for name in tsv.QUEUE_FILES if _has_rows(place.queues.parent / name)]
    found += [f"archive/{path.name}" for path in tsv.archives(place.archive) if _has_rows(path)]
    return ", ".join(found)


def is_on_board(place: Place) -> bool:
    """Tell whether a project's work goes through its board: since `queue init`, its first ticket, or an import."""
    if not place.store.is_file():
        return False
    from santiago.board.board_store import Store

    store = Store(place.store)
    try:
        with store.reading() as at:
            return at.meta("begun") is not None
    finally:
        store.close()


def _has_rows(path: Path) -> bool:
    head = regular.content(path, _HEAD)
    return head is not None and b"\n" in head.strip()
