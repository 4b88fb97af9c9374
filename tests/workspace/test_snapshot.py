"""Nothing is lost: whatever an agent does in its folder, what it leaves is kept as it is, and stays reachable."""

import ctypes
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.contract.errors import Kind, SantiagoError
from santiago.workspace.changes import MOST_PATCH, Changes
from tests.util.each import each
from tests.workspace.conftest import ENV, STAY, Bench, commit, git, make_repo, write

WAYS = (STAY,)


def test_a_folder_holds_exactly_the_base_and_untouched_it_is_no_change(bench: Bench) -> None:
    folder = bench.opened()
    assert sorted(entry.name for entry in folder.iterdir()) == [".git", ".gitignore", "a", "b", "lib"]
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "rev-parse", "--abbrev-ref", "HEAD") == "santiago/S1-1"
    assert git(folder, "log", "--format=%s") == "Start"
    write(folder, **{"noise.log": "ignored"})
    assert bench.workspace.snapshot("S1", 1, "x") is None
    assert bench.workspace.refs() == []


def test_new_changed_deleted_and_executable_files_are_listed_and_kept(bench: Bench) -> None:
    folder = bench.opened()
    write(folder, a="ONE\n", new="n\n", **{"x.log": "ignored"})
    (folder / "b").unlink()
    (folder / "lib" / "c").chmod(0o755)
    snapshot = bench.taken()
    assert {(change.status, change.path, change.old_mode, change.new_mode) for change in snapshot.changes} == {
        ("M", "a", "100644", "100644"), ("D", "b", "100644", "000000"),
        ("M", "lib/c", "100644", "100755"), ("A", "new", "000000", "100644"),
    }  # fmt: skip
    assert bench.tree(snapshot.commit) == [".gitignore", "a", "lib/c", "new"]
    assert "+ONE" in snapshot.patch
    assert "-one" in snapshot.patch
    assert snapshot.ref == "refs/santiago/r1/S1/1"
    assert git(bench.repo, "rev-parse", snapshot.ref, f"{snapshot.ref}^", f"{snapshot.ref}^{{tree}}").split() == [
        snapshot.commit, bench.first, snapshot.tree,
    ]  # fmt: skip
    assert git(bench.repo, "status", "--porcelain") == "", "the user's own files are not touched"


def test_earlier_work_is_laid_into_a_folder_as_changes_and_kept_with_what_the_agent_adds(bench: Bench) -> None:
    """An attempt that is asked only for a test begins on the work, on a head that has moved since, and after a set-up."""
    folder = bench.opened()
    write(folder, a="ONE\n", new="n\n")
    (folder / "b").unlink()
    earlier = bench.taken().commit
    moved = bench.work("S2", bench.first, other="o\n")
    workspace = bench.workspace
    again = Path(workspace.open("S1", 2, (bench.first, moved)).folder)
    write(again, made="by set-up\n")
    workspace.prepared("S1", 2)
    assert workspace.lay("S1", 2, earlier)
    assert git(again, "status", "--porcelain").split("\n") == ["M a", " D b", "?? made", "?? new"]
    write(again, test="t\n")
    taken = bench.taken("S1", 2)
    assert bench.tree(taken.commit) == [".gitignore", "a", "lib/c", "new", "other", "test"]
    assert {change.path for change in taken.changes} == {"a", "b", "new", "test"}
    clash = bench.work("S3", bench.first, a="zwei\n")
    third = Path(workspace.open("S1", 3, (bench.first, clash)).folder)
    assert not workspace.lay("S1", 3, earlier)
    assert git(third, "status", "--porcelain") == "", "where it does not fit, the attempt is an ordinary one"


DEEDS = {
    "a commit": "git add -A; git commit -qm mine",
    "a commit rewritten": "git add -A; git commit -q --amend -m rewritten",
    "another root": "git checkout -q --orphan other; git add -A; git commit -qm x; git branch -D santiago/S1-1",
    "no repository": "rm -rf .git",
    "a repository elsewhere": "rm -rf .git; echo 'gitdir: /nonexistent' >.git",
    "a link": "rm -rf .git; ln -s /etc .git",
    "its own repository": "rm -rf .git; git init -q",
    "a clean-up": "git add -A; git commit -qm x; git reflog expire --expire=now --all; git gc -q --prune=now",
    "staged": "git add new",
    "an index that says that a file never changes": "git update-index --assume-unchanged a",
}


