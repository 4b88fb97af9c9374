"""What the end of a run suggests can be typed, and a refusal to go on names the limit and what helps (promise 8).

What the ends of runs say, and why, is held by tests/transcripts/run.txt and remedies.txt.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

from santiago.app.loading import load
from santiago.contract.errors import SantiagoError
from santiago.executor.reopen import Grants, reopening
from santiago.report.remedies import granting
from tests.cli import words
from tests.cli.greeter import out_dir, place
from tests.cli.santiago import santiago
from tests.cli.words import WRITES, run
from tests.transcripts import recording
from tests.transcripts.playing import typed


def test_where_the_run_s_attempts_are_used_up_the_suggestion_can_be_pasted_and_is_enough(tmp_path: Path) -> None:
    repo = words.make(tmp_path)
    said = run(repo, WRITES, limits="run_max_attempts = 1").stderr
    refused = santiago("resume", cwd=repo, env=place(repo))
    assert (refused.returncode, "limits.run_max_attempts" in refused.stderr) == (30, True), refused.stderr
    (line,) = [line for line in said.splitlines() if " santiago resume --add-attempts 2   # " in line]
    assert "`santiago resume --add-attempts 2" in refused.stderr
    (bin_folder := tmp_path / "bin").mkdir()
    (program := bin_folder / "santiago").write_text(f'#!/bin/sh\nexec {quote(sys.executable)} -m santiago "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, **place(repo), "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    pasted = ["sh", "-c", line.removeprefix("next: ")]  # the whole line, with what it says behind the command
    assert subprocess.run(pasted, cwd=repo, env=env, capture_output=True, check=False).returncode == 0
    assert load(out_dir(repo)).state.phase == "success"


@pytest.mark.parametrize(
    ("world", "gone", "more"),
    [
        ("spent", "the run reached its limits.run_max_attempts", "--add-attempts 2"),
        ("late-and-spent", "S1 used all of its 1 attempt and 0.005 minutes", "--add-attempts 2 --add-minutes 30"),
    ],
)
def test_a_refusal_to_go_on_names_the_limit_and_grants_what_is_lacking_to_the_run_that_is_meant(
    world: str, gone: str, more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = recording.load(world, tmp_path)
    monkeypatch.chdir(repo)
    found = load(older := out_dir(repo))
    for folder in ("", f" .santiago/runs/{older.name}"):
        with pytest.raises(SantiagoError, match="going on as it is would only repeat that") as refused, granting(older):
            reopening(found.state, found.run_input.limits, Grants(), None)
        assert f"({gone})" in refused.value.message
        assert refused.value.hint == (
            f"`santiago resume{folder} {more}` grants more; `santiago skip{folder} STORY --why …` leaves a story out."
        )
        if not folder:
            _begin_a_newer_one(older)
    assert f"next: santiago show .santiago/runs/{older.name} S1 --attempt 1" in "\n".join(
        typed(f"santiago show {older.name} S1", repo)
    )


def _begin_a_newer_one(older: Path) -> None:
    """From now on the run that was there is no longer what a command means that names none."""
    newer = shutil.copytree(older, older.with_name("r_29990101_000000"))
    note = {"run_id": newer.name, "out_dir": str(newer), "created": "2999-01-01T00:00:00.000Z"}
    (older.parents[2] / ".git" / "santiago" / "runs" / f"{newer.name}.json").write_text(json.dumps(note))
