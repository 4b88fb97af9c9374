"""What people type wrong: one sentence, what helps, the exit code, and nothing has begun. And what they see when all is right."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from santiago.contract.ports.queue import WorkerSeen
from santiago.engine import connect
from tests import forked
from tests.crash.world import RUN, git
from tests.engine.machines import Fleet
from tests.engine.servers import awaited, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.engine.servers import Engine

pytestmark = pytest.mark.xdist_group("queues")

ELSEWHERE = "epoch 3 on elsewhere since 2026-01-01T00:00:00Z\n\nx\n"


@pytest.fixture(scope="module")
def fleet(postgres_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    here = Fleet(tmp_path_factory.mktemp("start"), postgres_engine.url)
    yield here
    here.close()


def types(here: Fleet, *words: str, **env: str) -> tuple[int, str]:
    done = forked.run([*words], cwd=here.world.repo, env={**here.env, **env}, seconds=300)
    return done.returncode, f"{done.stdout}{done.stderr}"


@contextmanager
def file(path: Path, text: str, mode: int = 0o644) -> Iterator[None]:
    """Have a file with this text meanwhile."""
    before = path.read_text() if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    yield
    path.unlink() if before is None else path.write_text(before)
    if not any(path.parent.iterdir()):
        path.parent.rmdir()


@contextmanager
def hook(here: Fleet) -> Iterator[None]:
    with file(here.remote / "hooks" / "pre-receive", "#!/bin/sh\nexit 1\n", 0o755):
        yield


@contextmanager
def agent(here: Fleet, **said: Any) -> Iterator[None]:
    settings = here.world.top / "in.json"
    with file(settings, json.dumps({**json.loads(settings.read_text()), "agent": said})):
        yield


@contextmanager
def ignored(here: Fleet, name: str) -> Iterator[None]:
    """Have a file that git ignores."""
    with (
        file(here.world.repo / ".git" / "info" / "exclude", f"{name.partition('/')[0]}\n"),
        file(here.world.repo / name, "A=1\n"),
    ):
        yield


@contextmanager
def older_worker(here: Fleet) -> Iterator[None]:
    root = git(here.world.repo, "rev-list", "--max-parents=0", "HEAD")
    queue = connect.open_queue(here.url, root)
    seen = WorkerSeen(name="old-1", pool="default", version="0.0.1", jobs=1, judges=False, since="", beat_at="")
    serving = queue.serve(replace(seen, since="2026-01-01T00:00:00Z"))
    yield
    serving.close()
    queue.close()


@contextmanager
def another_coordinator(here: Fleet) -> Iterator[None]:
    tree = git(here.remote, "rev-parse", "main^{tree}")
    git(here.remote, "update-ref", f"refs/santiago-lead/{RUN}", git(here.remote, "commit-tree", tree, "-m", ELSEWHERE))
    yield
    git(here.remote, "update-ref", "-d", f"refs/santiago-lead/{RUN}")


TABLE: dict[str, tuple[Callable[[Fleet], AbstractContextManager[None]], int, str]] = {
    "a hook forbids it": (hook, 10, "refuses to write"),
    "a program of this machine": (lambda here: agent(here, mode="ralph_fresh", command=["/bin/true"]), 30, "start no program"),
    "an uncommitted playbook": (lambda here: agent(here, mode="scripted", playbook="/tmp/mine.yaml"), 30, "is not in the commit"),
    "an environment": (lambda here: ignored(here, ".venv/pyvenv.cfg"), 10, "need .venv, which git ignores"),
    "an .env": (lambda here: ignored(here, ".env"), 10, "get .env, which git ignores"),
    "workers of another version": (older_worker, 10, "are of santiago 0.0.1"),
    "two coordinators": (another_coordinator, 20, "led by the start with epoch 3 on elsewhere"),
}  # fmt: skip


def is_refused(here: Fleet, said: tuple[int, str], code: int, words: str) -> None:
    found, text = said
    assert (found, words in text, "fix: " in text, text.count("error: ")) == (code, True, True, 1), text
    assert not here.events()
    assert not git(here.remote, "for-each-ref", "refs/santiago-order")


def test_what_would_not_work_is_refused_before_anything_starts(fleet: Fleet) -> None:
    for name, (prepared, code, words) in TABLE.items():
        with prepared(fleet):
            engine = ["--engine", fleet.url, "--remote", str(fleet.remote), "--no-input"]
            said = types(fleet, *fleet.world.arguments(2), *engine)
            assert words in said[1], (name, said[1])
            is_refused(fleet, said, code, words)


def test_an_engine_or_a_remote_that_cannot_be_used_is_refused_by_run_and_by_check(fleet: Fleet) -> None:
    other, url, remote = fleet.folder / "other.git", fleet.url, str(fleet.remote)
    git(fleet.folder, "init", "-q", "--bare", str(other))
    tree = git(other, "hash-object", "-t", "tree", "-w", "/dev/null")
    git(other, "update-ref", "refs/heads/main", git(other, "commit-tree", tree, "-m", "another"))
    wrong = url.replace("santiago@", "guarded:secret12@")
    for engine, at, code, words in (
        ("mysql://localhost/x", remote, 2, "no engine is named by 'mysql'"),
        (f"postgresql://127.0.0.1:{free_port()}/x", remote, 20, "does not answer"),
        (wrong, remote, 10, "refuses the connection"),
        (url.replace("/postgres", "/template1"), remote, 10, "this database has none"),
        (url, str(other), 30, "is one of another repository"),
        (url, "/nowhere.git", 20, "cannot be read"),
    ):
        env = {"SANTIAGO_ENGINE": engine, "SANTIAGO_REMOTE": at}
        for typed in ((*fleet.world.arguments(2), "--no-input"), ("engine", "check")):
            said = types(fleet, *typed, **env)
            is_refused(fleet, said, code, words)
            assert "secret12" not in said[1]


def test_a_worker_that_may_not_push_does_not_start(fleet: Fleet) -> None:
    ssh = fleet.folder / "ssh"
    ssh.write_text(
        '#!/bin/sh\nfor last; do :; done\ncase $last in git-upload-pack*) exec sh -c "$last";; esac\necho "no right" >&2\nexit 1\n'
    )
    ssh.chmod(0o755)
    said = types(
        fleet, "work", "--no-sandbox", "--engine", fleet.url, "--remote", f"git@localhost:{fleet.remote}", GIT_SSH_COMMAND=str(ssh)
    )  # fmt: skip
    is_refused(fleet, said, 20, "cannot be written to")


def test_every_view_names_the_worker_and_a_drained_one_ends(fleet: Fleet) -> None:
    fleet.helper()
    (fleet.begun / "wait").touch()
    engine = ("--engine", fleet.url)
    assert "no worker of this repository" in types(fleet, "workers", *engine)[1]
    run = fleet.execute("--sandbox", "off")
    fleet.logs("attempt_started")
    views = (
        ["status", str(fleet.world.out)],
        ["watch", "--plain", str(fleet.world.out)],
        ["show", str(fleet.world.out), "S1"],
    )
    awaited(lambda: "queued: no worker" in types(fleet, *views[0])[1], "nothing is queued")
    assert all("queued: no worker" in types(fleet, *view)[1] for view in views)
    worker = fleet.worker("--no-sandbox", "--jobs", "2")
    name = worker.said.partition("worker ")[2].split(" ")[0]

    def doing() -> list[tuple[str, str]]:
        found = [one["doing"] for one in json.loads(types(fleet, *views[0], "--json")[1])["stories"]]
        return [(one["worker"], one["activity"]) for one in found if one]

    awaited(lambda: doing() == [(name, "agent")] * 2, "the worker is not named")
    assert all(f"{name}: its agent works" in types(fleet, *view)[1] for view in views)
    (listed,) = json.loads(types(fleet, "workers", "--json", *engine)[1])["workers"]
    assert (listed["name"], listed["pool"], listed["jobs"]) == (name, "default", 2)
    assert {one["step"] for one in listed["doing"]} == {"attempt/S1/1", "attempt/S2/1"}
    assert types(fleet, "workers", "drain", "nobody", *engine)[0] == 2
    assert types(fleet, "workers", "drain", name, *engine)[0] == 0
    (fleet.begun / "wait").unlink()
    assert "it was drained" in worker.ends(0)
    run.ends(0)
    assert f"worker    {name}" in types(fleet, *views[2])[1]
    fleet.is_done()
