"""What the tests of governance share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.board.governance.product import make

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A governed project that is in order."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return make(folder)
