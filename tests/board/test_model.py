"""The model of lease and fence: it holds, and each of its guards is needed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[2] / "docs" / "models" / "board.pml"
GUARDS = sorted(set(re.findall(r"-D(NO_\w+)", MODEL.read_text(encoding="utf-8"))))

pytestmark = pytest.mark.skipif(
    not (shutil.which("spin") and shutil.which("gcc")),
    reason="spin or gcc is missing; on Debian: apt-get install spin gcc",
)


def checked(folder: Path, *switches: str) -> str:
    """Look at every state that the model can reach, and return what the checker says."""
    subprocess.run(["spin", *switches, "-a", str(MODEL)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", "-w", "-DSAFETY", "-o", "pan", "pan.c"], cwd=folder, check=True)
    done = subprocess.run(["./pan", "-m100000", "-w18"], cwd=folder, check=True, capture_output=True, text=True)
    assert "max search depth too small" not in done.stdout
    return done.stdout


def test_the_model_holds(tmp_path: Path) -> None:
    """board lines 29, 30 and 32"""
    said = checked(tmp_path)
    assert "errors: 0" in said
    assert int(float(re.search(r"([0-9.e+]+) states, stored", said)[1])) > 1000  # type: ignore[index]


@pytest.mark.parametrize("guard", GUARDS)
def test_without_a_guard_there_is_a_counterexample(tmp_path: Path, guard: str) -> None:
    """board line 32"""
    said = checked(tmp_path, f"-D{guard}")
    assert "errors: 1" in said
    assert "assertion violated" in said


def test_every_guard_of_the_model_is_left_out_once() -> None:
    used = set(re.findall(r"#ifn?def (NO_\w+)", MODEL.read_text(encoding="utf-8")))
    assert used == set(GUARDS)
