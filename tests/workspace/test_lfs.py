"""Files of Git LFS: content in every checkout, pointers with their objects in every commit, and no program of LFS."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from santiago.contract.ports.workspace import Snapshot
from santiago.workspace import lfs
from tests.util.each import each
from tests.workspace.conftest import STAY, Bench, git, write

WAYS = (STAY,)

BIG, NEW = b"\0big\n" * 50_000, b"\0new\n" * 60_000
RULES = "*.bin filter=lfs diff=lfs merge=lfs -text\n"


def pointer(content: bytes) -> str:
    digest = sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}"


def stored(repo: Path, content: bytes) -> Path:
    digest = sha256(content).hexdigest()
    return repo / ".git" / "lfs" / "objects" / digest[:2] / digest[2:4] / digest


def give(bench: Bench, content: bytes, *, here: bool = True) -> None:
    """Commit a file as LFS would; its object is here, or only on a server."""
    write(bench.repo, **{".gitattributes": RULES, "big.bin": pointer(content) + "\n"})
    git(bench.repo, "add", "-A")
    git(bench.repo, "commit", "-qm", "LFS")
    if here:
        stored(bench.repo, content).parent.mkdir(parents=True)
        stored(bench.repo, content).write_bytes(content)


def opened(bench: Bench, story: str = "S1") -> Path:
    return Path(bench.workspace.open(story, 1, (bench.first,)).folder)


def taken(bench: Bench, story: str = "S1") -> Snapshot:
    snapshot = bench.workspace.snapshot(story, 1, "x\n")
    assert snapshot is not None
    return snapshot


def test_a_changed_file_lands_as_a_pointer_with_its_object(bench: Bench) -> None:
    give(bench, BIG)
    folder = opened(bench)
    (folder / "big.bin").write_bytes(NEW)
    snapshot = taken(bench)
    assert bench.text(snapshot.commit, "big.bin") == pointer(NEW)
    assert stored(bench.repo, NEW).read_bytes() == NEW
    assert [change.path for change in snapshot.changes] == ["big.bin"]
    assert snapshot.left_out == ()
    assert not list((bench.repo / ".git/lfs/tmp").iterdir())


def test_a_new_file_lands_as_a_pointer_also_by_rules_that_came_with_it(bench: Bench) -> None:
    folder = opened(bench)
    (folder / "deep" / "er").mkdir(parents=True)
    write(folder / "deep", **{".gitattributes": RULES})
    (folder / "deep" / "er" / "new.bin").write_bytes(NEW)
    os.chmod(folder / "deep" / "er" / "new.bin", 0o755)
    (folder / "outside.bin").write_bytes(b"\0plain\n")
    snapshot = taken(bench)
    assert bench.text(snapshot.commit, "deep/er/new.bin") == pointer(NEW)
    assert bench.text(snapshot.commit, "outside.bin") == "\0plain"
    modes = {change.path: change.new_mode for change in snapshot.changes}
    assert modes["deep/er/new.bin"] == "100755"
    assert stored(bench.repo, NEW).read_bytes() == NEW


def test_agents_and_checks_see_the_content(bench: Bench) -> None:
    give(bench, BIG)
    assert (opened(bench) / "big.bin").read_bytes() == BIG
    clean = bench.workspace.checkout(bench.first, "clean")
    assert (Path(clean) / "big.bin").read_bytes() == BIG
    stored(bench.repo, BIG).chmod(0o444)
    assert stored(bench.repo, BIG).stat().st_nlink == 1, "nobody can change the object through its copy"


def test_what_nobody_changed_is_no_change(bench: Bench) -> None:
    give(bench, BIG)
    folder = opened(bench)
    assert git(folder, "status", "--porcelain") == "", "also for an agent that asks git"
    write(folder, other="o\n")
    assert [change.path for change in taken(bench).changes] == ["other"]
    touched = opened(bench, "S2")
    os.utime(touched / "big.bin")
    write(touched, other="o\n")
    assert [change.path for change in taken(bench, "S2").changes] == ["other"], "a touched file is the same"


def test_no_raw_copy_of_an_unchanged_file_is_made(bench: Bench) -> None:
    give(bench, BIG)
    write(opened(bench), other="o\n")
    taken(bench)
    name = git(bench.repo, "hash-object", "--no-filters", str(stored(bench.repo, BIG)))
    assert git(bench.repo, "cat-file", "-t", name, check=False, store=bench.own) == ""


def test_a_check_that_left_everything_alone_changed_nothing(bench: Bench) -> None:
    give(bench, BIG)
    folder = bench.workspace.checkout(bench.first, "clean")
    note = bench.workspace.noted_index(folder)
    assert bench.workspace.changed_in(folder, note) == []
    (Path(folder) / "big.bin").write_bytes(NEW)
    assert bench.workspace.changed_in(folder, note) is None


def test_a_leftover_folder_is_kept_as_pointers_too(bench: Bench) -> None:
    give(bench, BIG)
    folder = opened(bench)
    write(folder, other="o\n")
    (folder / "new.bin").write_bytes(NEW)
    snapshot = bench.again().restore("S1", 1)
    assert snapshot is not None
    assert sorted(change.path for change in snapshot.changes) == ["new.bin", "other"]
    assert git(bench.repo, "show", f"{snapshot.commit}:new.bin") == pointer(NEW)


def test_a_deleted_file_is_deleted_and_a_mode_is_a_mode(bench: Bench) -> None:
    give(bench, BIG)
    (opened(bench) / "big.bin").unlink()
    assert [(change.path, change.status) for change in taken(bench).changes] == [("big.bin", "D")]
    (opened(bench, "S2") / "big.bin").chmod(0o755)
    snapshot = taken(bench, "S2")
    assert [(change.path, change.new_mode) for change in snapshot.changes] == [("big.bin", "100755")]
    assert bench.text(snapshot.commit, "big.bin") == pointer(BIG)


def test_a_pointer_without_its_object_stays_a_pointer_and_is_said(bench: Bench) -> None:
    give(bench, BIG, here=False)
    assert bench.workspace.not_in_checkouts(bench.first) == ([], ["big.bin"])
    folder = opened(bench)
    assert (folder / "big.bin").read_text() == pointer(BIG) + "\n"
    write(folder, other="o\n")
    assert [change.path for change in taken(bench).changes] == ["other"]
    stored(bench.repo, BIG).parent.mkdir(parents=True)
    stored(bench.repo, BIG).write_bytes(BIG)
    assert bench.workspace.not_in_checkouts(bench.first) == ([], [])


def test_files_that_were_committed_as_they_are_stay_so_until_they_change(bench: Bench) -> None:
    (bench.repo / "raw.bin").write_bytes(BIG)
    git(bench.repo, "add", "-A")
    git(bench.repo, "commit", "-qm", "raw")
    folder = opened(bench)
    write(folder, **{".gitattributes": RULES, "empty.bin": "", "copied.bin": pointer(NEW) + "\n"})
    snapshot = taken(bench)
    assert sorted(change.path for change in snapshot.changes) == [".gitattributes", "copied.bin", "empty.bin"]
    assert bench.text(snapshot.commit, "copied.bin") == pointer(NEW)
    assert bench.text(snapshot.commit, "empty.bin") == "", "an empty file has no object"


def test_a_file_that_rules_no_longer_give_to_lfs_is_kept_as_it_is(bench: Bench) -> None:
    give(bench, BIG)
    folder = opened(bench)
    write(folder, **{".gitattributes": ""})
    (folder / "big.bin").write_bytes(NEW)
    snapshot = taken(bench)
    assert git(bench.repo, "cat-file", "-s", f"{snapshot.commit}:big.bin") == str(len(NEW))


def test_a_file_that_is_too_large_is_left_out_with_the_reason(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lfs, "LARGEST_OBJECT", 1000)
    give(bench, BIG)
    folder = opened(bench)
    (folder / "big.bin").write_bytes(NEW)
    (folder / "new.bin").write_bytes(NEW)
    snapshot = taken(bench)
    assert snapshot.changes == ()
    assert [line.partition(":")[0] for line in snapshot.left_out] == ["big.bin", "new.bin"]
    assert "Git LFS" in snapshot.left_out[0]


def test_a_checkout_gets_only_so_much(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lfs, "MOST_FILLED", 1000)
    give(bench, BIG)
    assert (opened(bench) / "big.bin").read_text() == pointer(BIG) + "\n"
    assert bench.workspace.not_in_checkouts(bench.first) == ([], ["big.bin"])


def test_the_work_of_one_story_is_there_for_the_next(bench: Bench) -> None:
    give(bench, BIG)
    folder = opened(bench)
    (folder / "big.bin").write_bytes(NEW)
    commit = taken(bench).commit
    assert (Path(bench.workspace.checkout(commit, "clean")) / "big.bin").read_bytes() == NEW


def test_a_clean_up_of_lfs_takes_nothing_of_a_runs_work(bench: Bench) -> None:
    """Promise: no maintenance loses an attempt's work; a person may type `git lfs prune` at any moment."""
    give(bench, BIG)
    base = bench.workspace.begin(bench.first)
    (opened(bench) / "big.bin").write_bytes(NEW)
    commit = taken(bench).commit
    stored(bench.repo, NEW).unlink()
    assert (Path(bench.workspace.checkout(commit, "clean")) / "big.bin").read_bytes() == NEW
    stored(bench.repo, NEW).unlink()
    bench.again().advance(base, commit)
    assert stored(bench.repo, NEW).read_bytes() == NEW
    bench.workspace.prune()
    assert stored(bench.repo, NEW).stat().st_nlink == 1, "the second name stays for ever"


