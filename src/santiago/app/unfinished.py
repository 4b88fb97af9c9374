"""The unfinished run of a document, so that a second run is not begun from scratch without asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.loading import frozen_input
from santiago.artifacts import registry, repository
from santiago.artifacts.names import has_begun
from santiago.contract.errors import SantiagoError

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.artifacts.registry import Registered


def newest_of(document: Path) -> Registered | None:
    """Return the newest run of a document that has begun, wherever its folder is."""
    root = repository.find_root(repository.resolved(document))
    common = registry.common_git_dir(root) if root else None
    known = registry.runs(common) if common else []
    return next((run for run in known if has_begun(run.out_dir) and _is_of(run, document)), None)


def unfinished_of(document: Path) -> Path | None:
    """Return the folder of a document's newest run if it is not finished. Older runs do not matter."""
    run = newest_of(document)
    return run.out_dir if run and registry.standing(run) != "ended" else None


def _is_of(run: Registered, document: Path) -> bool:
    try:
        settings = frozen_input(run.out_dir)
    except SantiagoError:
        return False
    return repository.resolved(run.out_dir / settings.repo_path / settings.prd_path) == repository.resolved(document)
