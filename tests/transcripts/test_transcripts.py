"""What commands print of recorded runs is what their transcripts show; `python -m tests.transcripts --write` renews those."""

from pathlib import Path

import pytest

from santiago.contract.reasons import Reason
from tests.transcripts.playing import FOLDER, play, transcripts
from tests.transcripts.recording import MADE, WORLDS


@pytest.mark.parametrize("transcript", transcripts(), ids=lambda one: one.stem)
def test_what_a_transcript_shows_is_what_is_printed(transcript: Path, tmp_path: Path) -> None:
    wrong = [typed for typed in play(transcript, tmp_path) if not typed.is_right]
    assert not wrong, "\n\n".join(map(str, wrong))


def test_every_reason_is_explained_in_the_transcript() -> None:
    shown = (FOLDER / "explain.txt").read_text().splitlines()
    assert [reason for reason in Reason if f"$ santiago explain {reason}" not in shown] == []


def test_every_recorded_world_is_looked_at_and_can_be_recorded_anew() -> None:
    shown = "".join(path.read_text() for path in transcripts())
    assert [one.name for one in WORLDS.iterdir() if f"<!-- world: {one.name} -->" not in shown] == []
    assert {one.parent.name for one in WORLDS.glob("*/run")} == set(MADE)
