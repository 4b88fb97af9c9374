"""Where things are on disk: the repository around a document, and the out-dirs of its runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.artifacts.file_errors import refused
from santiago.artifacts.files import read_json
from santiago.contract.ids import first_free

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST_INPUT = 2**20
"""Bytes of a run input that are read."""
RUNS = Path(".santiago") / "runs"
SESSIONS = RUNS.parent / "sessions"


def find_root(start: Path) -> Path | None:
    """Return the top folder of the git repository around a path, or None outside of one."""
    folder = start if start.is_dir() else start.parent
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return None


def name_inside(path: Path, root: Path | None) -> str:
    """Return the name that a plan uses for its document: relative to the repository, never absolute."""
    if root is not None and path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    return path.name


def resolved(path: Path) -> Path:
    """Return an absolute path without resolving links, so that a linked document keeps its name."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # Path.resolve would follow links


def keep_out_of_git(folder: Path) -> None:
    """Make git ignore `.santiago`, by a .gitignore file inside it."""
    refuse_linked(folder)
    ignore = folder / ".gitignore"
    if not os.path.lexists(ignore):  # a link that came with the repository may lead anywhere
        folder.mkdir(parents=True, exist_ok=True)
        ignore.write_text("*\n", encoding="utf-8")


def refuse_linked(folder: Path) -> None:
    """Raise if a folder that we would write to is behind a symbolic link of the repository, which may lead anywhere."""
    for one in (folder, *folder.parents):
        is_ours = RUNS.parts[0] in one.parts
        if not is_ours and (one / ".git").exists():
            return
        if one.is_symlink() and (is_ours or find_root(one.parent)):
            hint = "Remove the link, or name a folder outside the repository with --out-dir."
            raise refused(
                one, "santiago would write here, but this is a symbolic link; nothing was written through it", hint
            )


def unstarted_run(root: Path, prd_path: str) -> Path | None:
    """Return the newest run of this document that was not executed yet. Planning again replaces its plan."""
    return _newest(root, prd_path, lambda folder: not (folder / "progress.ndjson").exists())


def newest_plan(root: Path, prd_path: str) -> Path | None:
    """Return the plan of the newest run of this document, begun or not."""
    folder = _newest(root, prd_path, lambda folder: (folder / "plan.json").is_file())
    return folder / "plan.json" if folder else None


def _newest(root: Path, prd_path: str, fits: Callable[[Path], bool]) -> Path | None:
    for folder in filter(fits, sorted((root / RUNS).glob("*"), reverse=True)):
        data = read_json(folder / "run-input.json", _LARGEST_INPUT)
        if isinstance(data, dict) and data.get("prd_path") == prd_path:
            return folder
    return None


def new_run_id(root: Path, utc: str, is_taken: Callable[[str], bool] = lambda _: False) -> str:
    """Return a run id made of the time (`r_20261115_011742`), with a suffix if that is taken here or in another worktree."""
    stamp = utc[:19].replace("-", "").replace(":", "").replace("T", "_")
    return first_free(f"r_{stamp}", lambda name: (root / RUNS / name).exists() or is_taken(name), "_")
