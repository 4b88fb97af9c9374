"""The command that a supervisor gets, and the report that it returns."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from santiago.contract.record import record

GIB = 1024**3


@record
class Command:
    """One program to run, with its limits."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    timeout_ms: int
    stdin: str | None = None
    """A file for standard input; without one, standard input is empty."""
    log: str | None = None
    """A file for the output, redacted, up to `log_keep`. The end of the output is added at the end."""
    log_keep: int | None = None
    """Bytes that are written to the log as they come; `keep` by default. They cost no memory."""
    grace_ms: int = 5000
    """Milliseconds between asking (SIGTERM) and forcing (SIGKILL)."""
    keep: int = 64 * 1024
    """Bytes of output kept from the beginning, and again from the end."""
    most: int = 20 * GIB
    """Bytes of output after which the program is stopped."""
    secrets: tuple[str, ...] = ()
    """Values that must not reach any file; kept in memory only."""
    landlock: tuple[str, ...] | None = None
    """Folders that may be written if Landlock is the sandbox; None switches Landlock off."""
    tcp: bool = True
    """Whether Landlock allows TCP."""
    keyless: bool = False
    """Whether the kernel's keyrings are closed to it."""

    def to_data(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Command:
        for name in ("argv", "secrets", "landlock"):
            data[name] = tuple(data[name]) if data[name] is not None else None
        return cls(**data)


@record
class Report:
    """How a program ended. When the report exists, all processes that the program started are dead."""

    exit_code: int | None
    """None if it was killed by a signal or never started."""
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
    """Bytes between head and tail. If there are none, all of the output is in the head."""
    log_dropped: int = 0
    """Bytes of the output that are missing in its log; all bytes if there is no log, 0 if the log is complete."""
    total: int = 0
    orphans: int = 0
    """Processes that outlived the program and had to be killed."""
    error: str = ""
    """Why it could not be started."""
    errno: int = 0

    @property
    def calm(self) -> bool:
        """Whether the program ended by itself, and nothing had to be killed."""
        forced = self.timed_out or self.stopped or self.flooded or self.orphans
        return self.exit_code is not None and not forced

    def to_data(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Report:
        return cls(**data)
