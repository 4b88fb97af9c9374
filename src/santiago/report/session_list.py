"""The planning sessions of a repository to choose from, newest first: title, time and state of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.planning.planning_sessions import load_session, sessions_of
from santiago.contract.errors import SantiagoError
from santiago.contract.record import record
from santiago.report.measures import ago
from santiago.report.review import word_of
from santiago.util.text import fit, flat

if TYPE_CHECKING:
    from pathlib import Path

MOST = 40
"""How many sessions are offered. Older ones can be named on the command line."""


@record
class SessionRow:
    """One session to choose."""

    folder: Path
    title: str
    at: str
    """Time of its last event; empty if the session cannot be read."""
    state: str

    def text(self, now: str) -> str:
        """Return the session on one line."""
        when = ago(self.at, now) if self.at else ""
        return f"{self.folder.name:<20}  {fit(self.title, 28)}  {when:<12}  {self.state}"


def session_rows(root: Path) -> list[SessionRow]:
    """Return the newest sessions of a repository."""
    return [_row(folder) for folder in sessions_of(root)[:MOST]]


def _row(folder: Path) -> SessionRow:
    try:
        planning = load_session(folder)
    except SantiagoError:
        return SessionRow(folder=folder, title="", at="", state="damaged")
    revision = f", rev {planning.state.revision}" if planning.state.revision else ""
    return SessionRow(
        folder=folder, title=flat(planning.title), at=planning.state.at, state=f"{word_of(planning)}{revision}"
    )
