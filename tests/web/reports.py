"""Runs that reports are made of: one with everything that can happen, one full of hostile texts, one that is large."""

import json
from pathlib import Path
from typing import Any

from santiago.contract.events import EventKind as K
from santiago.contract.phases import RunPhase
from santiago.contract.phases import StoryPhase as P
from tests.tui.made import COMMIT, PATCH, Made

HOSTILE = (
    "<script>document.title='owned'</script>", "</title><img src=http://127.0.0.1:9/x onerror=alert(1)>", "</style><style>*{display:none}</style>",
    "</pre></details><iframe src=http://127.0.0.1:9/></iframe>", "<base href=http://127.0.0.1:9/><form action=http://127.0.0.1:9/><button>",
    "' onclick=alert(1) x=\" style='position:fixed'", "{{ 7 * 7 }}{% raw %}{# #}", "<meta http-equiv=refresh content=0;url=http://127.0.0.1:9/>",
    "<svg/onload=alert(1)><a href=javascript:alert(1)>", "\x1b[31mred\x00\u202egnp.exe\x07\u2066",
)  # fmt: skip
DOCUMENT = """\
# PRD: Billing revamp

## Phase 1: Foundation

### R1: Create billing tables

**Files:** `src/tables.py`

- [ ] the tables are there
- [ ] amounts have no rounding errors

**Verification:** `pytest -q tests/test_1.py`

### R2: Seed currency data

Depends on: R1

**Files:** `src/seed.py`

- [ ] every currency has its digits

**Verification:** `pytest -q tests/test_2.py`

## Phase 2: Back end

### R3: Refund endpoint

Depends on: R1

**Files:** `src/refund.py`

- [ ] a second refund is refused with 409

**Verification:** `pytest -q tests/test_3.py`

### R4: 환불 화면 (refund screen)

Depends on: R2, R3

**Files:** `src/screen.py`

- [ ] the screen shows the amount

**Verification:** `pytest -q tests/test_4.py`

### R5: Export the ledger as CSV

Depends on: R2

**Files:** `src/export.py`

- [ ] the export has a header

**Verification:** `pytest -q tests/test_5.py`

## Later

Perhaps a nightly export.
"""


def eventful(out_dir: Path) -> Made:
    """Make a run that was refused for hours, stopped, crashed, asked a person, and failed at its last story."""
    made = Made(out_dir, DOCUMENT)
    made.begin()
    made.chunk(0)
    made.fails("S1", 1)
    made.files(
        "S1", 1, critique_md="# story_verification_failed\n\nE   AssertionError: 28 != 29\n", changes_patch=PATCH
    )
    shown = [
        ["R1#1", "tests/test_1.py::test_tables", "failed", "passed"],
        ["R1#2", "tests/test_1.py::test_old", "passed", "passed"],
    ]
    _done(made, "S1", 2, "proved", shown)
    made.files("S1", 2, changes_patch=PATCH, verification_json=_record("pass"))
    made.attempt("S2")
    made.add(
        K.ATTEMPT_VOIDED,
        "S2",
        P.READY,
        attempt=1,
        status="voided",
        after=9,
        reason="agent_rate_limited",
        agent_ms=9_000,
    )
    made.add(K.WAIT_STARTED, after=0, until="2026-11-15T06:20:00.000Z", ms=17_400_000, reason="agent_rate_limited")
    made.add(K.WAIT_ENDED, after=17_400, ms=17_400_000)
    _done(made, "S2", 2, "own_tests", [["R2#1", "tests/test_2.py::test_digits", "missing", "passed"]])
    made.chunk(1)
    made.attempt("S3")
    made.add(
        K.ATTEMPT_ENDED,
        "S3",
        P.BLOCKED,
        attempt=1,
        status="blocked",
        after=50,
        reason="agent_asked",
        agent_ms=45_000,
        tokens=9_100,
    )
    made.add(
        K.QUESTION_ASKED,
        "S3",
        question="S3-agent-1",
        kind="agent",
        text="409, or like the first one?",
        round=1,
        after=0,
    )
    made.add(K.RUN_ENDED, None, RunPhase.BLOCKED, status="blocked", reason="agent_asked", after=1)
    made.add(
        K.QUESTION_ANSWERED,
        "S3",
        P.READY,
        actor="ann",
        question="S3-agent-1",
        answer="409",
        text="as the tests say",
        after=2_000,
    )
    _start(made, 2)
    made.add(K.RUN_EXECUTING, None, RunPhase.EXECUTING)
    made.fails("S3", 2)
    _start(made, 3, after=900)  # nobody worked on it in between
    _done(made, "S3", 3, "regression", [])
    made.fails("S4", 1)
    made.fails("S4", 2)
    made.fails("S4", 3)
    made.files("S4", 3, changes_patch=PATCH, verification_json=_record("fail"))
    made.add(
        K.STORY_FAILED, "S4", P.FAILED, status="failed", reason="attempt_budget_exhausted", limit="story_max_attempts"
    )
    made.add(K.TIME_USED, ms=500_000)
    made.add(K.RUN_ENDED, None, RunPhase.FAILED, status="failed", reason="attempt_budget_exhausted", after=1)
    return made


