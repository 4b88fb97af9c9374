"""Typing a transcript: each command is called in this process, in a recorded world, and held against what the file shows.

A transcript has commands behind `$ `, below each what it prints, and `(exit N)` where that is not 0; a comment
`<!-- world: NAME -->` says where the commands below it are typed. Recorded worlds give the same letter by letter; in those
that are only a document, `…` and what may differ are as on the pages of docs. `remedies` is no command of santiago: it
prints what `status` would suggest if the run of the world had come to rest for each of the reasons that there are.
"""

import io
import os
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from santiago.app.loading import empty_fold, frozen, load
from santiago.artifacts.reader import read_log
from santiago.cli.main import main
from santiago.cli.running import exit_code
from santiago.cli.view.screen import Screen
from santiago.contract.reasons import Reason
from santiago.executor.scope import Scope
from santiago.report.failure import report_of
from santiago.report.remedies import next_commands
from santiago.report.run_status import mending
from santiago.util.clock import SystemClock
from tests.docs.matching import fits
from tests.docs.playing import Typed
from tests.transcripts import recording

FOLDER = Path(__file__).parent
COMMAND = re.compile(r"\$ (\w+=\S+ )*(santiago|remedies)\b")
"""Other lines behind `$ ` are checks that santiago prints."""
LATER = timedelta(minutes=5)
"""How long after the last event of its run a person looks."""


def transcripts() -> list[Path]:
    return sorted(FOLDER.glob("*.txt"))


def play(transcript: Path, folder: Path) -> Iterator[Typed]:
    """Type a transcript from top to bottom; worlds are put into the folder."""
    repo, is_recorded = folder, False
    lines = transcript.read_text(encoding="utf-8").splitlines()
    starts = [at for at, line in enumerate(lines) if COMMAND.match(line) or line.startswith("<!-- world: ")]
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if world := re.match(r"<!-- world: (\S+) -->", lines[at]):
            repo = recording.load(world[1], folder / str(at))
            is_recorded = (recording.WORLDS / world[1] / "run").exists()
            continue
        shown = lines[at + 1 : end]
        while shown and not shown[-1]:
            shown.pop()
        printed = typed(lines[at].removeprefix("$ "), repo)
        is_right = shown == printed or (not is_recorded and fits(shown, printed))
        place = f"{transcript.name}:{at + 1}"
        yield Typed(place=place, line=at + 1, command=lines[at], shown=shown, printed=printed, is_right=is_right)


def typed(line: str, repo: Path) -> list[str]:
    """Call a command line in a repository, and return what it prints on both streams, and how it ends."""
    if line == "remedies":
        return remedies(repo)
    words = shlex.split(line)
    at = words.index("santiago")
    variables = dict(word.split("=", 1) for word in words[:at])
    code, told = call(words[at + 1 :], repo, variables)
    lines = [part.rstrip() for part in told.replace(str(repo.parent), "").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return [*lines, *([f"(exit {code})"] if code else [])]


def call(words: list[str], repo: Path, variables: dict[str, str]) -> tuple[int, str]:
    """Call santiago, five minutes after the last event of the run that is there."""
    told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    runs = sorted((repo / ".santiago" / "runs").glob("*"))
    with _surroundings(repo, variables), _now(runs[-1] if runs else None), redirect_stdout(told), redirect_stderr(told):
        code = _replayed(runs[-1], words) if words[0] in ("run", "verify") else main(words)
    told.seek(0)
    return code, told.read()


def remedies(repo: Path) -> list[str]:
    """Return what is suggested for each reason for which the run that is there could have come to rest."""
    (out_dir,) = (repo / ".santiago" / "runs").iterdir()
    report, found = report_of(load(out_dir)), []
    with chdir(repo):
        for reason in Reason:
            report.state.reason = reason
            found += [reason, *(f"    {line}" for line in next_commands(report))]
    return found


def _replayed(out_dir: Path, words: list[str]) -> int:
    """Have the screen of `run`, or of `verify STORY --from REF`, hear the events of a recorded run once more, and tell its end."""
    plan, run_input = frozen(out_dir)
    only = frozenset(words[-1:]) if "--only" in words else frozenset[str]() if words[0] == "verify" else None
    screen = Screen(plan, run_input, as_json=False, scope=Scope(stories=only))
    screen.lines.out_dir = out_dir
    fold = empty_fold(plan, run_input)
    for event in read_log(out_dir / "progress.ndjson"):
        fold.apply(event)
        screen.take([event], fold.state)
    brought = words[1] if words[0] == "verify" else ""
    screen.end(fold.state, out_dir, mending(fold.state, out_dir, brought, words[-1]) if brought else None, brought)
    return exit_code(fold.state)


@contextmanager
def _surroundings(repo: Path, variables: dict[str, str]) -> Iterator[None]:
    """Stand in the repository, in UTC, with nothing of whoever runs the tests but where programs are."""
    home = repo.parent / "home"
    clean = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "USER": "ann",
        "TZ": "UTC",
        "XDG_STATE_HOME": str(home / "state"),
    }
    with patch.dict(os.environ, {**clean, **variables}, clear=True), chdir(repo):
        time.tzset()
        yield
    time.tzset()


@contextmanager
def _now(out_dir: Path | None) -> Iterator[None]:
    if out_dir is None or not (out_dir / "progress.ndjson").exists():
        yield
        return
    last = [event.timestamp for event in read_log(out_dir / "progress.ndjson")][-1]
    now = (datetime.fromisoformat(last) + LATER).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    with patch.object(SystemClock, "utc", lambda _: now):
        yield
