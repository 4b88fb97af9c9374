"""The folder for checkouts: outside the repository, so that no tool takes them for a part of it."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def scratch_of(repo: Path) -> Path:
    """Return the folder in which all runs of a repository have their checkouts."""
    from platformdirs import user_cache_path

    return user_cache_path("santiago") / sha256(str(repo).encode()).hexdigest()[:16]
