"""What an attempt that is under way has changed so far, without secrets. It is computed only when somebody looks at it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.app.paths import scratch_of
from santiago.app.start.judging import look_around
from santiago.contract.errors import SantiagoError
from santiago.process.redact import Redactor
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from santiago.app.loading import Run


def changed_so_far(run: Run, story: str, attempt: int) -> str | None:
    """Return the changes as a patch of limited length; None if they cannot be read from here."""
    with suppress(SantiagoError, OSError):
        around = look_around(run.run_input)
        workspace = GitWorkspace(around.repo, run.run_id, scratch_of(around.repo), provided=around.provided)
        found = workspace.so_far(story, attempt)
        if found is not None:
            redactor = Redactor(around.secrets)
            return (redactor.feed(found, live=False) + redactor.end()).decode("utf-8", "replace")
    return None
