"""What came of running scenarios: each step's result, the whole, and the files in which both are kept."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from santiago.artifacts.files import write_whole
from santiago.contract.board import TICKET_ID
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.patterns import pattern
from santiago.contract.record import record
from santiago.util import regular

if TYPE_CHECKING:
    from pathlib import Path

PIPELINE = "scenarios"
STATE = "dag/state"
LAST_RUN = "last-run.json"
LARGEST = 64 << 20
Outcome = Literal["pass", "fail", "red", "was_red", "proves_nothing"]
Status = Literal["PASS", "FAIL", "PARTIAL", "NOTHING", "DRY_RUN"]
_TICKET = pattern(TICKET_ID)


@record
class Result:
    """What one command of a step showed."""

    node: str
    scenario: str
    kind: str
    bundle: str
    """Key of the test contract that it counts for; empty where it is no test."""
    stage: Literal["run", "verify"]
    command: str
    result: Outcome
    message: str
    exit_code: int | None
    seconds: float
    timed_out: bool
    log: str
    """Relative to the folder of the evidence."""
    log_sha256: str

    def to_data(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}  # type: ignore[attr-defined]  # of the record


@record
class Ended:
    """A run that is over."""

    status: Status
    summary: dict[str, Any]
    file: Path | None
    """The ticket's last-run.json, or the project's; None for a dry run, which leaves nothing behind."""
    digest: str
    """SHA-256 of that file, for a record of what it was when it was written."""


def state_file(root: Path, ticket: str | None) -> Path:
    """Return where the last run of a ticket is kept; that of no ticket opens no gate."""
    if ticket is None:
        return root / STATE / LAST_RUN
    if not _TICKET.fullmatch(ticket):
        raise SantiagoError(
            Kind.USAGE, f"{ticket!r} cannot be the id of a ticket", hint="Name it as `queue list` does."
        )
    return root / STATE / ticket / LAST_RUN


def keep(path: Path, data: dict[str, Any]) -> str:
    """Write a summary, and return its digest."""
    content = (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    write_whole(path, content)
    return sha256(content).hexdigest()


def load(path: Path) -> dict[str, Any] | None:
    """Return a kept summary; None where there is none that can be read."""
    try:
        found = json.loads(regular.content(path, LARGEST, follow=False) or b"")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a log; that of nothing where it is gone."""
    return sha256(regular.content(path, LARGEST, follow=False) or b"").hexdigest()
