"""What a check takes from the machine and an agent without a sandbox could change: its programs, Python's start files."""

from __future__ import annotations

import os
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.verification.commandline import shell
from santiago.verification.commandline.runners import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ALWAYS = ("sh", "python3", "python", "env")
_CUSTOMIZE = ("sitecustomize", "usercustomize")
_MARK = "pyvenv.cfg"


def fingerprint(environment: Mapping[str, str], commands: Sequence[str]) -> str:
    """Return a digest of where the programs of these checks are, and of what Python loads by itself before them."""
    return sha256("\n".join(_lines(environment, commands)).encode("utf-8", "surrogateescape")).hexdigest()


def _lines(environment: Mapping[str, str], commands: Sequence[str]) -> Iterator[str]:
    path = environment.get("PATH", "")
    names = {argv[0] for command in commands for argv in programs(command) if argv}
    names |= {words[0].text for command in commands for words in shell.simple_commands(command)}
    prefixes = {environment[name] for name in ("PYTHONHOME", "PYTHONUSERBASE") if environment.get(name)}
    prefixes.add(f"{environment.get('HOME', '')}/.local")
    for name in sorted({*names, *_ALWAYS}):
        found = _found(name, path)
        yield f"{name} {found} {_state(found) if found else ''}"
        prefixes |= _prefixes(found) if found else set()
    folders = {place for prefix in prefixes if prefix.startswith("/") for place in _libraries(prefix)}
    folders |= {place for place in environment.get("PYTHONPATH", "").split(":") if place.startswith("/")}
    for folder in sorted(folders):
        yield from _start_files(folder)
    yield from (f"{prefix} {_state(f'{prefix}/{_MARK}')}" for prefix in sorted(prefixes))


def _found(name: str, path: str) -> str | None:
    """Return where a program is, as a shell would find it."""
    places = (f"{folder or '.'}/{name}" for folder in path.split(":")) if "/" not in name else (name,)
    return next((place for place in places if os.access(place, os.X_OK) and os.path.isfile(place)), None)  # noqa: PTH113


def _prefixes(program: str) -> set[str]:
    """Return the roots of the Pythons that a program stands for: of the environment that it lies in, and of what it links to."""
    above = os.path.dirname(os.path.dirname(program))  # noqa: PTH120  # plain text, asked for twice with every story
    found = {above} if os.path.basename(program).startswith("python") or _state(f"{above}/{_MARK}") else set()  # noqa: PTH119
    real = os.path.realpath(program)
    return found | ({os.path.dirname(os.path.dirname(real))} if found else set())  # noqa: PTH120


def _libraries(prefix: str) -> Iterator[str]:
    """Yield where below a prefix Python looks for start files."""
    for above in (f"{prefix}/lib", f"{prefix}/lib64"):
        for name in _names(above):
            if name.startswith("python"):
                yield from (f"{above}/{name}{below}" for below in ("", "/site-packages", "/dist-packages"))


def _start_files(folder: str) -> Iterator[str]:
    for name in _names(folder):
        if name.endswith(".pth") or name.startswith(_CUSTOMIZE):
            yield f"{folder}/{name} {_state(f'{folder}/{name}')} {_state(f'{folder}/{name}/__init__.py')}"


def _names(folder: str) -> tuple[str, ...]:
    return _listed(folder, _state(folder))


@lru_cache(maxsize=256)
def _listed(folder: str, _: str) -> tuple[str, ...]:
    """Return what a folder holds, read anew when the folder's own state changed; only what could be of interest."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return ()
    return tuple(sorted(name for name in names if name.startswith(("python", *_CUSTOMIZE)) or name.endswith(".pth")))


def _state(path: str) -> str:
    try:
        info = os.stat(path)  # noqa: PTH116
    except OSError:
        return ""
    return f"{info.st_ino} {info.st_size} {info.st_mtime_ns} {info.st_ctime_ns}"
