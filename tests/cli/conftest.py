"""Runs that many tests look at and none changes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.cli import greeter, iterating

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def _python3_itself() -> Iterator[None]:
    """Let checks find `python3` where it is: a shim that looks for it first costs more than most of them."""
    asked = subprocess.run(
        ["python3", "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=True
    )
    folder = os.path.dirname(asked.stdout.strip())
    with pytest.MonkeyPatch.context() as patch:
        if shutil.which("python3") != os.path.join(folder, "python3"):
            patch.setenv("PATH", folder, prepend=os.pathsep)
        yield


class Done(NamedTuple):
    """A run that has ended."""

    repo: Path
    out_dir: Path
    code: int
    said: str


@pytest.fixture(scope="session")
def success(tmp_path_factory: pytest.TempPathFactory) -> Done:
    repo = greeter.make(tmp_path_factory.mktemp("success") / "repo")
    ran = greeter.carry_out(repo)
    assert ran.returncode == 0, ran.stderr
    return Done(repo, greeter.out_dir(repo), ran.returncode, ran.stderr)


@pytest.fixture(scope="session")
def failure(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run whose first story fails for good, in a log of GitHub's."""
    limits = "[limits]\nstory_max_attempts = 2\n"
    repo = greeter.make(tmp_path_factory.mktemp("failure") / "repo", greeter.BAD, limits=limits)
    ran = greeter.carry_out(repo, {"GITHUB_ACTIONS": "true"})
    return Done(repo, greeter.out_dir(repo), ran.returncode, ran.stderr)


@pytest.fixture(scope="session")
def first_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a finished run of the first version of a document, which nobody has merged yet."""
    repo = iterating.make(tmp_path_factory.mktemp("first"))
    iterating.run(repo)
    return repo
