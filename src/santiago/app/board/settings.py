"""The settings of the board."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.app.actor import own_name
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


def planners_of(project: Path, *, in_person: bool) -> tuple[str, ...]:
    """Return who may accept work and decide: the planners of the settings, and the owner of the repository in person.

    `in_person` means that somebody sits at the terminal. An agent of a run never is, whoever owns the repository.
    """
    named = board_settings(project).planners
    is_owner = in_person and not os.environ.get("SANTIAGO_RUN") and project.stat().st_uid == os.geteuid()
    return (*named, own_name()) if is_owner else named
