"""Reads governance files: YAML of limited size, inside the project, with the line of every value. Faults are collected with their place and remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.contract.record import record
from santiago.planner.draft import DocumentError
from santiago.planner.structured import yaml_tree
from santiago.planner.structured.tree import Array, Object, Scalar, as_text
from santiago.util import regular
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.planner.structured.tree import Node

MOST = 1 << 20
"""The largest governance file, in bytes."""
SIGEE = ".sigee"


def text_of(project: Path, name: str, faults: Faults, most: int = MOST) -> str | None:
    """Return the text of a file of the project. Where it cannot be read, add a fault and return None."""
    path = project / name
    if not is_inside(path, project):
        faults.add(name, 0, "a link leads out of the project", "Put the file itself here.")
        return None
    data = regular.content(path, most + 1)
    if data is None:
        faults.add(name, 0, "it cannot be read", "Make it a regular file that you may read.")
    elif len(data) > most:
        faults.add(name, 0, f"it is larger than {most >> 10} KiB", "Split it, or take out what is no longer used.")
    else:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            faults.add(name, line, f"it is not UTF-8 (byte {error.start})", "Save it as UTF-8.")
    return None


def tree_of(name: str, text: str, faults: Faults) -> Object | None:
    """Return the keys and values of a YAML text. Where it has none, add a fault and return None."""
    try:
        node = yaml_tree.parse(text)
    except DocumentError as error:
        faults.add(name, error.line, error.message, error.hint)
        return None
    if isinstance(node, Object):
        return node
    faults.add(name, node.line, "it holds no keys", "Write `key: value` lines, as the starters have them.")
    return None


def names_in(node: Node | None) -> tuple[str, ...]:
    """Return the names in a YAML list, or in a text with commas between them."""
    found = node.items if isinstance(node, Array) else [node]
    return tuple(name.strip() for one in found for name in as_text(one).split(",") if name.strip())


def whole_number(node: Node | None) -> int | None:
    """Return a whole number of at least 1; None for anything else."""
    text = node.text.removeprefix("+") if isinstance(node, Scalar) and node.kind == "number" else ""
    return int(text) or None if text.isdecimal() else None


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
