"""Real processes for checks: one process server and the sandbox that works here."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from santiago.process.environment import for_checks
from santiago.process.sandbox import Sandbox, detect
from santiago.verification.commands import CommandRunner
from santiago.verification.port import Checks
from tests.process.serving import start_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.process.server import ProcessServer


@pytest.fixture(scope="session")
def server() -> Iterator[ProcessServer]:
    server = start_server()
    yield server
    server.close()


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """This test's own interpreter comes first, so that checks find pytest."""
    here = str(Path(sys.executable).parent)
    return for_checks({**os.environ, "PATH": f"{here}:{os.environ['PATH']}"})


@pytest.fixture(scope="session")
def sandbox(environment: dict[str, str]) -> Sandbox:
    return detect("auto", environment)


@pytest.fixture
def runner(server: ProcessServer, sandbox: Sandbox, environment: dict[str, str], tmp_path: Path) -> CommandRunner:
    scratch = tmp_path / "scratch"
    return CommandRunner(
        server=server, sandbox=sandbox, environment=environment, scratch=scratch, secrets=("hunter2-hunter2",)
    )


@pytest.fixture
def verifier(runner: CommandRunner) -> Checks:
    return Checks(runner)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    return folder


def never() -> str | None:
    """Nobody asks the checks to stop."""
    return None
