"""Orders go out and results come in through a git remote that nobody trusts; a death at any moment loses and doubles nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.outcomes import Verdict
from santiago.contract.ports.judge import Judged
from santiago.contract.ports.queue import (
    MOST_FILE,
    REPORT,
    Ended,
    Judging,
    Report,
    filed,
    order_ref,
    result_ref,
    sent_as,
)
from santiago.contract.reasons import Reason
from santiago.contract.steps import Order
from santiago.workspace.remote import Remote
from tests.workspace.conftest import ENV, commit, git, make_repo, write
from tests.workspace.couriers import RUN, Coordinator, Field, Worker, files_of, make_field, outcome_of, report


@pytest.fixture
def field(tmp_path: Path) -> Field:
    made = make_field(tmp_path, make_repo(tmp_path / "repo"))
    made.coordinator.courier.lead(1)
    return made


def taken_back(field: Field, worker: Worker, number: int = 1) -> tuple[Order, Ended]:
    """Send an order and have it done; return it, and how it ended."""
    order = field.coordinator.order(number)
    return order, worker.done(order.id, field.coordinator.courier.send(order))


def ref_of_work(coordinator: Coordinator, number: int = 1) -> str:
    return f"{coordinator.workspace.prefix}/S1/{number}"


# There and back


def test_an_order_brings_what_its_worker_needs_and_a_result_brings_the_work_and_its_files(field: Field) -> None:
    coordinator, worker = field.coordinator, field.worker()
    coordinator.store.put("plan.json", b"{}\n")
    coordinator.store.put("attempts/S1/1/critique.md", b"too short\n")
    order = coordinator.order(2)
    sent = coordinator.courier.send(order)
    claim = worker.claim(order.id, sent)
    parcel = worker.delivery.fetch(claim)
    assert parcel.order == order
    assert parcel.files == {"plan.json": b"{}\n", "attempts/S1/1/critique.md": b"too short\n"}
    made = worker.delivery.deliver(claim, report(worker.work(order)), files_of(order))
    brought = coordinator.courier.take(order.id, Ended(fate="done", commit=made, token=claim.token))
    kept = coordinator.workspace.kept("S1", 2)
    assert kept is not None
    assert brought.outcome is not None
    assert brought.outcome == replace(outcome_of(order, kept.commit), step=order.id)
    assert [change.path for change in kept.changes] == ["S1.txt"]
    assert coordinator.workspace.base_of(kept.commit) == coordinator.head
    assert coordinator.attempts.ending("S1", 2) == brought.outcome.ending
    assert coordinator.store.get("attempts/S1/2/agent.log") == b"did it\n"
    assert b"+work" in (coordinator.store.get("attempts/S1/2/changes.patch") or b"")


def test_what_stands_in_a_workers_commit_message_never_reaches_the_repository(field: Field) -> None:
    order, ended = taken_back(field, field.worker())
    field.coordinator.courier.take(order.id, ended)
    assert git(field.coordinator.repo, "log", "-1", "--format=%B", ref_of_work(field.coordinator)) == order.id


def test_sending_and_taking_again_changes_nothing(field: Field) -> None:
    courier, worker, order = field.coordinator.courier, field.worker(), field.coordinator.order()
    sent = courier.send(order)
    assert courier.send(order) == sent
    ended = worker.done(order.id, sent)
    first = courier.take(order.id, ended)
    assert courier.take(order.id, ended) == first
    again = field.coordinator.again()
    again.courier.lead(2)
    assert again.courier.sent(order.id) == order
    assert again.courier.take(order.id, ended) == first


def test_an_attempt_on_the_work_of_several_stories_gets_one_base_from_the_coordinator(field: Field) -> None:
    coordinator, worker = field.coordinator, field.worker()
    others = []
    for story in ("S2", "S3"):
        write(coordinator.workspace.open(story, 1, (coordinator.head,)).folder, **{story: f"{story}\n"})
        taken = coordinator.workspace.snapshot(story, 1, story)
        assert taken is not None
        others.append(taken.commit)
    order = coordinator.order(base=(coordinator.head, *others))
    ended = worker.done(order.id, coordinator.courier.send(order))
    coordinator.courier.take(order.id, ended)
    kept = coordinator.workspace.kept("S1", 1)
    assert kept is not None
    assert [change.path for change in kept.changes] == ["S1.txt"]
    assert {"S2", "S3", "S1.txt"} <= coordinator.workspace.files(kept.commit)


def test_an_empty_relay_is_filled_and_a_remote_of_another_repository_is_refused(tmp_path: Path) -> None:
    field = make_field(tmp_path, make_repo(tmp_path / "repo"))
    field.coordinator.courier.lead(1)
    assert git(field.remote, "rev-parse", "main") == field.coordinator.head
    other = make_repo(tmp_path / "other")
    write(other, a="another history\n")
    commit(other, "Another")
    git(other, "checkout", "-q", "--orphan", "lonely")
    alone = commit(other, "Lonely")
    git(tmp_path, "init", "-q", "--bare", "theirs.git")
    git(other, "push", "-q", str(tmp_path / "theirs.git"), f"{alone}:refs/heads/main")
    stranger = Coordinator(field.coordinator.repo, tmp_path / "out2", tmp_path / "s2", f"file://{tmp_path}/theirs.git")
    with pytest.raises(SantiagoError, match="another repository") as caught:
        stranger.courier.lead(1)
    assert caught.value.hint
    assert "santiago" not in git(tmp_path / "theirs.git", "for-each-ref")


def test_a_remote_that_is_ahead_of_this_clone_is_one_of_this_repository(tmp_path: Path) -> None:
    field = make_field(tmp_path, make_repo(tmp_path / "repo"))
    git(tmp_path, "clone", "-q", "repo", "ahead")
    write(tmp_path / "ahead", a="ahead\n")
    newer = commit(tmp_path / "ahead", "Ahead")
    git(tmp_path / "ahead", "push", "-q", str(field.remote), f"{newer}:refs/heads/main")
    field.coordinator.courier.lead(1)


def test_a_repository_with_lfs_files_is_refused_by_name(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    write(repo, **{".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    commit(repo, "Large files")
    with pytest.raises(SantiagoError, match=r"\.gitattributes gives files to Git LFS"):
        make_field(tmp_path, repo).coordinator.courier.lead(1)


def test_the_probe_leaves_nothing_and_a_missing_right_is_one_sentence(field: Field) -> None:
    before = field.refs()
    field.coordinator.courier.probe()
    assert field.refs() == before
    hook = field.remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(SantiagoError, match="refuses to write") as caught:
        field.coordinator.courier.probe()
    assert "right" in caught.value.hint


def test_an_attempt_costs_four_git_processes_beyond_threads(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    coordinator, worker, started = field.coordinator, field.worker(), []
    original = subprocess.Popen

    def counted(arguments: list[str], **options: object) -> object:
        started.append(next((word for word in arguments if word in ("push", "fetch")), "another"))
        return original(arguments, **options)  # type: ignore[call-overload]

    with coordinator.workspace.working(), worker.workspace.working():
        first, ended = taken_back(field, worker)
        coordinator.courier.take(first.id, ended)  # the processes that stay have begun
        order = coordinator.order(2)
        monkeypatch.setattr(subprocess, "Popen", counted)
        claim = worker.claim(order.id, coordinator.courier.send(order))
        worker.delivery.fetch(claim)
        of_order = list(started)
        done = worker.work(order)
        started.clear()
        made = worker.delivery.deliver(claim, report(done), files_of(order))
        coordinator.courier.take(order.id, Ended(fate="done", commit=made, token=claim.token))
        # A thread would have packed the work for its ref as well; a worker looks at its own work only.
    assert of_order == ["push", "fetch"]
    assert started == ["push", "fetch", "another"]


# The lead


def test_a_second_coordinator_of_a_copied_out_dir_is_told_who_leads(field: Field) -> None:
    copied = field.copied()
    again = field.coordinator.again()
    again.courier.lead(2)
    with pytest.raises(SantiagoError, match=rf"epoch 2 on {os.uname().nodename}, since 20") as caught:
        copied.courier.lead(2)
    assert caught.value.reason is Reason.LOCK_HELD
    again.courier.send(again.order())


def test_of_coordinators_that_take_the_lead_at_once_one_wins(field: Field) -> None:
    one, other = field.coordinator.again(), field.copied()
    start, won, lost = threading.Barrier(2), [], []

    def lead(coordinator: Coordinator) -> None:
        start.wait()
        try:
            coordinator.courier.lead(2)
            won.append(coordinator)
        except SantiagoError as error:
            lost.append(error.reason)

    threads = [threading.Thread(target=lead, args=(each,)) for each in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), lost) == (1, [Reason.LOCK_HELD])
    won[0].courier.send(won[0].order())


def test_whoever_lost_the_lead_sends_and_deletes_nothing_more(field: Field) -> None:
    coordinator, copied = field.coordinator, field.copied()
    coordinator.courier.send(coordinator.order())
    copied.courier.lead(2)
    before = field.refs()
    for late in (lambda: coordinator.courier.send(coordinator.order(2)), lambda: coordinator.courier.sweep([])):
        with pytest.raises(SantiagoError, match="led by"):
            late()
    coordinator.courier.resign()
    assert field.refs() == before


# What a worker may not bring


def forged(field: Field, order: Order, files: dict[str, bytes], parents: tuple[str, ...] = (), tree: str = "") -> Ended:
    """Push a commit as a hostile worker would; return the end that names it."""
    hostile = field.top / "hostile"
    if not hostile.exists():
        git(field.top, "clone", "-q", str(field.remote), "hostile")
    worker = Worker(hostile, field.top / "hostile-scratch", field.url)
    repository = worker.workspace.repository
    stored = repository.stored
    made = stored.commit(tree or stored.tree(files), parents, "forged\n")
    worker.workspace.repository.on_objects("cat-file", "-e", made)
    git(hostile, "push", "-q", field.url, f"{made}:{result_ref(RUN, order.id, 'bad')}", store=repository.own.folder)
    return Ended(fate="done", commit=made, token="bad")


def said(about: Report) -> dict[str, bytes]:
    return {REPORT: codec.canonical(about)}


def no_work(order: Order) -> Report:
    return report(outcome_of(order, None))


def garbage(field: Field, order: Order) -> Ended:
    return forged(field, order, {REPORT: b"{ not json"})


def no_report(field: Field, order: Order) -> Ended:
    return forged(field, order, {"other.json": b"{}"})


def other_story(field: Field, order: Order) -> Ended:
    return forged(field, order, said(no_work(field.coordinator.order(1, "S2"))))


def another_step(field: Field, order: Order) -> Ended:
    return forged(field, order, said(report(replace(outcome_of(order, None), step="attempt/S1/9"))))


def unnamed_file(field: Field, order: Order) -> Ended:
    return forged(field, order, {**said(no_work(order)), filed("progress.ndjson"): b"an event\n"})


def another_attempt(field: Field, order: Order) -> Ended:
    return forged(field, order, {**said(no_work(order)), filed("attempts/S2/1/agent.log"): b"x\n"})


def large_file(field: Field, order: Order) -> Ended:
    return forged(field, order, {**said(no_work(order)), filed("attempts/S1/1/agent.log"): bytes(MOST_FILE + 1)})


def _listed(field: Field, *lines: str) -> str:
    """Make a tree that git's own commands would not make, in the clone of a hostile worker."""
    hostile = field.top / "hostile"
    if not hostile.exists():
        git(field.top, "clone", "-q", str(field.remote), "hostile")
    made = subprocess.run(
        ["git", "mktree", "--missing"], cwd=hostile, env=ENV, input="".join(f"{line}\n" for line in lines).encode(),
        capture_output=True, check=True,
    )  # fmt: skip
    return made.stdout.decode().strip()


