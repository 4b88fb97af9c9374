"""A planning session's log of format version 1, as it was first released: every later version reads it the same way."""

from pathlib import Path

from santiago.artifacts.reader import read_log
from santiago.contract.phases import SessionPhase
from tests.sessions.folding import fold_session

LOG = Path(__file__).with_name("golden_v1.ndjson")


def test_the_first_released_log_of_a_session_tells_what_it_told() -> None:
    state = fold_session(read_log(LOG))
    assert (state.phase, state.revision, state.run) == (SessionPhase.FINALIZED, 2, "r_20261117_061342")
    assert [(turn.mode, turn.agents, turn.text, turn.revision) for turn in state.turns] == [
        ("multi", ("python3", "python3-2"), "", 1),
        ("single", ("python3",), "make one more", 2),
    ]
    assert [(one.id, one.answer, one.actor) for one in state.questions.values()] == [
        ("plan-1", "edit", "user"), ("plan-2", "approve", "user"),
    ]  # fmt: skip
    assert state.turns[0].merged_by == "python3"
    assert (state.unreported, state.unpriced, state.seq) == (4, 4, 18)
