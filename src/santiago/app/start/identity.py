"""The identity of a run: an id that no other run of the repository has, and the repository itself."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.paths import typed
from santiago.artifacts import registry
from santiago.artifacts.files import read_json
from santiago.artifacts.names import INPUT, has_begun
from santiago.artifacts.run_locations import find_root, new_run_id
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import numbered, run_id_from
from santiago.contract.reasons import Reason
from santiago.util.clock import SystemClock
from santiago.workspace import refs

if TYPE_CHECKING:
    from collections.abc import Collection

    from santiago.workspace.workspace import GitWorkspace


def derived_id(out_dir: Path, root: Path) -> str:
    """Return the id of the run in a folder: the one that it began with, else the folder's name, with a number if taken."""
    if began_as := _frozen(out_dir, "run_id"):
        return began_as
    wanted, number = run_id_from(out_dir.name), 1
    with suppress(SantiagoError):  # an unusable repository is refused later, when the run starts
        used, common = refs.used_in(root), registry.common_git_dir(root)
        while common and _is_taken(common, used, numbered(wanted, number), out_dir):
            number += 1
    return numbered(wanted, number)


def repository_of(out_dir: Path, run_id: str, named: Path) -> Path:
    """Return where a run's repository is now. It may have been moved since the run input named it.

    Raise if this repository is a copy of the run's repository, since the copy must not act on the original.
    """
    own = _common(find_root(named)) if named.exists() else None
    around, here = find_root(out_dir), find_root(Path.cwd())
    if around and _common(around) != own and _knows(around, run_id, out_dir):
        return around
    if here is None or _common(here) == own or not _knows(here, run_id, out_dir):
        return named
    if own is None:
        return here
    hint = f"Go on there: `cd {typed(named)}`; or begin a run of its own here: `santiago run PRD`."
    raise SantiagoError(
        Kind.USAGE,
        f"{run_id} is a run of {named}; this repository is a copy of that one",
        where=str(out_dir),
        hint=hint,
    )


def fresh_run_id(root: Path) -> str:
    """Return an id that no run of a repository has."""
    common = registry.common_git_dir(root)
    return new_run_id(
        root, SystemClock().utc(), lambda name: common is not None and registry.place_of(common, name) is not None
    )


def refuse_copied(out_dir: Path) -> None:
    """Raise if the run in a folder belongs to the repository that this one was copied from."""
    run_id, named = _frozen(out_dir, "run_id"), _frozen(out_dir, "repo_path")
    if run_id and named:
        repository_of(out_dir, run_id, Path(named))


def frozen_path(out_dir: Path, run_id: str, named: Path, now: Path) -> str:
    """Return the repository's path as the frozen run input has it if it is the same one; else the present path."""
    began_in = _frozen(out_dir, "repo_path")
    if began_in and repository_of(out_dir, run_id, Path(began_in)) == now:
        return began_in
    return str(named if began_in else now)


def _frozen(out_dir: Path, name: str) -> str | None:
    """Return a field of the input of a run that has begun."""
    data = read_json(out_dir / INPUT, 2**20) if has_begun(out_dir) else None
    word = data.get(name) if isinstance(data, dict) else None
    return word if isinstance(word, str) else None


def _common(root: Path | None) -> Path | None:
    common = registry.common_git_dir(root) if root else None
    return common.resolve() if common else None


def _knows(root: Path, run_id: str, out_dir: Path) -> bool:
    """Tell whether a repository knows the run in this folder."""
    common = _common(root)
    noted = registry.place_of(common, run_id) if common else None
    return noted is not None and noted.resolve() == out_dir.resolve()


def refuse_taken(workspace: GitWorkspace, run_id: str, out_dir: Path) -> None:
    """Raise if a new run would use the branch and the attempts of another run."""
    repository = workspace.repository
    if not _is_taken(repository.common, refs.used(repository), run_id, out_dir):
        return
    message = f"another run of this repository has the id {run_id}, and its work is on santiago/{run_id}"
    if other := _other(repository.common, run_id, out_dir):
        remedy = f"`santiago resume {typed(other)}` goes on with that one."
    else:
        remedy = "If that run is no longer needed, remove what it left: "
        remedy += f"`santiago clean --run {run_id} --force --yes`, then `git branch -D santiago/{run_id}`."
    hint = f"Give the run input another run_id. {remedy}"
    raise SantiagoError(Kind.INPUT, message, where=str(out_dir), hint=hint, reason=Reason.INVALID_INPUT)


def _is_taken(common: Path, used: Collection[str], run_id: str, out_dir: Path) -> bool:
    """Tell whether an id belongs to another run: by its refs, or by its note if it has no refs yet."""
    return run_id in used or _other(common, run_id, out_dir) is not None


def _other(common: Path, run_id: str, out_dir: Path) -> Path | None:
    """Return the other folder in which a run with this id has begun."""
    noted = registry.place_of(common, run_id)
    return noted if noted and noted.resolve() != out_dir.resolve() and has_begun(noted) else None
