"""The settings of the board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.config import load
from santiago.contract.record import record

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.board import Role


@record
class BoardSettings:
    developer: str | None
    """The agent for developers' tickets; None for the agent of the run input."""
    scientist: str | None
    planner: str | None
    """The agent that plans a request without a document."""
    planners: tuple[str, ...]
    """Actors who may accept work."""
    single_entry: bool
    exhausted_limit: int
    language: str | None

    def agent_of(self, role: Role) -> str | None:
        return self.scientist if role == "scientist" else self.developer


def board_settings(project: Path) -> BoardSettings:
    found = {name.partition(".")[2]: one.value for name, one in load(project).items() if name.startswith("board.")}
    return BoardSettings(**{**found, "planners": tuple(found["planners"])})
