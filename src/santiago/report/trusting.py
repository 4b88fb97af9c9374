"""The lines that ask a person to trust settings: what they would start or weaken, and their values before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from santiago.app.powers import MEANS
from santiago.util.text import first, harmless

if TYPE_CHECKING:
    from santiago.app.start.trust import Waiting

LONGEST = 2000
"""How many characters of one value are shown."""


def trusting(found: Waiting, before: dict[str, Any] | None) -> list[str]:
    """Return the lines about settings to trust, compared with those that were trusted `before`."""
    changed = ", changed since you trusted them," if before is not None else ""
    lines = [
        f"This repository brings settings{changed} that start programs or weaken protections:",
        f"  {harmless(found.origin)}",
    ]
    for name, value in sorted(found.settings.items()):
        means = f"   ({MEANS[name]})" if name in MEANS else ""
        lines.append(f"    {name} = {_shown(value)}{means}{_change(name, value, before)}")
    return [*lines, "Santiago did not check the scripts and programs that they name."]


def _change(name: str, value: Any, before: dict[str, Any] | None) -> str:
    if before is None or before.get(name) == value:
        return ""
    return f"   was {_shown(before[name])}" if name in before else "   new"


def _shown(value: Any) -> str:
    """Return a value on one line. Characters that a terminal would act on or hide are shown as numbers."""
    text = json.dumps(value, ensure_ascii=False)
    return first("".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text), LONGEST)
