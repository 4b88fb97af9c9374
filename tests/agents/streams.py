"""The captured streams of real agents, read where they lie, and what santiago makes of a stream."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from santiago.agent.catalog import Catalog
from santiago.agent.normalize import ending_of
from santiago.agent.profile import Profile
from santiago.agent.stream import Reading, StreamReader
from santiago.contract.outcomes import AgentEnding
from santiago.contract.reasons import Reason
from santiago.process.command import Report

PLACE = Path(__file__).resolve().parents[3] / "shared" / "agent-streams"
needs_streams = pytest.mark.skipif(not (PLACE / "index.json").is_file(), reason=f"no captured streams at {PLACE}")

REPORTS: dict[str, dict[str, Any]] = {
    "vibe.success": {
        "outcome": "finished", "stop_reason": None, "error": None, "session_id": "c541667c-97d0-fe00-91ad-81ecbfdcf477",
        "usage": {"input_tokens": 8400, "output_tokens": 280, "cached_input_tokens": 0, "total_tokens": 8680}, "cost_usd": 0.0,
        "steps": 7, "exit_code": 0,
    },
    "vibe.http401": {
        "outcome": "config_error", "error": {"message": "Invalid API key (from env var SCRIPTED_KEY).", "code": None},
        "usage": None, "cost_usd": None, "exit_code": 1,
    },
    "copilot.success": {
        "totalNanoAiu": 0, "aiCreditsStatus": "unavailable", "lastCallInputTokens": 1200,
        "modelMetrics": {"scripted": {"usage": {"inputTokens": 8400, "outputTokens": 280}}},
        "providerModelMetrics": [
            {"modelId": "scripted", "metrics": {"usage": {"inputTokens": 4800, "outputTokens": 160}}},
            {"modelId": "other", "metrics": {"usage": {"inputTokens": 3600, "outputTokens": 120, "cacheReadTokens": 0}}},
        ],
    },
    "mini.success": {
        "info": {"model_stats": {"instance_cost": 0.0, "api_calls": 5}, "exit_status": "Submitted", "submission": "STATUS: done\n"},
        "messages": [
            {"role": "system", "content": "…"}, {"role": "user", "content": "…"},
            *({"role": "assistant", "extra": {"response": {"usage": {"total_tokens": 1240}}, "cost": 0.0}} for _ in range(5)),
            {"role": "exit", "content": "STATUS: done\n", "extra": {"exit_status": "Submitted", "submission": "STATUS: done\n"}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
    },
}  # fmt: skip
"""Documents that agents leave beside their stream; shortened from what the same versions wrote in another run."""

DONE = "STATUS: done. greet() now says bonjour."
PLAN = ("look", "edit hello.py", "write notes")
SIX = 6


@dataclass(frozen=True)
class Seen:
    """What must be read out of a case."""

    reason: Reason | None = None
    tokens: int | None = None
    cost: int | None = None
    session: str | None = None
    says: str = DONE
    actions: int = 0
    last: str = ""
    todos: tuple[str, ...] = ()
    wait: int | None = None


OUT = Reason.AGENT_NOT_SIGNED_IN
SLOW = Reason.AGENT_RATE_LIMITED
EXPECTED = {
    "aider.success": Seen(None, 1240, None, None, "Applied edit to hello.py", 1, "Applied edit hello.py"),
    "claude.success": Seen(None, 8680, 29_400, "079200e5-c2db-4a5f-a7f6-1412addfa645", actions=10, last="TaskUpdate", todos=PLAN),
    "claude.http401": Seen(OUT, 0, 0, "30133920-a58d-4ecd-9a36-24a5f6da4f80", "401 invalid api key"),
    "claude.http429": Seen(SLOW, 0, 0, "38b42c1b-0839-45be-a526-5965d9b5f284", "Request rejected (429)"),
    "claude.max_turns": Seen(Reason.AGENT_EXIT_NONZERO, 2480, 8400, "e114328d-a907-4544-848a-757395e213e6", "error_max_turns", 2, "Bash echo x"),
    "codex.success": Seen(
        None, 8680, None, "01a1dd1f-fc4e-7350-9b55-3df45c54f129", actions=4, last="shell /bin/bash -lc 'git status --short'", todos=PLAN
    ),
    "codex.http401": Seen(OUT, 0, 0, "01a1dd21-0f7d-7fa1-9828-9162644e47dd", "unexpected status 401 Unauthorized: invalid api key"),
    "codex.http429": Seen(SLOW, 0, 0, "01a1dd21-9e54-7032-aba7-f0c2fed4546c", "exceeded retry limit, last status: 429"),
    "copilot.success": Seen(None, 8680, None, "83acb3fe-fa0a-42d5-9a1b-80c3fdd08ddd", actions=SIX, last="bash : no plan tool declared"),
    "copilot.http401": Seen(OUT, 0, 0, "d57fc112-6b28-4fe1-bc0c-80f282154298", "Authentication failed with provider"),
    "copilot.http429": Seen(SLOW, 0, 0, "43806f9e-3afa-4c84-9935-293f9dd99ba7", "Last error: 429 rate limit exceeded"),
    "gemini.success": Seen(None, 8680, None, "c390569a-a9e7-4519-9f67-7455d67da3e0", actions=SIX, last="write_todos", todos=PLAN),
    "gemini.http401": Seen(OUT, 0, None, "58f4de07-3354-4e0a-a20e-42c4300f8c41", "invalid api key"),
    "gemini.max_turns": Seen(
        Reason.AGENT_EXIT_NONZERO, 2480, None, "060cd19c-7245-452d-8151-8d9368c9e3b3", "Reached max session turns", 2, "run_shell_command echo x 1"
    ),
    "goose.success": Seen(None, 8680, actions=SIX, last="shell : no plan tool declared"),
    "kimi.success": Seen(None, None, None, "session_2f572058-c41d-4e52-9f13-bc5494845997", actions=SIX, last="TodoList", todos=PLAN),
    "kimi.http401": Seen(OUT, 0, 0, says="401 invalid api key"),
    "kimi.http429": Seen(SLOW, 0, 0, says="429 rate limit exceeded"),
    "mini.success": Seen(None, 6200, says="STATUS: done", actions=5, last="mini-swe-agent step 5"),
    "opencode.success": Seen(None, 8680, None, "ses_e22dfe7e2ffe3l04bQ2xKoATFh", actions=SIX, last="todowrite 0 todos", todos=PLAN),
    "opencode.http401": Seen(OUT, 0, 0, "ses_e22dec33bffeqlt0Y06bupypDC", "invalid api key"),
    "opencode.http429": Seen(SLOW, 0, 0, "ses_e22de3f35ffebg0xWwxx1RSdGZ", "rate limit exceeded", wait=1),
    "openhands.success": Seen(None, None, None, "5e02e932839c420cacfe6c58c0a639d7", actions=SIX, last="task_tracker plan", todos=PLAN),
    "pi.success": Seen(None, 8680, None, "01a1dd20-7933-72db-a38a-03928be8358b", actions=SIX, last="bash : no plan tool declared"),
    "pi.http401": Seen(OUT, 0, 0, "01a1dd21-7fa4-748d-9ae9-f3e5cfa63bc8", "401 invalid api key"),
    "pi.http429": Seen(SLOW, 0, 0, "01a1dd22-40a8-71d0-906b-e494d95ecb31", "429 rate limit exceeded"),
    "qwen.success": Seen(None, 8680, None, "ab532a86-edc2-428b-bbcc-fbe66881a30e", actions=SIX, last="run_shell_command : no plan tool declared"),
    "qwen.http401": Seen(OUT, 0, None, "a5ca62ee-c4ef-455b-810a-47f4b00b72a4", "401 invalid api key"),
    "vibe.success": Seen(None, 8680, None, "c541667c-97d0-fe00-91ad-81ecbfdcf477", actions=SIX, last="vibe.todo 3 todos", todos=PLAN),
    "vibe.http401": Seen(OUT, 0, 0, "528627be-de78-1d59-3447-aab4572a8ff2", "Invalid API key"),
}  # fmt: skip
FAILED = sorted(tag for tag, seen in EXPECTED.items() if seen.reason)
GOOD = sorted(tag for tag, seen in EXPECTED.items() if not seen.reason)

_NAMES = {"mini": "mini-swe-agent"}


def tags() -> dict[str, int]:
    """Return every captured case with its exit code."""
    if not (PLACE / "index.json").is_file():
        return {}
    return {one["tag"]: one["rc"] for one in json.loads((PLACE / "index.json").read_text("utf-8"))}


def profile_of(tag: str) -> Profile:
    name = tag.partition(".")[0]
    return Catalog().get(_NAMES.get(name, name))


def captured(tag: str, order: tuple[str, str] = ("out", "err")) -> str:
    """Return what a case printed, on both channels; in reality they mix."""
    files = [PLACE / f"{tag}.{channel}" for channel in order]
    return "".join(file.read_text("utf-8", "replace") for file in files if file.is_file())


def read(profile: Profile, lines: Iterable[str], left: dict[str, Any] | None = None) -> Reading:
    reader = StreamReader(profile)
    for line in lines:
        reader.feed(line)
    if left is not None:
        reader.take(left, profile.report)
    return reader.reading


def ending(profile: Profile, text: str, code: int = 0, left: dict[str, Any] | None = None, **more: Any) -> AgentEnding:
    """Return how an agent ended that printed this."""
    reading = read(profile, text.splitlines(keepends=True), left)
    return ending_of(Report(exit_code=code, head=text[:4000], tail=text[-4000:], **more), reading, profile)
