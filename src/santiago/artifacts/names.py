"""The names of a run's files, and whether its log has begun. Every command needs these, and few need the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LOG, INPUT, PLAN, RESULT = "progress.ndjson", "run-input.json", "plan.json", "result.json"
ATTEMPTS, DETAILS = "attempts", "details"
PROMPT, AGENT_LOG, PATCH, LEFT_OUT = "prompt.md", "agent.log", "changes.patch", "left-out.txt"
VERIFICATION, CRITIQUE, OUTCOME, ENDING = "verification.json", "critique.md", "outcome.json", "ending.json"
FILES = "files.json"
"""Lists all files of an attempt or a detailed plan that is finished, with their digests. The log has the digest of this list."""
SETTINGS = "settings.json"
"""The settings from files and variables when the run was made, to tell later what has changed. Without the command line."""
REQUEST = "pull-request.md"
"""The text of a request to merge the run's branch. Nothing depends on it."""
REPORT = "report.html"
"""The whole run as a page for other people. Nothing depends on it."""
STARTED = "started.log"
"""What the latest start from a screen printed. Nothing depends on it."""


def attempt_folder(story: str, attempt: int) -> str:
    return f"{ATTEMPTS}/{story}/{attempt}"


def has_begun(out_dir: Path) -> bool:
    """Tell whether there is anything in a run's log."""
    try:
        return (out_dir / LOG).stat().st_size > 0
    except OSError:
        return False
