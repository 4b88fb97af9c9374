"""What is asked of a supervisor, and what it reports."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from santiago.contract.record import record

GIB = 1024**3


@record
class Command:
    """One program to run, with its bounds."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    timeout_ms: int
    stdin: str | None = None
    """A file that becomes standard input; nothing otherwise."""
    log: str | None = None
    """A file that the output is written to as it comes, redacted and within `log_keep`; its end follows at the end."""
    log_keep: int | None = None
    """Bytes written to the log as they come; `keep` where nothing is said. They cost no memory."""
    grace_ms: int = 5000
    """Between asking (SIGTERM) and forcing (SIGKILL)."""
    keep: int = 64 * 1024
    """Bytes of output kept from the beginning, and again from the end."""
    most: int = 20 * GIB
    """Bytes of output after which the program is stopped."""
    secrets: tuple[str, ...] = ()
    """Values that must not reach any file; kept in memory only."""
    landlock: tuple[str, ...] | None = None
    """Folders that may be written where the kernel's own fence is the sandbox; None leaves it off."""
    tcp: bool = True
    """Whether that fence lets it use TCP."""

    def to_data(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Command:
        for name in ("argv", "secrets", "landlock"):
            data[name] = tuple(data[name]) if data[name] is not None else None
        return cls(**data)


@record
class Report:
    """How it ended. Everything that the program had started is dead when a report exists."""

    exit_code: int | None
    """None where it was killed by a signal or never started."""
    signal: int | None = None
    timed_out: bool = False
    stopped: bool = False
    """Ended because santiago asked it to."""
    flooded: bool = False
    """Printed more than it may."""
    ms: int = 0
    head: str = ""
    tail: str = ""
    dropped: int = 0
    """Bytes between head and tail; where there are none, all of the output is in the head."""
    log_dropped: int = 0
    """Bytes of the output that its log lacks, all of them where there is no log; 0 says that the log is complete."""
    total: int = 0
    orphans: int = 0
    """Processes that outlived the program and had to be killed."""
    error: str = ""
    """Why it could not be started."""
    errno: int = 0

    @property
    def calm(self) -> bool:
        """The program ended by itself, and nothing had to be killed."""
        forced = self.timed_out or self.stopped or self.flooded or self.orphans
        return self.exit_code is not None and not forced

    def to_data(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Report:
        return cls(**data)