@each("kind", ["sha1", "sha256"])
def test_both_kinds_of_repositories_have_their_marks(tmp_path: Path, kind: str) -> None:
    from santiago.workspace.workspace import GitWorkspace
    from tests.workspace.conftest import make_repo

    repo = make_repo(tmp_path / "repo", f"--object-format={kind}")
    bench = Bench(repo, tmp_path / "scratch", GitWorkspace(repo, "r1", tmp_path / "scratch"))
    give(bench, BIG)
    folder = opened(bench)
    assert (folder / "big.bin").read_bytes() == BIG
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "fsck") == ""


def test_a_run_in_a_sparse_checkout_has_all_files_and_deletes_none(bench: Bench) -> None:
    git(bench.repo, "sparse-checkout", "set", "--no-cone", "/a")
    assert not (bench.repo / "lib").exists()
    folder = opened(bench)
    assert (folder / "lib" / "c").read_text() == "c\n"
    write(folder, new="n\n")
    write(folder / "lib", c="changed\n")
    snapshot = taken(bench)
    assert sorted(change.path for change in snapshot.changes) == ["lib/c", "new"]
    assert bench.tree(snapshot.commit) == [".gitignore", "a", "b", "lib/c", "new"]
    assert not bench.workspace.is_dirty()


def test_a_submodule_is_named_as_empty_and_its_commit_stays(bench: Bench, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    git(source, "init", "-q")
    write(source, f="a\n")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "sub")
    git(bench.repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "sub")
    git(bench.repo, "commit", "-qm", "with submodule")
    assert bench.workspace.not_in_checkouts(bench.first) == (["sub"], [])
    folder = opened(bench)
    assert list((folder / "sub").iterdir()) == []
    write(folder, new="n\n")
    commit = taken(bench).commit
    assert git(bench.repo, "rev-parse", f"{commit}:sub") == git(source, "rev-parse", "HEAD")
