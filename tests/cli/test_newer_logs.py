"""A log with a word that only a newer santiago knows: every command refuses it with its line, and changes nothing."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest

from santiago.artifacts.frame import GENESIS, encode
from santiago.artifacts.reader import read_log
from santiago.contract.events import Context, EventKind
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import ExitCode
from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.inside import inside

UNKNOWN: Context = {"reason": "agent_on_strike"}


@pytest.fixture
def newer(success: Done, tmp_path: Path) -> Path:
    """Return the out-dir of a run whose last line only a newer santiago knows."""
    out_dir = greeter.out_dir(shutil.copytree(success.repo, tmp_path / "repo"))
    (out_dir / "result.json").unlink()
    log = out_dir / "progress.ndjson"
    events = list(takewhile(lambda event: event.event is not EventKind.RUN_ENDED, read_log(log)))
    number = len(events) + 1
    paused = replace(
        events[-1], seq=number, event=EventKind.RUN_PAUSED, phase=RunPhase.PAUSED, status=None, context=UNKNOWN
    )
    digest, lines = GENESIS, []
    for event in (*events, paused):
        line, digest = encode(event, digest)
        lines.append(line)
    log.write_bytes(b"".join(lines))
    return out_dir


@pytest.mark.parametrize("words", [["status"], ["status", "--json"], ["log"], ["resume"]], ids=" ".join)
def test_a_reason_that_is_not_known_here_is_one_clear_error_with_its_line(newer: Path, words: list[str]) -> None:
    log = newer / "progress.ndjson"
    before = log.read_bytes()
    told = inside(*words, newer, cwd=newer, env={"XDG_CACHE_HOME": str(newer.parents[3] / "cache")})
    error, last = told.stdout + told.stderr, before.count(b"\n")
    assert f"line {last} is impossible: this version of santiago does not know the reason 'agent_on_strike'" in error
    assert f"{log}:{last}" in error
    assert "bug" not in error
    assert (told.returncode, log.read_bytes()) == (ExitCode.BLOCKED, before)
