"""Build caches of checks: the user's own, and over it what the checks of the base built before any agent started.

Compilers believe what is in their cache, so nothing that was built from an agent's work may come into another checkout. Every
checkout has an overlay of its own over these caches, and what is written there goes with it.
"""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.process.mount_sandbox import overlays_work
from santiago.process.place import Dependency

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from santiago.process.place import Ground

_GO, _CARGO = ".git/go-build", "target"
"""Where a checkout has them. Go's may be anywhere; within the git directory nobody takes it for work."""
_OF_CARGO = frozenset({"deps", "build", ".fingerprint", "incremental"})
"""What cargo compares with the sources. Programs that are ready to run are left out: a check could run them as they are."""
_MOST = 8
"""How many folders lie under one overlay. Their names must fit into one page of memory."""


def caches(files: Iterable[str], environment: Mapping[str, str], scratch: Path) -> list[Dependency]:
    """Return the build caches for a commit with these files, as the user has them."""
    names = {path.rpartition("/")[2] for path in files}
    if "go.mod" not in names:
        return []
    above = environment.get("XDG_CACHE_HOME") or f"{environment.get('HOME', '')}/.cache"
    own = environment.get("GOCACHE") or f"{above}/go-build"
    if not (own.startswith("/") and os.access(own, os.R_OK | os.X_OK)):
        own = str(scratch / "empty")
        Path(own).mkdir(parents=True, exist_ok=True)
    return [Dependency(name=_GO, source=os.path.realpath(own), variable="GOCACHE")]


def keep(ground: Ground, folder: str) -> None:
    """Keep what was built in a checkout for all later ones. Only for checkouts of a base, before any agent started."""
    over = ground.place(folder).over
    if not ground.seen_there or over is None:
        return
    with suppress(OSError):  # it costs time that it is not there, and nothing else
        if _GO in ground.built:
            _put(ground, _GO, Path(over, _GO, "upper"))
        for crate in sorted(Path(folder).glob("Cargo.toml")) + sorted(Path(folder).glob("*/Cargo.toml")):
            target = crate.with_name(_CARGO)
            name = str(target.relative_to(folder))
            if target.is_dir() and not target.is_symlink() and name not in ground.built:
                _put(ground, name, _for_others(target, Path(folder, ".git")))


def _put(ground: Ground, name: str, made: Path) -> None:
    """Lay a folder over what there is of a cache."""
    known = ground.built.get(name)
    lower = (known.source, *known.beneath) if known else ()
    if len(lower) < _MOST and made.is_dir():
        kept = Path(str(ground.over), f"built-{uuid.uuid4().hex}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        one = replace(known or Dependency(name=name, source=""), source=str(made.rename(kept)), beneath=lower)
        if known or overlays_work(str(ground.over), [one]):
            ground.built[name] = one


def _for_others(target: Path, trash: Path) -> Path:
    """Return what cargo built, without finished programs, and so that it takes all code of a checkout for newer."""
    for profile in target.iterdir():
        for one in profile.iterdir() if profile.is_dir() and not profile.is_symlink() else ():
            if one.name not in _OF_CARGO:
                one.rename(trash / uuid.uuid4().hex)
    # Cargo compares times with those of the sources, and a clock may be set back.
    for pattern in ("*/.fingerprint/*/dep-*", "*/build/*/output"):
        for one in target.glob(pattern):
            os.utime(one, (1, 1), follow_symlinks=False)
    return target
