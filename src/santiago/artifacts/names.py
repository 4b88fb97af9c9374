"""The names of a run's files, and whether there is anything in its log; every command needs these, few need the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LOG, INPUT, PLAN, RESULT, ATTEMPTS = "progress.ndjson", "run-input.json", "plan.json", "result.json", "attempts"
SETTINGS = "settings.json"
"""What files and variables said when the run was made, without its command line; to tell later what has changed."""
REQUEST = "pull-request.md"
"""What a request to merge the run's branch says; nothing rests on it."""
STARTED = "started.log"
"""What the latest start from a screen printed; nothing rests on it."""


def attempt_folder(story: str, attempt: int) -> str:
    return f"{ATTEMPTS}/{story}/{attempt}"


def has_begun(out_dir: Path) -> bool:
    """Tell whether there is anything in a run's log."""
    try:
        return (out_dir / LOG).stat().st_size > 0
    except OSError:
        return False
