"""What checks are told of their run: the variables that agents have, and what these name, readable inside the sandbox."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from santiago.contract.outcomes import CheckVerdict
from santiago.verification.port import Checks
from tests.cli.santiago import santiago
from tests.verification.conftest import never

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.process.sandbox import Sandbox
    from santiago.verification.commands import CommandRunner

MINUTE = 60_000
READABLE = (
    'test -r "$SANTIAGO_PROMPT_FILE" && test -d "$SANTIAGO_PLAN_DIR" && grep -q stories "$SANTIAGO_PLAN_DIR/plan.json"'
)
ALL = '[ -n "$SANTIAGO_RUN" ] && [ "$SANTIAGO_STORY" = S1 ] && [ "$SANTIAGO_ATTEMPT" = 1 ] && ' + READABLE
NO_LOG = '! cat "$SANTIAGO_PLAN_DIR/../progress.ndjson" && ! echo x >>"$SANTIAGO_PROMPT_FILE" && ! echo x >"$SANTIAGO_PLAN_DIR/x"'


@pytest.fixture
def out_dir(checkout: Path, sandbox: Sandbox) -> Path:
    """An out-dir as a run has one, with a plan, a prompt and a log; in a place that is visible unless it is hidden."""
    if sandbox.kind != "bubblewrap":
        pytest.skip("bubblewrap does not work here")
    folder = checkout / ".santiago/runs/one"
    (folder / "tasks").mkdir(parents=True)
    (folder / "tasks/plan.json").write_text('{"stories": []}')
    (folder / "attempts/S1/1").mkdir(parents=True)
    (folder / "attempts/S1/1/prompt.md").write_text("Say hello.")
    (folder / "progress.ndjson").write_text("{}\n")
    return folder


@pytest.fixture
def in_run(runner: CommandRunner, out_dir: Path) -> Checks:
    given = {"SANTIAGO_RUN": "one", "SANTIAGO_PLAN_DIR": str(out_dir / "tasks")}
    return Checks(replace(runner, environment={**runner.environment, **given}, hidden=(str(out_dir),)))


def told(out_dir: Path) -> dict[str, str]:
    prompt = str(out_dir / "attempts/S1/1/prompt.md")
    return {"SANTIAGO_STORY": "S1", "SANTIAGO_ATTEMPT": "1", "SANTIAGO_PROMPT_FILE": prompt}


def test_checks_read_the_plan_and_the_prompt_and_nothing_else_of_the_out_dir(
    in_run: Checks, out_dir: Path, checkout: Path
) -> None:
    beside = f"! test -e {out_dir}/progress.ndjson && test $(ls -A {out_dir}/attempts/S1/1) = prompt.md"
    results = in_run.check(str(checkout), [ALL, NO_LOG, beside], MINUTE, never, told=told(out_dir))
    assert [result.verdict for result in results] == [CheckVerdict.PASS] * 3
    assert (out_dir / "attempts/S1/1/prompt.md").read_text() == "Say hello."


def test_a_check_without_a_prompt_or_whose_prompt_is_gone_still_has_the_plan(
    in_run: Checks, out_dir: Path, checkout: Path
) -> None:
    plan = 'grep -q stories "$SANTIAGO_PLAN_DIR/plan.json"'
    gone = {**told(out_dir), "SANTIAGO_PROMPT_FILE": str(out_dir / "attempts/S2/1/prompt.md")}
    (without,) = in_run.check(str(checkout), [f'[ -z "$SANTIAGO_PROMPT_FILE" ] && {plan}'], MINUTE, never)
    (missing,) = in_run.check(str(checkout), [f'! test -e "$SANTIAGO_PROMPT_FILE" && {plan}'], MINUTE, never, told=gone)
    assert (without.verdict, missing.verdict) == (CheckVerdict.PASS, CheckVerdict.PASS)


def test_a_check_that_is_not_to_know_finds_neither_variables_nor_what_they_name(
    in_run: Checks, out_dir: Path, checkout: Path
) -> None:
    """Proof, not promise: work that asks whether it is being judged finds the same as on any other machine."""
    commands = ["! env | grep SANTIAGO_", f"! test -e {out_dir}/tasks", f"! test -e {out_dir}/attempts"]
    results = in_run.check(str(checkout), commands, MINUTE, never, unmarked=True, told=told(out_dir))
    assert [result.verdict for result in results] == [CheckVerdict.PASS] * 3


def test_set_up_commands_have_the_plan_too(in_run: Checks, checkout: Path, out_dir: Path) -> None:
    assert (out_dir / "tasks/plan.json").exists()
    assert in_run.set_up(str(checkout), ['grep -q stories "$SANTIAGO_PLAN_DIR/plan.json"'], MINUTE, never) == ""


def test_in_a_real_run_checks_have_the_variables_of_the_contract(tmp_path: Path, sandbox: Sandbox) -> None:
    if sandbox.kind != "bubblewrap":
        pytest.skip("bubblewrap does not work here")
    # The run's own checks belong to no story, so they are told of none.
    assert succeeds(tmp_path, f"{ALL} && {NO_LOG} && grep hello hello.txt", of_the_run="grep hello hello.txt")


def test_in_a_real_run_checks_can_ask_git_about_the_checkout(tmp_path: Path, sandbox: Sandbox) -> None:
    """The repository lies in a hidden folder, and a checkout borrows its objects."""
    if sandbox.kind != "bubblewrap":
        pytest.skip("bubblewrap does not work here")
    asks = "git cat-file -p HEAD:hello.txt | grep hello && git log --format=%s && git status --porcelain"
    assert succeeds(tmp_path, asks, of_the_run=f"{asks} && ! git -C {tmp_path}/repo log")


def succeeds(tmp_path: Path, check: str, *, of_the_run: str) -> bool:
    """Say whether a run in the sandbox, of one story whose agent says hello, ends well with these checks."""
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "check.sh").write_text(f"{check}\n")
    (repo / "prd.md").write_text(
        "# PRD: Greeter\n\n### R1: Say hello\n\n- [ ] hello.txt says hello\n\n**Verification:** `sh check.sh`\n"
    )
    (repo / "playbook.yaml").write_text('stories:\n  R1:\n    - write: {hello.txt: "hello\\n"}\n')
    (repo / "santiago.toml").write_text(
        '[agent]\nmode = "scripted"\nplaybook = "playbook.yaml"\n[policy]\nsandbox = "required"\n'
        f"[verification]\nrun_commands = [{json.dumps(of_the_run)}]\n"
    )
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        subprocess.run(["git", *identity, *words], cwd=repo, check=True)
    ran = santiago(
        "run", "prd.md", "--trust-commands", cwd=repo, env={"XDG_CACHE_HOME": str(tmp_path / "cache"), "CI": ""}
    )
    assert ran.returncode == 0, ran.stderr
    out = next((repo / ".santiago/runs").iterdir())
    return bool(json.loads((out / "result.json").read_text())["status"] == "success")
