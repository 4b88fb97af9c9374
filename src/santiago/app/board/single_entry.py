"""Single entry: in a project that is on the board, a run may start only after a planner routed it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.app.board.ticket_context import board_settings
from santiago.artifacts.names import has_begun
from santiago.board.board_place import find, is_noted
from santiago.contract.board import BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import MEANINGS, Reason

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from santiago.board.board_handle import BoardHandle

BYPASSES = ("SANTIAGO_ALLOW_DIRECT_ENTRY", "SIGEE_ALLOW_DIRECT_ENTRY")


def claims_of(project: Path, out_dir: Path, actor: str) -> dict[str, int] | None:
    """Return the claimed stories that a start may begin, with their attempts; None where the board allows all.

    Raise where the project is on the board and no planner routed the run. A run that is older than the board goes on.
    """
    if not is_noted(project):
        return None
    from santiago.board.board_handle import is_on_board, laid_out  # loaded here, since most projects have no board

    place = find(project, {name: value for name, value in os.environ.items() if name != "SANTIAGO_STORY"})
    if not is_on_board(place) or not board_settings(project).single_entry:
        return None
    with laid_out(place) as opened:
        with opened.store.reading() as at:
            cards = [card for card in at.of_run(out_dir.name) if card.story]
        if cards:
            return {card.story: card.attempt_count for card in cards if card.status == "in_progress"}
        if _began_before(opened, out_dir) or bypassed(opened, os.environ, out_dir.name, actor):
            return None
    meaning = MEANINGS[Reason.NEEDS_ROUTING]
    raise SantiagoError(Kind.BLOCKED, meaning.sentence, hint=meaning.hint, reason=Reason.NEEDS_ROUTING)


def bypassed(opened: BoardHandle, environ: Mapping[str, str], what: str, actor: str) -> bool:
    """Tell whether the environment allows a start without the board, and record that. Only the value `1` allows it."""
    if not any(environ.get(name) == "1" for name in BYPASSES):
        return False
    opened.board.note("", BoardEvent.ENTRY_BYPASSED, actor, about={"what": what})
    return True


def _began_before(opened: BoardHandle, out_dir: Path) -> bool:
    """Tell whether a run began before the project was on the board."""
    from santiago.artifacts.names import LOG
    from santiago.artifacts.reader import Reader

    if not has_begun(out_dir):
        return False
    first = next(iter(Reader(out_dir / LOG)))
    with opened.store.reading() as at:
        begun = at.meta("begun") or ""
    return first.timestamp[:19] <= begun[:19]  # the board records whole seconds


def guard(environ: Mapping[str, str], start: Path, worker: str, plan: str | None, actor: str) -> str:
    """Return the entry guard's answer as other programs know it: PASS, BLOCKED or BYPASS."""
    from santiago.board.board_handle import laid_out

    queue = "scientist-todo" if "scientist" in worker else "developer-todo"
    place = find(start, environ)
    with laid_out(place) as opened:
        if bypassed(opened, environ, plan or worker, actor):
            return "ENTRY_GUARD_BYPASS"
        with opened.store.reading() as at:
            cards = [*at.cards(queue), *(card for card in at.cards("planner-review") if card.role in worker)]
        live = [card for card in cards if card.status in ("pending", "in_progress", "review")]
        routed = [card for card in live if plan is None or card.source == f"plan:{plan}"]
        return "ENTRY_GUARD_PASS" if routed else "ENTRY_GUARD_BLOCKED"
