"""Several agents: where one is absent, refused, or limited for longer than anybody waits, the next takes over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from santiago.app.start.lineup import named
from santiago.contract.policy import Agent
from tests.cli import greeter
from tests.cli.fakes import PRD, Place

SIGNED_OUT = {"type": "result", "is_error": True, "result": "Invalid API key · Please run /login"}
LIMITED = {"type": "result", "is_error": True, "result": "API Error: rate limited, try again in 3 days"}
TWO = PRD + "\n### R2: Say bye\n\n**Files:** `bye.txt`\n\n- [ ] it says bye\n\n**Verification:** `grep bye bye.txt`\n"


def worker(place: Place) -> str:
    """Any program that does all of the work."""
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
    ran = place.run("--agent", f"claude,{worker(place)}")
    assert ran.returncode == 0, ran.stderr
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


@pytest.mark.parametrize(
    "words",
    [
        "Your credit balance is too low to access the Anthropic API.",
        "You exceeded your current quota, please check your plan and billing details.",
    ],
)
def test_the_next_agent_takes_over_from_any_program_whose_account_is_empty(tmp_path: Path, words: str) -> None:
    """An agent that santiago knows nothing of: its exit code and its last words are enough."""
    place = Place(tmp_path)
    place.install("broke", [{"print": words}, {"exit": 1}])
    ran = place.run("--agent", f"{place.bin}/broke,{worker(place)}")
    assert ran.returncode == 0, ran.stderr
    assert f"not counted: agent_not_signed_in: {words}" in ran.stderr
    assert len(place.calls("broke")) == 1


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
    ran = place.run(*words)
    assert ran.returncode == 0, ran.stderr
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
    again = place.santiago("resume", "--add-attempts", "2")
    assert again.returncode == 10, again.stderr
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
