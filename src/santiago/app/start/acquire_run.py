"""Becoming the only process that works on a run: locks its out-dir and its refs, and ends processes of an earlier start."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.start import agents, provide
from santiago.app.start.agents import line_up
from santiago.app.start.identity import refuse_taken
from santiago.app.start.leftovers import kill_leftovers, marks
from santiago.app.start.scratch import scratch_of
from santiago.artifacts import preflight, registry
from santiago.artifacts.lock import Lock, last_sign
from santiago.artifacts.names import PLAN
from santiago.artifacts.store import FileStore
from santiago.contract.errors import SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.process.redact import Redactor, to_hide
from santiago.util.disk import CACHE, guarding
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from contextlib import ExitStack

    from santiago.app.start.request import Request
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.run import Clock, Sign
    from santiago.process.place import Dependency
    from santiago.process.sandbox import Sandbox
    from santiago.workspace.inspect import Found

_SMALL = 2**20
"""Free bytes that are required for temporary files; santiago's own take far less."""


@record
class Surroundings:
    """The environment of a start."""

    source: dict[str, str]
    """The variables."""
    repo: Path
    provided: tuple[str, ...]
    """Files of the repository that git ignores and that a checkout gets nevertheless."""
    secrets: tuple[str, ...]
    """Secrets that must not reach any file."""


def check_temporary() -> None:
    """Raise if there is no usable folder for temporary files."""
    remedy = "name another folder in TMPDIR"
    with guarding("the folder for temporary files", "nothing was started", remedy):
        folder = tempfile.gettempdir()
    preflight.check_place(Path(folder), remedy, least_free=_SMALL)


def look_around(run_input: RunInput) -> Surroundings:
    source, repo = dict(os.environ), Path(run_input.repo_path)
    provided = provide.present(repo, run_input.workspace.copy)
    working = (*line_up(run_input.agent), agents.for_tests(run_input))
    signed_in = [value for one in working if one is not None for value in agents.credentials(one, source)]
    secrets = (*to_hide(source), *signed_in, *provide.secrets(repo, provided))
    return Surroundings(source=source, repo=repo, provided=provided, secrets=secrets)


@record
class Hold:
    """A run that only this process works on."""

    store: FileStore
    lock: Lock
    workspace: GitWorkspace
    found: Found
    """The repository, as the start found it."""
    dependencies: tuple[Dependency, ...]
    """Folders of the repository that git ignores and that a checkout gets nevertheless."""
    begun_before: bool
    """Whether an earlier start worked on the run. Its processes have ended."""
    sign: Sign | None
    """The last sign of life of that earlier start."""
    notices: tuple[str, ...]


def take_hold(request: Request, around: Surroundings, fence: Sandbox, clock: Clock, stack: ExitStack) -> Hold:
    """Take the run until the stack is left; raise if another process has it, or if no run can work here."""
    out_dir = request.out_dir
    store = FileStore(out_dir, Redactor(around.secrets), clock.utc)
    notices = store.preflight()
    sign = last_sign(out_dir)
    lock = stack.enter_context(Lock(out_dir, since=clock.utc()))
    stack.callback(store.close)
    begun_before = store.get(PLAN) is not None
    if begun_before:
        kill_leftovers(out_dir)
    workspace = GitWorkspace(
        around.repo, request.run_id, scratch_of(around.repo), marks(out_dir), around.provided, fence.stores
    )
    found = _inspected(workspace, has_log=store.has_log())
    dependencies = provide.folders(workspace, request.effective, around.source)
    unseen = workspace.uncommitted((*_read_here(request.effective), *(one.name for one in dependencies)))
    preflight.check_place(workspace.folders.top.parent, CACHE)
    for place in (found.common / "santiago", found.objects):
        preflight.check_place(place)
    # A copy of the out-dir would use the same refs and checkouts, so the run is locked in the repository too.
    stack.enter_context(registry.held(found.common, request.run_id, out_dir, since=clock.utc()))
    if begun_before:
        workspace.unlock()
    if not store.has_log():
        refuse_taken(workspace, request.run_id, out_dir)
    return Hold(
        store=store,
        lock=lock,
        workspace=workspace,
        found=found,
        dependencies=dependencies,
        begun_before=begun_before,
        sign=sign,
        notices=(*notices, *([_dirty(unseen)] if unseen else [])),
    )


def _read_here(run_input: RunInput) -> tuple[str, ...]:
    """Return the files that a run reads from the user's own tree, committed or not: its document and settings."""
    return (run_input.prd_path, "santiago.toml")


def _dirty(path: str) -> str:
    return f"there are uncommitted changes, such as {path}; the run works on the last commit and does not see them"


def _inspected(workspace: GitWorkspace, *, has_log: bool) -> Found:
    """Return the repository."""
    try:
        return workspace.inspect()
    except SantiagoError as error:
        if (
            has_log and error.reason is Reason.INVALID_INPUT
        ):  # the run has begun, so advice on how to begin would be wrong
            error.hint = "The run began in a repository at this path: put it back, then `santiago resume`."
        raise
