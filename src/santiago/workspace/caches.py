"""Caches that tools leave beside the work. No snapshot takes them, whether the repository ignores them or not."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES = (
    "__pycache__/ *.pyc *.pyo .pytest_cache/ .mypy_cache/ .ruff_cache/ .hypothesis/ .tox/ .nox/ .venv/ *.egg-info/ .eggs/"
    " .ipynb_checkpoints/ .coverage .pytype/ node_modules/ .nyc_output/ .eslintcache .parcel-cache/ .turbo/ .gradle/"
    " .phpunit.result.cache .phpunit.cache/ .stack-work/ .dart_tool/"
)
RULES = "".join(f"{name}\n" for name in _NAMES.split()).encode()
"""As ignore rules for git, weaker than all others. Files of the base stay tracked."""
_PASSING = [rule.rstrip("/") for rule in _NAMES.split() if rule not in (".venv/", "node_modules/", "*.egg-info/")]
_UNUSUAL = pattern(rb"[\\*?\[\]!# ]")
"""Characters that an ignore rule of git must escape."""


def is_cache(path: str) -> bool:
    """Tell whether a path is a cache that tools can make again, and not an installed package."""
    name = PurePosixPath(path).name
    return any(fnmatchcase(name, rule) for rule in _PASSING)


def rules_for(names: Iterable[str]) -> bytes:
    """Return ignore rules for exactly these paths. Paths with a line break are left out, since no rule can hold them."""
    lines = (_UNUSUAL.sub(rb"\\\g<0>", os.fsencode(name)) for name in names if "\n" not in name)
    return b"".join(b"/%b\n" % line for line in lines)
