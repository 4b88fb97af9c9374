"""The log of a run as one start goes on with it: replayed first, written from then on, shown by its projections."""

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
from santiago.executor.result import result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.app.start.acquire_run import Hold
    from santiago.app.start.request import Request
    from santiago.artifacts.store import FileStore
    from santiago.contract.state import RunState

_MOVING = frozenset(
    {
        EventKind.CHUNK_STARTED, EventKind.CHUNK_ENDED, EventKind.PLANNING_STARTED, EventKind.PLAN_PROPOSED,
        EventKind.RUN_PAUSED, EventKind.RUN_ENDED,
    }
)  # fmt: skip
"""With these the chunk or the run moves on, and so do its projections: their cost stays in step with the run's length."""


def freeze(store: FileStore, request: Request) -> tuple[str, str]:
    """Write run input and plan down for good and return their digests, input first; later, only compare."""
    if not store.has_log():
        refuse_secrets(codec.canonical(request.run_input), "run-input.json")
        refuse_secrets(codec.canonical(request.plan), "plan.json")
        if request.settings is not None:
            store.put(SETTINGS, codec.canonical(request.settings))
    return store.freeze(request.run_input, request.plan)


class Logbook:
    """Where the run stands, and what is written of it. Input and plan are frozen by now."""

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
        """Nothing is recorded yet; also where the very first line was torn."""

    @property
    def state(self) -> RunState:
        return self.fold.state

    def open(self) -> None:
        """Begin a run's log once nothing can refuse it any more: a start that is refused leaves no run behind."""
        if not self._is_open:
            self._store.start()
            self._register()

    def take(self, events: Sequence[Event], state: RunState) -> None:
        """Take in what was recorded."""
        for event in events:
            self._projector.take(event)
        if any(event.event in _MOVING for event in events):
            self.project(state)
        else:
            self._projector.write_session(state)

    def project(self, state: RunState) -> None:
        self._projector.write(state)

    def mend_plan(self) -> list[str]:
        """Write anew what was changed of the files that show agents the plan, and return their names."""
        return self._projector.mend()

    def finish(self, state: RunState) -> None:
        """Write what shows where the run stands, so that it stays, and the result where the run has ended."""
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
