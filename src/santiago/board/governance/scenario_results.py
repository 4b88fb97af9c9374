"""The results of running scenarios, for each step and for the whole run, and the files that keep them."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from santiago.artifacts.files import write_whole
from santiago.contract.board import TICKET_ID
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
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
    """The result of one command of a step."""

    node: str
    scenario: str
    kind: str
    bundle: str
    """The kind of test that it counts as in the test contract; empty where it is no test."""
    stage: Literal["run", "verify"]
    command: str
    result: Outcome
    message: str
    exit_code: int | None
    seconds: float
    timed_out: bool
    log: str
    """The log's name in the folder of the evidence."""
    log_sha256: str

    def to_data(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}  # type: ignore[attr-defined]  # made by @record


@record
class Ended:
    """A run that has ended."""

    status: Status
    summary: dict[str, Any]
    file: Path | None
    """The last-run.json of the ticket, or of the project. None for a dry run, which writes nothing."""
    digest: str
    """SHA-256 of that file when it was written."""


def state_file(root: Path, ticket: str | None) -> Path:
    """Return the file that keeps the last run of a ticket. A run without a ticket satisfies no done gate."""
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
    """Return a summary that was kept; None where there is none, or it cannot be read."""
    try:
        found = json.loads(regular.content(path, LARGEST, follow=False) or b"")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file; that of no bytes where the file is gone."""
    return sha256(regular.content(path, LARGEST, follow=False) or b"").hexdigest()
