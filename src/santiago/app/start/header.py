"""The header that is shown when a run starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What a person should see before anything runs."""

    run_id: str
    out_dir: Path
    stories: int
    chunks: int
    agent: str
    sandbox: str
    jobs: int
    resumed: bool
    notices: tuple[str, ...]
    follower: str = ""
    """Who takes over where the agent cannot go on."""
