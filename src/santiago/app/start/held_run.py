"""Taking hold of a run: locks its out-dir and its refs, ends processes of an earlier start, and keeps its log."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.loading import empty_fold
from santiago.app.paths import scratch_of
from santiago.app.start.identity import refuse_taken
from santiago.app.start.judging import StartEnvironment, dependency_folders
from santiago.app.start.leaks import refuse_secrets
from santiago.artifacts import registry, writable_folders
from santiago.artifacts.lock import Lock, last_sign
from santiago.artifacts.names import PLAN, SETTINGS
from santiago.artifacts.projections import PROJECTIONS, Projector
from santiago.artifacts.store import FileStore
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Event, EventKind
from santiago.contract.fold import undisturbed
from santiago.contract.phases import ENDED
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.executor.tally import result
from santiago.process.redact import Redactor
from santiago.util.disk import CACHE, guarding
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import ExitStack

    from santiago.app.start.request import Request
    from santiago.contract.ports.engine import Sign
    from santiago.contract.ports.run import Clock
    from santiago.contract.state import RunState
    from santiago.executor.loop import Urgency
    from santiago.process.place import Dependency
    from santiago.process.sandbox import Sandbox
    from santiago.workspace.inspect import Found

_SMALL = 2**20
"""Free bytes that are required for temporary files; santiago's own take far less."""


def check_temporary() -> None:
    """Raise if there is no usable folder for temporary files."""
    remedy = "name another folder in TMPDIR"
    with guarding("the folder for temporary files", "nothing was started", remedy):
        folder = tempfile.gettempdir()
    writable_folders.check_place(Path(folder), remedy, least_free=_SMALL)


@record
class HeldRun:
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


def take_hold(request: Request, around: StartEnvironment, fence: Sandbox, clock: Clock, stack: ExitStack) -> HeldRun:
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
    dependencies = dependency_folders(workspace, request.effective, around.source)
    # These are read from the user's own tree, committed or not.
    read_here = (request.effective.prd_path, "santiago.toml", *(one.name for one in dependencies))
    unseen = workspace.uncommitted(read_here)
    dirty = f"there are uncommitted changes, such as {unseen}; the run works on the last commit and does not see them"
    writable_folders.check_place(workspace.folders.top.parent, CACHE)
    for place in (found.common / "santiago", found.objects):
        writable_folders.check_place(place)
    # A copy of the out-dir would use the same refs and checkouts, so the run is locked in the repository too.
    stack.enter_context(registry.held(found.common, request.run_id, out_dir, since=clock.utc()))
    if begun_before:
        workspace.unlock()
    if not store.has_log():
        refuse_taken(workspace, request.run_id, out_dir)
    return HeldRun(
        store=store,
        lock=lock,
        workspace=workspace,
        found=found,
        dependencies=dependencies,
        begun_before=begun_before,
        sign=sign,
        notices=(*notices, *([dirty] if unseen else [])),
    )


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


_MOVING = frozenset(
    {
        EventKind.CHUNK_STARTED, EventKind.CHUNK_ENDED, EventKind.RUN_PAUSED, EventKind.RUN_ENDED,
    }
)  # fmt: skip
"""Events after which the projections are written. Writing them at every event would cost too much in long runs."""


def freeze(store: FileStore, request: Request) -> tuple[str, str]:
    """Write run input and plan, and return their digests, input first. If they are already written, only compare."""
    if not store.has_log():
        refuse_secrets(codec.canonical(request.run_input), "run-input.json")
        refuse_secrets(codec.canonical(request.plan), "plan.json")
        if request.settings is not None:
            store.put(SETTINGS, codec.canonical(request.settings))
    return store.freeze(request.run_input, request.plan)


