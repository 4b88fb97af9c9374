"""The open questions of all runs of a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.finding import find_run, runs_here
from santiago.app.loading import load
from santiago.contract.errors import SantiagoError
from santiago.report.asking import asked
from santiago.report.question import card

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import Run
    from santiago.artifacts.registry import Registered
    from santiago.report.question import Card


def asking(name: str | None) -> Iterator[tuple[Run, list[Card]]]:
    """Yield the runs that wait for an answer, newest first, with their questions; only one run if it is named."""
    folders = [find_run(name)] if name else [run.out_dir for run in _known()]
    for folder in folders:
        try:
            run = load(folder)
        except SantiagoError:
            if name:
                raise
            continue  # a damaged run must not hide the questions of the others
        waiting, _ = asked(run.state, run.out_dir)
        if waiting:
            yield run, [card(run.plan, run.state, one, run.out_dir) for one in waiting]


def _known() -> list[Registered]:
    try:
        return runs_here()
    except SantiagoError:
        return []
