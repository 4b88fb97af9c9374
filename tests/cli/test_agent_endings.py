"""Endings that lie with the agent's program, account or service: what helps, who takes over, and that no attempt is spent."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from santiago.app.start.agents import named
from santiago.contract.policy import Agent
from tests.cli import fakes, greeter
from tests.cli.fakes import PRD, Place
from tests.cli.santiago import trusted

SIGNED_OUT = {"type": "result", "is_error": True, "result": "Invalid API key · Please run /login"}
LIMITED = {"type": "result", "is_error": True, "result": "API Error: rate limited, try again in 3 days"}
TWO = PRD + "\n### R2: Say bye\n\n**Files:** `bye.txt`\n\n- [ ] it says bye\n\n**Verification:** `grep bye bye.txt`\n"


@pytest.fixture
def place(tmp_path: Path) -> fakes.Place:
    found = fakes.Place(tmp_path)
    found.sign_in()
    return found


def _kinds(place: fakes.Place) -> list[str]:
    return [event["event"] for event in place.events() if event["event"].startswith(("wait_", "attempt_"))]


def test_not_signed_in_blocks_with_the_command_that_helps_and_goes_on_once_it_is(place: fakes.Place) -> None:
    place.install("claude", fakes.fails("Invalid API key · Please run /login", 401), fakes.GOOD)
    ran = place.run(code=10)
    assert "why       agent_not_signed_in: The agent is not signed in" in ran.stderr
    status = place.look("status", "--failed")
    assert "needs you: S1 is blocked: The agent is not signed in" in status
    assert place.json("show", "S1")["shown"]["ending"]["help"] == "Run `claude auth login`, then `santiago resume`."
    place.santiago("resume", "--trust-commands", code=0)
    assert place.result()["usage"]["attempts"] == 1


def test_a_rate_limit_with_a_time_is_waited_for_and_costs_no_attempt(place: fakes.Place) -> None:
    place.install("claude", fakes.fails("Rate limited, try again in 1 second", 429), fakes.GOOD)
    ran = place.run(code=0)
    said = [line[9:] for line in ran.stderr.splitlines()]
    assert "void     S1 attempt 1, not counted: agent_rate_limited: Rate limited, try again in 1 second" in said
    (waiting,) = [line for line in said if line.startswith("waiting")]
    assert waiting.endswith(" UTC for the rate limit of claude; nothing is spent; ctrl-c stops")
    assert any(line.startswith("goes on  after waiting for ") for line in said)
    assert _kinds(place) == [
        "attempt_started", "attempt_voided", "wait_started", "wait_ended", "attempt_started", "attempt_ended",
    ]  # fmt: skip
    assert (place.result()["usage"]["attempts"], place.result()["status"]) == (1, "success")


def test_while_it_waits_status_says_until_when_and_a_stop_ends_it(place: fakes.Place) -> None:
    place.install("claude", fakes.fails("Rate limited, try again in 5 minutes", 429), fakes.GOOD)
    ran = subprocess.Popen(
        [sys.executable, "-m", "santiago", *trusted("run", "prd.md", "--trust-commands")], cwd=place.repo, env=place.env,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while (
        not (log := list(place.repo.glob(".santiago/runs/*/progress.ndjson")))
        or b"wait_started" not in log[0].read_bytes()
    ):
        assert time.monotonic() < deadline, "it never waited"
        time.sleep(0.02)
    status, told = place.look("status"), place.json("status")
    assert "waits for the rate limit of claude: " in status
    assert status.count("; nothing is spent\n") == 1
    assert told["waiting"] == {
        "until": next(e["context"]["until"] for e in place.events() if e["event"] == "wait_started"),
        "reason": "agent_rate_limited",
    }
    assert place.santiago("stop").returncode == 0
    _, said = ran.communicate(timeout=60)
    assert ran.returncode == 130
    assert "rests    after waiting for " in said
    assert "goes on" not in said


def test_a_rate_limit_beyond_the_bound_rests_the_run_and_another_agent_goes_on(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path, "[limits]\nwait_max_minutes = 1\n")
    place.sign_in()
    place.install("claude", fakes.fails("You've hit your session limit, resets in 9 hours", 429))
    ran = place.run(code=20)
    assert "The agent's service refuses requests for longer than the run may wait" in ran.stderr
    assert "lasts     9h00m, until " in ran.stderr
    assert "the run may wait 1m (wait_max_minutes)\n" in ran.stderr
    assert "it said   You've hit your session limit, resets in 9 hours\n" in ran.stderr
    assert "stopped  agent_rate_limited  0 of 1 done   0/20 attempts" in ran.stderr
    assert "santiago resume --agent NAME   # go on with another agent" in ran.stderr
    place.install("codex", _codex())
    again = place.santiago("resume", "--agent", "codex", "--trust-commands", code=0)
    assert "agent codex, sandbox" in again.stderr
    assert "1,500 tokens   " in again.stderr
    attempts = place.json("show", "S1")["attempts"]
    assert [(one["agent"], one["tokens"], one["cost_usd"]) for one in attempts] == [
        ("claude", 0, 0),
        ("codex", 1500, None),
    ]


def _codex() -> list[fakes.Step]:
    command = {"id": "item_0", "type": "command_execution", "command": "echo hello", "status": "in_progress"}
    return [
        {"print": {"type": "thread.started", "thread_id": "th-1"}},
        {"print": {"type": "turn.started"}},
        {"print": {"type": "item.started", "item": command}, "write": {"hello.txt": "hello\n"}},
        {"print": {"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": "Done."}}},
        {"print": {"type": "turn.completed", "usage": {"input_tokens": 1300, "cached_input_tokens": 900, "output_tokens": 200}}},
    ]  # fmt: skip


def test_denied_tools_are_named_and_no_attempt_is_spent(place: fakes.Place) -> None:
    denials = [{"tool_name": "Write"}, {"tool_name": "Write"}, {"tool_name": "Bash"}]
    place.install("claude", [fakes.begins(), fakes.ends("I may not write.", permission_denials=denials)])
    ran = place.run(code=10)
    assert "why       agent_denied: The agent was not allowed to use its tools" in ran.stderr
    assert "it said   I may not write.\n" in ran.stderr
    assert "denied    Write, Bash\n" in ran.stderr
    assert "denied    Write, Bash\n" in place.look("show", "S1")
    assert place.result()["usage"]["attempts"] == 0


def test_an_unknown_model_blocks_and_another_one_can_be_given(place: fakes.Place) -> None:
    place.install("claude", fakes.fails("The model opus-99 does not exist", 404), fakes.GOOD)
    ran = place.run("--model", "opus-99", code=10)
    assert "why       agent_model_not_found: " in ran.stderr
    assert place.santiago("resume", "--model", "opus-4", "--trust-commands").returncode == 0
    models = [call["argv"][call["argv"].index("--model") + 1] for call in place.calls("claude")]
    assert models == ["opus-99", "opus-4"]


@pytest.mark.parametrize(
    ("limits", "used", "more"),
    [
        ("run_max_tokens = 1000", 1200, ["--add-tokens", "100000"]),
        ("run_max_cost_usd = 0.01", 1200, ["--add-cost", "5"]),
        ("run_max_tokens = 1000\nrun_max_cost_usd = 0.01", 1200, ["--add-tokens", "100000", "--add-cost", "5"]),
        ("run_max_tokens = 1000\nrun_max_cost_usd = 5.0", 1200, ["--add-tokens", "100000"]),
        ("run_max_tokens = 180000", 170_000, ["--add-tokens", "200000"]),
    ],
)
def test_the_next_command_grants_what_is_used_up(tmp_path: Path, limits: str, used: int, more: list[str]) -> None:
    place = fakes.Place(tmp_path, f"[limits]\n{limits}\n")
    place.sign_in()
    turn = [fakes.begins(), fakes.writes("hello.txt", "helo\n"), fakes.ends(tokens=used)]
    place.install("claude", turn, fakes.GOOD)
    ran = place.run(code=30)
    assert f"santiago resume {' '.join(more)}   # go on" in ran.stderr
    if len(more) == 4:
        assert place.santiago("resume", *more, "--trust-commands").returncode == 0


def test_a_limit_that_cannot_be_held_blocks_and_says_how_to_accept_it(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path, "[limits]\nrun_max_cost_usd = 1.0\n")
    place.sign_in()
    place.install(
        "claude", [fakes.begins(), fakes.writes("hello.txt", "helo\n"), fakes.ends(tokens=None, cost=None)], fakes.GOOD
    )
    ran = place.run(code=10)
    assert "why       usage_unknown: A limit on tokens or money is set" in ran.stderr
    again = place.santiago("resume", "--add-cost", "1", "--trust-commands", code=0)
    assert "1,200+ tokens   $0.03+ of $2.00 (1 attempt did not report)" in again.stderr


def test_a_limit_that_an_agent_never_reports_is_refused_before_the_first_attempt(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path, "[limits]\nrun_max_cost_usd = 1.0\n")
    place.install("mine")
    ran = place.run("--agent", "mine")
    assert (ran.returncode, place.calls("mine")) == (10, [])
    assert "error: there is a limit on cost, but mine does not report it" in ran.stderr
    assert 'unknown_usage = "allow"' in ran.stderr


def test_where_no_agent_can_work_the_way_to_one_is_named(place: fakes.Place) -> None:
    none = place.run()
    assert (none.returncode, "no agent is named, and none is installed" in none.stderr) == (10, True)
    place.env["ANTHROPIC_API_KEY"] = ""
    place.install("claude")
    signed_out = place.run(code=10)
    assert "fix: Run `claude auth login`, or name one with --agent." in signed_out.stderr
    missing = place.run("--agent", "codex")
    assert (missing.returncode, "Install it: `npm install -g @openai/codex`." in missing.stderr) == (20, True)
    for line, words in (
        ("robo 'x", "--agent is no command line: No closing quotation"),
        (" ", "--agent names nothing"),
    ):
        wrong = place.run("--agent", line)
        assert (wrong.returncode, words in wrong.stderr) == (2, True), wrong.stderr
    unknown = place.run("--agent", "claud", code=2)
    assert "no agent is called claud\n  fix: Did you mean claude? Known agents: claude, codex, " in unknown.stderr


def test_what_an_agent_says_at_its_end_gives_no_orders_to_the_log_of_a_ci_service(place: fakes.Place) -> None:
    place.env["GITHUB_ACTIONS"] = "true"
    place.install("claude", fakes.fails("\x1b[2J::error::owned ##[add-path]/x\n::warning::Please run /login", 401))
    ran = place.run(code=10)
    assert not [line for line in ran.stderr.splitlines() if line.startswith(("::error::owned", "::warning"))]
    assert "##[" not in ran.stderr
    assert "\x1b" not in ran.stderr
    assert greeter.out_dir(place.repo).is_dir()


def worker(place: Place) -> str:
    program = place.folder / "worker"
    program.write_text("#!/bin/sh\n[ $SANTIAGO_STORY = S1 ] && echo hello > hello.txt || echo bye > bye.txt\n")
    program.chmod(0o755)
    return str(program)


def events(place: Place, kind: str) -> list[dict[str, Any]]:
    lines = (greeter.out_dir(place.repo) / "progress.ndjson").read_text().splitlines()
    return [found for found in map(json.loads, lines) if found["event"] == kind]


@pytest.mark.parametrize(("says", "reason"), [(SIGNED_OUT, "agent_not_signed_in"), (LIMITED, "agent_rate_limited")])
def test_the_next_agent_takes_over_where_one_cannot_go_on(tmp_path: Path, says: dict[str, Any], reason: str) -> None:
    """The story is done by the other agent, no attempt was spent on the first, and line and log say what happened."""
    place = Place(tmp_path, prd=TWO)
    place.install("claude", [{"print": says}, {"exit": 1}])
    place.sign_in()
    ran = place.run("--agent", f"claude,{worker(place)}", code=0)
    assert f"claude cannot go on ({reason}" in ran.stderr
    assert "worker takes over" in ran.stderr
    # A rate limit only pauses the run.
    blocked = [line.split(" blocked  ")[1] for line in ran.stderr.splitlines() if " blocked " in line]
    assert blocked == ([f"S1 Say hello: {reason}. worker takes over."] if says is SIGNED_OUT else [])
    assert "santiago resume" not in ran.stderr
    assert [event["context"]["agent"] for event in events(place, "run_started")] == ["claude", "worker"]
    assert [reason in event["context"]["message"] for event in events(place, "note")] == [True]
    assert len(place.calls("claude")) == 1
    assert "success" in ran.stderr
    assert "2/20 attempts" in ran.stderr


def test_words_about_money_in_a_failing_program_are_no_empty_account(tmp_path: Path) -> None:
    place = Place(tmp_path, settings="[limits]\nstory_max_attempts = 1\n")
    place.install("bank", [{"print": "AssertionError: insufficient funds, payment required"}, {"exit": 1}])
    ran = place.run("--agent", f"{place.bin}/bank,{worker(place)}")
    assert (ran.returncode, "agent_exit_nonzero (exit 1)" in ran.stderr) == (30, True), ran.stderr


def test_an_agent_that_is_not_installed_is_passed_over(tmp_path: Path) -> None:
    place = Place(tmp_path)
    words = ("--agent", f"claude, codex, {worker(place)}")
    told = place.santiago("run", "prd.md", *words, "--dry-run")
    assert (told.returncode, "would run 1 story: agent worker" in told.stdout) == (0, True), told.stderr
    ran = place.run(*words, code=0)
    assert "Claude Code is not installed: there is no claude on PATH; worker works instead" in ran.stderr
    assert [event["context"]["agent"] for event in events(place, "run_started")] == ["worker"]


def test_where_no_agent_can_begin_the_first_is_the_one_that_is_told_of(tmp_path: Path) -> None:
    ran = Place(tmp_path).run("--agent", "claude,codex")
    assert (ran.returncode, "Claude Code is not installed" in ran.stderr) == (20, True), ran.stderr


def test_a_run_rests_where_the_last_of_its_agents_cannot_go_on(tmp_path: Path) -> None:
    """Nobody is asked twice in one start, and what a person granted is granted once."""
    place = Place(tmp_path)
    for name in ("claude", "second"):
        place.install(name, [{"print": SIGNED_OUT}, {"exit": 1}])
    place.sign_in()
    profile = place.home / ".config" / "santiago" / "agents"
    profile.mkdir(parents=True)
    rules = '[[on]]\nwhen = { type = "result", is_error = true }\nerror = ["result"]\nends = "error"\n'
    (profile / "second.toml").write_text(f'name = "second"\n[start]\nargv = ["second"]\n{rules}')
    ran = place.run("--agent", "claude,second")
    assert (ran.returncode, "blocked  agent_not_signed_in" in ran.stderr) == (10, True), ran.stderr
    place.santiago("resume", "--add-attempts", "2", code=10)
    assert [len(place.calls(name)) for name in ("claude", "second")] == [2, 2]
    raised = [event["context"]["limit"] for event in events(place, "budget_raised")]
    assert raised == ["run_max_attempts"]


def test_names_stand_with_commas_between_them_and_a_comma_within_a_command_line_stays_there() -> None:
    for text, first, rest in (
        ("claude,codex", "claude", ("codex",)), ("claude, codex ,gemini", "claude", ("codex", "gemini")),
        ("claude,sh -c true", "claude", ("sh -c true",)), ("claude", "claude", ()),
    ):  # fmt: skip
        found = named(Agent(fallback=("gemini",)), text, None, None)
        assert (found.profile, found.fallback) == (first, rest), text
    found = named(Agent(), "sh -c 'prog a,b'", None, None)
    assert (found.command, found.fallback) == (("sh", "-c", "prog a,b"), ())
