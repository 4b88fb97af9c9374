"""Result files in JUnit's form that a check wrote while it ran; a file that was there before counts for nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from santiago.util import regular
from santiago.verification.counting.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 8 * 1024 * 1024
_NAMES = re.compile(r"(?:junit.*|report|test-?results?.*|TEST-.*|results?)\.xml$", re.IGNORECASE)
_FOLDERS = re.compile(
    r"(?:^|/)(?:target/(?:surefire|failsafe)-reports|build/test-results(?:/\w+)?|test-results|reports)$"
)
_SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", ".tox", "__pycache__", ".mypy_cache"})
_DEEPEST = 6
_MOST_FOLDERS = 2000


def written_since(folder: str, moment_ns: int) -> Tally | None:
    """Return what the result files say that were written after a moment of the file system's clock."""
    total: Tally | None = None
    for path in _files(folder):
        tally = _tally(path, moment_ns)
        if tally is not None:
            total = tally + (total or Tally(0, 0))
    return total


def _files(folder: str) -> Iterator[Path]:
    depth = folder.rstrip("/").count("/")
    for count, (place, folders, names) in enumerate(os.walk(folder)):
        if count > _MOST_FOLDERS:
            return
        folders[:] = sorted(set(folders) - _SKIPPED) if place.count("/") - depth < _DEEPEST else []
        any_xml = bool(_FOLDERS.search(place))
        yield from (
            Path(place, name) for name in sorted(names) if name.endswith(".xml") and (any_xml or _NAMES.match(name))
        )


def _tally(path: Path, moment_ns: int) -> Tally | None:
    try:
        with regular.opened(path, follow=False) as file:
            info = os.fstat(file.fileno())
            if info.st_mtime_ns <= moment_ns or info.st_size > LARGEST:
                return None
            raw = file.read(LARGEST)
        if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
            return None  # no runner writes these, and they are how a small file becomes a large one
        root = ElementTree.fromstring(raw)  # noqa: S314  # bounded in size, and without entities
    except (OSError, ElementTree.ParseError, RecursionError):
        return None
    if root.tag not in {"testsuite", "testsuites"}:
        return None
    cases = [{child.tag for child in case} for case in root.iter("testcase")]
    failed = sum(bool(tags & {"failure", "error"}) for tags in cases)
    return Tally(sum("skipped" not in tags for tags in cases), failed)
