"""The archive of accepted tickets: counting it, filling it from an imported board, and emptying it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from santiago.board.rules import Change
from santiago.contract.board import BoardEvent
from santiago.contract.errors import Kind, SantiagoError

if TYPE_CHECKING:
    from collections.abc import Collection

    from santiago.board.records import Reading, Writing

_WORKERS = frozenset({"developer", "scientist", "worker", "santiago", "loop"})
_AGENT = "-agent"


def months(at: Reading) -> dict[str, int]:
    """Return how many tickets each month's archive holds."""
    found = Counter(card.archived_at[:7] for card in at.cards("done") if card.archived_at)
    return dict(sorted(found.items()))


def flush(at: Writing, actor: str) -> int:
    """Archive the tickets that an imported board left in its done queue. Return how many there were."""
    left = [card for card in at.cards("done") if not card.archived_at]
    for card in left:
        changes = {"archived_at": at.now, "archived_by": actor}
        at.change(card, Change(event=BoardEvent.TICKET_DONE, changes=changes, about={"why": "flushed"}), actor)
    return len(left)


def refuse_worker(at: Reading, actor: str, agents: Collection[str] = ()) -> None:
    """Raise where an agent, or a person who works on a ticket, wants to empty the archive."""
    name = actor.strip().lower()
    is_agent = name in _WORKERS or name in agents or name.startswith("tech-") or name.endswith(_AGENT)
    held = [card.id for queue in ("planner-inbox", "scientist-todo", "developer-todo") for card in at.cards(queue)
            if card.held and name in (card.holder.lower(), card.worker.lower())]  # fmt: skip
    if is_agent or held:
        why = f"works on {held[0]}" if held else "is a worker"
        hint = "A person does this, under a name of their own: --actor NAME."
        raise SantiagoError(Kind.BLOCKED, f"{actor} {why}, and only a person empties the archive", hint=hint)


def clear(at: Writing, actor: str) -> dict[str, int]:
    """Take every archived ticket off the board, and record that. The events stay. Return the count per month."""
    held = months(at)
    for card in at.cards("done"):
        if card.archived_at:
            at.drop(card)
    if held:
        at.record("", BoardEvent.ARCHIVE_CLEARED, actor, about={"months": held, "tickets": sum(held.values())})
    return held
