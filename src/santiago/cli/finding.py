"""Finding the run that a command is about: by its folder, by its id, or the latest one of this repository."""

from __future__ import annotations

from pathlib import Path

from santiago.artifacts import registry, repository
from santiago.artifacts.store import LOG, PLAN
from santiago.contract.errors import Kind, SantiagoError


def find_run(name: str | None, *, resumable: bool = False) -> Path:
    """Return the out-dir of a run; without a name, the newest of this repository (that can be continued)."""
    if name is not None:
        return _named(name)
    common = _common()
    runs = registry.runs(common) if common else []
    if resumable:
        runs = [run for run in runs if registry.standing(run) in {"resumable", "damaged"}]
    if not runs:
        what = "nothing to resume" if resumable else "no run yet"
        raise SantiagoError(
            Kind.USAGE, f"{what} in this repository", hint="Name a run's folder, or start one: santiago run PRD"
        )
    return runs[0].out_dir


def _named(name: str) -> Path:
    path = repository.resolved(Path(name))
    if (path / PLAN).is_file() or (path / LOG).exists():
        return path
    common = _common()
    for run in registry.runs(common) if common else []:
        if run.run_id == name:
            return run.out_dir
    raise SantiagoError(
        Kind.USAGE, f"there is no run {name!r}", hint="Name a run's folder or its id; `santiago status` lists them."
    )


def _common() -> Path | None:
    root = repository.find_root(Path.cwd())
    return registry.common_git_dir(root) if root else None


def split_target(words: tuple[str, ...], *, least: int) -> tuple[str | None, tuple[str, ...]]:
    """Return the optional run in front of a command's own words: `[DIR] STORY` and the like."""
    return (words[0], words[1:]) if len(words) > least else (None, words)
