"""The state that the log of a planning session tells, made from its events."""

import copy
from collections.abc import Iterable

from santiago.contract.events import Event
from santiago.contract.session import SessionState, apply


def evolve(state: SessionState, event: Event) -> SessionState:
    """Return the state after one event; the given state is left as it was."""
    state = copy.deepcopy(state)
    apply(state, event)
    return state


def fold_session(events: Iterable[Event]) -> SessionState:
    state = SessionState()
    for event in events:
        apply(state, event)
    return state
