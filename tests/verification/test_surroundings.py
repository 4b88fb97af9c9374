"""Without a sandbox an agent can change what every check loads: santiago sees that it did (promise 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from santiago.verification.sealing import surroundings

if TYPE_CHECKING:
    from pathlib import Path

CHECK = "python3 -m pytest -q"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return variables of a virtual environment whose python is a link to an interpreter elsewhere."""
    for place in (
        "base/bin",
        "base/lib/python3.12/site-packages",
        "venv/bin",
        "venv/lib/python3.12/site-packages",
        "home",
        "extra",
    ):
        (tmp_path / place).mkdir(parents=True)
    for program in ("base/bin/python3.12", "venv/bin/pytest"):
        (tmp_path / program).write_text("#!/bin/sh\n")
        (tmp_path / program).chmod(0o755)
    (tmp_path / "venv/bin/python3").symlink_to(tmp_path / "base/bin/python3.12")
    (tmp_path / "venv/pyvenv.cfg").write_text(f"home = {tmp_path}/base/bin\n")
    return {"PATH": f"{tmp_path}/venv/bin", "HOME": f"{tmp_path}/home", "PYTHONPATH": f"{tmp_path}/extra"}


@pytest.mark.parametrize(
    "planted",
    [
        "venv/lib/python3.12/site-packages/evil.pth", "venv/lib/python3.12/site-packages/sitecustomize.py",
        "venv/lib/python3.12/sitecustomize.py", "base/lib/python3.12/site-packages/evil.pth", "extra/usercustomize/__init__.py",
        "home/.local/lib/python3.12/site-packages/usercustomize.py", "venv/pyvenv.cfg", "venv/bin/python3", "venv/bin/sh",
    ],
)  # fmt: skip
def test_what_python_loads_by_itself_is_seen_to_change(
    environment: dict[str, str], tmp_path: Path, planted: str
) -> None:
    before = surroundings.fingerprint(environment, [CHECK])
    (tmp_path / planted).unlink(missing_ok=True)
    (tmp_path / planted).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / planted).write_text("import evil\n")
    (tmp_path / planted).chmod(0o755)
    assert surroundings.fingerprint(environment, [CHECK]) != before


def test_a_package_that_is_installed_changes_nothing_that_loads_by_itself(
    environment: dict[str, str], tmp_path: Path
) -> None:
    before = surroundings.fingerprint(environment, [CHECK])
    (tmp_path / "venv/lib/python3.12/site-packages/requests").mkdir()
    assert surroundings.fingerprint(environment, [CHECK]) == before


def test_the_python_that_a_command_names_by_its_path_is_looked_at(tmp_path: Path, environment: dict[str, str]) -> None:
    environment["PATH"] = "/nowhere"
    command = f"{tmp_path}/base/bin/python3.12 -m unittest"
    before = surroundings.fingerprint(environment, [command])
    (tmp_path / "base/lib/python3.12/site-packages/evil.pth").write_text("import evil\n")
    assert surroundings.fingerprint(environment, [command]) != before
