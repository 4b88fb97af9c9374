"""Which run a start is: under an id that no other run of the repository has."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.artifacts import registry
from santiago.artifacts.files import read_json
from santiago.artifacts.store import INPUT
from santiago.cli.loading import has_begun
from santiago.cli.start.scratch import scratch_of
from santiago.cli.view.advice import typed
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import numbered, run_id_from
from santiago.contract.reasons import Reason
from santiago.workspace import refs
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from santiago.workspace.repository import Repository


def derived_id(out_dir: Path, root: Path) -> str:
    """Return the id of the run in a folder: the one that it began under, else the folder's name, numbered where taken."""
    if has_begun(out_dir):
        data = read_json(out_dir / INPUT, 2**20)
        if isinstance(data, dict) and isinstance(data.get("run_id"), str):
            return str(data["run_id"])
    wanted, number = run_id_from(out_dir.name), 1
    with suppress(SantiagoError):  # a repository that cannot serve is refused where a run starts in it
        repository = GitWorkspace(root, wanted, scratch_of(root)).repository
        used = refs.used(repository)
        while _is_taken(repository, used, numbered(wanted, number), out_dir):
            number += 1
    return numbered(wanted, number)


def refuse_taken(workspace: GitWorkspace, run_id: str, out_dir: Path) -> None:
    """Raise where a run that has not begun would go on with the branch and the attempts of another one."""
    repository = workspace.repository
    if not _is_taken(repository, refs.used(repository), run_id, out_dir):
        return
    message = f"another run of this repository has the id {run_id}, and its work is on santiago/{run_id}"
    if other := _other(repository, run_id, out_dir):
        remedy = f"`santiago resume {typed(other)}` goes on with that one."
    else:
        remedy = "Where that one is no longer needed, remove what it left: "
        remedy += f"`santiago clean --run {run_id} --force --yes`, then `git branch -D santiago/{run_id}`."
    hint = f"Give the run input another run_id. {remedy}"
    raise SantiagoError(Kind.INPUT, message, where=str(out_dir), hint=hint, reason=Reason.INVALID_INPUT)


def _is_taken(repository: Repository, used: Collection[str], run_id: str, out_dir: Path) -> bool:
    """Tell whether an id is another run's: by its refs, or by its note where it has done nothing yet."""
    return run_id in used or _other(repository, run_id, out_dir) is not None


def _other(repository: Repository, run_id: str, out_dir: Path) -> Path | None:
    """Return the other folder in which a run of this id has begun."""
    noted = registry.place_of(repository.common, run_id)
    return noted if noted and noted.resolve() != out_dir.resolve() and has_begun(noted) else None
