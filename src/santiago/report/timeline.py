"""When each attempt of a run was under way, and when nothing was, with the reason."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from santiago.contract.moments import ms_of, text_of
from santiago.contract.reasons import Reason
from santiago.report.marks import Mark
from santiago.report.story import look_of, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import Rest, Run

IDLE_MS = 60_000
"""Idle time that no rest explains is told from this length on."""
_WAITS = {Reason.AGENT_RATE_LIMITED: "rate limit", Reason.AGENT_UNAVAILABLE: "the agent's service did not answer"}
_RESTS = {"stop": "stopped", "crash": "interrupted: nobody worked on it"}


def timeline(run: Run) -> list[dict[str, Any]]:
    """Return a row for each attempt and each rest, by the time at which it began. What lasts goes up to the last event."""
    attempts = list(_attempts(run))
    rests = [_rest(one, run.history.last) for one in run.history.rests if one.until or one.kind == "wait"]
    idle = [row for row in _idle(run, attempts) if not any(_overlap(row, one) for one in rests)]
    return sorted([*attempts, *rests, *idle], key=lambda row: row["since"])


def _attempts(run: Run) -> Iterator[dict[str, Any]]:
    for planned in run.stories:
        for one in run.history.of(planned.id):
            symbol, tone = look_of(one)
            yield {
                "kind": "attempt", "story": planned.id, "attempt": one.number, "title": planned.title,
                "mark": Mark(symbol, outcome_of(one), tone)._asdict(), "since": one.started,
                "until": max(one.started, one.ended or run.history.last), "agent_ms": one.agent_ms, "verify_ms": one.verify_ms,
            }  # fmt: skip


def _rest(one: Rest, last: str) -> dict[str, Any]:
    why = _WAITS.get(one.reason, one.reason) if one.kind == "wait" else _RESTS[one.kind]  # type: ignore[call-overload]
    if one.kind == "stop" and one.reason not in ("", Reason.INTERRUPTED):
        why = f"{why}: {one.reason}"
    return _row(why, one.since, max(one.since, one.until or last))


def _row(why: str, since: str, until: str) -> dict[str, Any]:
    return {"kind": "rest", "why": why, "since": since, "until": until, "ms": ms_of(until) - ms_of(since)}


def _idle(run: Run, attempts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the times between attempts in which nothing was under way."""
    spans = sorted((ms_of(row["since"]), ms_of(row["until"])) for row in attempts)
    latest = 0
    for (_, end), (begin, _) in pairwise(spans):
        latest = max(latest, end)
        if begin - latest >= IDLE_MS:
            since, until = text_of(latest), text_of(begin)
            asked = [one for one in run.state.questions.values() if one.asked_at < until and one.answered_at > since]
            yield _row("waited for an answer" if asked else "no attempt under way", since, until)


def _overlap(row: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(row["since"] < other["until"] and other["since"] < row["until"])
