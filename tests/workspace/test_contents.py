"""A file of a commit is what git says, also where santiago remembered it from the snapshot before."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from santiago.workspace.repository import Repository
from tests.workspace.test_listing import WORKS

if TYPE_CHECKING:
    from tests.workspace.conftest import Bench

PATHS = ("a", "b", "c", "c/d", "./c", "lib/../a", "new/deep/ü.txt", "lib", "nowhere")


def _by_git(repo: Path, commit: str, path: str) -> bytes | None:
    done = subprocess.run(["git", "cat-file", "blob", f"{commit}:{path}"], cwd=repo, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def test_every_file_of_every_snapshot_is_what_git_says(bench: Bench) -> None:
    base = bench.first
    for number, work in enumerate(WORKS, 1):
        assert [bench.workspace.read(base, path) for path in PATHS] == [
            _by_git(bench.repo, base, path) for path in PATHS
        ]
        opened = bench.workspace.open("S1", number, [base])
        work(Path(opened.folder))
        snapshot = bench.workspace.snapshot("S1", number, "work\n")
        assert snapshot is not None
        base = snapshot.commit
    assert [bench.workspace.read(base, path) for path in PATHS] == [_by_git(bench.repo, base, path) for path in PATHS]


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
