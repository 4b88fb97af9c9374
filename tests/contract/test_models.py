"""The models of lease and fence, of a ticket and of attempts on many machines: each holds, and all of its guards are needed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

MODELS = sorted((Path(__file__).parents[2] / "docs" / "models").glob("*.pml"))
GUARDS = [
    (model, guard) for model in MODELS for guard in sorted(set(re.findall(r"-D(NO_\w+)", model.read_text("utf-8"))))
]

pytestmark = pytest.mark.skipif(
    not (shutil.which("spin") and shutil.which("gcc")),
    reason="spin or gcc is missing; on Debian: apt-get install spin gcc",
)


def checked(folder: Path, model: Path, *switches: str) -> str:
    """Look at every state that the model can reach, and return what the checker says."""
    subprocess.run(["spin", *switches, "-a", str(model)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", "-w", "-DSAFETY", "-o", "pan", "pan.c"], cwd=folder, check=True)
    done = subprocess.run(["./pan", "-m200000", "-w20"], cwd=folder, check=True, capture_output=True, text=True)
    assert "max search depth too small" not in done.stdout
    return done.stdout


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.stem)
def test_the_model_holds(tmp_path: Path, model: Path) -> None:
    """board lines 29, 30 and 32"""
    said = checked(tmp_path, model)
    assert "errors: 0" in said
    assert int(float(re.search(r"([0-9.e+]+) states, stored", said)[1])) > 1000  # type: ignore[index]


@pytest.mark.parametrize(("model", "guard"), GUARDS, ids=[f"{model.stem}-{guard}" for model, guard in GUARDS])
def test_without_a_guard_there_is_a_counterexample(tmp_path: Path, model: Path, guard: str) -> None:
    """board line 32"""
    said = checked(tmp_path, model, f"-D{guard}")
    assert "errors: 1" in said
    assert "assertion violated" in said


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.stem)
def test_every_guard_of_a_model_is_left_out_once(model: Path) -> None:
    text = model.read_text("utf-8")
    assert set(re.findall(r"#ifn?def (NO_\w+)", text)) == set(re.findall(r"-D(NO_\w+)", text))
