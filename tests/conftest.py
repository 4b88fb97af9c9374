"""Settings of all tests: the same examples on every machine, and no failure for a slow one."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.engine.servers"]
signal.signal(
    signal.SIGHUP, signal.SIG_DFL
)  # whoever starts the tests with nohup does not mean the programs that they start

TESTS = Path(__file__).parent
WHOLE = [
    "agents",
    "crash",
    "docs",
    "journeys",
    "proofs",
    "board/governance/test_governed_loop.py",
    "board/test_loop.py",
    "board/test_unproven.py",
    "cli/test_agent_endings.py",
    "cli/test_asked_at_the_terminal.py",
    "cli/test_coming_to_rest.py",
    "cli/test_environments.py",
    "cli/test_init.py",
    "cli/test_iterations.py",
    "cli/test_notices.py",
    "cli/test_run_commands.py",
    "cli/test_standing.py",
    "cli/test_step_by_step.py",
    "cli/test_tests_first.py",
    "cli/test_verdicts.py",
    "engine/test_before_the_start.py",
    "engine/test_chaos.py",
    "engine/test_duties.py",
    "engine/test_machines.py",
    "engine/test_queues.py",
    "executor/test_tests_first_in_git.py",
    "judge/naming/test_real_runners.py",
    "sessions/test_decisions.py",
    "sessions/test_turns.py",
    "tui/test_real_reviews.py",
    "tui/test_real_runs.py",
    "tui/test_terminal.py",
    "web/test_adversaries.py",
    "web/test_pages_in_a_browser.py",
    "web/test_requests.py",
]
"""Whose tests carry out whole runs, or wait for other programs."""

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
        long = {item for item in items if any(item.path.is_relative_to(TESTS / name) for name in WHOLE)}
        config.hook.pytest_deselected(items=list(long))
        items[:] = [item for item in items if item not in long]


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is trusted in a test is not trusted by whoever runs the tests. What no test shows is taken: see `tests.cli.santiago`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SANTIAGO_POLICY_UNPROVEN", "accept")
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
