"""Git works in a checkout that stands where its repository stands, wherever that has its objects."""

import os
import subprocess
from pathlib import Path

import pytest

from santiago.process.command import Command
from santiago.process.server import ProcessServer
from santiago.workspace.own_objects import stores_of
from santiago.workspace.workspace import GitWorkspace
from tests.process.test_sandbox import KINDS, found
from tests.workspace.conftest import ENV, commit, git, make_repo, write

MADE = {
    "plain": "mv main repo",
    "a worktree": "git -C main worktree add -q ../repo",
    "a worktree of a bare one": "git clone -q --bare main bare.git; git -C bare.git worktree add -q ../repo",
    "shared": "git clone -q --shared main repo",
    "shared twice": "git clone -q --shared main middle; git clone -q --shared middle repo;"
    " echo ../../../middle/.git/objects >repo/.git/objects/info/alternates",
    "with a space": "mv main 'my repo'",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("made", MADE)
def test_git_works_in_a_hidden_checkout(kind: str, made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repo(tmp_path / "main")
    subprocess.run(["sh", "-ec", MADE[made]], cwd=tmp_path, env=ENV, check=True)
    repo = tmp_path / ("my repo" if made == "with a space" else "repo")
    write(repo, own="this repository's own\n")
    commit(repo, "Own")
    box = found(kind, {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}, monkeypatch)
    workspace = GitWorkspace(repo, "r1", tmp_path / "scratch", stores_at=box.stores)
    folder = workspace.open("S1", 1, (git(repo, "rev-parse", "HEAD"),)).folder
    ground = box.ground(str(repo), stores=workspace.stores)
    script = "git log --format=%s && git status --short && git show HEAD:own HEAD~1:b && git fsck --connectivity-only"
    plain = Command(argv=("/bin/sh", "-c", script), cwd=folder, env={"PATH": os.environ["PATH"]}, timeout_ms=60_000)
    server = ProcessServer()
    report = server.run(box.wrap(plain, place=ground.place(folder)))
    assert server.close()
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
