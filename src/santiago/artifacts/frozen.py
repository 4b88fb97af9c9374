"""A run's plan and input never change. Ones that differ are refused, and the error names the fields that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.artifacts.faults import refused
from santiago.contract import codec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput

_MOST = 5
"""How many fields one message names."""


def compare(path: Path, frozen: RunInput | Plan, given: RunInput | Plan) -> None:
    """Raise if a document differs from the frozen one. The error names both digests and the fields that differ."""
    old, new = codec.digest(frozen), codec.digest(given)
    if old == new:
        return
    fields = sorted(_differences(codec.to_data(frozen), codec.to_data(given)))
    named = ", ".join(fields[:_MOST]) + (f" and {len(fields) - _MOST} more" if len(fields) > _MOST else "")
    raise refused(
        path,
        f"this differs from what the run began with: {named} (digest {old[:16]} then, {new[:16]} now)",
        "Use a new out-dir; limits are raised with `santiago resume --add-attempts N` (--add-minutes, --add-cost, --add-tokens).",
    )


def _differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield the fields in which two documents differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old.keys() | new.keys():
            yield from _differences(old.get(name), new.get(name), f"{path}.{name}" if path else name)
    elif old != new:
        yield path
