"""Faults in a project's governance files. Each has its place and its remedy; they are collected and shown together."""

from __future__ import annotations

from typing import Any

from santiago.contract.record import record


@record
class Fault:
    file: str
    """Relative to the project."""
    line: int
    """1-based; 0 where the fault concerns the file as a whole."""
    message: str
    remedy: str

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    def to_data(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line or None, "message": self.message, "remedy": self.remedy}


class Faults(list[Fault]):
    """Collects faults as they are found."""

    def add(self, file: str, line: int, message: str, remedy: str) -> None:
        self.append(Fault(file=file, line=line, message=message, remedy=remedy))

    def in_order(self) -> tuple[Fault, ...]:
        """Return each fault once, by file and line."""
        return tuple(sorted(set(self), key=lambda one: (one.file, one.line, one.message)))