class RunLog:
    """The run's state and log. Input and plan are already frozen."""

    def __init__(self, request: Request, hold: HeldRun, now: str) -> None:
        self._request, self._hold, self._store = request, hold, hold.store
        self._began = now
        self.fold = empty_fold(request.plan, request.run_input)
        self._projector = Projector(request.plan, self._store.get, partial(self._store.put, sync=False))
        self._is_open = self._store.has_log()
        if self._is_open:
            with undisturbed():
                self._store.start(self._replay)
            self._register()
        self.fresh = self.fold.state.seq == 0
        """Whether nothing is recorded yet. A log with only a torn first line counts as empty."""

    @property
    def state(self) -> RunState:
        return self.fold.state

    def open(self) -> None:
        """Begin a run's log. Called when nothing can refuse the start any more, so that a refused start leaves no run."""
        if not self._is_open:
            self._store.start()
            self._register()

    def take(self, events: Sequence[Event], state: RunState) -> None:
        """Take in events that were recorded."""
        for event in events:
            self._projector.take(event)
        if any(event.event in _MOVING for event in events):
            self.project(state)
        else:
            self._projector.follow(state)

    def project(self, state: RunState) -> None:
        self._projector.write(state)

    def mend_plan(self) -> list[str]:
        """Restore the files that show the plan to agents, if somebody changed them; return their names."""
        return self._projector.mend()

    def finish(self, state: RunState) -> None:
        """Write the projections, synced, and the result if the run has ended."""
        self.project(state)
        for path in PROJECTIONS:
            self._store.sync(path)
        if state.phase in ENDED:
            head = self._store.head
            self._store.put_result(result(self._request.plan, state, (head.seq, head.hash)))

    def _replay(self, event: Event) -> None:
        if event.event is EventKind.RUN_CREATED:
            self._began = event.timestamp
        self.fold.apply(event)
        self._projector.take(event)

    def _register(self) -> None:
        registry.register(self._hold.found.common, self._request.run_id, self._request.out_dir, self._began)


PATIENCE = 10.0
"""Seconds to wait for killed processes. One that hangs in a system call is not waited for any longer."""
_STEP = 0.01


def marks(out_dir: Path) -> dict[str, str]:
    """Return the environment variable that marks all processes of this run."""
    return {"SANTIAGO_PLAN_DIR": str(out_dir / "tasks")}


def kill_leftovers(out_dir: Path) -> int:
    """Kill every process with this run's mark, wait until all have ended, and return how many there were."""
    ((name, value),) = marks(out_dir).items()
    marker = f"{name}={value}".encode()
    killed: set[int] = set()
    deadline = time.monotonic() + PATIENCE
    while (found := _marked(marker)) and time.monotonic() < deadline:
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        killed |= found
        time.sleep(_STEP)
    return len(killed)


def _marked(marker: bytes) -> set[int]:
    """Return the living processes with this mark. Zombies have no environment, so they are not found."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            if int(entry.name) != os.getpid() and marker in (entry / "environ").read_bytes().split(b"\0"):
                found.add(int(entry.name))
    return found


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@contextmanager
def strays_ignored() -> Iterator[None]:
    """Ignore signals that mean nothing here, and that would end the process without a message."""
    # With a handler, since started programs would inherit an ignored signal.
    with _handled(lambda *_: None, (signal.SIGUSR1, signal.SIGUSR2)):
        yield


@contextmanager
def heard(urgency: Urgency, came: list[int]) -> Iterator[None]:
    """Turn signals into requests to stop, and note them in the order in which they came."""

    def handle(number: int, _frame: object) -> None:
        came.append(number)
        # When a terminal is closed, SIGHUP comes more than once: from the system, and from the shell.
        again = urgency.asked and number != signal.SIGHUP
        urgency.at_once = urgency.at_once or again or number == signal.SIGQUIT
        urgency.asked = True
        urgency.signal = urgency.signal or signal.Signals(number).name

    wanted = [
        one for one in _STOPPING if one != signal.SIGHUP or signal.getsignal(one) != signal.SIG_IGN
    ]  # as of nohup
    with _handled(handle, wanted):
        yield


@contextmanager
def _handled(handle: Callable[[int, object], None], numbers: Iterable[signal.Signals]) -> Iterator[None]:
    old = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
