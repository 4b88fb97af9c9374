"""Finds the secret values in a credential file of any format, so that they can be kept out of other files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.util import regular

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 256 * 1024
MOST_VALUES = 50
_VALUE = pattern(
    r"""(?<![\w-])["']?(?:[\w-]{0,60}(?:token|secret|key|passw(?:or)?d|credential)[\w-]{0,60}|access|refresh)["']?"""
    r"""[ \t]*[:=]\s*["']?([^\s"',{}\[\]]{16,8192})""",
    re.IGNORECASE,
)
"""Matches `"access_token": "…"` and similar in JSON, TOML, YAML and lists of variables. Shorter values are ordinary words."""


_LINE = pattern(r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w{0,100})=(["']?)(.{0,8192}?)\2[ \t]*\r?$""", re.MULTILINE)


def variables_of(path: Path) -> dict[str, str]:
    """Return the variables that a file like `.env` sets."""
    content = regular.content(path, MOST_BYTES) or b""
    return {found[1]: found[3] for found in _LINE.finditer(content.decode("utf-8", "replace"))}


def secrets_of(path: Path) -> list[str]:
    """Return the values under names that mark them as secret; none if the file cannot be read."""
    content = regular.content(path, MOST_BYTES) or b""
    values = (found[1] for found in _VALUE.finditer(content.decode("utf-8", "replace")))
    return sorted(dict.fromkeys(value for value in values if len(set(value)) > 2))[:MOST_VALUES]
