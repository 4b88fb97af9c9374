"""Git works in a checkout that stands where its repository stands, wherever that has its objects."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from santiago.process.command import Command
from santiago.process.server import ProcessServer
from santiago.workspace.stores import stores_of
from santiago.workspace.workspace import GitWorkspace
from tests.process.test_sandbox import KINDS, found
from tests.workspace.conftest import commit, git, make_repo, write

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[ProcessServer]:
    made = ProcessServer()
    yield made
    made.close()


def plain(top: Path) -> Path:
    return make_repo(top / "repo")


def worktree(top: Path) -> Path:
    git(make_repo(top / "main"), "worktree", "add", "-q", str(top / "repo"))
    return top / "repo"


def of_a_bare_one(top: Path) -> Path:
    git(top, "clone", "-q", "--bare", str(make_repo(top / "main")), "bare.git")
    git(top / "bare.git", "worktree", "add", "-q", str(top / "repo"))
    return top / "repo"


def shared(top: Path) -> Path:
    git(top, "clone", "-q", "--shared", str(make_repo(top / "main")), "repo")
    return top / "repo"


def shared_twice(top: Path) -> Path:
    """The second one names what it borrows from by a relative path."""
    git(top, "clone", "-q", "--shared", str(make_repo(top / "main")), "middle")
    git(top, "clone", "-q", "--shared", "middle", "repo")
    (top / "repo/.git/objects/info/alternates").write_text("../../../middle/.git/objects\n")
    return top / "repo"


def with_a_space(top: Path) -> Path:
    return make_repo(top / "my repo")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("made", [plain, worktree, of_a_bare_one, shared, shared_twice, with_a_space])
def test_git_works_in_a_checkout_and_says_nothing_of_its_place(
    kind: str, made: object, tmp_path: Path, server: ProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = made(tmp_path)  # type: ignore[operator]  # one of the functions above
    write(repo, own="this repository's own\n")
    commit(repo, "Own")
    box = found(kind, {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}, monkeypatch)
    workspace = GitWorkspace(repo, "r1", tmp_path / "scratch", stores_at=box.stores)
    folder = workspace.open("S1", 1, (git(repo, "rev-parse", "HEAD"),)).folder
    ground = box.ground(str(repo), stores=workspace.stores)
    script = "git log --format=%s && git status --short && git show HEAD:own HEAD~1:b && git fsck --connectivity-only"
    plain_ = Command(argv=("/bin/sh", "-c", script), cwd=folder, env={"PATH": os.environ["PATH"]}, timeout_ms=60_000)
    report = server.run(box.wrap(plain_, place=ground.place(folder)))
    assert report.head == "Own\nStart\nthis repository's own\nb\n"
    (Path(folder) / "work").write_text("w\n")
    snapshot = workspace.snapshot("S1", 1, "S1\n")
    assert snapshot is not None
    assert [change.path for change in snapshot.changes] == ["work"]


def test_alternates_in_a_circle_are_followed_once(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / name / "info").mkdir(parents=True)
        (tmp_path / name / "info/alternates").write_text(f'# a note\n"../{other}"\n{tmp_path}/missing\n')
    assert stores_of(tmp_path / "a") == (str(tmp_path / "a"), str(tmp_path / "b"))
