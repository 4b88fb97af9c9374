"""What the tests of governance share."""

import shutil
from pathlib import Path

import pytest

from tests.board.governance.product import make


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("shop"))


@pytest.fixture
def project(shop: Path, tmp_path: Path) -> Path:
    return shutil.copytree(shop, tmp_path / "shop", symlinks=True)
