"""The header that is shown when a run starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.record import lean

if TYPE_CHECKING:
    from pathlib import Path


@lean(frozen=True)
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
