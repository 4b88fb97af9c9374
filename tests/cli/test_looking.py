"""`status`, `log`, `show`, `clean`, `doctor` on real runs: what they say is what the log says; transcripts hold the words."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from santiago.artifacts.files import LARGEST
from santiago.artifacts.frame import GENESIS, encode
from santiago.artifacts.lock import Lock
from santiago.artifacts.reader import Tail, read_log
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Context, EventKind
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import ExitCode
from santiago.report.evidence import AttemptEvidence, stats_of
from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.inside import Told, inside
from tests.cli.santiago import santiago, trusted

STOPS = [
    ('[verification]\nstory_commands = ["no-such-runner -q"]\n', "verification", "is not on PATH"),
    ('[agent]\ncommand = ["no-such-agent"]\n', "agent", "is not on PATH"),
    ('[agent]\nmode = "scripted"\nplaybook = "none.yaml"\n', "agent", "there is no playbook"),
    ("[limits]\nstory_max_atempts = 3\n", "config", "unknown setting"),
]
UNKNOWN: Context = {"reason": "agent_on_strike"}


def look(done: Done, *arguments: str) -> Told:
    return greeter.looks(done.repo, *arguments)


def _json(done: Done, *arguments: str) -> Any:
    return json.loads(look(done, *arguments, "--json").stdout)


def test_status_does_not_ask_again_for_work_that_was_taken_over(success: Done, tmp_path: Path) -> None:
    repo = shutil.copytree(success.repo, tmp_path / "repo")
    greeter.git(repo, "merge", "-q", f"santiago/{success.out_dir.name}")
    shown = inside("status", cwd=repo, env=greeter.place(repo)).stdout
    assert ("its work is merged" in shown, "git merge" in shown) == (True, False), shown


def test_what_is_told_as_json_of_a_run_is_what_its_result_and_its_log_say(success: Done) -> None:
    told, result = _json(success, "status"), json.loads((success.out_dir / "result.json").read_text())
    assert told["state"] == result["status"]
    assert told["usage"]["attempts"] == result["usage"]["attempts"] == 4
    assert [(s["id"], s["status"], s["attempts"], s["commit"]) for s in told["stories"]] == [
        (s["id"], s["status"], s["attempts"], s["commit"]) for s in result["stories"]
    ]
    assert _json(success, "status", success.out_dir.name)["out_dir"] == str(success.out_dir)
    lines = [json.loads(line) for line in look(success, "log", "--json").stdout.splitlines()]
    assert lines[0] == {"type": "stream", "schema_version": "1.0"}
    recorded = [json.loads(line) for line in (success.out_dir / "progress.ndjson").read_text().splitlines()]
    kept = [{k: v for k, v in line.items() if k not in ("prev", "h")} for line in recorded]
    assert [{k: v for k, v in line.items() if k != "type"} for line in lines[1:]] == kept
    told = _json(success, "show", "R1")
    assert (told["id"], told["shown"]["number"], told["attempts"][1]["proof"]) == ("S1", 2, "proved")
    told = _json(success, "doctor")
    assert told["ok"] is True
    levels = {check["check"]: check["level"] for check in told["checks"]}
    assert (levels["python"], levels["git"], levels["agent"], levels["config"]) == ("ok", "ok", "ok", "ok")


def test_a_run_that_nobody_works_on_any_more_is_interrupted_and_a_newer_log_refused_by_whoever_reads_it(
    success: Done, tmp_path: Path
) -> None:
    copy = shutil.copytree(success.out_dir, tmp_path / "copy")
    lines = (copy / "progress.ndjson").read_bytes().splitlines(keepends=True)
    (copy / "progress.ndjson").write_bytes(b"".join(lines[:9]) + lines[9][:20])
    (copy / "result.json").unlink()
    told = _json(success, "status", str(copy))
    assert (told["state"], told["resumable"], told["seq"]) == ("interrupted", True, 9)
    copy = shutil.copytree(success.out_dir, tmp_path / "newer")
    log = copy / "progress.ndjson"
    log.write_bytes(log.read_bytes().replace(b'"log":1', b'"log":2', 1))
    said = {look(success, *words, str(copy)).stderr for words in (("status",), ("log",), ("log", "--follow"))}
    assert len(said) == 1
    assert "its format is version 2" in said.pop()


def test_following_a_run_shows_every_event_once_and_ends_with_it(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    inside("plan", "prd.md", cwd=repo, env=greeter.place(repo), code=0)
    folder = greeter.out_dir(repo)
    follower = _start(repo, "log", str(folder), "--follow", "--json")  # before there is anything to follow
    began = ("--input", folder / "run-input.json", "--plan", folder / "plan.json", "--out-dir", folder)
    santiago("execute", *began, "--trust-commands", cwd=repo, env=greeter.place(repo), code=0)
    told, _ = follower.communicate(timeout=60)
    numbers = [json.loads(line).get("seq") for line in told.splitlines()[1:]]
    assert numbers == [event.seq for event in read_log(folder / "progress.ndjson")]
    assert follower.returncode == 0


def _start(repo: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "santiago", *trusted(*arguments)], cwd=repo, env=greeter.place(repo), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def test_a_log_that_is_replaced_while_it_is_followed_is_refused(success: Done, tmp_path: Path) -> None:
    path = tmp_path / "progress.ndjson"
    shutil.copy(success.out_dir / "progress.ndjson", path)
    tail = Tail(path)
    list(tail.read())
    other = tmp_path / "other"
    shutil.copy(path, other)
    other.replace(path)
    with pytest.raises(SantiagoError, match="replaced or cut"):
        list(tail.read())


def test_a_pipe_in_the_lock_s_place_keeps_nobody_from_looking(success: Done, tmp_path: Path) -> None:
    copy = shutil.copytree(success.out_dir, tmp_path / "copy")
    (copy / "lock").unlink()
    os.mkfifo(copy / "lock")
    assert _json(success, "status", str(copy))["state"] == "success"
    followed = look(success, "log", "--follow", str(copy))
    assert (followed.returncode, "S3" in followed.stdout) == (0, True)


def test_json_holds_every_letter_where_standard_output_cannot(success: Done, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(success.out_dir, copy)
    plan = (copy / "plan.json").read_text()
    (copy / "plan.json").write_text(plan.replace("Say hello", "挨拶"))
    env = {**greeter.place(success.repo), "PYTHONIOENCODING": "latin-1"}
    status = santiago("status", copy, "--json", cwd=success.repo, env=env)
    show = santiago("show", copy, "S1", "--json", cwd=success.repo, env=env)
    assert json.loads(status.stdout)["stories"][0]["title"] == "挨拶", status.stderr
    assert json.loads(show.stdout)["title"] == "挨拶", show.stderr


def test_of_a_log_at_its_cap_the_end_is_shown_and_all_lines_are_counted(tmp_path: Path) -> None:
    evidence = AttemptEvidence(tmp_path, "S1", 1)
    evidence.folder.mkdir(parents=True)
    with (evidence.folder / "agent.log").open("wb") as log:
        log.write(b"first\n")
        log.truncate(LARGEST)
        log.seek(LARGEST)
        log.write(b"\nlast words\n")
    assert evidence.log().endswith("\nlast words\n")
    assert evidence.log_lines() == 3


def test_the_count_of_changes_is_gits_own(success: Done) -> None:
    run = success.out_dir.name
    for name in ("S1/1", "S1/2", "S2/1", "S3/1"):
        listed = greeter.git(
            success.repo, "diff", "--numstat", f"refs/santiago/{run}/{name}^", f"refs/santiago/{run}/{name}"
        )
        patch = (success.out_dir / "attempts" / name / "changes.patch").read_text()
        assert [f"{one.added}\t{one.removed}\t{one.path}" for one in stats_of(patch)] == listed.splitlines()


def test_clean_shows_first_and_then_removes_only_what_the_branch_does_not_need(success: Done, tmp_path: Path) -> None:
    done = success._replace(repo=shutil.copytree(success.repo, tmp_path / "repo", symlinks=True))
    repo, run = done.repo, done.out_dir.name
    before = greeter.git(repo, "for-each-ref")
    assert "would be removed" in look(done, "clean").stdout
    with Lock(greeter.out_dir(repo), since="now"):  # somebody is working on it
        held = look(done, "clean", "--run", run, "--yes", "--force")
    assert (held.returncode, "it is running" in held.stderr) == (20, True)
    assert greeter.git(repo, "for-each-ref") == before
    assert "removed" in look(done, "clean", "--yes").stdout
    assert [line.split("\t")[1] for line in greeter.git(repo, "for-each-ref").splitlines()] == [
        "refs/heads/main",
        f"refs/heads/santiago/{run}",
    ]
    audited = look(done, "audit", run)
    assert (audited.returncode, "note[refs_pruned]" in audited.stdout) == (0, True)


def test_clean_keeps_a_run_that_can_be_resumed_unless_forced(failure: Done) -> None:
    before = greeter.git(failure.repo, "for-each-ref")
    refused = look(failure, "clean", "--run", failure.out_dir.name, "--yes")
    assert (refused.returncode, "--force" in refused.stderr) == (2, True)
    assert "kept: it can be resumed" in look(failure, "clean", "--yes").stdout
    assert greeter.git(failure.repo, "for-each-ref") == before


def test_clean_keeps_refs_that_are_all_that_holds_finished_work(success: Done, tmp_path: Path) -> None:
    done = success._replace(repo=shutil.copytree(success.repo, tmp_path / "repo", symlinks=True))
    greeter.git(done.repo, "branch", "-q", "-D", f"santiago/{done.out_dir.name}")
    assert "kept: its work is on no branch" in look(done, "clean", "--yes").stdout
    assert "refs/santiago/" in greeter.git(done.repo, "for-each-ref")


def test_doctor_names_what_would_stop_a_run_and_how_to_mend_it_or_to_begin_a_repository(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    for settings, check, words in STOPS:
        (repo / "santiago.toml").write_text(settings)
        ran = inside("doctor", "--json", cwd=repo, env=greeter.place(repo))
        found = next(one for one in json.loads(ran.stdout)["checks"] if one["check"] == check)
        assert (ran.returncode, found["level"], words in found["text"], bool(found["fix"])) == (2, "fail", True, True)
    ran = inside("doctor", cwd=tmp_path, env=greeter.place(tmp_path))
    assert (ran.returncode, "git init" in ran.stdout) == (2, True)


@pytest.fixture
def newer(success: Done, tmp_path: Path) -> Path:
    """Return the out-dir of a run whose last line only a newer santiago knows."""
    out_dir = greeter.out_dir(shutil.copytree(success.repo, tmp_path / "repo"))
    (out_dir / "result.json").unlink()
    log = out_dir / "progress.ndjson"
    events = list(takewhile(lambda event: event.event is not EventKind.RUN_ENDED, read_log(log)))
    number = len(events) + 1
    paused = replace(
        events[-1], seq=number, event=EventKind.RUN_PAUSED, phase=RunPhase.PAUSED, status=None, context=UNKNOWN
    )
    digest, lines = GENESIS, []
    for event in (*events, paused):
        line, digest = encode(event, digest)
        lines.append(line)
    log.write_bytes(b"".join(lines))
    return out_dir


@pytest.mark.parametrize("words", [["status"], ["status", "--json"], ["log"], ["resume"]], ids=" ".join)
def test_a_reason_that_is_not_known_here_is_one_clear_error_with_its_line(newer: Path, words: list[str]) -> None:
    log = newer / "progress.ndjson"
    before = log.read_bytes()
    told = inside(*words, newer, cwd=newer, env={"XDG_CACHE_HOME": str(newer.parents[3] / "cache")})
    error, last = told.stdout + told.stderr, before.count(b"\n")
    assert f"line {last} is impossible: this version of santiago does not know the reason 'agent_on_strike'" in error
    assert f"{log}:{last}" in error
    assert "bug" not in error
    assert (told.returncode, log.read_bytes()) == (ExitCode.BLOCKED, before)
