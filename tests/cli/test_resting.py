"""A run that rests says why, who asked for it, where to look and how to go on (promise 8); tests/transcripts/run.txt has its words."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from shlex import quote

import pytest

from santiago.app.loading import Run, empty_fold, load
from santiago.app.start.request import scope_of
from santiago.artifacts.reader import read_log
from santiago.cli.view.table import Table
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.executor.reopen import Grants, reopening
from santiago.report.failure import Report
from santiago.report.pauses import because, stopping
from santiago.report.remedies import granting, resume
from tests.cli import greeter, words
from tests.cli.greeter import committed, out_dir, place
from tests.cli.inside import inside
from tests.cli.santiago import santiago
from tests.cli.words import UNFENCED, WRITES, run
from tests.transcripts import recording
from tests.transcripts.playing import typed


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return words.make(tmp_path)


def recorded(world: str, folder: Path, *, until: EventKind = EventKind.RUN_PAUSED) -> Run:
    """Return a recorded run as it was when it first came to an event, at rest."""
    found = load(out_dir(recording.load(world, folder)))
    fold = empty_fold(found.plan, found.run_input)
    for event in takewhile(lambda event: event.event is not until, read_log(found.out_dir / "progress.ndjson")):
        fold.apply(event)
    fold.state.phase = RunPhase.PAUSED
    return replace(found, state=fold.state)


def why(found: Run, chunks: str | None = None, *only: str) -> str:
    return because(found.state, scope_of(found.plan, chunks, only), found.history)


def test_a_start_that_was_to_do_less_says_why_it_rests(tmp_path: Path) -> None:
    begun = recorded("paused", tmp_path / "a", until=EventKind.ATTEMPT_STARTED)
    assert why(begun, None, "S2") == "S2 waits for S1"
    assert why(begun, None, "S3") == "S3 waits for its chunk, and Phase 1: Apart comes before it"
    half = recorded("finished", tmp_path / "b", until=EventKind.CHUNK_ENDED)
    assert why(half) == "--gate chunk pauses after each chunk; Phase 2: Together is next"
    assert why(half, "1") == "the chunks that --chunks names are finished; Phase 2: Together is next"
    half.state.pauses = True
    assert why(half) == "it was asked to pause after each chunk; Phase 2: Together is next"
    assert why(half, None, "R1") == "the stories that --only names are finished"
    waits = recorded("external", tmp_path / "c", until=EventKind.STORY_BLOCKED)
    waits.state.stories["S2"].phase = StoryPhase.VERIFIED
    assert why(waits, None, "S2") == "S2 passed its checks and waits for S1 to go first"


def test_a_gate_pauses_after_each_chunk_and_the_next_one_whose_turn_it_is_runs_alone(repo: Path) -> None:
    ran = run(repo, WRITES, "--gate", "chunk")
    assert (ran.returncode, load(out_dir(repo)).state.phase) == (0, "paused")
    assert "\nbecause: --gate chunk pauses after each chunk; Phase 2: Together is next\n" in ran.stderr
    assert ran.stderr.endswith("\nnext: santiago resume --gate chunk   # go on\n")
    resumed = santiago("resume", "--chunks", "2", cwd=repo, env=place(repo))
    assert (resumed.returncode, load(out_dir(repo)).state.phase) == (0, "success")


def test_going_on_is_suggested_with_what_resume_would_lack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """StartOptions of this start, another agent, as many jobs, and the scope within which it failed."""
    found = load(out_dir(recording.load("exit-code", tmp_path)))
    monkeypatch.chdir(tmp_path / "repo")
    was = found.run_input

    def suggested(*, chunks: str | None = None, only: tuple[str, ...] = (), **policy: object) -> str:
        now = replace(was, policy=replace(was.policy, **policy))  # type: ignore[arg-type]
        scope = scope_of(found.plan, chunks, only)
        return resume(replace(report, run_input=now, frozen=was, scope=scope))

    report = Report(plan=found.plan, run_input=was, state=found.state, out_dir=found.out_dir, history=found.history)
    assert suggested() == "santiago resume"
    told = "--gate chunk --keep-going --assume-external --sandbox require --changed-tests accept --doubts accept --tests-first x"
    now = suggested(
        gate="chunk", keep_going=True, assume_external=True, sandbox="require", changed_tests="accept", doubts="accept",
        tests_first="x",
    )  # fmt: skip
    assert now == f"santiago resume {told}"
    assert suggested(chunks="1") == "santiago resume --chunks 1"
    assert suggested(chunks="1..2") == "santiago resume --chunks 1..2"
    assert suggested(only=("S1",)) == "santiago resume --only S1"
    other = replace(was, agent=replace(was.agent, command=("sh", "other.sh"), model_hint="m"))
    assert resume(replace(report, run_input=other, frozen=was)) == "santiago resume --agent 'sh other.sh' --model m"
    assert resume(replace(report, run_input=other, frozen=was), "--agent NAME") == "santiago resume --agent NAME"
    found.history.start["jobs"] = 2
    assert suggested() == "santiago resume --jobs 2"


def test_a_stop_says_who_asked_and_what_another_costs_and_what_is_kept(tmp_path: Path) -> None:
    found = load(out_dir(recording.load("stopped", tmp_path)))
    (row,) = Table(found.plan, found.run_input, found.out_dir, "sh", lambda: 0).rows(found.state, 100)
    assert row.split()[:2] == ["-", "S1"]
    assert row.endswith("stopped  work kept, judged on resume")
    asked = next(one for one in read_log(found.out_dir / "progress.ndjson") if one.event is EventKind.STOP_REQUESTED)
    now = replace(asked, context={**asked.context, "mode": "stop-now"})
    assert stopping(now) == "now, as ann asked, which costs an attempt; its work is kept"
    left = replace(asked, context={**asked.context, "mode": "stop-detach"})
    assert stopping(left) == "after the current step here, as ann asked; what workers have goes on"
    alone = replace(asked, actor="santiago", context={"reason": "no_workers"})
    assert stopping(alone) == "now, since no worker took what was ordered"
    key = replace(asked, actor="santiago", context={"message": "SIGINT"})
    assert stopping(key, " (S1)").startswith("after the current step (S1); ctrl-c again stops now, which costs")


def test_what_came_while_a_run_rested_is_said_when_it_goes_on_and_hints_reach_who_can_use_them(repo: Path) -> None:
    """A story is chosen and hinted at by either of its ids, and a hint that nobody would hear is refused."""
    assert "because: the stories that --only names are finished\n" in run(repo, WRITES, "--only", "R1").stderr
    folder, env = out_dir(repo), {**place(repo), "USER": "user"}
    late = inside("resume", "--hint", "R1", "in blue", cwd=repo, env=env)
    assert (late.returncode, "S1 is done, so no attempt will follow that could use the hint" in late.stderr) == (
        30,
        True,
    )
    assert inside("change", "S2", "--text", "in red", cwd=repo, env=env).returncode == 0
    (folder / "inbox/stop.json").write_text("{}")
    with (folder / "progress.ndjson").open("ab") as log:
        log.write(b'{"seq": 99')
    went_on = santiago("resume", "--hint", "R2", "in blue", cwd=repo, env=env, code=0)
    said = went_on.stderr
    assert "the last line of progress.ndjson was incomplete; it was moved to progress.torn.* beside the log\n" in said
    assert " change   S2: in red\n" in said
    assert ' note     request put aside: inbox/stop.json: its "kind" is missing\n' in said
    prompt = (folder / "attempts/S2/1/prompt.md").read_text()
    assert ("in blue" in prompt, "in red" in prompt) == (True, True)
    repaired = " repaired the last line of the log was incomplete; its 10 bytes were moved to progress.torn."
    assert repaired in inside("log", cwd=repo, env=env).stdout


def test_line_66_chunks_are_named_as_in_the_browser_and_leaving_out_one_before_them_is_refused(repo: Path) -> None:
    start = ("run", "prd.md", "--agent", "sh -c true", "--verify", "true", "--dry-run", "--json", "--new", "--chunks")
    for text in ("2-1", "1..2", '"Phase 1: Apart",#2'):
        told = inside(*start, text, cwd=repo, env=place(repo), code=0)
        assert [story["id"] for story in json.loads(told.stdout)["stories"]] == ["S1", "S2", "S3"], text
    for dry in ([], ["--dry-run"]):
        words_of_it = ("run", "prd.md", "--agent", "sh -c true", "--verify", "true", "--chunks", "2", *dry)
        refused = inside(*words_of_it, cwd=repo, env=place(repo), code=2)
        assert "Phase 2: Together cannot begin: S1, S2 of Phase 1: Apart must be done first" in refused.stderr
        assert "`--chunks 1..2`" in refused.stderr
    assert not list(repo.glob(".santiago/runs/*/progress.ndjson"))


def test_what_chunks_advises_can_begin(tmp_path: Path) -> None:
    """Line 66: nothing is left out before it, and a chunk that rests is not said to begin by itself."""
    phases = "".join(f"## Phase {n}: P{n}\n### R{n}: Do {n}\n- [ ] it does {n}\n" for n in (1, 2, 3))
    repo = committed(tmp_path / "repo", {"prd.md": f"# PRD\n{phases}", "santiago.toml": UNFENCED})
    start = ("--agent", "sh -c true", "--verify", "test -e done", "--chunks")
    assert "`--chunks 1..3`" in inside("run", "prd.md", *start, "1,3", cwd=repo, env=place(repo), code=2).stderr
    santiago("run", "prd.md", *start, "1", cwd=repo, env=place(repo), code=30)
    refused = inside("resume", "--chunks", "2", cwd=repo, env=place(repo), code=2)
    assert "santiago explain S1" in refused.stderr
    assert "--chunks 1" not in refused.stderr


def test_where_the_run_s_attempts_are_used_up_the_suggestion_can_be_pasted_and_is_enough(tmp_path: Path) -> None:
    repo = words.make(tmp_path)
    said = run(repo, WRITES, limits="run_max_attempts = 1").stderr
    refused = santiago("resume", cwd=repo, env=place(repo))
    assert (refused.returncode, "limits.run_max_attempts" in refused.stderr) == (30, True), refused.stderr
    (line,) = [line for line in said.splitlines() if " santiago resume --add-attempts 2   # " in line]
    assert "`santiago resume --add-attempts 2" in refused.stderr
    (bin_folder := tmp_path / "bin").mkdir()
    (program := bin_folder / "santiago").write_text(f'#!/bin/sh\nexec {quote(sys.executable)} -m santiago "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, **place(repo), "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    pasted = ["sh", "-c", line.removeprefix("next: ")]  # the whole line, with what it says behind the command
    assert subprocess.run(pasted, cwd=repo, env=env, capture_output=True, check=False).returncode == 0
    assert load(out_dir(repo)).state.phase == "success"


@pytest.mark.parametrize(
    ("world", "gone", "more"),
    [
        ("spent", "the run reached its limits.run_max_attempts", "--add-attempts 2"),
        ("late-and-spent", "S1 used all of its 1 attempt and 0.005 minutes", "--add-attempts 2 --add-minutes 30"),
    ],
)
def test_a_refusal_to_go_on_names_the_limit_and_grants_what_is_lacking_to_the_run_that_is_meant(
    world: str, gone: str, more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = recording.load(world, tmp_path)
    monkeypatch.chdir(repo)
    found = load(older := out_dir(repo))
    for folder in ("", f" .santiago/runs/{older.name}"):
        with pytest.raises(SantiagoError, match="going on as it is would only repeat that") as refused, granting(older):
            reopening(found.state, found.run_input.limits, Grants(), None)
        assert f"({gone})" in refused.value.message
        assert refused.value.hint == (
            f"`santiago resume{folder} {more}` grants more; `santiago skip{folder} STORY --why …` leaves a story out."
        )
        if not folder:
            _begin_a_newer_one(older)
    assert f"next: santiago show .santiago/runs/{older.name} S1 --attempt 1" in "\n".join(
        typed(f"santiago show {older.name} S1", repo)
    )


def _begin_a_newer_one(older: Path) -> None:
    """From now on the run that was there is no longer what a command means that names none."""
    newer = shutil.copytree(older, older.with_name("r_29990101_000000"))
    note = {"run_id": newer.name, "out_dir": str(newer), "created": "2999-01-01T00:00:00.000Z"}
    (older.parents[2] / ".git" / "santiago" / "runs" / f"{newer.name}.json").write_text(json.dumps(note))


def test_explain_names_the_story_that_stopped_the_run_and_not_the_one_before(tmp_path: Path) -> None:
    """Issue 25, part 7. A story without files waits for all before it; those that were never tried are not to blame."""
    stories = "".join(
        f"### R{n}: Story {n}\n\n- [ ] it\n\n**Verification:** `grep {n} {n}.txt`\n\n" for n in (1, 2, 3, 4)
    )
    play = "stories:\n  R1: [{write: {1.txt: '1'}}]\n  R2: [{write: {2.txt: x}}]\n"
    repo = greeter.committed(tmp_path / "repo", {"prd.md": f"# PRD: Four\n\n{stories}", "play.yaml": play})
    words = ("--agent", "scripted", "--playbook", "play.yaml", "--max-attempts", "1", "--trust-commands")
    greeter.says(repo, "run", "prd.md", *words, code=30)
    for name in ("S3", "S4"):
        first, *rest = json.loads(greeter.looks(repo, "explain", name, "--json").stdout)["lines"]
        assert "S2" in first
        assert "attempt_budget_exhausted" in first, first
        assert not any("S1" in line or "free place" in line for line in rest)
