"""Lays out a board: folders, file headers, policies and forms. Files that exist are never overwritten."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from santiago.artifacts import run_locations
from santiago.artifacts.file_errors import refused
from santiago.artifacts.files import write_new, write_whole
from santiago.board import tsv
from santiago.board.locking import locked
from santiago.contract.board import FIELDS
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util import regular
from santiago.util.mounts import network_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.board.board_place import Place

FOLDERS = (
    "plans", "orchestration/queues", "orchestration/archive", "orchestration/history", "dag/scenarios", "dag/pipelines",
    "dag/state", "evidence", "reports", "locks",
)  # fmt: skip
_BEGIN, _END = "# santiago board: begin", "# santiago board: end"
_LARGEST_IGNORE = 2**20
README = """\
# The board

Work stands in queues: planner-inbox, scientist-todo, developer-todo, planner-review, blocked, done. A ticket is claimed,
worked on and handed over with evidence; only the planner's review leads to done.

- `santiago queue list` shows what stands where, `santiago queue --help` every command.
- The files below `orchestration/` are copies for reading. Change tickets with `santiago queue`, not in the files.
- `policies/` says how the work goes and how it is reported; these files are yours to change.
- `templates/` holds forms for plans and evidence.
"""
LOOP = """\
# How work goes round

1. A request comes to planner-inbox. The planner turns it into tickets for developers and scientists.
2. A worker claims a ticket (one claim is one attempt), works, and hands it to planner-review with its evidence.
3. The planner accepts it on evidence, which archives it, or sends it back with what is missing.
4. A ticket that has used its attempts goes to blocked, and the planner decides: replan, bypass or stop.
5. The round ends when nothing is left to do, when a person must decide, or when nothing moves any more.
"""
RENDERING = """\
# How results are told to people

language: en
prompt heading: Next prompt
why sentence: Why this now:

1. What changed for the people who use the product.
2. How sure we are of it, and by which kind of check.
3. What could still be wrong.
4. One block with the next prompt: what is wanted, without commands, paths, queues or ids.
"""
PLAN = """\
# PlanSpec v2

id: short-name
owner: planner
risk: low
mode: strict
verify_commands:
  - the command that tests everything
done_definition:
  - what is true when this is done

## Objective

## Scope

## Delivery Waves

- [ ] What is to be done
  - Targets: files
  - Expected behavior: what one can see afterwards
  - Execute: the command that does it
  - Verification: the command that shows it

## Final Verification

## Rollout and Rollback
"""
EVIDENCE = """\
# Evidence of a ticket

- Ticket and attempt:
- What was done:
- Commands that were run, and what they said:
- Files that show it (relative to the project):
- What is still open:
"""
FILES = {
    "README.md": README,
    "policies/orchestration-loop.md": LOOP,
    "policies/response-rendering-contract.md": RENDERING,
    "templates/plan.md": PLAN,
    "templates/evidence.md": EVIDENCE,
}
"""Path below `.sigee` or `.santiago` → content."""


def prepare(place: Place) -> tuple[str, ...]:
    """Make the missing parts of a board's layout, and return the new files. If that fails, remove them again."""
    refuse_network(place)
    base = home(place)
    for folder in (base, place.root, *(place.root / name for name in FOLDERS)):
        run_locations.refuse_linked(folder)
    made: list[Path] = []
    with safe_to_repeat(place), _undone(made):
        for path, content in _wanted(place, base).items():
            if not os.path.lexists(path):
                _make_folder(path.parent, made)
                made.append(path)  # before the write, since a write that fails may leave the file behind
                if not write_new(path, content):
                    made.remove(path)
        for name in FOLDERS:
            _make_folder(place.root / name, made)
        if base.name == ".sigee":
            _ignore(place, made)
    return tuple(place.named(path) for path in made if path.is_file() and path.suffix != ".lock")


@contextmanager
def _undone(made: list[Path]) -> Iterator[None]:
    """Remove what was made where the block raises."""
    try:
        yield
    except BaseException:
        for one in reversed(made):
            with suppress(OSError):
                one.rmdir() if one.is_dir() else one.unlink()
        raise


@contextmanager
def safe_to_repeat(place: Place) -> Iterator[None]:
    """Turn every disk error into one that tells the user to run the command again. Nothing was recorded yet."""
    try:
        yield
    except (OSError, SantiagoError) as error:
        if isinstance(error, SantiagoError) and error.reason is not Reason.IO_ERROR:
            raise
        told = error.message if isinstance(error, SantiagoError) else (error.strerror or str(error)).lower()
        where = error.where if isinstance(error, SantiagoError) else str(error.filename or place.root)
        hint = "Make the folder writable or free space, then run the same command again."
        message = f"the board could not be made: {told}; nothing was left half done"
        raise SantiagoError(Kind.TRANSIENT, message, where=where, hint=hint, reason=Reason.IO_ERROR) from None


def home(place: Place) -> Path:
    """Return the folder of policies and templates."""
    sigee = place.project / ".sigee"
    return sigee if sigee.is_dir() else place.project / ".santiago"


def refuse_network(place: Place) -> None:
    """Raise where the store would be on a network file system."""
    if kind := network_of(place.root):
        message = f"the board would be on a network file system ({kind}), whose locks are not reliable"
        hint = "Work in a clone on a disk of this machine."
        raise SantiagoError(Kind.BLOCKED, message, where=str(place.root), hint=hint)


def _wanted(place: Place, base: Path) -> dict[Path, bytes]:
    """Return the files of a board. A folder that is santiago's own gets a .gitignore first, which hides it from git."""
    ours = set() if base.name == ".sigee" else {base} if place.root.is_relative_to(base) else {base, place.root}
    hidden = {folder / ".gitignore": b"*\n" for folder in sorted(ours)}
    queues = place.queues.parent
    headers = {queues / name: tsv.content(FIELDS, ()) for name in tsv.QUEUE_FILES}
    history = {queues / tsv.HISTORY: tsv.content(tsv.HISTORY_FIELDS, ())}
    return hidden | headers | history | {base / name: text.encode() for name, text in FILES.items()}


def _make_folder(folder: Path, made: list[Path]) -> None:
    for one in reversed([folder, *folder.parents]):
        if not one.is_dir():
            with suppress(FileExistsError):  # another process made it first
                one.mkdir()
                made.append(one)


def _ignore(place: Place, made: list[Path]) -> None:
    """Have git ignore the runtime root, by a block in the project's own .gitignore."""
    path, name = place.project / ".gitignore", f"{place.named(place.root)}/"
    if _ignores(path, name):
        return
    lock = place.root / "locks" / "layout.lock"
    made += [] if lock.exists() else [lock]
    with locked(lock):
        if not _ignores(path, name):
            old = path.read_bytes() if path.exists() else b""
            gap = b"" if not old or old.endswith(b"\n") else b"\n"
            write_whole(path, old + gap + f"{_BEGIN}\n{name}\n{_END}\n".encode())
            made.append(path)  # last, so that nothing can fail after it and undo the user's own file


def _ignores(path: Path, name: str) -> bool:
    text = regular.content(path, _LARGEST_IGNORE + 1, follow=False) if os.path.lexists(path) else b""
    if text is None or len(text) > _LARGEST_IGNORE:
        raise refused(path, "santiago cannot add a line to this file", f"Add the line {name} to .gitignore yourself.")
    ways = {name, name.rstrip("/"), f"/{name}", f"/{name.rstrip('/')}"}
    return bool(ways & set(text.decode("utf-8", "replace").split()))
