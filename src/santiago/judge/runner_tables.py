"""The tables that ship with the judge: what runners read, and which lines are doubted."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    import tomllib  # loaded here, since most commands need no table

    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
