"""Who may do what: what a worker may write, when it declines, who judges, and what a run is refused for before it begins."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.crash.world import GIT, WIDE, Story, git, playbook
from tests.engine.git_server import PASSWORD, served
from tests.engine.machines import everything
from tests.engine.servers import awaited

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engine.machines import Fleet
    from tests.engine.servers import Engine

pytestmark = [pytest.mark.xdist_group("machines")]
ROOT = Path(__file__).parents[2]


def test_the_hook_of_the_page_lets_workers_write_nothing_but_new_results(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    page = (ROOT / "docs" / "machines.md").read_text()
    hook = here.remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(page.split(f"/{hook.parent.name}/{hook.name} -->\n\n```sh\n")[1].split("```")[0])
    hook.chmod(0o755)
    git(here.remote, "config", "--add", "santiago.coordinator", "ann")
    with served(here.folder) as place:

        def named(name: str) -> str:
            return f"http://{name}:{PASSWORD}@{place}/{here.remote.name}"

        here.env["SANTIAGO_REMOTE"] = named("worker-1")
        worker = here.program(["work", "--engine", here.url], here.folder)
        worker.says("waits for orders")
        here.env["SANTIAGO_REMOTE"] = named("ann")
        here.program([*here.world.arguments(2), "--engine", here.url], here.world.top).ends(0)
        here.is_done()
        head, inbox = git(here.world.repo, "rev-parse", "HEAD"), "refs/santiago-inbox/r9/attempt/S1/1/token"

        def refused(who: str, *refspecs: str) -> str:
            words = ["git", "push", "--force", named(who), *refspecs]
            return subprocess.run(
                words, cwd=here.world.repo, env=GIT, capture_output=True, text=True, check=False
            ).stderr

        assert "->" in refused("worker-1", f"{head}:{inbox}")
        for ref in (
            f"{head}~1:refs/heads/main", f"{head}:refs/heads/new", ":refs/heads/main", f"{head}:refs/tags/v1", f"{head}~1:{inbox}",
            f":{inbox}", f"{head}:refs/santiago-order/r1/attempt/S1/1", f"{head}:refs/santiago-lead/r1",
        ):  # fmt: skip
            assert "worker-1 may " in refused("worker-1", ref), ref
        assert "[deleted]" in refused("ann", f":{inbox}")
    assert PASSWORD.encode() not in everything(here.folder)


def test_where_other_tests_are_red_a_worker_declines_and_a_judge_too(fleet: Callable[..., Fleet]) -> None:
    """Both look at the base before anything else, and name what is red there alone. Whoever mends the machine starts them again."""
    here = fleet()
    red = here.folder / "red"
    here.settle(verification={"run_commands": [f"test ! -e {red}"]})
    run = here.execute("--sandbox", "off")
    here.logs("attempt_started")
    red.touch()
    named = f"the base fails here, and not where the run is coordinated: `test ! -e {red}`"
    assert named in here.worker("--no-sandbox").ends(10)
    judge = here.worker("--judge", "--no-sandbox")
    red.unlink()
    worker = here.worker("--no-sandbox", "--once")
    awaited(lambda: "begins" in worker.said, "the mended machine begins nothing")
    red.touch()
    worker.ends(0, 10)
    red.unlink(missing_ok=True)
    here.worker("--no-sandbox")
    run.ends(0)
    assert judge.process.poll() is None or named in judge.said
    here.is_done()


def test_no_more_is_ordered_than_slots_and_two_and_without_workers_the_run_pauses(fleet: Callable[..., Fleet]) -> None:
    here = fleet(WIDE)
    here.settle(limits={"wait_max_minutes": 0.02})
    assert "no_workers" in here.execute().ends(20)
    assert len(here.events("attempt_started")) == 2
    assert [end for story in ("S1", "S2") for end in here.endings(story)] == [("voided", "interrupted")] * 2
    assert here.events("run_paused")[-1]["context"]["reason"] == "no_workers"
    assert git(here.remote, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_run_is_left_promptly_while_its_engine_is_silent_and_loses_no_order_that_is_unknown_for_a_moment(
    fleet: Callable[..., Fleet], postgres_engine: Engine
) -> None:
    here = fleet(lease_s=60)
    run = here.execute()
    here.logs("attempt_started", "S2")
    awaited(lambda: len(here.rows("select 1 from absurd.{t}")) == 2, "nothing is ordered")
    renamed = "update absurd.{t} set idempotency_key = reverse(idempotency_key) returning 1"
    asked = "select query_start from pg_stat_activity where query like '%%idempotency_key = any%%' and pid <> pg_backend_pid()"
    moments: dict[Any, None] = {}
    here.rows(renamed)
    awaited(
        lambda: [moments.setdefault(one["query_start"]) for one in here.rows(asked)] and len(moments) > 4, "nobody asks"
    )
    here.rows(renamed)
    postgres_engine.server.signal(signal.SIGSTOP)
    try:
        here.types("stop", str(here.world.out), "--detach")
        run.ends(130)
    finally:
        postgres_engine.server.signal(signal.SIGCONT)
    here.worker("--jobs", "2")
    here.execute(word="resume").ends(0)
    assert [len(here.events("attempt_started", story)) for story in ("S1", "S2")] == [1, 1]
    here.is_done()


def test_a_rate_limit_rests_the_worker_that_met_it_and_another_one_goes_on(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    here.helper()
    here.env["PLANTED_TOKEN"] = "limited"
    limited = here.worker("--no-sandbox")
    here.env["PLANTED_TOKEN"] = "not limited"
    other = here.worker("--no-sandbox")
    here.execute("--sandbox", "off").ends(0)
    assert not here.events("wait_started")
    assert limited.said.count("begins") <= 1
    assert "rests" in limited.said or other.said.count("begins") == 2
    here.is_done()


def test_what_workers_lack_is_said_before_the_start_and_an_offered_checkout_has_it(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    repo, source, offered = here.world.repo, here.folder / "source", here.folder / "offered"

    def push(message: str) -> None:
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", message)
        git(repo, "push", "-q", str(here.remote), "HEAD:main")

    git(here.folder, "clone", "-q", str(repo), str(source))
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "sub")
    push("A submodule")
    here.settle(verification={"run_commands": ["test -d sub"]})
    assert "submodules do not travel to workers: sub" in here.execute().ends(30)
    git(repo, "rm", "-qf", "sub", ".gitmodules")
    (repo / ".gitignore").write_text("node_modules\n")
    (repo / "package.json").write_text("{}")
    push("An ignored folder")
    git(repo, "clone", "-q", "-b", "main", str(here.remote), str(offered))
    for folder in (repo, offered):
        (folder / "node_modules" / "dep").mkdir(parents=True)
    here.settle(verification={"run_commands": ["test -d node_modules/dep"]})
    refused = here.execute().ends(10)
    assert 'setup = ["npm install"]' in refused
    assert 'provide = ["node_modules"]' in refused
    (repo / "santiago.toml").write_text('[workspace]\nprovide = ["node_modules"]\n')
    run = here.execute()
    assert "node_modules, which git ignores" in here.worker().ends(10)
    assert "where the run itself is" in here.worker("--repo", str(repo)).ends(10)
    worker = here.worker("--repo", str(offered))
    run.ends(0)
    assert "worker_lost" not in {reason for story in ("S1", "S2") for _, reason in here.endings(story)}
    worker.process.terminate()
    worker.ends(0)
    here.is_done()
    assert "santiago" not in git(offered, "for-each-ref"), "nothing stays in somebody's checkout"


def test_settings_of_a_repository_send_work_out_once_they_are_trusted_by_whatever_command(
    fleet: Callable[..., Fleet],
) -> None:
    stories = (Story("a", parts=1), Story("b"))
    here = fleet(stories)
    repo, trusted = here.world.repo, ("--trust-project", "--trust-commands", "--no-input")
    engine = {"url": here.url, "remote": str(here.remote)}
    tables = {
        "engine": engine,
        "agent": {"mode": "scripted", "playbook": "playbook.yaml"},
        "policy": {"unproven": "accept"},
    }
    lines = [
        f"[{table}]\n" + "".join(f"{name} = {json.dumps(one)}\n" for name, one in of.items())
        for table, of in tables.items()
    ]
    (repo / "santiago.toml").write_text("".join(lines))
    (repo / "playbook.yaml").write_text(json.dumps(playbook(stories)))
    git(repo, "commit", "-qam", "Settings")
    worker = here.worker()
    assert "engine.url (the server that attempts go out through)" in here.program(
        ["run", "prd.md", "--no-input"], repo
    ).ends(10)
    here.program(["step", "prd.md", *trusted], repo).ends(10)
    worker.says("propose/S1/1: done")
    here.program(["run", "prd.md", "--enqueue"], repo).ends(0)
    here.program(["loop", "--yes", *trusted], repo).ends(0)
    worker.says("REQ-1/attempt/S2/1: done")
    assert git(here.remote, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