def _blob(field: Field, content: bytes) -> str:
    _listed(field)
    asked = ["git", "hash-object", "-w", "--stdin"]
    made = subprocess.run(asked, cwd=field.top / "hostile", env=ENV, input=content, capture_output=True, check=True)
    return made.stdout.decode().strip()


def a_link(field: Field, order: Order) -> Ended:
    blob = _blob(field, codec.canonical(no_work(order)))
    target = _blob(field, b"/etc/passwd")
    return forged(
        field, order, {}, tree=_listed(field, f"100644 blob {blob}\t{REPORT}", f"120000 blob {target}\tfiles")
    )


def report_as_link(field: Field, order: Order) -> Ended:
    blob = _blob(field, codec.canonical(no_work(order)))
    return forged(field, order, {}, tree=_listed(field, f"120000 blob {blob}\t{REPORT}"))


def dots(field: Field, order: Order) -> Ended:
    blob = _blob(field, codec.canonical(no_work(order)))
    inner = _listed(field, f"100644 blob {blob}\tescaped")
    return forged(field, order, {}, tree=_listed(field, f"100644 blob {blob}\t{REPORT}", f"040000 tree {inner}\t.."))


def wrong_parent(field: Field, order: Order) -> Ended:
    other = field.worker("w-wrong")
    write(other.repo, a="another base\n")
    commit(other.repo, "Another base")
    base = git(other.repo, "rev-parse", "HEAD")
    done = other.work(field.coordinator.order(base=(base,)))
    return delivered(other, order, report(done))


