"""Errors for people: a kind that decides the exit code, what is wrong, where, and what to do about it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from santiago.contract.reasons import ExitCode, Reason

if TYPE_CHECKING:
    from santiago.contract.plan import Finding


class Kind(Enum):
    """What sort of trouble it is; the exit code follows."""

    USAGE = ExitCode.USAGE
    INPUT = ExitCode.FAILED
    BLOCKED = ExitCode.BLOCKED
    TRANSIENT = ExitCode.TRANSIENT
    BUG = ExitCode.BUG


class SantiagoError(Exception):
    """One trouble, ready to be shown."""

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        hint: str = "",
        where: str = "",
        line: int = 0,
        reason: Reason | None = None,
        findings: tuple[Finding, ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.where = where
        """A file, or whatever else the trouble is about."""
        self.line = line
        self.reason = reason
        self.findings = findings
        """What the message sums up, one by one, where that is more than one thing."""

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode(self.kind.value)
