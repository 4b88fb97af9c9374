"""The end of a run says what it was that ended it, with what it comes from, and suggests what helps (promise 8)."""

from __future__ import annotations

import os
import subprocess
import sys
from shlex import quote
from typing import TYPE_CHECKING

import pytest

from tests.cli import fakes, words
from tests.cli.greeter import out_dir, place
from tests.cli.santiago import santiago
from tests.cli.words import WRITES, look, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return words.make(tmp_path)


def test_an_agent_s_exit_code_is_told_wherever_its_failure_is(repo: Path) -> None:
    said = run(repo, "echo boom; exit 3\n").stderr
    assert "retry    S1 attempt 1: agent_exit_nonzero (exit 3): boom\n" in said
    assert "why        agent_exit_nonzero (exit 3), 4 of 4 attempts used\n" in said
    assert "same failure in all 4 attempts\n" in said
    assert "# agent_exit_nonzero" not in said
    critique = (out_dir(repo) / "attempts/S1/4/critique.md").read_text()
    assert "Its exit code was 3." in critique
    assert "ended      agent_exit_nonzero (exit 3): " in look(repo, "show", "S1")


def test_two_attempts_that_failed_alike_after_another_failure_are_told_by_number(repo: Path) -> None:
    agent = 'test "$SANTIAGO_ATTEMPT" = 1 || { echo boom; exit 3; }\n'
    said = run(repo, agent, limits="story_max_attempts = 3").stderr
    assert "retry    S1 attempt 1: agent_no_change\n" in said
    assert "same failure in attempts 2 and 3\n" in said


def test_a_check_without_output_says_so(repo: Path) -> None:
    said = run(repo, "echo x > other.txt\n", limits="story_max_attempts = 1").stderr
    assert "│ (no output)\n" in said
    assert "(no output)" in (out_dir(repo) / "attempts/S1/1/critique.md").read_text()


def test_where_the_run_s_attempts_are_used_up_they_are_counted_and_enough_are_suggested(repo: Path) -> None:
    said = run(repo, WRITES, limits="run_max_attempts = 1").stderr
    assert "the run used 1 of 1 attempt; 2 stories are left\n" in said
    assert "0 of 4 attempts" not in said
    (typed,) = [line for line in said.splitlines() if " santiago resume --add-attempts 2   # " in line]
    assert paste(repo, typed.removeprefix("next: ")) == 0


def paste(repo: Path, line: str) -> int:
    """Give a whole line, with what it says behind the command, to a shell as a person would; return how it ended."""
    (bin_folder := repo.parent / "bin").mkdir()
    (program := bin_folder / "santiago").write_text(f'#!/bin/sh\nexec {quote(sys.executable)} -m santiago "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, **place(repo), "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", line], cwd=repo, env=env, capture_output=True, check=False).returncode


def test_where_a_story_s_minutes_are_used_up_more_minutes_are_suggested(repo: Path) -> None:
    said = run(repo, "sleep 30\n", limits="story_timeout_minutes = 0.01\nattempt_timeout_minutes = 0.005").stderr
    assert ", and all of its minutes\n" in said
    assert "santiago resume --add-minutes 30   # retry S1" in said


def test_an_agent_that_the_run_s_minutes_cut_is_not_said_to_have_had_those_of_an_attempt(repo: Path) -> None:
    said = run(repo, "sleep 30\n", limits="run_timeout_minutes = 0.01").stderr
    assert "used up its minutes: those of one attempt, or what the story or the run had left.\n" in said
    assert "failed  run_timeout  " in said


def test_a_check_that_cannot_start_is_not_called_a_retry_and_sends_nobody_to_a_frozen_file(repo: Path) -> None:
    said = run(repo, WRITES, check="no-such-program --x").stderr
    assert "retry" not in said
    assert "the check `no-such-program --x` cannot run here: the program `no-such-program` is missing" in said
    assert "0/20 attempts" in said
    assert "correct the command" not in said
    assert 'santiago run prd.md --new --verify "COMMAND"   # or start anew with another check\n' in said


def test_the_answer_to_a_question_is_the_first_command(repo: Path) -> None:
    said = run(repo, "echo 'SANTIAGO_QUESTION: Red or blue?'\n").stderr
    following = said.partition("next: ")[2].splitlines()
    assert following[0].startswith('santiago answer S1-1 "YOUR ANSWER"   # ')
    assert following[1].split()[:3] == ["santiago", "show", "S1"]
    assert said.count("Red or blue?") == 2  # as it was asked, and in the report


def test_what_no_other_agent_can_mend_suggests_no_other_agent(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path, "[limits]\nrun_max_cost_usd = 1.0\n")
    place.sign_in()
    place.install("claude", [fakes.begins(), fakes.writes("hello.txt", "helo\n"), fakes.ends(tokens=None, cost=None)])
    said = place.run().stderr
    assert "santiago resume --add-cost 5   # accept what is unknown so far, and go on\n" in said
    assert "--agent NAME" not in said


BOTH = "story_max_attempts = 1\nstory_timeout_minutes = 0.005\nattempt_timeout_minutes = 0.005"
"""Limits that a hanging agent reaches together."""


def test_where_attempts_and_minutes_are_both_used_up_both_are_suggested_and_that_goes_on(repo: Path) -> None:
    said = run(repo, "exec sleep 30\n", limits=BOTH).stderr
    (typed,) = [line for line in said.splitlines() if " --add-" in line]
    assert "santiago resume --add-attempts 2 --add-minutes 30" in typed
    refused = santiago("resume", cwd=repo, env=place(repo)).stderr
    assert "(S1 used all of its 1 attempt and 0.005 minutes)" in refused
    assert "`santiago resume --add-attempts 2 --add-minutes 30" in refused
    run(repo, WRITES, "--new")
    older = min((repo / ".santiago/runs").iterdir()).name
    refused = santiago("resume", older, cwd=repo, env=place(repo)).stderr
    assert f"`santiago resume .santiago/runs/{older} --add-attempts 2 --add-minutes 30" in refused
    assert f"`santiago skip .santiago/runs/{older} STORY --why" in refused
    assert f"next: santiago show .santiago/runs/{older} S1 --attempt 1" in look(repo, "show", older, "S1")
    assert paste(repo, f"santiago resume .santiago/runs/{older} --add-attempts 2 --add-minutes 30 --sandbox off") == 0


def test_what_was_granted_is_said_in_the_units_in_which_it_was_given(repo: Path) -> None:
    run(repo, "exit 3\n", limits="story_max_attempts = 1")
    more = ("--add-attempts", "1", "--add-minutes", "30", "--add-cost", "5", "--add-tokens", "100000")
    said = santiago("resume", *more, "--sandbox", "off", cwd=repo, env=place(repo)).stderr
    for told in (
        *("story_max_attempts of S1 by 1\n", "story_timeout_minutes of S1 by 30 minutes\n", "run_max_attempts by 1\n"),
        *("run_timeout_minutes by 30 minutes\n", "run_max_cost_usd by $5.00\n", "run_max_tokens by 100,000\n"),
    ):
        assert f" raised   {told}" in said


def test_a_refusal_to_go_on_names_the_limit_of_the_run(repo: Path) -> None:
    run(repo, WRITES, limits="run_max_attempts = 1")
    refused = santiago("resume", cwd=repo, env=place(repo)).stderr
    assert "(the run reached its limits.run_max_attempts)" in refused
    assert "`santiago resume --add-attempts 2" in refused
    assert "used 0 attempts" not in refused
