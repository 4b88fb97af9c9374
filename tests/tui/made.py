"""A run made of events with fixed times, as a coordinator would have written them: for pictures that never change."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from santiago.artifacts.frame import GENESIS, encode
from santiago.artifacts.names import INPUT, LOG, PLAN
from santiago.contract import codec
from santiago.contract.events import Context, Event, EventKind
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.policy import Limits, RunInput
from santiago.contract.quantities import Usd
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
from tests.cli.fakes import plans, uses

K, P = EventKind, StoryPhase
RUN = "r_20261115_0117"
NOW = "2026-11-15T01:26:00.000Z"
CHUNKS = {
    "Foundation": ("Create billing tables", "Seed currency data"),
    "Back end": ("Refund endpoint", "Webhook retries", "환불 화면 (refund screen)"),
    "Export": ("Export ledger as CSV", "Nightly export"),
    "Audit trail": ("Audit log screen",),
    "Release notes": ("Write the notes",),
}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PATCH = """\
diff --git a/src/refund/api.py b/src/refund/api.py
index 1111111..2222222 100644
--- a/src/refund/api.py
+++ b/src/refund/api.py
@@ -1,3 +1,5 @@
 def refund(charge):
-    return 200
+    if charge.refunded:
+        return 409
+    return 200
"""
LOGGED = "reading src/refund/api.py\nrunning pytest -q tests/test_3.py\n1 failed, 3 passed\n"


def document(chunks: Mapping[str, tuple[str, ...]] = CHUNKS, *, checks: bool = True) -> str:
    lines, number = ["# PRD: Billing revamp", ""], 0
    for place, (chunk, titles) in enumerate(chunks.items(), start=1):
        lines += [f"## Phase {place}: {chunk}", ""]
        for title in titles:
            number += 1
            lines += [f"### R{number}: {title}", "", f"**Files:** `src/part{number}.py`", ""]
            lines += [f"- [ ] {title} works", f"- [ ] {title} is tested", ""]
            lines += [f"**Verification:** `pytest -q tests/test_{number}.py`", ""] if checks else []
    return "\n".join(lines)


class Made:
    def __init__(self, out_dir: Path, text: str = "", **settings: Any) -> None:
        self.out_dir = out_dir
        out_dir.mkdir(parents=True)
        compiled = compile_plan(Source(text or document(), path="docs/prd.md"))
        assert compiled.plan is not None, compiled.findings
        self.plan, self.run_id = compiled.plan, RUN
        (out_dir / PLAN).write_bytes(codec.canonical(self.plan))
        limits = Limits(story_max_attempts=3, run_max_attempts=60, run_max_cost_usd=Usd.of(20))
        run_input = RunInput(
            contract_version=1,
            run_id=self.run_id,
            repo_path=str(out_dir),
            prd_path="docs/prd.md",
            limits=limits,
            **settings,
        )
        (out_dir / INPUT).write_bytes(codec.canonical(run_input))
        self.labels = [chunk.label for chunk in self.plan.chunks]
        self.seq, self.prev, self.second = 0, GENESIS, 0
        self.pending: list[bytes] = []
        self.kept_back = False
        """Events are written when many have come, for those who make very many."""

    def add(
        self, event: EventKind, story: str | None = None, phase: StoryPhase | RunPhase | None = None, /,
        *, chunk: str | None = None, attempt: int | None = None, status: Any = None, after: int = 5, actor: str = "santiago",
        **context: Any,
    ) -> None:  # fmt: skip
        self.seq, self.second = self.seq + 1, self.second + after
        minute = 17 + self.second // 60
        time = f"2026-11-15T{1 + minute // 60:02}:{minute % 60:02}:{self.second % 60:02}.000Z"
        chunk = chunk or next((one.chunk for one in self.plan.stories if one.id == story), None)
        recorded = Event(
            seq=self.seq, timestamp=time, run_id=self.run_id, event=event, story_id=story, chunk=chunk, phase=phase,
            attempt=attempt, status=status, actor=actor, context=cast("Context", context),
        )  # fmt: skip
        line, self.prev = encode(recorded, self.prev)
        self.pending.append(line)
        if not self.kept_back:
            with (self.out_dir / LOG).open("ab") as file:
                file.writelines(self.pending)
            self.pending.clear()

    def begin(self, agent: str = "claude") -> None:
        digests: dict[str, Any] = {"plan_digest": codec.digest(self.plan), "input_digest": "1" * 64}
        self.add(K.RUN_CREATED, None, RunPhase.CREATED, version="0.1.0", log=1, **digests)
        self.add(K.RUN_STARTED, epoch=1, pid=4711, host="here", agent=agent, jobs=1, sandbox="bubblewrap")
        self.add(K.RUN_EXECUTING, None, RunPhase.EXECUTING)
        self.add(K.BASE_EXAMINED, status="ok")

    def chunk(self, place: int) -> None:
        if place:
            self.add(K.CHUNK_ENDED, chunk=self.labels[place - 1], status="ok")
        self.add(K.CHUNK_STARTED, chunk=self.labels[place])

    def attempt(self, story: str, number: int = 1) -> None:
        self.add(K.ATTEMPT_STARTED, story, P.RUNNING, attempt=number, base=COMMIT, step=f"attempt/{story}/{number}")

    def fails(self, story: str, number: int) -> None:
        self.attempt(story, number)
        self.add(
            K.ATTEMPT_ENDED, story, P.READY, attempt=number, status="failed", after=55, reason="story_verification_failed", commit=COMMIT,
            agent_ms=48_000, verify_ms=5_000, tokens=14_500, cost_micro_usd=110_000,
        )  # fmt: skip

    def done(self, story: str, number: int = 1) -> None:
        self.attempt(story, number)
        self.add(
            K.ATTEMPT_ENDED, story, P.EVIDENCE_COLLECTED, attempt=number, status="ok", after=58, verdict="pass", proof="proved", commit=COMMIT,
            agent_ms=50_000, verify_ms=4_000, tokens=12_400, cost_micro_usd=90_000,
        )  # fmt: skip
        self.add(K.STORY_VERIFIED, story, P.VERIFIED, status="ok", after=0, commit=COMMIT)
        self.add(K.STORY_DONE, story, P.DONE, status="ok", after=1, commit=COMMIT, head=COMMIT)

    def files(self, story: str, number: int, **files: str) -> None:
        folder = self.out_dir / "attempts" / story / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")


def _in_its_second_chunk(out_dir: Path) -> Made:
    made = Made(out_dir)
    made.begin()
    made.chunk(0)
    made.fails("S1", 1)
    made.done("S1", 2)
    made.done("S2")
    made.chunk(1)
    return made


def failed_run(out_dir: Path) -> Made:
    """Make a run whose second chunk failed: one chunk completed, one failed, three waiting."""
    made = _in_its_second_chunk(out_dir)
    for number in (1, 2, 3):
        made.fails("S3", number)
    made.add(
        K.STORY_FAILED, "S3", P.FAILED, status="failed", reason="attempt_budget_exhausted", limit="story_max_attempts"
    )
    made.add(K.TIME_USED, ms=500_000)
    made.add(K.RUN_ENDED, None, RunPhase.FAILED, status="failed", reason="attempt_budget_exhausted", after=1)
    made.files("S3", 3, changes_patch=PATCH, agent_log=LOGGED)
    return made


def asking_run(out_dir: Path) -> Made:
    """Make a run at rest that asks two questions."""
    made = Made(out_dir)
    made.begin()
    made.chunk(0)
    made.done("S1")
    made.done("S2")
    made.chunk(1)
    made.fails("S3", 1)
    made.attempt("S3", 2)
    question = "Should a second refund of the same charge be refused with 409, or be answered like the first one?"
    used: dict[str, Any] = {"agent_ms": 40_000, "tokens": 9_100}
    made.add(K.ATTEMPT_ENDED, "S3", P.BLOCKED, attempt=2, status="blocked", after=50, reason="agent_asked", **used)
    made.add(K.QUESTION_ASKED, "S3", question="S3-agent-1", kind="agent", text=question, round=1, after=0)
    made.add(K.RUN_ENDED, None, RunPhase.BLOCKED, status="blocked", reason="agent_asked", after=1)
    return made


def running_run(out_dir: Path) -> Made:
    """Make a run in whose second chunk an agent is at work."""
    made = _in_its_second_chunk(out_dir)
    made.fails("S3", 1)
    made.attempt("S3", 2)
    todos = ("read the refund code", "refuse a second refund", "test both cases")
    steps = (
        uses("Read", file_path="src/refund/api.py"), plans(*zip(todos, ("completed", "in_progress", "pending"), strict=True)),
        uses("Edit", file_path="src/refund/api.py"), uses("Bash", command="pytest -q tests/test_3.py"),
    )  # fmt: skip
    made.files("S3", 2, agent_log="".join(f"{json.dumps(step['print'])}\n" for step in steps))
    made.files("S3", 1, changes_patch=PATCH)
    return made
