"""Worlds that tests of several modules begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.board.desk import RESEARCH, SCIENCE, Desk
from tests.board.kept import Kept


@pytest.fixture(scope="session")
def researched(tmp_path_factory: pytest.TempPathFactory) -> Kept[Desk]:
    """A scientist's work waits for a person's word, and a developer's story for that."""

    def make(folder: Path) -> Desk:
        desk = Desk(folder, SCIENCE, '[board]\nscientist = "scripted"\n', prd=RESEARCH).requested()
        ran = desk.loop()
        assert (ran.returncode, "LOOP_USER_CONFIRMATION_IDS:REQ.S1" in ran.stdout) == (10, True), ran
        return desk

    return Kept(tmp_path_factory.mktemp("researched"), make)


@pytest.fixture
def studied(researched: Kept[Desk]) -> Desk:
    return researched.again()
