"""Errors for people. Each has a kind, which decides the exit code, and says what is wrong, where, and what to do about it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from santiago.contract.reasons import ExitCode, Reason

if TYPE_CHECKING:
    from santiago.contract.plan import Finding


class Kind(Enum):
    """What kind of error it is. It decides the exit code."""

    USAGE = ExitCode.USAGE
    INPUT = ExitCode.FAILED
    BLOCKED = ExitCode.BLOCKED
    TRANSIENT = ExitCode.TRANSIENT
    BUG = ExitCode.BUG


class SantiagoError(Exception):
    """One error, ready to be shown."""

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
        """The file, or whatever else the error is about."""
        self.line = line
        self.reason = reason
        self.findings = findings
        """The single faults, where the message sums up more than one."""

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode(self.kind.value)
