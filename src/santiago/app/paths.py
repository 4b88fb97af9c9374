"""Paths as a person would type them, and the folder for checkouts."""

from __future__ import annotations

import os
import shlex
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def shortest(path: Path) -> str:
    """Return a path as the user would type it from here."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)


def typed(path: Path) -> str:
    """Return a path as a word of a command line."""
    return shlex.quote(shortest(path))


def near(path: Path) -> str:
    """Return a path as one would type it here."""
    here = os.getcwd()  # noqa: PTH109  # compared as text
    return os.path.relpath(path, here) if str(path).startswith(f"{here}/") else str(path)


def scratch_of(repo: Path) -> Path:
    """Return the folder in which all runs of a repository have their checkouts: outside of it, so that no tool takes them for a part."""
    from platformdirs import user_cache_path

    return user_cache_path("santiago") / sha256(str(repo).encode()).hexdigest()[:16]
