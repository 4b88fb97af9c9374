"""The log of a run during one start: it is replayed, then continued, and its projections are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.loading import empty_fold
from santiago.app.start.leaks import refuse_secrets
from santiago.artifacts import registry
from santiago.artifacts.names import SETTINGS
from santiago.artifacts.projections import PROJECTIONS, Projector
from santiago.contract import codec
from santiago.contract.events import Event, EventKind
from santiago.contract.fold import undisturbed
from santiago.contract.phases import ENDED
from santiago.executor.tally import result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.app.start.acquire_run import Hold
    from santiago.app.start.request import Request
    from santiago.artifacts.store import FileStore
    from santiago.contract.state import RunState

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


class Logbook:
    """The run's state and log. Input and plan are already frozen."""

    def __init__(self, request: Request, hold: Hold, now: str) -> None:
        self._request, self._hold, self._store = request, hold, hold.store
        self._began = now
        self.fold = empty_fold(request.plan, request.run_input)
        self._projector = Projector(request.plan, self._store.get, self._put)
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

    def _put(self, path: str, content: bytes) -> None:
        self._store.put(path, content, sync=False)
