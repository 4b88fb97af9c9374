"""A record of an attempt, as data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from santiago.artifacts.files import read_bytes
from santiago.artifacts.store import LARGEST
from santiago.contract.errors import SantiagoError

if TYPE_CHECKING:
    from pathlib import Path


def record_in(path: Path) -> dict[str, Any]:
    """Return a record of an attempt as data; empty if there is none."""
    try:
        data = json.loads(read_bytes(path, LARGEST))
    except (SantiagoError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
