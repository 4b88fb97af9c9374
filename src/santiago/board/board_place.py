"""Where a project's board lies: the runtime root and the folders below it. The root is chosen when the board is made."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from santiago.artifacts import registry, run_locations
from santiago.artifacts.files import read_json, write_new
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLES = ("SANTIAGO_RUNTIME_ROOT", "SIGEE_RUNTIME_ROOT")
_NOTE = Path("santiago") / "board.json"
_ROOT_FOLDERS = ("orchestration", "plans", "evidence", "requests", "dag")
"""A folder that contains one of these is a runtime root."""


@record
class Place:
    """The folders of one board."""

    project: Path
    root: Path
    """The runtime root: the folder below which everything of the board lies."""

    @property
    def store(self) -> Path:
        return self.root / "orchestration" / "board.sqlite3"

    @property
    def queues(self) -> Path:
        return self.root / "orchestration" / "queues"

    @property
    def archive(self) -> Path:
        return self.root / "orchestration" / "archive"

    @property
    def history(self) -> Path:
        return self.root / "orchestration" / "history"

    @property
    def plans(self) -> Path:
        return self.root / "plans"

    def evidence(self, ticket: str) -> Path:
        return self.root / "evidence" / ticket

    def named(self, path: Path) -> str:
        """Return a path as tickets name it: relative to the project."""
        return run_locations.name_inside(path, self.project)


def find(start: Path, environ: Mapping[str, str]) -> Place:
    """Return where the board of the project around a path is, or would be.

    All worktrees of a repository share one board. From the checkout of an attempt, the board cannot be used.
    """
    if environ.get("SANTIAGO_STORY"):
        hint = (
            "An agent that works on a ticket hands it over by ending; the board cannot be used from inside an attempt."
        )
        raise SantiagoError(Kind.BLOCKED, "an attempt cannot reach the board", hint=hint)
    top = run_locations.find_root(start)
    if top is None:
        hint = 'Make one: `git init && git add -A && git commit -m "Start"`.'
        raise SantiagoError(Kind.USAGE, "a board needs a git repository, and there is none here", hint=hint)
    common = registry.common_git_dir(top)
    project = common.parent if common is not None and common.name == ".git" else top
    noted = read_json(common / _NOTE, 2**16) if common is not None else None
    if isinstance(noted, dict) and isinstance(noted.get("root"), str):
        return Place(project=project, root=project / _inside(noted["root"]))
    return Place(project=project, root=project / runtime_root(project, environ))


def is_noted(start: Path) -> bool:
    """Tell whether a board was ever laid out in the repository around a path."""
    top = run_locations.find_root(start)
    common = registry.common_git_dir(top) if top is not None else None
    return common is not None and (common / _NOTE).is_file()


def runtime_root(project: Path, environ: Mapping[str, str]) -> PurePosixPath:
    """Return the runtime root for a new board, relative to the project."""
    given = next((environ[name] for name in VARIABLES if environ.get(name)), None)
    if given is not None:
        return _unused(project, _inside(given))
    return PurePosixPath(".sigee/.runtime" if (project / ".sigee").is_dir() else ".santiago/.runtime")


def note(place: Place) -> None:
    """Write down the root, so that every later command finds it from any worktree."""
    common = registry.common_git_dir(place.project)
    if common is not None and not (common / _NOTE).exists():
        content = {"root": place.root.relative_to(place.project).as_posix()}
        write_new(common / _NOTE, json.dumps(content).encode() + b"\n")


def _unused(project: Path, path: PurePosixPath) -> PurePosixPath:
    """Return a root that the user named.

    Raise where the folder is used for something else, since git would then ignore everything in it.
    """
    folder = project / path
    with_others = (
        folder.is_dir() and any(folder.iterdir()) and not any((folder / name).is_dir() for name in _ROOT_FOLDERS)
    )
    if with_others or path.parts[0] == ".git" or path.parts[:2] == (".santiago", "runs"):
        hint = "Name a folder of its own, such as .sigee/.runtime."
        raise SantiagoError(Kind.USAGE, f"{path} is used for something else", where=" or ".join(VARIABLES), hint=hint)
    return path


def _inside(given: str) -> PurePosixPath:
    """Return a root as a path; raise where it is not a folder inside the project."""
    path = PurePosixPath(given)
    if path.is_absolute() or ".." in path.parts or not path.parts or not given.isprintable():
        hint = "Name a folder inside the project, such as .sigee/.runtime."
        raise SantiagoError(
            Kind.USAGE, f"{given[:100]!r} cannot be the runtime root", where=" or ".join(VARIABLES), hint=hint
        )
    return path