def unnamed_parent(field: Field, order: Order) -> Ended:
    return forged(field, order, said(no_work(order)), (field.coordinator.head,))


def delivered(worker: Worker, order: Order, about: Report) -> Ended:
    claim = worker.claim(order.id, "0" * 40)
    return Ended(fate="done", commit=worker.delivery.deliver(claim, about, {}), token=claim.token)


def not_there(field: Field, order: Order) -> Ended:
    return Ended(fate="done", commit="12" * 20, token="bad")


def bad_token(field: Field, order: Order) -> Ended:
    return replace(forged(field, order, said(no_work(order))), token="../../heads/main")


HOSTILE = [
    garbage, no_report, other_story, another_step, unnamed_file, another_attempt, large_file, a_link, report_as_link,
    dots, wrong_parent, unnamed_parent, not_there, bad_token,
]  # fmt: skip


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_a_wrong_result_is_refused_and_nothing_is_written(field: Field, make: Callable[[Field, Order], Ended]) -> None:
    coordinator, order = field.coordinator, field.coordinator.order()
    coordinator.courier.send(order)
    ended = make(field, order)
    before = everything(coordinator)
    with pytest.raises(SantiagoError) as caught:
        coordinator.courier.take(order.id, ended)
    assert caught.value.hint
    assert everything(coordinator) == before


