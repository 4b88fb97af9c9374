"""Paths and files of a commit are what git says, also where santiago followed them from snapshot to snapshot."""

import os
import shutil
import subprocess
from pathlib import Path
from unittest.mock import patch

from santiago.workspace.repository import Repository
from tests.workspace.conftest import Bench, write


def _added(top: Path) -> None:
    (top / "new" / "deep").mkdir(parents=True)
    (top / "new" / "deep" / "ü.txt").write_text("new\n", encoding="utf-8")


def _removed_and_moved(top: Path) -> None:
    (top / "a").unlink()
    shutil.rmtree(top / "lib")
    (top / "b").rename(top / "c")


def _folder_for_file(top: Path) -> None:
    (top / "c").unlink()
    (top / "c").mkdir()
    (top / "c" / "d").write_text("d\n", encoding="utf-8")


def _link_for_file_and_names_alike(top: Path) -> None:
    (top / "c" / "d").unlink()
    (top / "c" / "d").symlink_to("nowhere")
    for name in (b"x\xff", rb"x\xff"):
        Path(os.fsdecode(os.path.join(os.fsencode(top), name))).write_text("x\n", encoding="utf-8")


def _one_of_both(top: Path) -> None:
    os.unlink(os.path.join(os.fsencode(top), b"x\xff"))


WORKS = (_added, _removed_and_moved, _folder_for_file, _link_for_file_and_names_alike, _one_of_both)


def test_git_is_asked_for_the_paths_of_a_run_once(bench: Bench) -> None:
    base = bench.first
    with patch.object(Repository, "on_objects", autospec=True, side_effect=Repository.on_objects) as asked:
        for number in range(1, 30):
            bench.workspace.files(base)
            base = bench.work("S1", base, attempt=number, a=f"{number}\n")
    assert sum("ls-tree" in call.args for call in asked.call_args_list) == 1


PATHS = ("a", "b", "c", "c/d", "./c", "lib/../a", "new/deep/ü.txt", "lib", "nowhere")


def test_paths_and_files_of_every_snapshot_are_what_git_says(bench: Bench) -> None:
    base = bench.first

    def by_git(path: str) -> bytes | None:
        ran = subprocess.run(["git", "cat-file", "blob", f"{base}:{path}"], cwd=bench.repo, capture_output=True)
        return ran.stdout if ran.returncode == 0 else None

    for number, work in enumerate([lambda top: write(top, first="1\n"), *WORKS], 1):
        assert [bench.workspace.read(base, path) for path in PATHS] == [by_git(path) for path in PATHS]
        work(Path(bench.workspace.open("S1", number, (base,)).folder))
        base = bench.taken("S1", number).commit
        assert bench.workspace.files(base) == bench.again().files(base), number
    assert [bench.workspace.read(base, path) for path in PATHS] == [by_git(path) for path in PATHS]
    assert r"x\xff" in bench.workspace.files(base)


def test_what_did_not_change_is_not_asked_for_again(bench: Bench) -> None:
    before = bench.workspace.read(bench.first, "a")
    folder = bench.opened()
    (folder / "new.txt").write_text("new\n", encoding="utf-8")
    snapshot = bench.taken()
    with patch.object(Repository, "content", side_effect=AssertionError("git was asked")):
        assert bench.workspace.read(snapshot.commit, "a") == before


def test_names_with_line_ends_and_any_bytes_are_read_as_they_are(bench: Bench) -> None:
    odd = {"two\nlines.txt": b"0" * 40 + b" blob 3\nabc", "missing": b"\0\xff missing\n", "empty": b""}
    folder = bench.opened()
    for name, content in odd.items():
        (folder / name).write_bytes(content)
    snapshot = bench.taken()
    assert {name: bench.workspace.repository.content(snapshot.commit, name) for name in odd} == odd
    assert bench.workspace.repository.content(snapshot.commit, "a\0b") is None
    assert bench.workspace.repository.content(snapshot.commit, "empty") == b""
