"""Where a project's runtime files stand."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from santiago.board.governance.documents import SIGEE
from santiago.contract.errors import Kind, SantiagoError
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLES = ("SANTIAGO_RUNTIME_ROOT", "SIGEE_RUNTIME_ROOT")


def runtime_root(project: Path, environ: Mapping[str, str]) -> Path:
    """Return the folder for runtime files; raise where a variable names one that is not below the project."""
    usual = SIGEE if (project / SIGEE).is_dir() else ".santiago"
    name, given = next(((name, environ[name]) for name in _VARIABLES if environ.get(name)), ("", f"{usual}/.runtime"))
    parts = PurePosixPath(given).parts
    if not parts or given.startswith("/") or ".." in parts or not is_inside(project / given, project):
        hint = "Name a folder below the project, such as .sigee/.runtime."
        raise SantiagoError(Kind.USAGE, f"{given!r} cannot be the runtime root", where=name or str(project), hint=hint)
    return Path(project, given)
