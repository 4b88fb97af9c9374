"""A light environment for the checks of real commits: this interpreter's own packages, so that nothing is fetched."""

import sysconfig
import venv
from pathlib import Path

import pytest
from proofs.corpus import why_not


@pytest.fixture(scope="session")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an environment that has pytest; enough for those cases that need nothing else."""
    if reason := why_not():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("honest") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder
