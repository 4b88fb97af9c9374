"""Files of Git LFS: content in every checkout, pointers with their objects in every commit, and no program of LFS."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from santiago.workspace import lfs
from tests.util.each import each
from tests.workspace.conftest import STAY, Bench, commit, git, write

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
    commit(bench.repo, "LFS")
    if here:
        stored(bench.repo, content).parent.mkdir(parents=True)
        stored(bench.repo, content).write_bytes(content)


def test_a_changed_file_lands_as_a_pointer_with_its_object(bench: Bench) -> None:
    give(bench, BIG)
    folder = bench.opened()
    (folder / "big.bin").write_bytes(NEW)
    snapshot = bench.taken()
    assert bench.text(snapshot.commit, "big.bin") == pointer(NEW)
    assert stored(bench.repo, NEW).read_bytes() == NEW
    assert [change.path for change in snapshot.changes] == ["big.bin"]
    assert (Path(bench.workspace.checkout(snapshot.commit, "clean")) / "big.bin").read_bytes() == NEW
    assert snapshot.left_out == ()
    assert not list((bench.repo / ".git/lfs/tmp").iterdir())


def test_a_new_file_lands_as_a_pointer_also_by_rules_that_came_with_it(bench: Bench) -> None:
    folder = bench.opened()
    (folder / "deep" / "er").mkdir(parents=True)
    write(folder / "deep", **{".gitattributes": RULES})
    (folder / "deep" / "er" / "new.bin").write_bytes(NEW)
    os.chmod(folder / "deep" / "er" / "new.bin", 0o755)
    (folder / "outside.bin").write_bytes(b"\0plain\n")
    snapshot = bench.taken()
    assert bench.text(snapshot.commit, "deep/er/new.bin") == pointer(NEW)
    assert bench.text(snapshot.commit, "outside.bin") == "\0plain"
    modes = {change.path: change.new_mode for change in snapshot.changes}
    assert modes["deep/er/new.bin"] == "100755"
    assert stored(bench.repo, NEW).read_bytes() == NEW


def test_agents_and_checks_see_the_content_and_a_check_that_left_everything_alone_changed_nothing(bench: Bench) -> None:
    give(bench, BIG)
    assert (bench.opened() / "big.bin").read_bytes() == BIG
    clean = bench.workspace.checkout(bench.first, "clean")
    assert (Path(clean) / "big.bin").read_bytes() == BIG
    stored(bench.repo, BIG).chmod(0o444)
    assert stored(bench.repo, BIG).stat().st_nlink == 1, "nobody can change the object through its copy"
    note = bench.workspace.noted_index(clean)
    assert bench.workspace.changed_in(clean, note) == {}
    (Path(clean) / "big.bin").write_bytes(NEW)
    assert bench.workspace.changed_in(clean, note) is None


def test_what_nobody_changed_is_no_change_and_gets_no_raw_copy(bench: Bench) -> None:
    give(bench, BIG)
    folder = bench.opened()
    assert git(folder, "status", "--porcelain") == "", "also for an agent that asks git"
    write(folder, other="o\n")
    assert [change.path for change in bench.taken().changes] == ["other"]
    name = git(bench.repo, "hash-object", "--no-filters", str(stored(bench.repo, BIG)))
    assert git(bench.repo, "cat-file", "-t", name, check=False, store=bench.own) == ""
    touched = bench.opened("S2")
    os.utime(touched / "big.bin")
    write(touched, other="o\n")
    assert [change.path for change in bench.taken("S2").changes] == ["other"], "a touched file is the same"


def test_a_leftover_a_deletion_a_mode_and_a_file_that_rules_no_longer_give_to_lfs_are_kept(bench: Bench) -> None:
    give(bench, BIG)
    folder = bench.opened()
    write(folder, other="o\n")
    (folder / "new.bin").write_bytes(NEW)
    left = bench.again().restore("S1", 1)
    assert left is not None
    assert sorted(change.path for change in left.changes) == ["new.bin", "other"]
    assert git(bench.repo, "show", f"{left.commit}:new.bin") == pointer(NEW)
    (bench.opened("S2") / "big.bin").unlink()
    assert [(change.path, change.status) for change in bench.taken("S2").changes] == [("big.bin", "D")]
    (bench.opened("S3") / "big.bin").chmod(0o755)
    snapshot = bench.taken("S3")
    assert [(change.path, change.new_mode) for change in snapshot.changes] == [("big.bin", "100755")]
    assert bench.text(snapshot.commit, "big.bin") == pointer(BIG)
    folder = bench.opened("S4")
    write(folder, **{".gitattributes": ""})
    (folder / "big.bin").write_bytes(NEW)
    assert git(bench.repo, "cat-file", "-s", f"{bench.taken('S4').commit}:big.bin") == str(len(NEW))


def test_a_pointer_too_large_or_without_object_stays_and_is_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    give(bench, BIG, here=False)
    assert bench.workspace.not_in_checkouts(bench.first) == ([], ["big.bin"])
    folder = bench.opened()
    assert (folder / "big.bin").read_text() == pointer(BIG) + "\n"
    write(folder, other="o\n")
    assert [change.path for change in bench.taken().changes] == ["other"]
    stored(bench.repo, BIG).parent.mkdir(parents=True)
    stored(bench.repo, BIG).write_bytes(BIG)
    assert bench.workspace.not_in_checkouts(bench.first) == ([], [])
    monkeypatch.setattr(lfs, "MOST_FILLED", 1000)
    assert (bench.opened("S2") / "big.bin").read_text() == pointer(BIG) + "\n"
    assert bench.workspace.not_in_checkouts(bench.first) == ([], ["big.bin"])


def test_files_that_were_committed_as_they_are_stay_so_until_they_change(bench: Bench) -> None:
    (bench.repo / "raw.bin").write_bytes(BIG)
    commit(bench.repo, "raw")
    folder = bench.opened()
    write(folder, **{".gitattributes": RULES, "empty.bin": "", "copied.bin": pointer(NEW) + "\n"})
    snapshot = bench.taken()
    assert sorted(change.path for change in snapshot.changes) == [".gitattributes", "copied.bin", "empty.bin"]
    assert bench.text(snapshot.commit, "copied.bin") == pointer(NEW)
    assert bench.text(snapshot.commit, "empty.bin") == "", "an empty file has no object"


def test_a_file_that_is_too_large_is_left_out_with_the_reason(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lfs, "LARGEST_OBJECT", 1000)
    give(bench, BIG)
    folder = bench.opened()
    (folder / "big.bin").write_bytes(NEW)
    (folder / "new.bin").write_bytes(NEW)
    snapshot = bench.taken()
    assert snapshot.changes == ()
    assert [line.partition(":")[0] for line in snapshot.left_out] == ["big.bin", "new.bin"]
    assert "Git LFS" in snapshot.left_out[0]


def test_a_clean_up_of_lfs_takes_nothing_of_a_runs_work(bench: Bench) -> None:
    """Promise: no maintenance loses an attempt's work; a person may type `git lfs prune` at any moment."""
    give(bench, BIG)
    base = bench.workspace.begin(bench.first)
    (bench.opened() / "big.bin").write_bytes(NEW)
    commit = bench.taken().commit
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
    folder = bench.opened()
    assert (folder / "big.bin").read_bytes() == BIG
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "fsck") == ""


def test_a_run_in_a_sparse_checkout_has_all_files_and_deletes_none(bench: Bench) -> None:
    git(bench.repo, "sparse-checkout", "set", "--no-cone", "/a")
    assert not (bench.repo / "lib").exists()
    folder = bench.opened()
    assert (folder / "lib" / "c").read_text() == "c\n"
    write(folder, new="n\n")
    write(folder / "lib", c="changed\n")
    snapshot = bench.taken()
    assert sorted(change.path for change in snapshot.changes) == ["lib/c", "new"]
    assert bench.tree(snapshot.commit) == [".gitignore", "a", "b", "lib/c", "new"]
    assert not bench.workspace.is_dirty()