def hostile(out_dir: Path, more: str = "") -> Made:
    """Make a run whose every text wants to become a part of the page."""
    texts = [f"{one}{more}" for one in HOSTILE]
    plain = [" ".join("".join(letter for letter in one if letter.isprintable()).split()) for one in texts]
    lines = ["# PRD: " + plain[0], "", "## Phase 1: " + plain[1], ""]
    for at, text in enumerate(plain, start=1):
        lines += [
            f"### R{at}: {text}",
            "",
            f"**Files:** `src/{at}.py`",
            "",
            f"- [ ] {text}",
            "",
            f"**Verification:** `echo '{at}' {text}`",
            "",
        ]
    made = Made(out_dir, "\n".join([*lines, "## Appendix " + plain[2], "", plain[3], ""]))
    made.begin(agent=plain[0])
    made.chunk(0)
    made.fails("S1", 1)
    every = "\n".join(texts)
    patch = f"diff --git a/{plain[1]} b/{plain[1]}\n--- a/x\n+++ b/x\n@@ -1 +1,9 @@ {plain[2]}\n" + "".join(
        f"+{one}\n-{one}\n" for one in texts
    )
    ending = json.dumps({"reason": plain[3], "message": every, "denials": texts, "session": plain[0]})
    made.files(
        "S1",
        1,
        changes_patch=patch,
        critique_md=every,
        ending_json=ending,
        verification_json=_record("fail", every, plain[9]),
    )
    _done(made, "S1", 2, "own_tests", [["R1#1", plain[4], "failed", "passed"]])
    made.files("S1", 2, verification_json=_record("fail", every, plain[9]))
    made.add(K.QUESTION_ASKED, "S2", question="S2-agent-1", kind="agent", text=plain[5], round=1, after=0)
    made.add(K.QUESTION_ANSWERED, "S2", actor=plain[6][:60], question="S2-agent-1", answer=plain[7], text=plain[8])
    return made


def large(out_dir: Path, stories: int = 500, again: int = 4) -> Made:
    """Make a run of many stories, of which each fourth one needed a second attempt; every attempt has its files."""
    lines = ["# PRD: A large one", ""]
    for number in range(1, stories + 1):
        lines += [f"## Phase {number // 20 + 1}: Part {number // 20 + 1}", ""] if number % 20 == 1 else []
        lines += [
            f"### R{number}: Refunds of kind {number} are refused the second time",
            "",
            f"**Files:** `src/refund/kind_{number}.py`",
            "",
        ]
        lines += [f"Depends on: R{number - 7}", ""] if number > 7 else []
        lines += [
            f"- [ ] kind {number} is refused with 409",
            f"- [ ] kind {number} is logged",
            "",
            f"**Verification:** `pytest -q tests/test_{number}.py`",
            "",
        ]
    made = Made(out_dir, "\n".join(lines))
    made.kept_back = True
    made.begin()
    labels = [""]
    for number, story in enumerate(made.plan.stories, start=1):
        if story.chunk != labels[-1]:
            labels.append(story.chunk)
            made.chunk(len(labels) - 2)
        patch = PATCH.replace("refund/api.py", f"refund/kind_{number}.py") + "".join(
            f"+    step_{number}_{at}(charge, amount={at})\n" for at in range(60)
        )
        tries = 2 if number % again == 0 else 1
        if tries == 2:
            made.fails(story.id, 1)
            critique = (
                "# story_verification_failed\n\n" + "E   AssertionError: 200 != 409 in a long line of output\n" * 30
            )
            made.files(story.id, 1, changes_patch=patch, critique_md=critique, verification_json=_record("fail"))
        shown = [
            [name, f"tests/test_{number}.py::test_{at}", "failed", "passed"] for at, name in enumerate(story.criteria)
        ]
        _done(made, story.id, tries, "proved", shown)
        made.files(story.id, tries, changes_patch=patch, verification_json=_record("pass"))
    made.kept_back = False
    made.add(K.RUN_VERIFYING, None, RunPhase.RUN_VERIFICATION)
    made.add(K.RUN_ENDED, None, RunPhase.SUCCESS, status="ok")
    return made


def _start(made: Made, epoch: int, after: int = 5) -> None:
    made.add(
        K.RUN_STARTED, epoch=epoch, pid=4711, host="here", agent="claude", jobs=1, sandbox="bubblewrap", after=after
    )


def _done(made: Made, story: str, number: int, proof: str, criteria: list[list[str]]) -> None:
    made.attempt(story, number)
    named = dict(
        zip(
            (f"R{story[1:]}#{at}" for at in range(1, 9)),
            next(one.criteria for one in made.plan.stories if one.id == story),
            strict=False,
        )
    )
    rows = [[named.get(row[0], row[0]), *row[1:]] for row in criteria]
    made.add(
        K.ATTEMPT_ENDED, story, P.EVIDENCE_COLLECTED, attempt=number, status="ok", after=58, verdict="pass", proof=proof, commit=COMMIT,
        criteria=rows, agent_ms=50_000, verify_ms=4_000, tokens=12_400, cost_micro_usd=90_000,
    )  # fmt: skip
    made.add(K.STORY_VERIFIED, story, P.VERIFIED, status="ok", after=0, commit=COMMIT)
    made.add(K.STORY_DONE, story, P.DONE, status="ok", after=1, commit=COMMIT, head=COMMIT)


def _record(verdict: str, printed: str = "1 failed, 3 passed in 1.22s", command: str = "pytest -q") -> str:
    output = {"head": printed, "tail": "", "dropped": 0}
    check: dict[str, Any] = {
        "command": command,
        "exit_code": int(verdict == "fail"),
        "seconds": 1.4,
        "timed_out": False,
        "checks": 4,
    }
    return json.dumps(
        {
            "results": [{**check, "verdict": verdict, "output": output}],
            "broken": [command] if verdict == "fail" else [],
        }
    )
