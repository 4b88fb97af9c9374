"""Limits on the command line: a new run takes them, and a run that has begun keeps its own and says what adds to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.inside import inside
from tests.cli.santiago import santiago

LIMITS = ("--max-attempts", "1", "--max-cost", "2.5", "--max-tokens", "900000", "--timeout", "45")


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose run was given one attempt for each story, and has used it up."""
    repo = greeter.make(tmp_path_factory.mktemp("limits") / "repo", greeter.BAD)
    ran = santiago("run", "prd.md", *LIMITS, "--trust-commands", cwd=repo, env=greeter.place(repo))
    assert (ran.returncode, "1 attempt" in ran.stderr) == (30, True), ran.stderr
    return repo


def test_a_run_keeps_the_limits_that_its_command_line_named(spent: Path) -> None:
    limits = json.loads((greeter.out_dir(spent) / "run-input.json").read_text())["limits"]
    names = ("story_max_attempts", "run_max_cost_usd", "run_max_tokens", "run_timeout_minutes")
    assert [limits[name] for name in names] == [1, 2.5, 900000, 45]


def test_resume_names_what_adds_to_a_limit_that_is_frozen_and_lowers_none(spent: Path) -> None:
    for words, grant in (
        (("--max-attempts", "3"), "--add-attempts 2"), (("--max-cost", "4"), "--add-cost 1.5"),
        (("--max-tokens", "1000000"), "--add-tokens 100000"), (("--timeout", "60"), "--add-minutes 15"),
    ):  # fmt: skip
        told = greeter.looks(spent, "resume", *words)
        assert (told.returncode, f"santiago resume {grant}`" in told.stderr) == (2, True), told.stderr
    told = greeter.looks(spent, "resume", "--timeout", "5")
    assert (told.returncode, "--add-" in told.stderr) == (2, False), told.stderr
    assert "--timeout 5 differs from what the run began with, which is 45" in told.stderr
    told = greeter.looks(spent, "resume", "--max-cost", "nan")
    assert (told.returncode, "--max-cost nan is not a valid limit" in told.stderr) == (2, True), told.stderr
    # The limit that a run began with may be said again: it is then refused for its own reason alone.
    told = greeter.looks(spent, "resume", *LIMITS)
    assert (told.returncode, "differs" in told.stderr) == (30, False), told.stderr


def test_run_reads_a_document_as_plan_would_be_told_to(tmp_path: Path) -> None:
    """`--strict` refuses what is only doubtful, and `--units` and `--allow-fallback` choose what is planned."""
    doubtful = "# PRD\n\n### R1: One\n\nDepends on: R9\n\n- [ ] a\n"
    files = {
        "prd.md": doubtful,
        "plain.md": "# Idea\n\n## Core Features\n\n- Say hello to people\n- Say goodbye to people\n",
    }
    repo = greeter.committed(tmp_path / "repo", files)
    words = ("--agent", "sh -c true", "--dry-run", "--sandbox", "off", "--assume-external", "--verify", "test -s a")
    env = greeter.place(repo)
    assert inside("run", "prd.md", *words, cwd=repo, env=env).returncode == 0
    strict = inside("run", "prd.md", "--strict", *words, cwd=repo, env=env)
    assert (strict.returncode, "R9" in strict.stderr) == (30, True), strict.stderr
    assert inside("run", "plain.md", *words, cwd=repo, env=env).returncode == 30
    taken = inside("run", "plain.md", "--allow-fallback", *words, cwd=repo, env=env)
    assert (taken.returncode, "2 stories" in taken.stdout) == (0, True), taken.stderr
