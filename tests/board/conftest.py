"""Worlds that tests of several modules begin with."""

import pytest

from tests.board.desk import RESEARCH, SCIENCE, Desk
from tests.util.restored import restored


@pytest.fixture(scope="session")
def researched(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A scientist's work waits for a person's word, and a developer's story for that."""
    folder = tmp_path_factory.mktemp("researched")
    desk = Desk(folder, SCIENCE, '[board]\nscientist = "scripted"\n', prd=RESEARCH).requested()
    ran = desk.loop()
    assert (ran.returncode, "LOOP_USER_CONFIRMATION_IDS:REQ.S1" in ran.stdout) == (10, True), ran
    return desk


@pytest.fixture
def studied(researched: Desk) -> Desk:
    return restored(researched, researched.repo.parent)
