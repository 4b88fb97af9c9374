"""The ignored files that a checkout needs, such as `.env`: copied where the repository has them and the commit has not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.process.credentials import secrets_of, variables_of
from santiago.process.redact import to_hide
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterable


def present(repo: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return which of the files the repository has."""
    return tuple(name for name in names if (repo / name).is_file())


def secrets(repo: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets in the files: agents and checks see them, so their output may show them."""
    found = {value for name in names for value in (*to_hide(variables_of(repo / name)), *secrets_of(repo / name))}
    return tuple(sorted(found))


def copy_into(repo: Path, names: Iterable[str], folder: str) -> None:
    for name in names:
        source, target = repo / name, Path(folder) / name
        # A link that an agent left here could lead santiago to write anywhere.
        safe = target.parent.is_dir() and is_inside(target.parent, folder)
        if safe and source.is_file() and not os.path.lexists(target):
            shutil.copyfile(source, target)
