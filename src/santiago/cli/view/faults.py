"""Faults of governance files as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.cli.view.text import paint, say
from santiago.util.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.board.governance.documents import Fault


def show_faults(faults: Iterable[Fault]) -> None:
    """Print each fault with its place and its remedy."""
    for fault in faults:
        head = paint("error:", "bad", stderr=False)
        say(f"{head} {harmless(fault.where)}: {harmless(fault.message)}")
        say(f"  fix: {harmless(fault.remedy)}")
