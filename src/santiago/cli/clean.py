"""`santiago clean`: what ended runs left behind in checkouts and refs; shown first, removed only with --yes."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from santiago.app.actor import actor as named
from santiago.app.loading import empty_fold, frozen, replay, working
from santiago.app.paths import scratch_of
from santiago.app.start.identity import refuse_copied
from santiago.artifacts import registry
from santiago.artifacts.lock import Lock
from santiago.artifacts.names import PLAN, has_begun
from santiago.artifacts.run_locations import find_root
from santiago.artifacts.store import FileStore
from santiago.cli.view.terminal import paint, say, show_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Event, EventKind
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.process.redact import Redactor
from santiago.report.measures import size
from santiago.util.clock import SystemClock
from santiago.util.text import count
from santiago.workspace.folders import KINDS
from santiago.workspace.preparing import shelf_of
from santiago.workspace.workspace import GitWorkspace

Removable = Literal["running", "resumable", "damaged", "gone", "loose", "ended"]
"""Whether what a run left can be removed, and if not, why."""

_WHY = {
    "running": "it is running",
    "resumable": "it can be resumed; --force removes its checkouts and refs nevertheless",
    "loose": "its work is on no branch, so only these refs keep it; --force removes them",
    "damaged": "it is damaged, and its refs may be all that is left of its work; --force removes them",
    "gone": "its folder is missing, and its refs may be all that is left of its work; --force removes them",
}


@record
class Left:
    """What one run left behind."""

    run_id: str
    standing: Removable
    out_dir: str | None
    refs: int
    folders: tuple[str, ...]
    bytes: int

    def removable(self, *, force: bool) -> bool:
        return self.standing == "ended" or (force and self.standing != "running")


def clean(run_id: str | None, yes: bool, force: bool, actor: str | None, as_json: bool) -> None:
    """Show what old runs left behind, and remove it with `yes`."""
    root, who = find_root(Path.cwd()), named(actor)
    common = registry.common_git_dir(root) if root else None
    if root is None or common is None:
        raise SantiagoError(
            Kind.USAGE, "this is not a git repository", hint="Run it inside the repository of the runs."
        )
    found = [left for left in leftovers(root, common) if run_id in (None, left.run_id)]
    if run_id is not None and not found:
        raise SantiagoError(
            Kind.USAGE, f"the run {run_id} left nothing here", hint="`santiago clean` lists what runs left."
        )
    removable = [left for left in found if left.removable(force=force)]
    if run_id is not None and not removable:
        left = found[0]
        kind = Kind.TRANSIENT if left.standing == "running" else Kind.USAGE
        reason = Reason.LOCK_HELD if left.standing == "running" else None
        raise SantiagoError(kind, f"{run_id} is kept: {_WHY[left.standing]}", reason=reason)
    removed = [left.run_id for left in removable if _remove(root, common, left, who)] if yes else []
    if yes and run_id is None and all(left.standing != "running" for left in found):
        shutil.rmtree(shelf_of(scratch_of(root)), ignore_errors=True)  # set-up makes it anew
    if as_json:
        data = [{**asdict(left), "removable": left in removable, "removed": left.run_id in removed} for left in found]
        show_data({"contract_version": 1, "runs": data})
        return
    _show(found, removable, removed, yes=yes)


def _show(found: list[Left], removable: list[Left], removed: list[str], *, yes: bool) -> None:
    if not found:
        say("nothing to clean: no run left checkouts or refs here")
        return
    for left in found:
        what = f"{count(left.refs, 'ref'):>9}  {count(len(left.folders), 'folder'):>11}  {size(left.bytes):>10}"
        if left.run_id in removed:
            note = paint("removed", "good", stderr=False)
        elif left in removable:
            note = "would be removed"
        else:
            note = paint(f"kept: {_WHY[left.standing]}", "warn", stderr=False)
        say(f"{left.run_id:24}  {left.standing:9}  {what}  {note}")
    total = sum(left.bytes for left in removable)
    if not removable:
        say("nothing to remove")
    elif yes:
        say(f"freed {size(total)}; branches and the runs' folders stay")
    else:
        say(f"would free {size(total)}; attempts that failed are then no longer kept in git")
        say("next: santiago clean --yes", verbatim=True)


def leftovers(root: Path, common: Path) -> list[Left]:
    """Return what there is of every run: known by its note, by its refs, or by its checkouts."""
    known = {run.run_id: _own(run.out_dir) for run in registry.runs(common)}
    refs = _refs(root)
    scratch = scratch_of(root)
    checkouts = {path.name for path in scratch.glob("*") if path.is_dir() and not path.name.startswith("tmp-")}
    names = [*known, *sorted((refs.keys() | checkouts) - known.keys())]
    found = []
    for name in names:
        # The checkouts, without the empty folders around them.
        folders = tuple(str(one) for kind in (*KINDS, "trash") for one in sorted((scratch / name / kind).glob("*")))
        if refs.get(name) or folders:
            out_dir = known.get(name)
            found.append(
                Left(
                    run_id=name,
                    standing=_standing(root, out_dir),
                    out_dir=str(out_dir) if out_dir else None,
                    refs=refs.get(name, 0),
                    folders=folders,
                    bytes=sum(map(_size, folders)),
                )
            )
    return found


def _own(out_dir: Path) -> Path | None:
    """Return the folder of a run, unless the run belongs to the repository that this one was copied from."""
    try:
        refuse_copied(out_dir)
    except SantiagoError:
        return None
    return out_dir


def _standing(root: Path, out_dir: Path | None) -> Removable:
    if out_dir is None or not (out_dir / PLAN).is_file():
        return "gone"
    if working(out_dir):
        return "running"
    if not has_begun(out_dir):
        return "resumable"
    try:
        fold = empty_fold(*frozen(out_dir))
        replay(out_dir, fold, lambda _: None)
    except SantiagoError:
        return "damaged"
    if fold.state.phase is not RunPhase.SUCCESS:
        return "resumable"
    return "ended" if _is_on_a_branch(root, fold.state.head) else "loose"


def _is_on_a_branch(root: Path, commit: str | None) -> bool:
    """Tell whether a branch or tag, and not only refs of attempts, keeps a commit."""
    if not commit:
        return False
    git = GitWorkspace(root, "none", scratch_of(root)).repository
    places = ("refs/heads", "refs/tags", "refs/remotes")
    answer = git.on_refs("for-each-ref", "--count=1", "--contains", commit, *places, accept=(0, 129))
    return answer.code == 0 and bool(answer.out)


def _refs(root: Path) -> dict[str, int]:
    """Return how many refs each run has."""
    workspace = GitWorkspace(root, "none", scratch_of(root))
    listed = workspace.repository.on_refs("for-each-ref", "--format=%(refname)", "refs/santiago/").text.splitlines()
    found: dict[str, int] = {}
    for name in listed:
        run = name.split("/")[2]
        found[run] = found.get(run, 0) + 1
    return found


def _size(folder: str) -> int:
    """Return the bytes on disk below a folder, without following links."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(Path(place, name)).st_blocks * 512
            except OSError:
                continue
    return total