@pytest.mark.parametrize("deed", DEEDS)
def test_whatever_an_agent_does_with_its_history_the_files_count(bench: Bench, deed: str) -> None:
    folder = bench.opened()
    write(folder, new="n")
    subprocess.run(["sh", "-ec", DEEDS[deed]], cwd=folder, env=ENV, check=True)
    write(folder, a="changed\n")
    snapshot = bench.taken()
    assert {change.path for change in snapshot.changes} == {"a", "new"}
    assert git(bench.repo, "rev-parse", f"{snapshot.commit}^") == bench.first
    assert git(bench.repo, "fsck", "--strict", "--connectivity-only", snapshot.commit) == ""


def test_a_change_that_leaves_size_and_time_alone_is_seen_and_a_damaged_index_costs_no_file(bench: Bench) -> None:
    folder = bench.opened()
    before = (folder / "b").stat()
    write(folder, b="B\n")
    os.utime(folder / "b", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [change.path for change in bench.taken().changes] == ["b"]
    write(bench.opened("S2"), new="n")
    (bench.scratch / "r1" / "own" / "S2-1" / "index").write_bytes(b"DIRC" + b"\xff" * 100)
    assert [change.path for change in bench.taken("S2").changes] == ["new"]


@pytest.mark.parametrize("commits", [True, False], ids=["with commits", "without a commit"])
def test_a_repository_inside_keeps_its_files(bench: Bench, commits: bool) -> None:
    folder = bench.opened()
    inner = folder / "vendor" / "inner"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    write(inner, file="kept\n")
    if commits:
        commit(inner, "inner")
    write(inner, later="kept too\n")
    snapshot = bench.taken()
    assert {(change.path, change.new_mode) for change in snapshot.changes} == {
        ("vendor/inner/file", "100644"), ("vendor/inner/later", "100644"),
    }  # fmt: skip


def test_files_that_pose_as_a_repository_and_odd_attributes_or_rules_hide_nothing_that_counts(bench: Bench) -> None:
    folder = bench.opened()
    (folder / "inner").mkdir()
    write(folder / "inner", **{".git": "gitdir: /nonexistent\n", "file": "kept\n"})
    assert [change.path for change in bench.taken().changes] == ["inner/file"]

    write(bench.opened("S2"), **{".gitattributes": "*.u working-tree-encoding=UTF-16\n", "x.u": "odd", "new": "n"})
    snapshot = bench.taken("S2")
    assert {change.path for change in snapshot.changes} == {".gitattributes", "x.u", "new"}
    assert bench.text(snapshot.commit, "x.u") == "odd"

    write(bench.opened("S3"), **{".gitattributes": "* text=auto\n", "dos.txt": "one\r\ntwo\r\n"})
    assert git(bench.repo, "cat-file", "-s", f"{bench.taken('S3').commit}:dos.txt") == "8"

    write(bench.opened("S4"), a="changed\n", hidden="h", **{".gitignore": "*\n"})
    assert {change.path for change in bench.taken("S4").changes} == {"a", ".gitignore"}


def test_links_are_kept_as_links_and_not_followed(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    write(tmp_path / "outside", secret="s3cret")
    folder = bench.opened()
    (folder / "to_file").symlink_to("/etc/passwd")
    (folder / "to_folder").symlink_to(tmp_path / "outside")
    shutil.rmtree(folder / "lib")
    (folder / "lib").symlink_to(tmp_path / "outside")
    snapshot = bench.taken()
    assert {(change.path, change.new_mode) for change in snapshot.changes} == {
        ("to_file", "120000"), ("to_folder", "120000"), ("lib", "120000"), ("lib/c", "000000"),
    }  # fmt: skip
    assert bench.text(snapshot.commit, "to_file") == "/etc/passwd"
    assert "s3cret" not in snapshot.patch


def test_strange_names_come_back_as_they_were(bench: Bench) -> None:
    names = ["naïve ☃.txt", "two\nlines", "tab\there", '"quoted"', " leading", "-rf", "a\\b", ":(top)x", "*"]
    names += ["n" * 255, "🦊" * 60]
    folder = bench.opened()
    for name in names:
        (folder / name).write_text(name, encoding="utf-8")
    (folder / os.fsdecode(b"not-utf8-\xff")).write_text("x", encoding="utf-8")
    snapshot = bench.taken()
    assert {change.path for change in snapshot.changes} == {*names, "not-utf8-\\xff"}
    clean = Path(bench.workspace.checkout(snapshot.commit, "S1-1"))
    assert all((clean / name).read_text(encoding="utf-8") == name for name in names)


@pytest.mark.parametrize(("depth", "lengths"), [(40, [1]), (20, [20, 100, 250])])
def test_files_beyond_the_longest_path_are_named_and_stop_nothing(bench: Bench, depth: int, lengths: list[int]) -> None:
    folder = bench.opened()
    write(folder, new="n")
    deep = f"for _ in range({depth}): os.mkdir('d' * 200); os.chdir('d' * 200)"
    script = f"import os\n{deep}\nfor n in {lengths}: open('f' * n, 'w').close()"
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
    snapshot = bench.taken()
    assert "new" in {change.path for change in snapshot.changes}
    assert "ddd" in snapshot.left_out[0]
    assert len(snapshot.left_out) + len(snapshot.changes) <= 1 + len(lengths)
    bench.workspace.close("S1", 1)
    assert not folder.exists()


def test_what_git_cannot_take_is_named_and_the_rest_is_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bench.opened()
    write(folder, **{".GIT": "not a name that git takes"})
    snapshot = bench.taken()
    assert snapshot.changes == ()
    assert [".GIT" in line for line in snapshot.left_out] == [True], "two complaints of one file are one"
    monkeypatch.chdir(folder)  # a socket's address is short: it cannot name a folder that lies deep
    write(folder, new="n")
    (folder / "b").unlink()
    os.mkfifo(folder / "b")
    with socket.socket(socket.AF_UNIX) as ear:
        ear.bind("socket")
        snapshot = bench.taken()
    assert "new" in {change.path for change in snapshot.changes}
    assert any(".GIT" in line for line in snapshot.left_out)


def test_a_folder_is_whole_until_the_machine_starts_anew(bench: Bench) -> None:
    folder = bench.opened()
    later = bench.again()
    assert later.whole("S1", 1)
    assert not later.whole("S1", 2)
    note = bench.scratch / "r1" / "own" / "S1-1" / "boot"
    for content in ("another start", ""):
        note.write_text(content)
        assert not later.whole("S1", 1)
    note.unlink()
    assert folder.is_dir()
    assert not later.whole("S1", 1)


def test_the_users_own_ignore_rules_hold(bench: Bench, tmp_path: Path) -> None:
    (bench.repo / ".git" / "info").mkdir()
    (bench.repo / ".git" / "info" / "exclude").write_text("scrap", encoding="utf-8")
    (tmp_path / "ignored").write_text("*.swp", encoding="utf-8")
    (tmp_path / "gitconfig").write_text("[core]\n\texcludesFile = ~/ignored\n", encoding="utf-8")
    bench.workspace = bench.again()  # the rules are read when santiago starts
    folder = bench.opened()
    write(folder, scrap="x", kept="x", **{"a.swp": "x"})
    assert {change.path for change in bench.taken().changes} == {"kept"}


def test_an_emptied_folder_is_the_deletion_of_everything_and_none_or_a_link_is_nothing_left(bench: Bench) -> None:
    folder = bench.opened()
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    snapshot = bench.taken()
    assert {change.status for change in snapshot.changes} == {"D"}
    assert bench.tree(snapshot.commit) == []
    folder = bench.opened("S2")
    shutil.rmtree(folder)
    assert bench.workspace.snapshot("S2", 1, "x") is None
    folder.symlink_to("/etc")
    assert bench.workspace.snapshot("S2", 1, "x") is None
    bench.workspace.close("S2", 1)
    assert not folder.is_symlink()
    assert Path("/etc/passwd").exists()


@each("files", ["0", "444"])
def test_files_without_rights_are_read_and_removed_all_the_same(tmp_path: Path, files: str) -> None:
    script = """
import os, sys
from pathlib import Path
from tests.workspace.conftest import make_repo, git, write
from santiago.workspace.workspace import GitWorkspace
top, files = Path(sys.argv[1]), int(sys.argv[2], 8)
repo = make_repo(top / "repo")
workspace = GitWorkspace(repo, "r1", top / "scratch")
folder = Path(workspace.open("S1", 1, [git(repo, "rev-parse", "HEAD")]).folder)
(folder / "closed" / "inner").mkdir(parents=True)
write(folder / "closed", f="f"); write(folder / "closed" / "inner", g="g"); write(folder, h="h")
for name, mode in (("h", files), ("lib/c", files), ("closed/f", 0o444), ("closed/inner", 0), ("closed", 0), ("lib", 0o555)):
    (folder / name).chmod(mode)
snapshot = workspace.snapshot("S1", 1, "x")
print(sorted(change.path for change in snapshot.changes), snapshot.left_out)
for name, mode in (("closed/inner", 0), ("closed", 0), ("lib", 0o555)):
    (folder / name).chmod(mode)
workspace.close("S1", 1)
print(folder.exists())
"""
    source = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, str(tmp_path), files], cwd=source, env={**os.environ, "PYTHONPATH": f"{source}:{source / 'src'}"},
        preexec_fn=_obey_rights, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "['closed/f', 'closed/inner/g', 'h'] ()\nFalse\n", done.stderr


def _obey_rights() -> None:
    """From the next program on, root has no power over files that ordinary users do not have."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


def test_a_patch_is_cut_but_the_list_of_changes_is_whole(bench: Bench) -> None:
    folder = bench.opened()
    write(folder, **{f"f{number}": "x\n" * 200_000 for number in range(10)})
    (folder / "binary").write_bytes(bytes(range(256)) * 1000)
    snapshot = bench.taken()
    assert len(snapshot.changes) == 11
    assert 1024 * 1024 <= len(snapshot.patch) < 1024 * 1024 + 100
    assert "not shown" in snapshot.patch[-60:]


def test_a_patch_without_end_is_not_read_to_its_end() -> None:
    changes = Changes(b"old new\n", b"the end\n")
    assert changes.take(b"old new\n:000000 100644 0 1 A\0new\0")
    assert changes.take(b"\0diff --git a/new b/new\n")
    assert not changes.take(b"+" * (MOST_PATCH + 1))
    changes.finish()
    assert [change.path for change in changes.listed] == ["new"]


def test_no_attempt_and_no_second_snapshot_of_one_is_lost_to_garbage_collection(bench: Bench) -> None:
    first, second = bench.work("S1", new="1"), bench.work("S2", new="2")
    assert bench.taken("S2").commit == second
    write(bench.scratch / "r1" / "work" / "S2-1", new="3")
    later = bench.taken("S2")
    assert later.ref == "refs/santiago/r1/S2/1-2"
    base = bench.workspace.open("S3", 1, (bench.first, bench.work("S4", other="x"), first)).base
    git(bench.repo, "reflog", "expire", "--expire=now", "--all")
    git(bench.repo, "gc", "-q", "--prune=now")
    assert all(bench.workspace.reachable(commit) for commit in (first, second, later.commit, base))
    assert git(bench.repo, "fsck", "--connectivity-only") == ""
    assert {(ref.story, ref.attempt) for ref in bench.workspace.refs()} == {("S1", 1), ("S2", 1), ("S4", 1)}


def test_after_a_crash_the_leftover_folder_is_kept_once(bench: Bench) -> None:
    folder = bench.opened()
    write(folder, new="n")
    later = bench.again()
    kept = later.restore("S1", 1)
    assert kept is not None
    assert bench.tree(kept.commit) == [".gitignore", "a", "b", "lib/c", "new"]
    write(folder, new="late writer")
    assert later.restore("S1", 1) == kept
    assert later.restore("S1", 2) is None


def test_what_a_crash_left_is_compared_with_all_that_it_was_begun_on(bench: Bench) -> None:
    """Never blamed for the work of others: a story that began on verified work, before that was on the branch."""
    needed, also = bench.work("S1", one="1"), bench.work("S2", two="2")
    base = (bench.first, needed, also)
    write(bench.workspace.open("S3", 1, base).folder, three="3")
    kept = bench.again().restore("S3", 1, base=base)
    assert kept is not None
    assert [change.path for change in kept.changes] == ["three"]


@pytest.mark.parametrize("damage", [b"", b"\0" * 300, None], ids=["emptied", "zeros", "missing"])
def test_a_restore_needs_none_of_the_notes_that_a_power_cut_may_take(bench: Bench, damage: bytes | None) -> None:
    bench.workspace.begin(bench.first)
    write(bench.opened(), new="n")
    own = bench.scratch / "r1" / "own" / "S1-1"
    for name in ("index", "base"):
        (own / name).unlink() if damage is None else (own / name).write_bytes(damage)
    (own / "index.lock").touch()
    kept = bench.again().restore("S1", 1, base=(bench.first,))
    assert kept is not None
    assert git(bench.repo, "diff", "--name-only", bench.first, kept.commit) == "new"


@pytest.mark.parametrize("place", ["the own store", "the repository"])
def test_a_full_disk_is_an_error_and_no_smaller_snapshot(bench: Bench, place: str) -> None:
    folder = bench.opened()
    write(folder, new="n", other="o")
    # A file where a folder of objects belongs: writing fails there as it does on a full disk.
    if place == "the repository":
        (bench.repo / ".git" / "objects" / "pack").rmdir()
        (bench.repo / ".git" / "objects" / "pack").touch()
    else:
        bench.workspace.repository.own.make()
        for number in range(256):
            (bench.own / f"{number:02x}").touch()
    with pytest.raises(SantiagoError) as caught:
        bench.workspace.snapshot("S1", 1, "x")
    assert caught.value.kind is not Kind.BUG
    assert bench.workspace.refs() == []


_FILES = st.dictionaries(
    st.lists(st.sampled_from(["a", "b", "lib", "x", "é", ".hidden"]), min_size=1, max_size=3).map("/".join),
    st.one_of(st.binary(max_size=40), st.none(), st.just("link")),
    max_size=6,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    from santiago.workspace.workspace import GitWorkspace

    top = tmp_path_factory.mktemp("shared")
    return Bench(make_repo(top / "repo"), top / "scratch", GitWorkspace(top / "repo", "r1", top / "scratch"))


_COUNT = iter(range(1, 10_000))


@settings(max_examples=20)
@given(_FILES)
def test_a_clean_checkout_equals_what_the_agent_left(shared: Bench, files: dict[str, bytes | str | None]) -> None:
    attempt = next(_COUNT)
    folder = Path(shared.workspace.open("S1", attempt, (shared.first,)).folder)
    for name, content in files.items():
        _put(folder / name, content)
    snapshot = shared.workspace.snapshot("S1", attempt, "x")
    if snapshot is None:
        assert _listing(folder) == _listing(Path(shared.workspace.checkout(shared.first, "clean")))
    else:
        assert _listing(Path(shared.workspace.checkout(snapshot.commit, "clean"))) == _listing(folder)
    shared.workspace.close("S1", attempt)


def _put(path: Path, content: bytes | str | None) -> None:
    for parent in (path, *path.parents[:3]):
        if parent.is_symlink() or parent.is_file():
            parent.unlink()
    if path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if content == "link":
        path.symlink_to("/nonexistent")
    elif isinstance(content, bytes):
        path.write_bytes(content)


def _listing(folder: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_file() and not name.startswith(".git/"):
            found[name] = path.read_bytes()
    return found


@each("sized", ["a new one", "one of the base", "many"])
def test_work_too_large_is_not_read_the_rest_kept(bench: Bench, sized: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """P3: a sparse file of 60 GiB would keep git busy past its time-out in every start."""
    folder = bench.opened(f"S{len(sized)}")
    write(folder, new="n\n")
    os.mkfifo(folder / "pipe")
    if sized == "many":
        monkeypatch.setattr("santiago.workspace.snapshot.MOST_FILES", 5)
        for number in range(20):
            write(folder, **{f"z{number:02}": "z"})
    else:
        os.truncate(folder / ("new" if sized == "a new one" else "a"), 60 * 2**30)
        write(folder, other="o\n")
    taken = bench.taken(f"S{len(sized)}")
    assert taken.too_large
    assert [change.path for change in taken.changes][:1] == ["new" if sized != "a new one" else "other"]
    again = bench.again().restore(f"S{len(sized)}", 1)
    assert again is not None
    assert again.tree == taken.tree


def test_large_files_that_git_ignores_or_the_base_holds_are_free(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("santiago.workspace.snapshot.MOST_BYTES", 20)
    write(bench.repo, large="l" * 100)
    commit(bench.repo, "large")
    folder = bench.opened()
    write(folder, new="n\n")
    write(folder, **{"ignored.log": "i" * 50})
    assert bench.taken().too_large == ()
