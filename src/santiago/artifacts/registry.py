"""The runs of a repository. Each leaves a note in the common git directory, whichever worktree and out-dir it used."""

from __future__ import annotations

import contextlib
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from santiago.artifacts import beneath
from santiago.artifacts.files import read_json, read_text, write_whole
from santiago.artifacts.names import LOG, PLAN, RESULT
from santiago.contract.errors import SantiagoError
from santiago.contract.ids import is_run_id
from santiago.contract.phases import RunPhase
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.artifacts.lock import RunLock

RunStanding = Literal["planned", "resumable", "ended", "damaged", "gone"]
_LARGEST = 1 << 16
_LARGEST_RESULT = 1 << 26


class Registered(NamedTuple):
    """A run that this repository knows of."""

    run_id: str
    out_dir: Path
    created: str


def common_git_dir(root: Path) -> Path | None:
    """Return the git directory that all worktrees of a repository share; None where there is none."""
    git = root / ".git"
    with contextlib.suppress(OSError, SantiagoError):
        if git.is_dir():
            return git
        text = read_text(git, _LARGEST)
        if text.startswith("gitdir:"):
            own = (root / text.removeprefix("gitdir:").strip()).resolve()
            common = own / "commondir"
            return (own / read_text(common, _LARGEST).strip()).resolve() if common.exists() else own
    return None


def register(common: Path, run_id: str, out_dir: Path, created: str) -> None:
    """Note a run. A second call for the same run replaces the note, as after its out-dir was moved."""
    if not is_run_id(run_id):
        raise ValueError(f"not a run id: {run_id!r}")
    note = {"run_id": run_id, "out_dir": _written(common, out_dir), "created": created}
    with guarding(_folder(common)):
        _folder(common).mkdir(parents=True, exist_ok=True)
        handle = os.open(_folder(common), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            beneath.replace(handle, f"{run_id}.json", json.dumps(note, indent=2).encode() + b"\n")
        finally:
            os.close(handle)
    _note_repository(common.resolve())


def repositories() -> list[Path]:
    """Return the git directories of this user's repositories that have had a run and are still there."""
    texts = (read_text(path, _LARGEST) for path in _repositories().glob("*"))
    return [path for path in map(Path, texts) if _folder(path).is_dir()]


def _note_repository(common: Path) -> None:
    """Note a repository among those of the user, so that runs of others can tell how long theirs took."""
    path = _repositories() / sha256(os.fsencode(common)).hexdigest()[:32]
    with contextlib.suppress(OSError, SantiagoError):  # it is only of use for forecasts
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, os.fsencode(common))


def _repositories() -> Path:
    from platformdirs import user_state_path

    return user_state_path("santiago") / "repositories"


def held(common: Path, run_id: str, out_dir: Path, since: str) -> RunLock:
    """Return the lock of a run in its repository, not yet acquired."""
    from santiago.artifacts.lock import RunLock  # not needed by callers that only read the notes

    return RunLock(_folder(common) / f"{run_id}.held", out_dir.absolute(), since=since)


def forget(common: Path, run_id: str) -> None:
    with guarding(_folder(common)), contextlib.suppress(FileNotFoundError):
        (_folder(common) / f"{run_id}.json").unlink()


def runs(common: Path) -> list[Registered]:
    """Return the registered runs, newest first. Unreadable notes are skipped."""
    return sorted(_notes(_folder(common)), key=lambda run: (run.created, run.run_id), reverse=True)


def place_of(common: Path, run_id: str) -> Path | None:
    """Return the out-dir that a run's note names; None where there is no note."""
    return next((run.out_dir for run in _notes(_folder(common), f"{run_id}.json")), None)


def standing(run: Registered) -> RunStanding:
    """Return whether a run was started and can be continued, as its own log says."""
    if not (run.out_dir / PLAN).is_file():
        return "gone"
    if not (run.out_dir / LOG).exists():
        return "planned"
    from santiago.artifacts.reader import read_log  # as above

    phase: object = None
    try:
        for event in read_log(run.out_dir / LOG):
            if event.story_id is None and event.phase is not None:
                phase = event.phase
    except SantiagoError:
        return "damaged"
    if phase is None:
        return "planned"
    return "ended" if phase is RunPhase.SUCCESS and says_success(run.out_dir) else "resumable"


def earlier_of(run: Registered) -> str:
    """Return the id of the run that this one goes on from, as `rebase` makes it; empty if there is none."""
    if not (run.out_dir / LOG).exists():
        return ""
    from santiago.artifacts.reader import read_log  # as above

    try:
        created = next(iter(read_log(run.out_dir / LOG)), None)
    except SantiagoError:
        return ""
    return created.context.get("run", "") if created else ""


def says_success(out_dir: Path) -> bool:
    """Tell whether a run's result says success. After a crash an older result may still be there."""
    result = read_json(out_dir / RESULT, _LARGEST_RESULT)
    return isinstance(result, dict) and result.get("status") == "success"


def _written(common: Path, out_dir: Path) -> str:
    """Return an out-dir as a note names it: relative if it is inside the repository, so that both can be moved together."""
    home, place = common.resolve().parent, out_dir.resolve()
    inside = common.name == ".git" and place.is_relative_to(home)
    return place.relative_to(home).as_posix() if inside else str(out_dir.absolute())


def _folder(common: Path) -> Path:
    return common / "santiago" / "runs"


def _notes(folder: Path, pattern: str = "*.json") -> Iterator[Registered]:
    home = folder.parents[2]
    for path in folder.glob(pattern):
        with contextlib.suppress(TypeError, KeyError):
            data = read_json(path, _LARGEST)
            if data["run_id"] == path.stem and is_run_id(path.stem):
                yield Registered(path.stem, home / str(data["out_dir"]), str(data["created"]))
