"""What git ignores but a checkout needs: files such as `.env`, which are copied, and folders of dependencies."""

from __future__ import annotations

import os
import shutil
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.process.place import link_into
from santiago.process.redact import secrets_of, to_hide, variables_of
from santiago.util.inside import is_inside
from santiago.workspace.dependencies import on_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from santiago.contract.policy import RunInput
    from santiago.process.place import Dependency, Ground
    from santiago.workspace.workspace import GitWorkspace


MOST_COPIED = 5000
"""How many files of a folder are copied."""


def present(repo: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return which of these files exist in the repository. A folder stands for the files in it."""
    below = (
        islice((repo / name).rglob("*"), MOST_COPIED) if (repo / name).is_dir() else (repo / name,) for name in names
    )
    return tuple(path.relative_to(repo).as_posix() for paths in below for path in paths if path.is_file())


def secrets(repo: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets in these files. Agents and checks see them, so their output must be redacted."""
    found = {value for name in names for value in (*to_hide(variables_of(repo / name)), *secrets_of(repo / name))}
    return tuple(sorted(found))


def folders(workspace: GitWorkspace, run_input: RunInput, source: Mapping[str, str]) -> tuple[Dependency, ...]:
    """Return the folders of dependencies: those of the settings, and virtual environments of the repository that are on PATH."""
    active = on_path(workspace.inspect().root, source.get("PATH", ""))
    return workspace.dependencies((*run_input.workspace.provide, *active))


def into(repo: Path, names: Iterable[str], ground: Ground, folder: str) -> None:
    """Copy these files into a fresh checkout, and give it its dependencies if nothing else does."""
    copy_into(repo, names, folder)
    if not ground.seen_there:
        link_into(folder, ground.dependencies)


def copy_into(repo: Path, names: Iterable[str], folder: str) -> None:
    for name in names:
        source, target = repo / name, Path(folder) / name
        above = next(one for one in target.parents if os.path.lexists(one))
        # Through a link that an agent left here, santiago could be made to write anywhere.
        safe = above.is_dir() and is_inside(above, folder)
        if safe and source.is_file() and not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