def _remove(root: Path, common: Path, left: Left, who: str) -> bool:
    """Remove a run's refs and checkouts, under its lock, and record it in its log."""
    workspace, clock = GitWorkspace(root, left.run_id, scratch_of(root)), SystemClock()
    out_dir = Path(left.out_dir or "")
    held = registry.held(common, left.run_id, out_dir, since=clock.utc())
    if left.standing == "gone" or left.out_dir is None:
        with held:
            workspace.prune()
            registry.forget(common, left.run_id)
        return True
    with Lock(out_dir, since=clock.utc()), held:
        if left.standing != "damaged":
            _record(out_dir, left, clock, who)
        workspace.prune()
    return True


def _record(out_dir: Path, left: Left, clock: SystemClock, who: str) -> None:
    """Record in the log what will be removed, so that an audit knows why refs are missing."""
    if not has_begun(out_dir) or not left.refs:
        return
    fold = empty_fold(*frozen(out_dir))
    with FileStore(out_dir, Redactor(()), clock.utc) as store:
        store.start(fold.apply)
        text = f"`santiago clean` removed {count(left.refs, 'ref')} of attempts"
        store.append(
            [
                Event(
                    seq=store.head.seq + 1,
                    timestamp=clock.utc(),
                    run_id=fold.state.run_id,
                    event=EventKind.NOTE,
                    actor=who,
                    context={"text": text, "ref": f"refs/santiago/{fold.state.run_id}/"},
                )
            ]
        )
