"""What the logs of earlier runs tell, read without anything that simulates a run."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.artifacts import registry
from santiago.artifacts.names import LOG, has_begun
from santiago.artifacts.reader import read_log
from santiago.contract.errors import SantiagoError
from santiago.simulation.history import MOST, History, Learner

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from santiago.artifacts.registry import Registered

HERE, ELSEWHERE = "here", "in your other repositories"
LEAST = 10
"""From how many attempts on a forecast is made without being asked for. Fewer say next to nothing."""
MOST_RUNS = 40
"""How many earlier runs are read, newest first."""


def history_here(root: Path, *, before: str = "", apart: str = "") -> History | None:
    """Return what the runs of this repository tell; None if no attempt has ended. `before` leaves out what came later."""
    common = registry.common_git_dir(root)
    return _learned(begun(common), HERE, before, apart) if common else None


def history_elsewhere(root: Path) -> History | None:
    """Return what the runs of the user's other repositories tell."""
    own = registry.common_git_dir(root)
    others = [common for common in registry.repositories() if own is None or common != own.resolve()]
    found = sorted((run for common in others for run in begun(common)), key=lambda run: run.created, reverse=True)
    return _learned(found, ELSEWHERE)


def begun(common: Path) -> list[Registered]:
    return [run for run in registry.runs(common) if has_begun(run.out_dir)]


def _learned(runs: Iterable[Registered], origin: str, before: str = "", apart: str = "") -> History | None:
    learner = Learner()
    for run in [one for one in runs if one.run_id != apart][:MOST_RUNS]:
        if len(learner.attempts) >= MOST:
            break
        with suppress(SantiagoError):  # a damaged run tells nothing
            events = list(read_log(run.out_dir / LOG))
            if not before or (events and events[-1].timestamp < before):
                learner.read(events)
    return learner.history(origin) if learner.attempts else None


def enough(root: Path, *, before: str = "", apart: str = "") -> History | None:
    """Return what the runs of this repository tell; None if that is too little for a forecast that nobody asked for."""
    history = history_here(root, before=before, apart=apart)
    return history if history and len(history.attempts) >= LEAST else None
