"""Nothing is lost: no maintenance of the user's repository, at any moment, takes work away or breaks the repository."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from santiago.workspace import git as running
from tests.workspace.conftest import ALONE, ENV, Bench, git, write

WAYS = (ALONE,)

BRANCH = "refs/heads/santiago/r1"


@pytest.fixture
def before_git(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A script that runs in the user's repository before every git process of santiago's, with that one's words."""
    script, real = tmp_path / "before", shutil.which("git")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\n(cd {bench.repo}; unset GIT_DIR GIT_OBJECT_DIRECTORY GIT_INDEX_FILE GIT_WORK_TREE; . {script}) </dev/null >&2\nexec {real} "$@"\n',
        encoding="utf-8",
    )
    wrapper.chmod(0o755)
    script.touch()
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{ENV['PATH']}")
    running.program.cache_clear()
    script.write_text("", encoding="utf-8")
    yield script
    running.program.cache_clear()


def is_whole(repo: Path) -> bool:
    return git(repo, "fsck", "--full", "--strict", "--no-dangling") == "" and not git(repo, "gc", "-q", "--prune=now")


@pytest.mark.parametrize(
    "maintenance",
    [
        "git gc -q --prune=now",
        "git repack -q -a -d; git prune --expire=now",
        "git repack -q -A -d; git pack-refs --all",
    ],
)
def test_a_clean_up_before_every_step_loses_nothing(bench: Bench, before_git: Path, maintenance: str) -> None:
    real = shutil.which("git", path=ENV["PATH"])
    before_git.write_text(maintenance.replace("git ", f"{real} ", 9), encoding="utf-8")
    workspace = bench.workspace
    first = workspace.begin(bench.first)
    one = bench.work("S1", first, a="1\ntwo\nthree\nfour\nfive\n")
    two = bench.work("S2", first, a="one\ntwo\nthree\nfour\n5\n", new="n\n")
    both = bench.work("S3", first, one, two, more="m\n")
    composed = workspace.compose(one, first, ["b"], {"b": b"other\n"})
    assert bench.text(composed, "b") == "other"
    assert workspace.advance(first, one) == one
    done = workspace.integrate("S2", two, first, "S2", [])
    assert done.head is not None
    workspace.checkout(done.head, "S2")
    workspace.advance(one, done.head)
    before_git.write_text("", encoding="utf-8")
    assert is_whole(bench.repo)
    assert git(bench.repo, "show", f"{BRANCH}:a").split() == ["1", "two", "three", "four", "5"]
    assert git(bench.repo, "show", f"{both}:more") == "m"


def test_content_that_lay_about_as_rubbish_outlives_a_clean_up_meanwhile(bench: Bench, before_git: Path) -> None:
    folder = bench.opened()
    write(folder, new="seen before\n")
    git(bench.repo, "hash-object", "-w", f"{folder}/new")
    real = shutil.which("git", path=ENV["PATH"])
    before_git.write_text(f'case "$*" in *pack-objects*) {real} gc -q --prune=now;; esac\n', encoding="utf-8")
    taken = bench.taken()
    assert git(bench.repo, "show", f"{taken.commit}:new") == "seen before"
    assert is_whole(bench.repo)


def test_neither_a_guard_nor_what_no_ref_names_is_left_in_the_users_repository_also_after_a_crash(bench: Bench) -> None:
    before = git(bench.repo, "count-objects")
    bench.workspace.compose(bench.first, bench.first, [], {"b": b"other\n"})
    assert git(bench.repo, "count-objects") == before
    packs = bench.repo / ".git" / "objects" / "pack"
    bench.work("S1", new="n\n")
    assert not list(packs.glob("*.keep"))
    pack = next(packs.glob("*.pack"))
    pack.with_suffix(".keep").write_text("santiago r1\n", encoding="utf-8")
    users = packs / "pack-0.keep"
    users.write_text("mine\n", encoding="utf-8")
    bench.again().unlock()
    assert list(packs.glob("*.keep")) == [users]


def test_a_store_that_a_power_cut_emptied_is_not_read_and_the_next_start_makes_a_new_one(bench: Bench) -> None:
    work = bench.work("S1", new="n\n")
    kept = [path for path in bench.own.rglob("*") if path.is_file()]
    for path in kept:  # names reach the disk before the content does
        path.chmod(0o644)
        path.write_bytes(b"")
    assert bench.own / "info/alternates" in kept
    later = bench.again()
    assert "new" in later.files(work)
    later.unlock()
    assert later.compose(work, bench.first, ["b"], {"b": b"other\n"})
    assert [path for path in bench.own.rglob("*") if path.is_file() and not path.stat().st_size] == []


def test_refs_that_are_packed_all_the_time_do_not_look_moved(bench: Bench) -> None:
    done = threading.Event()

    def pack() -> None:
        while not done.is_set():
            subprocess.run(["git", "pack-refs", "--all"], cwd=bench.repo, env=ENV, capture_output=True, check=False)

    packers = [threading.Thread(target=pack) for _ in range(2)]
    for packer in packers:
        packer.start()
    try:
        head = bench.workspace.begin(bench.first)
        for number in range(12):
            commit = bench.work(f"S{number}", head, new=f"{number}\n")
            head = bench.workspace.advance(head, commit)
    finally:
        done.set()
        for packer in packers:
            packer.join()
    assert git(bench.repo, "rev-parse", BRANCH) == head
