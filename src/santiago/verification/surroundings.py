"""What a check takes from the machine and an agent without a sandbox could change: its programs, Python's start files."""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.verification.runners import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ALWAYS = ("sh", "python3", "python", "env")
_START_FILES = ("*.pth", "*customize.py", "*customize/__init__.py")


def fingerprint(environment: Mapping[str, str], commands: Sequence[str]) -> str:
    """Return a digest of where the programs of these checks are, and of what Python loads by itself from the home folder."""
    return sha256("\n".join(_lines(environment, commands)).encode("utf-8", "surrogateescape")).hexdigest()


def _lines(environment: Mapping[str, str], commands: Sequence[str]) -> Iterator[str]:
    path = environment.get("PATH", "")
    names = {argv[0] for command in commands for argv in programs(command) if argv}
    for name in sorted({*names, *_ALWAYS}):
        found = shutil.which(name, path=path)
        yield f"{name} {found} {_state(found) if found else ''}"
    libraries = Path(environment.get("HOME", ""), ".local/lib")
    if not libraries.is_absolute() or not libraries.is_dir():
        return
    for folder in sorted(libraries.glob("python*/site-packages")):
        for pattern in _START_FILES:
            yield from (f"{file} {_state(file)}" for file in sorted(folder.glob(pattern)))


def _state(path: str | Path) -> str:
    try:
        info = os.stat(path)  # noqa: PTH116  # most of these are plain texts, asked for twice with every story
    except OSError:
        return ""
    return f"{info.st_ino} {info.st_size} {info.st_mtime_ns} {info.st_ctime_ns}"
