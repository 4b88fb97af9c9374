"""Workers carry out what one process would, and nothing is done twice or lost, whoever dies or is cut off meanwhile."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.crash.world import RUN, WIDE, Story
from tests.engine.contents import forgets
from tests.engine.machines import SHORT_S, Fleet, everything, serial
from tests.engine.networks import relay
from tests.engine.servers import awaited

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engine.servers import Engine

pytestmark = [pytest.mark.xdist_group("machines")]
LONG = {"R2": [{"seconds": 300}, {"write": {"b.txt": "good\n"}}]}
"""The first attempt of the second story never ends by itself."""
UNFENCED = ("--sandbox", "off")


def begun(here: Fleet, *names: str) -> None:
    """Return when the agents of these stories are at work, or all of one that is not named."""
    awaited(lambda: all(list(here.begun.glob(name)) for name in names), f"no agent begins: {here.begun}")


def was_lost_and_done(here: Fleet, story: str) -> bool:
    """Tell whether a first attempt was lost and the last one counted. On a busy machine a short lease loses others between them."""
    first, *more, last = here.endings(story)
    return {first, *more} == {("voided", "worker_lost")} and last == ("ok", "")


def test_two_workers_do_what_one_process_does(fleet: Callable[..., Fleet], tmp_path: Path) -> None:
    tree, done = serial(tmp_path / "serial", WIDE)
    here = fleet(WIDE)
    workers = [here.worker(), here.worker()]
    said = here.execute().ends(0)
    assert here.tree == tree, said
    assert sorted(done) == sorted(one["story_id"] for one in here.events("story_done"))
    here.is_done()
    for worker in workers:
        worker.process.send_signal(signal.SIGTERM)
        assert ": done" in worker.ends(0)


def test_a_killed_worker_costs_an_attempt_that_is_void(fleet: Callable[..., Fleet]) -> None:
    here = fleet(moves=LONG, lease_s=SHORT_S)
    workers = [here.worker(), here.worker()]
    run = here.execute()
    here.logs("story_done", "S1")
    awaited(lambda: any("attempt/S2/1 begins" in one.said for one in workers), "nobody begins with S2")
    victim = next(worker for worker in workers if "attempt/S2/1 begins" in worker.said)
    victim.kill()
    run.ends(0)
    assert was_lost_and_done(here, "S2"), here.endings("S2")
    here.is_done()


def test_a_killed_coordinator_repeats_nothing_that_the_engine_knows(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    here.helper(waits=True)
    workers = [here.worker("--no-sandbox"), here.worker("--no-sandbox")]
    run = here.execute(*UNFENCED)
    begun(here, "a", "b")
    run.kill()
    (here.begun / "wait").unlink()
    awaited(lambda: any("attempt/S2/1: done" in one.said for one in workers), "nobody ends S2")
    here.execute(word="resume").ends(0)
    assert [len(here.events("attempt_started", story)) for story in ("S1", "S2")] == [1, 1]
    here.is_done()


def test_stop_lets_the_agent_end_and_the_next_start_adopts_its_work(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    here.helper(waits=True)
    workers = [here.worker("--no-sandbox"), here.worker("--no-sandbox")]
    run = here.execute(*UNFENCED)
    begun(here, "a", "b")
    here.types("stop", str(here.world.out))
    here.has_heard("attempt/S2/1")
    (here.begun / "wait").unlink()
    run.ends(130)
    awaited(lambda: any("attempt/S2/1: stopped" in one.said for one in workers), "nobody stops S2")
    here.execute(word="resume").ends(0)
    assert len(here.events("attempt_started", "S2")) == 1
    here.is_done()


def test_stop_now_ends_the_agent_at_its_worker(fleet: Callable[..., Fleet]) -> None:
    here = fleet(moves=LONG)
    workers = [here.worker(), here.worker()]
    run = here.execute()
    here.logs("story_done", "S1")
    awaited(lambda: any("attempt/S2/1 begins" in one.said for one in workers), "nobody begins with S2")
    here.types("stop", str(here.world.out), "--now")
    run.ends(130)
    awaited(lambda: any("attempt/S2/1: stopped" in one.said for one in workers), "nobody stops S2")
    assert here.endings("S2")[0][1] == "interrupted"
    here.execute(word="resume").ends(0)
    here.is_done()


def test_a_detached_attempt_goes_on_and_counts(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    here.helper(waits=True)
    workers = [here.worker("--no-sandbox"), here.worker("--no-sandbox")]
    run = here.execute(*UNFENCED)
    begun(here, "a", "b")
    here.types("stop", str(here.world.out), "--detach")
    said = run.ends(130)
    assert f"by workers of {here.url}" in said
    assert re.search(rf"next: santiago resume .*--engine {here.url} --remote {here.remote}", said)
    assert f"workers of {here.url} may still be at work on S1, S2" in here.types("status", str(here.world.out))
    (here.begun / "wait").unlink()
    awaited(lambda: any("attempt/S2/1: done" in one.said for one in workers), "nobody ends S2")
    refused = here.program(["resume", str(here.world.out), "--no-input"], here.world.top, "refused.log").ends(10)
    assert "workers of postgresql://" in refused
    here.execute(word="resume").ends(0)
    assert len(here.events("attempt_started", "S2")) == 1
    here.is_done()


def test_a_worker_that_only_judges_gives_the_verdicts(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    here.worker()
    judge = here.worker("--judge")
    here.execute().ends(0)
    for what in ("examine", "attempt", "tree", "run"):
        assert f"judging {what} begins" in judge.said
    assert "attempt/S1/1 begins" not in judge.said
    here.is_done()


@pytest.mark.parametrize(("trust", "ending"), [("workers", "ok"), ("coordinator", "failed")])
def test_the_verdict_of_a_worker_counts_only_where_workers_are_trusted(
    fleet: Callable[..., Fleet], trust: str, ending: str
) -> None:
    """The check of the work passes at the worker and nowhere else."""
    here = fleet((Story("a"),))
    only_there = here.folder / "at-worker" / "only-there"
    only_there.parent.mkdir()
    only_there.touch()
    check = "sh -c 'test ! -e a.txt || test -e $HOME/only-there'"
    here.settle(verification={"story_commands": [check]}, limits={"story_max_attempts": 1})
    here.env["SANTIAGO_ENGINE_TRUST"] = trust
    own, here.env["HOME"] = here.env["HOME"], str(only_there.parent)
    here.worker("--no-sandbox")
    here.env["HOME"] = own
    here.execute(*UNFENCED).ends(0, 30)
    assert here.endings("S1")[0][0] == ending


def test_a_remote_that_is_away_for_a_while_declines_nothing(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    link = here.folder / "seen-by-the-worker.git"
    link.symlink_to(here.remote)
    worker = here.worker("--remote", f"file://{link}")
    link.unlink()
    run = here.execute()
    worker.says("is tried again")
    link.symlink_to(here.remote)
    run.ends(0)
    assert {*here.endings("S1"), *here.endings("S2")} == {("ok", "")}
    here.is_done()


def test_what_the_server_forgot_is_ordered_anew_and_what_comes_when_nobody_leads_any_more_is_not_sent(
    fleet: Callable[..., Fleet],
) -> None:
    here = fleet(moves=LONG, lease_s=SHORT_S)
    pushed, hook = here.folder / "pushed", here.remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ncat >> {pushed}\n")
    hook.chmod(0o755)
    workers = [here.worker(), here.worker()]
    run = here.execute()
    here.logs("story_done", "S1")
    awaited(lambda: any("attempt/S2/1 begins" in one.said for one in workers), "nobody begins with S2")
    victim = next(worker for worker in workers if "attempt/S2/1 begins" in worker.said)
    victim.process.send_signal(signal.SIGSTOP)
    forgets(here.url, here.queue, f"{RUN}/attempt/S2/1")
    run.ends(0)
    assert was_lost_and_done(here, "S2"), here.endings("S2")
    before = pushed.read_text()
    assert "refs/santiago-inbox/" in before
    victim.process.send_signal(signal.SIGCONT)
    victim.says("too late")
    assert pushed.read_text() == before
    here.is_done()


def test_a_run_can_be_stopped_while_the_engine_is_away_and_goes_on_later(fleet: Callable[..., Fleet]) -> None:
    here = fleet(lease_s=SHORT_S)
    here.helper(waits=True)
    here.worker("--no-sandbox")
    real, port = here.url, urlsplit(here.url).port
    assert port
    way = relay(here.folder, "127.0.0.1", port)
    way.start()
    try:
        here.url = real.replace(str(port), str(way.port))
        run = here.execute(*UNFENCED)
        begun(here, "[ab]")
        way.kill()
        here.types("stop", str(here.world.out), "--now")
        assert "the next start asks" in run.ends(20)
        (here.begun / "wait").unlink()
        way.start()
        here.execute(word="resume").ends(0)
        assert [len(here.events("attempt_started", story)) for story in ("S1", "S2")] == [1, 1]
        here.is_done()
    finally:
        way.kill()


def test_a_worker_that_is_cut_off_ends_its_agent_by_its_own_clock(fleet: Callable[..., Fleet]) -> None:
    here = fleet(lease_s=SHORT_S)
    here.helper(waits=True)
    port = urlsplit(here.url).port
    assert port
    proxy = relay(here.folder, "127.0.0.1", port)
    proxy.start()
    try:
        cut_off = here.worker("--no-sandbox", url=here.url.replace(str(port), str(proxy.port)))
        run = here.execute(*UNFENCED)
        begun(here, "[ab]")
        agent = int(next(here.begun.glob("[ab]")).read_text())
        proxy.signal(signal.SIGSTOP)
        awaited(lambda: not Path(f"/proc/{agent}").exists(), "the agent outlives the lease")
        lost = here.logs("attempt_voided")
        assert (lost["status"], lost["context"]["reason"]) == ("voided", "worker_lost")
        (here.begun / "wait").unlink()
        here.worker("--no-sandbox")
        run.ends(0)
        proxy.signal(signal.SIGCONT)
        cut_off.says("too late")
        here.is_done()
    finally:
        proxy.kill()


def test_secrets_are_in_no_database_ref_log_or_list_of_processes(engine: Engine, tmp_path: Path) -> None:
    """An agent says what it finds in its environment. The engine's password stands in one, and no agent or check gets that."""
    here = Fleet(tmp_path, engine.url)
    here.forks = False
    here.helper()
    planted, password = "planted-0123456789-in-the-agent", "planted-9876543210-in-the-url"
    secret_url = engine.url.replace("santiago@", f"santiago:{password}@")
    here.env |= {"PLANTED_TOKEN": planted, "SANTIAGO_ENGINE": secret_url, "OTHER_API_KEY": "planted-0246813579-beside"}
    here.url = ""
    try:
        worker = here.program(["work", "--remote", str(here.remote), "--no-sandbox"], here.folder, "worker.log")
        worker.says("waits for orders")
        arguments = [*here.world.arguments(2), "--remote", str(here.remote), *UNFENCED]
        here.program(arguments, here.world.top, "coordinator.log").ends(0)
        seen = Path(f"/proc/{worker.process.pid}/cmdline").read_bytes()
        here.is_done()
    finally:
        here.close()
    every = ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    objects = subprocess.run(every, cwd=here.remote, capture_output=True, check=True).stdout
    records = everything(here.world.out)
    assert b"my secret is" in records, "the agent was not heard"
    assert b"SANTIAGO_ENGINE" not in records
    stored = b"".join(map(everything, engine.server.log.parent.glob("data" if "postgres" in engine.url else "*.db*")))
    assert b"attempt/S1/1" in stored, "the engine was not looked at"
    logs = b"".join(log.read_bytes() for log in [*here.folder.glob("*.log"), engine.server.log])
    for where in (seen, objects, records, stored, logs, everything(here.folder / "home")):
        assert re.findall(rb"planted-\d{10}[\w-]*", where) == []


def test_a_worker_that_cannot_serve_a_run_says_why_and_ends(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    here.helper()
    other = here.folder / "home" / ".config" / "santiago" / "agents" / "helper.toml"
    said = other.read_text()
    run = here.execute(*UNFENCED)
    here.logs("attempt_started")
    other.unlink()
    assert "declined" in here.worker("--no-sandbox").ends(10)
    other.write_text(said)
    here.worker("--no-sandbox")
    run.ends(0)
    assert any(("voided", "declined") in here.endings(story) for story in ("S1", "S2"))
    here.is_done()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--engine", "postgresql://me:secret12@localhost/x", "--remote", "/x"], "an address holds a password"),
        (["--engine", "postgresql://me@localhost/x"], "no git remote"),
        (["--engine", "mysql://localhost", "--remote", "/nowhere.git"], "cannot be read"),
        ([], "no engine is named"),
    ],
)
def test_a_worker_that_cannot_begin_says_why(arguments: list[str], words: str, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "santiago", "work", "--no-sandbox", *arguments], capture_output=True, text=True, env=env, cwd=tmp_path,
        check=False,
    )  # fmt: skip
    assert done.returncode in (2, 10, 20)
    assert words in done.stderr
    assert "secret12" not in done.stderr