def everything(coordinator: Coordinator) -> tuple[list[str], str]:
    files = sorted(str(path) for path in coordinator.out.rglob("*"))
    return files, git(coordinator.repo, "for-each-ref")


def test_work_that_is_too_large_is_refused(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    order, ended = taken_back(field, field.worker())
    monkeypatch.setattr("santiago.workspace.courier.MOST_BYTES", 4)
    with pytest.raises(SantiagoError, match="larger than one attempt"):
        field.coordinator.courier.take(order.id, ended)
    assert field.coordinator.workspace.kept("S1", 1) is None


def test_git_itself_stops_at_the_size_of_a_result(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, order = field.worker(), field.coordinator.order()
    claim = worker.claim(order.id, field.coordinator.courier.send(order))
    worker.delivery.fetch(claim)
    write(worker.workspace.open("S1", 1, (field.coordinator.head,)).folder, large=os.urandom(1 << 19).hex())
    taken = worker.workspace.snapshot("S1", 1, "large")
    assert taken is not None
    made = worker.delivery.deliver(claim, report(outcome_of(order, taken.commit)), {})
    monkeypatch.setattr("santiago.workspace.courier.MOST_FETCHED", 1 << 16)
    with pytest.raises(SantiagoError, match="cannot be read"):
        field.coordinator.courier.take(order.id, Ended(fate="done", commit=made, token=claim.token))


def test_a_file_that_is_too_large_stays_behind_and_that_is_said(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, order = field.worker(), field.coordinator.order()
    claim = worker.claim(order.id, field.coordinator.courier.send(order))
    worker.delivery.fetch(claim)
    files = files_of(order) | {"attempts/S1/1/agent.log": bytes(MOST_FILE + 1)}
    made = worker.delivery.deliver(claim, report(worker.work(order)), files)
    brought = field.coordinator.courier.take(order.id, Ended(fate="done", commit=made, token=claim.token))
    assert brought.left_behind == ("attempts/S1/1/agent.log is too large to be sent (20 MB) and stays at its worker",)
    assert field.coordinator.store.get("attempts/S1/1/agent.log") is None


def test_an_order_that_the_queue_does_not_name_is_not_carried_out(field: Field) -> None:
    worker, one, two = field.worker(), field.coordinator.order(), field.coordinator.order(2)
    sent = field.coordinator.courier.send(one)
    field.coordinator.courier.send(two)
    with pytest.raises(SantiagoError, match="not the order"):
        worker.delivery.fetch(worker.claim(two.id, sent))


def test_a_judging_order_brings_its_commits_and_gets_a_verdict(field: Field) -> None:
    coordinator, worker, order = field.coordinator, field.worker(), field.coordinator.order()
    judging = Judging(method="run", arguments="{}", commits=(coordinator.head,))
    name = sent_as(order, judging)
    claim = worker.claim(name, coordinator.courier.send(order, judging))
    parcel = worker.delivery.fetch(claim)
    assert parcel.judging == judging
    judged = Judged(verdict=Verdict(passed=True, proof=None, reason=None, results=()), record=b'{"a": 1}\n')
    made = worker.delivery.deliver(claim, replace(report(None), judged=judged), {})
    brought = coordinator.courier.take(name, Ended(fate="done", commit=made, token=claim.token))
    assert brought.judged == judged


# Refs come and go


def test_what_is_forgotten_goes_with_the_next_order_and_nothing_stays_at_the_end(field: Field) -> None:
    courier, worker = field.coordinator.courier, field.worker()
    order, ended = taken_back(field, worker)
    courier.take(order.id, ended)
    courier.forget([order.id])
    second = field.coordinator.order(2)
    courier.send(second)
    assert field.refs() == [f"refs/santiago-lead/{RUN}", f"refs/santiago-order/{RUN}/{second.id}"]
    assert courier.sweep([second.id]) == {}
    assert len(field.refs()) == 2
    courier.forget([second.id])
    assert courier.sweep([]) == {}
    courier.resign()
    assert field.refs() == []
    assert sorted(path.name for path in (field.coordinator.out / "remote").iterdir()) == ["lead"]


def test_a_result_that_comes_too_late_is_told_once_and_its_work_is_not_taken(field: Field) -> None:
    order, _ = taken_back(field, field.worker())
    late = field.coordinator.courier.sweep([])
    assert list(late) == [order.id]
    outcome = late[order.id].outcome
    assert outcome is not None
    assert outcome.ending is not None
    assert outcome.ending.usage.tokens == 7
    assert field.coordinator.courier.sweep([]) == {}
    assert field.coordinator.workspace.kept("S1", 1) is None


def test_a_late_result_stays_on_no_remote_whose_lead_its_worker_saw_just_before_it_was_given_up(field: Field) -> None:
    """Whoever comes last deletes it: the worker after its push, or the coordinator after it resigned."""
    worker, order = field.worker(), field.coordinator.order()
    claim = worker.claim(order.id, field.coordinator.courier.send(order))
    worker.delivery.fetch(claim)
    result = report(worker.work(order))
    field.coordinator.courier.sweep([])
    assert worker.delivery.is_awaited(claim)
    worker.delivery.deliver(claim, result, {})
    worker.delivery.withdraw(claim)
    assert field.refs()[0] == result_ref(RUN, order.id, claim.token), "who leads deletes it, and books its usage"
    field.coordinator.courier.resign()
    assert field.refs() == []
    worker.delivery.deliver(claim, result, {})
    assert not worker.delivery.is_awaited(claim)
    worker.delivery.withdraw(claim)
    assert field.refs() == []
    worker.delivery.withdraw(claim)


def test_garbage_below_the_refs_of_the_run_is_swept(field: Field) -> None:
    order = field.coordinator.order()
    field.coordinator.courier.send(order)
    garbage(field, order)
    assert field.coordinator.courier.sweep([]) == {}
    assert field.refs() == [f"refs/santiago-lead/{RUN}"]


def test_the_refs_of_another_run_are_left_alone(field: Field) -> None:
    git(field.remote, "update-ref", f"refs/santiago-order/{RUN}x/attempt/S1/1", field.coordinator.head)
    field.coordinator.courier.sweep([])
    assert f"refs/santiago-order/{RUN}x/attempt/S1/1" in field.refs()


# Death between any two steps

STORY = ["lead", "send", "take", "take again", "forget", "send next", "sweep"]
"""What a coordinator does with one order. It is killed after each of its git processes and each of its writes."""


def lived(coordinator: Coordinator, ended: Ended) -> None:
    """Do all of it, whatever an earlier start already did."""
    courier = coordinator.courier
    courier.lead(2)
    order = coordinator.order()
    if coordinator.attempts.ending("S1", 1) is None:  # else the next start adopts it, and the log has its end
        courier.send(order)
        courier.take(order.id, ended)
    courier.forget([order.id])
    courier.send(coordinator.order(2))
    courier.forget([coordinator.order(2).id])
    courier.sweep([])
    courier.resign()


def test_a_death_at_any_step_loses_nothing_doubles_nothing_and_leaves_no_ref(tmp_path: Path) -> None:
    top, before = tmp_path / "world", tmp_path / "before"
    top.mkdir()
    field = make_field(top, make_repo(top / "repo"))
    field.coordinator.courier.lead(1)
    # An order has the same name whenever it is sent, so its worker may have ended it beforehand.
    order, ended = taken_back(field, field.worker())
    git(field.remote, "update-ref", "-d", order_ref(RUN, order.id))
    shutil.rmtree(top / "w1")
    field.coordinator.store.drop("remote/attempt-S1-1.json")
    shutil.copytree(top, before, symlinks=True)
    step, died = 0, True
    while died:
        step += 1
        died = _dies_after(step, field.coordinator.again(), ended)
        _goes_on(field, ended)
        shutil.rmtree(top)
        shutil.copytree(before, top, symlinks=True)
    assert step > len(STORY) * 2, "too few moments were tried"


def _goes_on(field: Field, ended: Ended) -> None:
    last = field.coordinator.again()
    lived(last, ended)
    assert field.refs() == []
    kept, ending = last.workspace.kept("S1", 1), last.attempts.ending("S1", 1)
    assert kept is not None
    assert [change.path for change in kept.changes] == ["S1.txt"]
    assert ending is not None
    assert ending.usage.tokens == 7
    assert [path.name for path in (last.out / "remote").iterdir()] == ["lead"]


def _dies_after(step: int, coordinator: Coordinator, ended: Ended) -> bool:
    """Live in a process of its own that kills itself with its step-th effect; tell whether it came that far."""
    child = os.fork()
    if not child:
        count = [0]

        def dying(call: Callable[..., object]) -> Callable[..., object]:
            def effect(*arguments: object, **options: object) -> object:
                count[0] += 1
                if count[0] == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **options)

            return effect

        for owner, name in ((Remote, "push"), (Remote, "fetch")):
            setattr(owner, name, dying(getattr(owner, name)))
        for name in ("put", "put_many", "drop"):
            setattr(coordinator.store, name, dying(getattr(coordinator.store, name)))
        for name in ("keep_ending", "keep_work"):
            setattr(coordinator.attempts, name, dying(getattr(coordinator.attempts, name)))
        for name in ("keep",):
            setattr(coordinator.workspace, name, dying(getattr(coordinator.workspace, name)))
        try:
            lived(coordinator, ended)
        except BaseException:  # the parent tells
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a start after a death does not get through"
    return os.WIFSIGNALED(status)


# Addresses

SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "address",
    [
        "", "-oProxyCommand=touch /tmp/x", "--upload-pack=evil", "ext::sh -c evil", "fd::17", "ftp://host/x", "relative/path",
        "http://example.org/x.git", "git://example.org/x.git", "https://", f"ssh://u:{SECRET}@host/x", "https://h/x\nevil",
        "ssh://-oProxyCommand=evil/x", "-evil@host:x",
    ],
)  # fmt: skip
def test_an_address_that_could_be_an_option_or_a_program_is_refused(address: str) -> None:
    with pytest.raises(SantiagoError) as caught:
        Remote(address)
    assert caught.value.hint
    assert SECRET not in f"{caught.value.message} {caught.value.where}"


@pytest.mark.parametrize(
    "address", ["https://host/x.git", "ssh://git@host:22/x", "git@host:x/y.git", "/srv/x.git", "file:///srv/x.git",
                "http://localhost:1/x", "git://127.0.0.1/x"],
)  # fmt: skip
def test_ordinary_addresses_are_taken_as_they_are(address: str) -> None:
    assert Remote(address).shown == address


def test_a_password_reaches_git_by_its_environment_alone(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(f"http://me:{SECRET}@127.0.0.1:9/x.git")
    seen: list[str] = []
    original = subprocess.Popen

    def watched(arguments: list[str], **options: object) -> object:
        seen.extend(arguments)
        return original(arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", watched)
    with pytest.raises(SantiagoError) as caught:
        remote.refs(*field.coordinator.workspace.repository.for_transfers)
    assert SECRET not in f"{caught.value.message}{caught.value.hint}{caught.value.where}{remote.shown}{seen}"


def test_no_hook_of_a_clone_runs(field: Field) -> None:
    planted = field.top / "ran"
    worker = field.worker()
    for repo in (field.coordinator.repo, worker.repo):
        for name in ("pre-push", "reference-transaction", "post-checkout", "pre-auto-gc"):
            hook = repo / ".git" / "hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\ntouch {planted}\n")
            hook.chmod(0o755)
        git(repo, "config", "core.sshCommand", f"touch {planted}")
        git(repo, "config", "remote.origin.uploadpack", f"touch {planted}")
    order, ended = taken_back(field, worker)
    field.coordinator.courier.take(order.id, ended)
    assert not planted.exists()
