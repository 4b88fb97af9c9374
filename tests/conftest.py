"""Settings of all tests: the same examples on every machine, and no failure for a slow one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent
WHOLE = ("agents", "crash", "docs", "journeys", "proofs")
"""Folders whose tests carry out whole runs; others mark theirs with `whole`."""

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")


def pytest_configure() -> None:
    """Let checks find `python3` where it is: a shim that looks for it first takes longer than most of them."""
    found = subprocess.run(
        ["python3", "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=True
    )
    folder = Path(found.stdout.strip()).parent
    if shutil.which("python3") != str(folder / "python3"):
        os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out the tests that carry out whole runs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the edit loop does not wait for."""
    if config.getoption("--quick"):
        long = [
            item for item in items if item.get_closest_marker("whole") or item.path.relative_to(TESTS).parts[0] in WHOLE
        ]
        config.hook.pytest_deselected(items=long)
        left = set(long)
        items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is trusted in a test is not trusted by whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
