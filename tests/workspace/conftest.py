"""A small real repository, and a workspace on it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from santiago.contract.ports.workspace import Snapshot, Workspace
from santiago.workspace.workspace import GitWorkspace

ENV = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
    "GIT_AUTHOR_NAME": "U", "GIT_AUTHOR_EMAIL": "u@example.org", "GIT_COMMITTER_NAME": "U", "GIT_COMMITTER_EMAIL": "u@example.org",
}  # fmt: skip


def git(folder: Path | str, *arguments: str, check: bool = True, store: Path | None = None) -> str:
    """Run git as a user or an agent would, believing whatever stands in the folder; `store` has objects that no ref names."""
    env = ENV | ({"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(store)} if store else {})
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
    if check and done.returncode:
        raise AssertionError(f"git {arguments}: {done.stderr.decode()}")
    return done.stdout.decode("utf-8", "backslashreplace").strip()


def write(folder: Path | str, **files: str) -> None:
    for name, text in files.items():
        Path(folder, name).write_text(text, encoding="utf-8")


def commit(folder: Path | str, message: str) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD")


@dataclass
class Bench:
    repo: Path
    scratch: Path
    workspace: GitWorkspace

    @property
    def first(self) -> str:
        return git(self.repo, "rev-parse", "HEAD")

    def again(self) -> GitWorkspace:
        """A workspace as the next start of santiago has it: it remembers nothing."""
        return GitWorkspace(self.repo, "r1", self.scratch)

    def opened(self, story: str = "S1") -> Path:
        """The folder of a story's first attempt."""
        return Path(self.workspace.open(story, 1, (self.first,)).folder)

    def taken(self, story: str = "S1", attempt: int = 1) -> Snapshot:
        snapshot = self.workspace.snapshot(story, attempt, f"{story}\n")
        assert snapshot is not None
        return snapshot

    def work(self, story: str, *base: str, attempt: int = 1, **files: str) -> str:
        """Let an attempt write these files, and return its commit."""
        write(self.workspace.open(story, attempt, base or (self.first,)).folder, **files)
        return self.taken(story, attempt).commit

    @property
    def own(self) -> Path:
        """Where objects are that no ref names yet."""
        return self.workspace.repository.own.folder

    def tree(self, commit: str) -> list[str]:
        return git(self.repo, "ls-tree", "-r", "--name-only", "-z", commit, store=self.own).split("\0")[:-1]

    def text(self, commit: str, path: str) -> str:
        return git(self.repo, "show", f"{commit}:{path}", store=self.own)


def make_repo(path: Path, *options: str) -> Path:
    git(path.parent, "init", "-q", "--template=", "-b", "main", *options, path.name)
    write(path, a="one\ntwo\nthree\nfour\nfive\n", b="b\n")
    Path(path, "lib").mkdir()
    write(path / "lib", c="c\n")
    write(path, **{".gitignore": "*.log\n"})
    commit(path, "Start")
    return path


@pytest.fixture(autouse=True)
def _own_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the machine's user reaches a test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


ALONE, STAY = "each git process alone", "git processes that stay"
"""How commands use the workspace, and how a run does while it works."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Have a bench in both ways, unless the module says which one its tests are about."""
    if "bench" in metafunc.fixturenames:
        metafunc.parametrize("bench", getattr(metafunc.module, "WAYS", (ALONE, STAY)), indirect=True)


@pytest.fixture(scope="session")
def made_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repo(tmp_path_factory.mktemp("made") / "repo")


@pytest.fixture
def bench(tmp_path: Path, made_repo: Path, request: pytest.FixtureRequest) -> Iterator[Bench]:
    repo = tmp_path / "repo"
    shutil.copytree(made_repo, repo, symlinks=True)
    git(repo, "update-index", "-q", "--refresh")  # the copies are the files that the index knows
    workspace = GitWorkspace(repo, "r1", tmp_path / "scratch")
    port: Workspace = workspace  # the adapter fits the port, says the type checker
    assert port is workspace
    with workspace.repository.session() if "stay" in request.param else nullcontext():
        yield Bench(repo, tmp_path / "scratch", workspace)
