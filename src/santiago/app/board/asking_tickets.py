"""The questions to people that the runs behind tickets ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.loading import load
from santiago.artifacts import registry
from santiago.contract.errors import SantiagoError

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.board.board_store import Reading
    from santiago.contract.state import Question


def asking_tickets(at: Reading, project: Path) -> tuple[str, ...]:
    """Return the tickets whose story waits for a person's answer.

    Such a ticket is blocked, or it is in review and a person has to judge its work.
    """
    mine = [
        card for queue in ("blocked", "planner-review") for card in at.cards(queue) if card.run and not card.decided
    ]
    asking = {run: {one.story or "" for one in _open_questions(run, project)} for run in {card.run for card in mine}}
    return tuple(card.id for card in mine if card.story in asking[card.run])


def questions_of(run: str, story: str, project: Path) -> list[str]:
    """Return the open questions of a story, each with the command that answers it."""
    asked = [one for one in _open_questions(run, project) if (one.story or "") == story] if run else []
    return [f"{one.id}: {one.text}  (santiago answer {run} {one.id})" for one in asked]


def _open_questions(run: str, project: Path) -> list[Question]:
    """Return the open questions of a run; none where the run is gone or unreadable, since nobody could answer."""
    common = registry.common_git_dir(project)
    folder = registry.place_of(common, run) if common is not None else None
    try:
        asked = load(folder).state.open_questions() if folder is not None else []
    except (SantiagoError, OSError):
        return []
    return [one for one in asked if one.kind != "result"]  # the planner answers that one
