"""Patterns match alike on every Python that santiago runs on."""

from __future__ import annotations

import re
from pathlib import Path

import santiago

POSSESSIVE_GROUP = re.compile(r"\(\?.*\)(?:\{\d*,?\d*\}|[+*?])\+")


def test_no_pattern_has_a_possessive_group() -> None:
    """Python before 3.11.5 does not match one that has to try more than one way: a private key was not hidden by it."""
    sources = sorted(Path(santiago.__file__).parent.rglob("*.py"))
    lines = [(path.name, line) for path in sources for line in path.read_text("utf-8").splitlines()]
    assert len(lines) > 50_000
    assert [one for one in lines if POSSESSIVE_GROUP.search(one[1])] == []
