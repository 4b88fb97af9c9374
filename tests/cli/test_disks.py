"""Disks that are full, read-only or not there at all: said before anything starts, with the place and the remedy."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.greeter import carry_out, git, make


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make(tmp_path / "repo")


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    place.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "none", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def refused(repo: Path, code: int, *words: str, env: dict[str, str] | None = None) -> None:
    """See that a run ends before anything began, and that its words name all of these."""
    done = carry_out(repo, env)
    assert done.returncode == code, done.stderr
    for word in (*words, "nothing was started", "run the same command again"):
        assert word in done.stderr
    assert "bug" not in done.stderr
    logs = list(repo.glob(".santiago/runs/*/progress.ndjson"))
    assert logs == []
    assert "santiago/" not in git(repo, "for-each-ref")


def test_a_cache_folder_that_cannot_be_is_refused_with_the_way_round_it(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    refused(repo, 30, "ENOTDIR", "XDG_CACHE_HOME", env={"XDG_CACHE_HOME": str(tmp_path / "file")})


def test_a_full_or_read_only_folder_is_refused_and_the_command_works_once_mended(repo: Path, tmp_path: Path) -> None:
    with mounted(tmp_path / "cache", "size=1m"):
        refused(repo, 20, "MiB are free", "XDG_CACHE_HOME", str(tmp_path / "cache"))
    with mounted(tmp_path / "cache", "size=100m", "nr_inodes=3"):
        refused(repo, 20, "inodes", "XDG_CACHE_HOME", str(tmp_path / "cache"))
    with mounted(tmp_path / "small", "size=64k"):
        refused(repo, 20, "MiB are free", "TMPDIR", env={"TMPDIR": str(tmp_path / "small")})
    with mounted(tmp_path / "cache", "ro"):
        refused(repo, 30, "EROFS", "XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert carry_out(repo).returncode == 0


def test_objects_on_a_full_disk_are_refused(repo: Path, tmp_path: Path) -> None:
    objects = repo / ".git" / "objects"
    kept = tmp_path / "kept"
    objects.rename(kept)
    with mounted(objects, "size=1m"):
        subprocess.run(["cp", "-a", f"{kept}/.", str(objects)], check=True)
        refused(repo, 20, "MiB are free", str(objects))


def test_a_read_only_git_directory_is_refused(repo: Path) -> None:
    bound = ["mount", "--bind", str(repo / ".git"), str(repo / ".git")]
    if subprocess.run(bound, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not permitted here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(repo / ".git")], check=True)
        done = carry_out(repo, code=30)
        assert "EROFS" in done.stderr
        assert str(repo / ".git") in done.stderr
    finally:
        subprocess.run(["umount", "--lazy", str(repo / ".git")], check=True)
