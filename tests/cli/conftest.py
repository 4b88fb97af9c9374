"""Runs that many tests look at and none changes."""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli import greeter, iterating


class Done(NamedTuple):
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
