"""The board's files for other programs: tab-separated lines with the columns of the queue protocol."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from santiago.contract.board import FIELDS, QUEUES
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from santiago.contract.board import TicketEvent

ARCHIVE_FIELDS = (*FIELDS, "archived_at", "archived_by")
HISTORY_FIELDS = (
    "ts_utc", "event_type", "id", "from_queue", "to_queue", "status", "error_class", "attempt_count", "retry_budget",
    "priority", "actor", "note",
)  # fmt: skip
HISTORY = "history/retry-events.tsv"
QUEUE_FILES = {f"queues/{queue}.tsv": queue for queue in QUEUES}
LARGEST = 256 * 2**20
"""The largest file that is read, in bytes."""
_ARCHIVE = pattern(r"done-[0-9]{4}-[0-9]{2}\.tsv")
_GAP = "\x1f"
"""Separates values while a line is made. No value may contain it."""
_BREAKS = str.maketrans("\t\r\n" + _GAP, "   \t")
ticket_row: Callable[[dict[str, Any]], Iterable[object]] = itemgetter(*FIELDS)
archive_row: Callable[[dict[str, Any]], Iterable[object]] = itemgetter(*ARCHIVE_FIELDS)


def archives(folder: Path) -> list[Path]:
    """Return the files of the archive, the oldest month first."""
    return sorted(path for path in folder.glob("done-*.tsv") if _ARCHIVE.fullmatch(path.name))


def line(values: Iterable[object]) -> str:
    """Return one line. Tabs and line ends in values become spaces; the store keeps them."""
    return _GAP.join(map(str, values)).translate(_BREAKS) + "\n"


def content(fields: Sequence[str], rows: Iterable[Iterable[object]]) -> bytes:
    return "".join([line(fields), *map(line, rows)]).encode()


def history_row(event: TicketEvent) -> list[object]:
    """Return the row for one ticket that ran out of attempts, with its values at that time."""
    about = event.about
    return [
        about.get("at", event.at), about.get("type", ""), event.ticket, about.get("from", ""), "blocked", "blocked",
        about.get("to_class", "dependency_blocked"), event.attempt, about.get("budget", ""), about.get("priority", ""), event.actor,
        about.get("note", ""),
    ]  # fmt: skip


@record
class Table:
    """A file as it was read: its columns, and each row with its line number."""

    fields: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]


def table(text: str) -> Table:
    """Read a file. Values that a short line lacks are empty. Surplus values are under the name ''."""
    lines = [(number, one.removesuffix("\r")) for number, one in enumerate(text.split("\n"), 1)]
    filled = [(number, one) for number, one in lines if one.strip()]
    if not filled:
        return Table(fields=(), rows=())
    fields = tuple(filled[0][1].split("\t"))
    return Table(fields=fields, rows=tuple((number, _named(fields, one)) for number, one in filled[1:]))


def _named(fields: Sequence[str], text: str) -> dict[str, str]:
    values = text.split("\t")
    found = dict(zip(fields, values + [""] * (len(fields) - len(values)), strict=False))
    if len(values) > len(fields):
        found[""] = "\t".join(values[len(fields) :])
    return found
