"""Why a run rests: it waits for the agent's service, somebody stopped it, or it has done all that it was started for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.event_effects import REST
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import Reason
from santiago.report.measures import clock
from santiago.report.story_status import named, waits_for
from santiago.util.clock import between, moment
from santiago.util.text import flat

if TYPE_CHECKING:
    from santiago.app.loading import History
    from santiago.contract.events import Event
    from santiago.contract.state import RunState, StoryState
    from santiago.executor.scope import Scope

CALM = "nothing is spent"


def because(state: RunState, scope: Scope, history: History) -> str:
    """Return the cause in a sentence; empty if the run ended, or if its reason tells enough."""
    if state.phase is not RunPhase.PAUSED:
        return ""
    if state.reason == Reason.INTERRUPTED:
        return f"{asked_by(history.asked_by)} asked it to stop"
    if state.reason:
        return ""
    if state.stop_requested and state.rests:
        names = named([one.id for one in state.open_questions()])
        who = "it was stopped" if history.asked_by == "user" else f"{flat(history.asked_by)} stopped it"
        return f"{who} at a question{f'; {names} stays open' if names else ''}"
    if scope.stories is not None:
        return _chosen(state, scope.stories)
    chunks = [chunk for chunk in state.chunks.values() if chunk.left]
    following = f"; {flat(chunks[0].label)} is next" if chunks else ""
    if scope.chunks is not None and not any(chunk.label in scope.chunks for chunk in chunks):
        return f"the chunks that --chunks names are finished{following}"
    asked = "it was asked to pause after each chunk" if state.pauses else "--gate chunk pauses after each chunk"
    return f"{asked}{following}"


def _chosen(state: RunState, chosen: frozenset[str]) -> str:
    if not chosen:
        return "this start only took what you brought or accepted"
    chosen_ones = sorted((state.stories[name] for name in chosen), key=lambda story: story.index)
    left = [story for story in chosen_ones if not story.skipped and story.phase is not StoryPhase.DONE]
    before = next((chunk for chunk in state.chunks.values() if chunk.left), None)
    waiting = [
        f"{story.id} {_standing(state, story)}"
        + (f", and {flat(before.label)} comes before it" if before and before.label != story.chunk else "")
        for story in left
    ]
    return named(waiting, "; ") or "the stories that --only names are finished"


def _standing(state: RunState, story: StoryState) -> str:
    passed = "passed its checks and " if story.phase is StoryPhase.VERIFIED else ""
    return f"{passed}{waits_for(state, story) or story.phase}"


def asked_by(actor: str) -> str:
    """Return who wants a run to stop: a person by name, or a signal."""
    signals = {
        "SIGINT": "a signal (ctrl-c)",
        "SIGTERM": "a signal (SIGTERM)",
        "SIGHUP": "a closed terminal (SIGHUP)",
        "SIGQUIT": "a signal (SIGQUIT)",
    }
    return {"": "a signal", "santiago": "a signal", "user": "`santiago stop`", **signals}.get(actor, flat(actor))


def stopping(event: Event, running: str = "") -> str:
    """Return when a run will stop, who asked for it, and what an immediate stop costs."""
    if event.context.get("mode") == REST:
        return f"{'after the current step' + running if running else 'here'}, as was answered"
    if event.context.get("reason") == Reason.NO_WORKERS:
        return "now, since no worker took what was ordered"
    by_signal = event.actor == "santiago" or event.context.get("message", "").startswith("SIG")
    who = "" if by_signal else f", as {asked_by(event.actor)} asked"
    if event.context.get("mode") == "stop-detach":
        return f"after the current step here{who}; what workers have goes on"
    if event.context.get("mode") == "stop-now" or event.context.get("message") == "SIGQUIT":
        return f"now{running}{who}, which costs an attempt; its work is kept"
    key = "ctrl-c" if who else "ctrl-c again" if event.context.get("message") == "SIGINT" else "a second signal"
    return f"after the current step{running}{who}; {key} stops now, which costs an attempt; its work is kept"


def _cause(reason: str, agent: str) -> str:
    """Return what is waited for."""
    whose = agent or "the agent"
    return f"the rate limit of {whose}" if reason == Reason.AGENT_RATE_LIMITED else f"the service of {whose}"


def still(time: str, reason: str, agent: str, now: str) -> str:
    """Say how long a wait still lasts."""
    return f"waits for {_cause(reason, agent)}: {clock(between(now, time))} left, until {moment(time, now)}"


def told(time: str, reason: str, agent: str, now: str) -> str:
    return f"until {moment(time, now)} for {_cause(reason, agent)}; {CALM}; ctrl-c stops"
