"""Writes the golden log of format version 1: `python -m tests.golden.v1.make`. Run once per version, then never again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from santiago.artifacts.log import Log
from santiago.contract import codec
from santiago.contract.events import CONTEXT_KEYS, Context, Event, EventKind
from santiago.contract.fold import Fold
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.state import initial
from tests.contract.histories import plan_of
from tests.golden.essence import essence

HERE = Path(__file__).parent
COMMIT = "0123456789abcdef0123456789abcdef0123456{}".format
K, S, R = EventKind, StoryPhase, RunPhase

Fact = tuple[EventKind, str | None, StoryPhase | RunPhase | None, dict[str, Any]]


def attempt(story: str, number: int, **ending: Any) -> list[Fact]:
    """An attempt from its start to its verdict."""
    phase = S.EVIDENCE_COLLECTED if ending.get("verdict") == "pass" else S.READY
    status = "ok" if phase is S.EVIDENCE_COLLECTED else "failed"
    start = {"attempt": number, "base": COMMIT(0), "step": f"attempt/{story}/{number}", "agent": "scripted"}
    end = {"attempt": number, "status": status, "commit": COMMIT(number), "ref": f"refs/santiago/r_golden/{story}/{number}"}  # fmt: skip
    end |= {"agent_ms": 1500, "verify_ms": 250, "digest": "d" * 64, **ending}
    return [(K.ATTEMPT_STARTED, story, S.RUNNING, start), (K.ATTEMPT_ENDED, story, phase, end)]


def retired(story: str, number: int, head: int) -> list[Fact]:
    done = {"attempt": number, "commit": COMMIT(number), "head": COMMIT(head)}
    return [(K.STORY_VERIFIED, story, S.VERIFIED, {"attempt": number}), (K.STORY_DONE, story, S.DONE, done)]


def facts() -> list[Fact]:
    """The history of a run in which everything happens that can be recorded."""
    created = {"plan_digest": "a" * 64, "input_digest": "b" * 64, "version": "0.1.0", "branch": "santiago/r_golden", "head": COMMIT(0)}  # fmt: skip
    started = {"epoch": 1, "pid": 4711, "host": "here", "sandbox": "bubblewrap", "engine": "threads", "jobs": 2}
    good = {"verdict": "pass", "proof": "proved", "tokens": 1200, "cost_micro_usd": 34_000}
    return [
        (K.RUN_CREATED, None, R.CREATED, created),
        (K.RUN_STARTED, None, None, started),
        (K.PLANNING_STARTED, None, R.PLANNING, {"mode": "multi", "text": "smaller steps"}),
        (K.PLAN_PROPOSED, None, R.PLAN_REVIEW, {"revision": 1}),
        (K.PLAN_APPROVED, None, None, {"actor": "ann", "revision": 1}),
        (K.RUN_EXECUTING, None, R.EXECUTING, {}),
        (K.COMMANDS_APPROVED, None, None, {"actor": "ann", "digests": ["e" * 64, "f" * 64]}),
        (K.CHUNK_STARTED, None, None, {"chunk": "C01"}),
        (K.CLAIM_JUDGED, "S1", S.EVIDENCE_COLLECTED, {"verdict": "pass", "proof": "regression", "verify_ms": 90}),
        *retired("S1", 0, 1),
        (K.STORY_PROPOSED, "S2", S.PROPOSED, {"text": "first this, then that"}),
        (K.QUESTION_ASKED, "S2", None, {"question": "Q1", "text": "Really?", "options": ["approve", "adjust"]}),
        (K.QUESTION_ANSWERED, "S2", None, {"actor": "ann", "question": "Q1", "answer": "approve", "text": "yes → go"}),
        (K.STORY_SPLIT, "S2", None, {"substeps": ["S2.1"]}),
        *attempt("S2.1", 1, **good),
        *retired("S2.1", 1, 2),
        *attempt("S2", 1, verdict="fail", reason="story_verification_failed", message="1 failed", lines=3),
        (K.HINT_ADDED, "S2", None, {"actor": "ann", "text": "look at the tests"}),
        (K.CHANGE_REQUESTED, "S2", None, {"actor": "ann", "text": "in blue"}),
        *attempt("S2", 2, **good),
        (K.STORY_VERIFIED, "S2", S.VERIFIED, {"attempt": 2}),
        (K.ATTEMPT_VOIDED, "S2", S.READY, {"attempt": 2, "status": "voided", "reason": "workspace_conflict"}),
        *attempt("S2", 3, **good),
        (K.STORY_VERIFIED, "S2", S.VERIFIED, {"attempt": 3}),
        (K.INTEGRATION_FAILED, "S2", S.READY, {"attempt": 3, "status": "failed", "reason": "workspace_conflict"}),
        *attempt("S2", 4, **good),
        *retired("S2", 4, 3),
        (K.TIME_USED, None, None, {"ms": 15_000}),
        (K.CLOCK_GAP, None, None, {"ms": 3_600_000}),
        (K.NOTE, None, None, {"message": "all quiet", "hint": "none"}),
        (K.CHUNK_ENDED, None, None, {"chunk": "C01", "status": "ok"}),
        (K.CHUNK_STARTED, None, None, {"chunk": "C02"}),
        *attempt("S3", 1, verdict="fail", reason="agent_timeout"),
        (K.STORY_FAILED, "S3", S.FAILED, {"reason": "attempt_budget_exhausted", "limit": "story_max_attempts"}),
        (K.STORY_BLOCKED, "S4", S.BLOCKED, {"reason": "blocked_dependency"}),
        (K.STOP_REQUESTED, None, None, {"actor": "ann", "mode": "stop"}),
        (K.RUN_PAUSED, None, R.PAUSED, {"reason": "interrupted", "until": "2026-01-02T04:00:00Z"}),
        (K.RUN_STARTED, None, None, {**started, "epoch": 2}),
        (K.LOG_REPAIRED, None, None, {"offset": 9000, "length": 17, "digest": "9" * 64}),
        (K.RUN_EXECUTING, None, R.EXECUTING, {}),
        (K.BUDGET_RAISED, "S3", None, {"actor": "ann", "limit": "story_max_attempts", "amount": 2}),
        (K.STORY_REOPENED, "S3", S.READY, {"actor": "ann"}),
        (K.STORY_SKIPPED, "S4", None, {"actor": "ann", "reason": "blocked_dependency", "text": "not now"}),
        *attempt("S3", 2, verdict="pass", proof="regression"),
        *retired("S3", 2, 4),
        (K.CHUNK_ENDED, None, None, {"chunk": "C02", "status": "ok"}),
        (K.RUN_VERIFYING, None, R.RUN_VERIFICATION, {"head": COMMIT(4)}),
        (K.RUN_ENDED, None, R.SUCCESS, {"head": COMMIT(4)}),
    ]


def event(seq: int, fact: Fact) -> Event:
    kind, story, phase, more = fact
    detail = {name: value for name, value in more.items() if name in CONTEXT_KEYS}
    other = {name: value for name, value in more.items() if name not in CONTEXT_KEYS}
    if other.get("attempt") == 0:
        del other["attempt"]
    return Event(
        seq=seq,
        timestamp=f"2026-01-02T03:{seq // 60:02}:{seq % 60:02}.000Z",
        run_id="r_golden",
        event=kind,
        story_id=story,
        phase=phase,
        context=Context(**detail),  # type: ignore[typeddict-item]
        **other,
    )


def main() -> None:
    plan = plan_of(S1="C01:", S2="C01: S1", S3="C02: S2", S4="C02: S2")
    fold = Fold(initial(plan))
    events = [event(seq, fact) for seq, fact in enumerate(facts(), start=1)]
    missing = set(EventKind) - {one.event for one in events}
    assert not missing, f"the history lacks {missing}"
    path = HERE / "progress.ndjson"
    path.unlink(missing_ok=True)
    log = Log.open(path, lambda: "")
    for one in events:
        log.append([one])
        fold.apply(one)
    log.close()
    (HERE / "plan.json").write_bytes(codec.canonical(plan))
    (HERE / "state.json").write_text(json.dumps(essence(fold.state), indent=2) + "\n", encoding="utf-8")
    print(f"{len(events)} events, head {log.head.hash}; details never used: {_unused(events)}")


def _unused(events: list[Event]) -> list[str]:
    return sorted(set(CONTEXT_KEYS) - {"log"} - {name for one in events for name in one.context})


if __name__ == "__main__":
    main()
